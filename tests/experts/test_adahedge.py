"""A rate that tunes itself: free of units, and good where a fixed one is not."""

import numpy as np
import pytest

from selectron.experts import AdaHedge, StaticExpert
from tests.experts.twins import one_of_each


def plain_adahedge(losses):
    """AdaHedge as de Rooij et al. write it, in plain numpy; return its losses by weighted mean."""
    n = losses.shape[1]
    totals, gap, means = np.zeros(n), 0.0, []
    for row in losses:
        if gap == 0:
            weights = (totals == totals.min()) / (totals == totals.min()).sum()
            mean, mix = weights @ row, row[weights > 0].min()
        else:
            eta = np.log(n) / gap
            weights = np.exp(-eta * (totals - totals.min()))
            weights /= weights.sum()
            mean = weights @ row
            mix = -np.log(weights @ np.exp(-eta * (row - row.min()))) / eta + row.min()
        gap += max(0.0, mean - mix)
        means.append(mean)
        totals += row
    return np.array(means), gap


def mean_losses(experts, losses):
    out = []
    for row in losses:
        out.append(experts.weights @ row)
        experts.update(row)
    return np.array(out)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
def test_static_expert_is_adahedge(scale):
    losses = scale * np.random.default_rng(0).random((200, 5)) * [1, 0.9, 1.1, 1, 1.2]
    experts = StaticExpert(5, eta="adahedge")
    means, gap = plain_adahedge(losses)
    np.testing.assert_allclose(mean_losses(experts, losses), means, rtol=1e-9)
    assert experts.state()["eta_gap"] == pytest.approx(gap, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_adahedge_keeps_its_promise(seed):
    """Theorem 8 of de Rooij et al.: R ≤ 2 √(S L*(S T - L*)/(S T) ln n) + S (16/3 ln n + 2)."""
    rng = np.random.default_rng(seed)
    steps, n, span = 1000, 8, 3.0
    losses = span * (rng.random((steps, n)) < rng.random(n))
    if seed == 4:  # follow-the-leader's nightmare
        losses = span * np.tile([[1.0, 0.0], [0.0, 1.0]], (steps // 2, n // 2))
    regret = mean_losses(StaticExpert(n, eta="adahedge"), losses).sum() - losses.sum(axis=0).min()
    best = losses.sum(axis=0).min()
    variance = span * best * (span * steps - best) / (span * steps)
    bound = 2 * np.sqrt(variance * np.log(n)) + span * (16 / 3 * np.log(n) + 2)
    assert regret <= bound


def test_units_do_not_matter():
    losses = np.random.default_rng(1).exponential(size=(300, 4))
    for name, experts in one_of_each(4, eta="adahedge").items():
        scaled = one_of_each(4, eta="adahedge")[name]
        small = experts.run(losses)
        np.testing.assert_allclose(scaled.run(2.0**20 * losses), 2.0**20 * small, rtol=1e-12)
        np.testing.assert_allclose(scaled.weights, experts.weights, rtol=1e-9, atol=1e-30)


def test_gap_follows_the_definition_where_weights_are_shared():
    losses = np.random.default_rng(2).exponential(size=(100, 4))
    for cap in (np.inf, 0.5):
        for name, experts in one_of_each(4, eta=AdaHedge(factor=2.0, cap=cap)).items():
            gap = 0.0
            for row in losses:
                before = experts.weights
                excess = before @ row - row.min()
                eta = min(cap, 2 * np.log(4) / gap if gap else np.inf)
                loss = experts.update(row)
                if np.isfinite(eta):
                    mix = -np.log(before @ np.exp(-eta * (row - row.min()))) / eta
                    assert loss - row.min() == pytest.approx(mix, rel=1e-9), name
                    gap += excess - mix
                else:
                    gap += excess
                assert experts.state()["eta_gap"] == pytest.approx(gap, rel=1e-9), name


def test_equal_losses_teach_nothing():
    for name, experts in one_of_each(3, eta="adahedge").items():
        np.testing.assert_allclose(experts.run(np.full((5, 3), 0.7)), 0.7)
        assert experts.state()["eta_gap"] == 0.0
        np.testing.assert_allclose(experts.weights, 1 / 3, err_msg=name)


def test_one_expert_needs_no_rate():
    assert StaticExpert(1, eta="adahedge").run([[2.0], [3.0]]).tolist() == [2.0, 3.0]


def test_a_cap_holds_back_the_first_steps():
    bold, meek = StaticExpert(2, eta=AdaHedge()), StaticExpert(2, eta=AdaHedge(cap=0.1))
    for experts in (bold, meek):
        experts.run([[0.0, 1.0], [0.0, 1.0]])
    assert bold.weights[0] > meek.weights[0]
    np.testing.assert_allclose(meek.weights[0], 1 / (1 + np.exp(-0.2)))
