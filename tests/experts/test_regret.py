"""The best in hindsight, against trying everything."""

import numpy as np
import pytest

from selectron.experts import (
    FixedShare,
    StaticExpert,
    best_alpha,
    best_expert,
    best_partition,
    fixed_share_losses,
    regret_to_best_alpha,
    regret_to_best_expert,
    regret_to_best_partition,
)
from tests.experts.twins import (
    brute_partition,
    hindsight_alpha,
    loss_from_coefficients,
    loss_sequences,
    switch_coefficients,
)


@pytest.mark.parametrize(("steps", "n"), [(1, 3), (2, 2), (6, 3), (9, 2)])
def test_best_partition_is_the_best_of_all_sequences(steps, n):
    rng = np.random.default_rng(steps)
    for _ in range(40):
        losses = rng.integers(0, 6, (steps, n)).astype(float)
        for k in range(steps + 2):
            best = best_partition(losses, k)
            assert best.loss == brute_partition(losses, k)
            assert np.count_nonzero(np.diff(best.experts)) <= k
            assert best.loss == losses[np.arange(steps), best.experts].sum()


def test_more_switches_never_hurt_and_none_is_the_best_expert():
    losses = np.random.default_rng(0).exponential(size=(200, 4))
    costs = [best_partition(losses, k).loss for k in (0, 1, 5, 50, 199, 10_000)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] == pytest.approx(best_expert(losses).loss, rel=1e-14)
    assert costs[-1] == pytest.approx(losses.min(axis=1).sum(), rel=1e-14)


def test_best_expert():
    losses = np.array([[3.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    assert best_expert(losses) == (1, 2.0)


def test_best_alpha_is_the_minimum_of_the_polynomial():
    for losses in loss_sequences(np.random.default_rng(3), 64, max_steps=25):
        coefficients = switch_coefficients(losses)
        best, twin = best_alpha(losses), hindsight_alpha(coefficients)
        expected = float(loss_from_coefficients(coefficients, [twin])[0])
        assert best.loss == pytest.approx(expected, rel=1e-12, abs=1e-12)
        if best.quality > 1e-3:
            assert best.alpha == pytest.approx(twin, abs=1e-6)
        assert fixed_share_losses(losses, [best.alpha]) == pytest.approx(best.loss, abs=1e-11)


def test_two_minima_are_told_apart():
    """A stretch that never switches and one that always does: L_T has a minimum near each end."""
    still, moving = np.tile([[0.0, 9.0]], (30, 1)), np.tile([[0.0, 9.0], [9.0, 0.0]], (15, 1))
    for first, second in ((still, moving), (still[:20], moving), (still, moving[:20])):
        losses = np.concatenate([first, second])
        coefficients = switch_coefficients(losses)
        grid = np.linspace(0, 1, 2001)
        expected = loss_from_coefficients(coefficients, grid).min()
        assert best_alpha(losses).loss <= float(expected) + 1e-12


def test_nowhere_to_switch_to():
    assert best_alpha([[0.5], [0.25]]) == (0.0, 0.75, 0.0)
    one_step = best_alpha([[0.5, 0.25]])
    assert one_step.alpha == 0.0
    assert one_step.loss == pytest.approx(StaticExpert(2).update([0.5, 0.25]))


def test_regrets_are_differences():
    losses = np.random.default_rng(4).exponential(size=(60, 3))
    mixture = FixedShare(3, 0.1).run(losses)
    total = mixture.sum()
    assert regret_to_best_expert(mixture, losses) == pytest.approx(total - best_expert(losses).loss)
    assert regret_to_best_alpha(mixture, losses) == pytest.approx(total - best_alpha(losses).loss)
    partition = best_partition(losses, 5)
    assert regret_to_best_partition(mixture, losses, 5) == pytest.approx(total - partition.loss)


def test_fixed_share_tracks_the_best_partition():
    """At most log n + k log(n-1) + (T-1) H(k/(T-1)) above k switches (Herbster and Warmuth)."""
    rng = np.random.default_rng(5)
    for k in (1, 5, 20):
        losses = rng.exponential(size=(200, 4)) * 2
        alpha = k / 199
        regret = regret_to_best_partition(FixedShare(4, alpha).run(losses), losses, k)
        entropy = -alpha * np.log(alpha) - (1 - alpha) * np.log(1 - alpha)
        assert regret <= np.log(4) + k * np.log(3) + 199 * entropy
