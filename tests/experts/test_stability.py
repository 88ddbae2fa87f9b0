"""Losses up to a million, many steps, flat memory."""

import tracemalloc
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext

import numpy as np
import pytest

from selectron.experts import FixedShare, LearnAlpha, MarkovShare, StaticExpert
from selectron.experts.scaled import scaled_exponential
from tests.experts.twins import decimal_definition, one_of_each


def steep_losses(seed, steps=60, n=3):
    """Losses from 0 to a million, that come back: the leader falls, and rises again."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([0.0, 1.0, 700.0, 1e4, 1e6], (steps, n))
    losses = np.where(rng.random((steps, n)) < 0.5, sizes, sizes * rng.random((steps, n)))
    cycle = np.roll(losses[: steps // 2], 1, axis=1)
    losses[steps // 2 :] = cycle[::-1][: steps - steps // 2]
    return losses


def assert_close(experts, losses, transition):
    expected, weights = decimal_definition(losses, transition)
    np.testing.assert_allclose(experts.run(losses), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(experts.weights, weights, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("seed", range(4))
def test_static_expert_stands_a_million(seed):
    losses = steep_losses(seed)
    assert_close(StaticExpert(3), losses, np.eye(3))
    assert_close(MarkovShare(np.eye(3)), losses, np.eye(3))


@pytest.mark.parametrize("alpha", [1e-250, 1e-12, 0.3, 0.999, 1 - 1e-6, 1 - 1e-12, 1.0])
def test_fixed_share_stands_a_million(alpha):
    for n in (2, 3):
        losses = steep_losses(5, n=n)
        stay, move = 1 - alpha, alpha / (n - 1)
        transition = np.where(np.eye(n, dtype=bool), stay, move)
        assert_close(FixedShare(n, alpha), losses, transition)
        assert_close(LearnAlpha(n, alphas=[alpha]), losses, transition)


@pytest.mark.parametrize(
    "transition",
    [
        np.roll(np.eye(3), 1, axis=1),
        [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]],
        [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]],
        [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]],
        [[0.8, 0.1, 0.1]] * 3,
        [[1 - 2e-200, 1e-200, 1e-200], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    ],
    ids=["permutation", "ring", "two blocks", "downhill", "dense", "hardly ever"],
)
def test_markov_share_stands_a_million(transition):
    for seed in (6, 7):
        assert_close(MarkovShare(transition), steep_losses(seed), transition)


def test_a_weight_comes_back_from_e_to_the_minus_a_billion():
    there = np.tile([[0.0, 1e6]], (1000, 1))
    back = there[:, ::-1]
    last = [[0.0, 1.5]]
    for experts in (StaticExpert(2), MarkovShare(np.eye(2)), LearnAlpha(2, alphas=[0.0])):
        experts.run(np.concatenate([there, back, last]))
        np.testing.assert_allclose(experts.weights[1], 1 / (1 + np.exp(1.5)), rtol=1e-12)


def test_a_million_at_once_is_a_million_in_parts():
    losses = [[0.0, 1e6], [400_000.25, 0.0], [599_999.75, 0.0], [0.0, 1.5]]
    for experts in (StaticExpert(2), MarkovShare(np.eye(2)), LearnAlpha(2, alphas=[0.0])):
        experts.run(losses)
        np.testing.assert_allclose(experts.weights[1], 1 / (1 + np.exp(1.5)), rtol=1e-13)


def test_scaled_exponentials_keep_all_their_bits():
    for x in -np.random.default_rng(2).uniform(0, 1.4e6, 300):
        mantissa, exponent = scaled_exponential(x)
        with localcontext() as context:
            context.prec, context.Emin, context.Emax = 40, MIN_EMIN, MAX_EMAX
            exact = float(Decimal(x.item()).exp() / Decimal(2) ** exponent)
        assert 1 <= mantissa < 2
        assert mantissa == pytest.approx(exact, rel=4e-16)


def test_learn_alpha_weighs_rows_that_are_a_million_apart():
    losses = np.tile([[0.0, 1e6], [1e6, 0.0]], (20, 1))  # always switching
    experts = LearnAlpha(2, alphas=[0.0, 0.5, 1.0])
    total = experts.run(losses).sum()
    assert total == pytest.approx(np.log(6) - np.log1p(2.0**-39), rel=1e-14)
    np.testing.assert_allclose(experts.alpha_weights, [0, 2.0**-39, 1], atol=1e-15)
    losses = np.tile([[0.0, 1e6]], (40, 1))
    experts.run(losses)
    assert experts.alpha_weights.argmax() == 1  # the others have each met the impossible
    assert np.isfinite(experts.weights).all()


def test_ten_million_losses_add_up_exactly():
    """Totals keep what rounding drops: ten rounds of a million tenths, against exact decimals."""
    experts = StaticExpert(2, eta=1.0)
    block = np.tile([[0.1, 0.3], [0.3, 0.1]], (100_000, 1))
    for _ in range(10):
        experts.run(block)
    assert experts.weights.tolist() == [0.5, 0.5]
    state = experts.state()
    exact = 10 * 100_000 * (0.1 + 0.3)
    np.testing.assert_allclose(state["high"] + state["low"], exact, rtol=1e-15)


def test_small_losses_are_not_drowned_by_a_large_offset():
    for experts in one_of_each(2).values():
        experts.run([[1e6, 1e6 + 1.0]] * 3)
        plain = type(experts).from_state(experts.state())
        assert plain.weights[0] != plain.weights[1]
    fixed = FixedShare(2, 0.1)
    fixed.run([[1e6, 1e6 + 1.0]] * 3)
    same = FixedShare(2, 0.1)
    same.run([[0.0, 1.0]] * 3)
    assert (fixed.weights == same.weights).all()


@pytest.mark.parametrize("kind", [lambda: LearnAlpha(4, horizon=1000), lambda: StaticExpert(4)])
def test_memory_is_flat(kind):
    losses = np.random.default_rng(0).random((50_000, 4))
    experts = kind()
    experts.run(losses[:10])
    size = sum(np.asarray(value).nbytes for value in experts.state().values())
    tracemalloc.start()
    experts.run(losses)
    for row in losses[:2000]:
        experts.update(row)
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * len(losses) + 100_000  # the losses it returns
    assert now < 50_000
    assert sum(np.asarray(value).nbytes for value in experts.state().values()) == size


def test_long_runs_do_not_drift():
    """Half a million steps of Fixed-share still sum to 1 and forget how they began."""
    losses = np.random.default_rng(1).exponential(size=(500_000, 3))
    for alpha in (1e-6, 0.01, 0.999999):
        long, short = FixedShare(3, alpha), FixedShare(3, alpha)
        long.run(losses)
        assert long.weights.sum() == pytest.approx(1.0, abs=1e-14)
        if alpha == 0.01:
            short.run(losses[-20_000:])
            np.testing.assert_allclose(long.weights, short.weights, rtol=1e-12)
