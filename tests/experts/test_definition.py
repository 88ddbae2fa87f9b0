"""Fast = slow: every mixture equals its definition, step by step and after 10,000 of them."""

import numpy as np
import pytest

from selectron.experts import FixedShare, LearnAlpha, MarkovShare, StaticExpert, optimal_alphas
from tests.experts.twins import (
    all_paths,
    definition,
    enumerated_loss,
    learn_alpha_definition,
    one_of_each,
    path_likelihoods,
    path_priors,
    transition_matrix,
)


def losses_of(seed, steps, n):
    """Return noisy losses whose best expert changes now and then."""
    rng = np.random.default_rng(seed)
    best = np.repeat(rng.integers(0, n, steps // 50 + 1), 50)[:steps]
    return 0.05 + rng.exponential(size=(steps, n)) * (1 + 2 * (np.arange(n) != best[:, None]))


def assert_same(got, expected, relative=1e-12):
    np.testing.assert_allclose(got, expected.astype(float), rtol=relative, atol=0)


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("eta", [1.0, 0.3])
def test_static_expert_is_its_definition_over_10_000_steps(n, eta):
    losses = losses_of(n, 10_000, n)
    experts = StaticExpert(n, eta=eta)
    expected, _ = definition(losses, np.eye(n), eta)
    assert_same(experts.run(losses), expected)
    totals = losses.astype(np.longdouble).sum(axis=0)
    weights = np.exp(-np.longdouble(eta) * (totals - totals.min()))
    weights = (weights / weights.sum()).astype(float)
    np.testing.assert_allclose(experts.weights, weights, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("n", [2, 7])
@pytest.mark.parametrize("alpha", [1e-200, 1e-9, 0.01, 0.5, 0.9, 0.99, 0.9999, 1 - 1e-10, 1.0])
def test_fixed_share_is_its_definition_over_10_000_steps(n, alpha):
    losses = losses_of(n, 10_000, n)
    experts = FixedShare(n, alpha)
    expected, weights = definition(losses, transition_matrix(n, alpha))
    assert_same(experts.run(losses), expected)
    np.testing.assert_allclose(experts.weights, weights.astype(float), rtol=1e-12, atol=1e-300)


def sparse_chain(n):
    return 0.7 * np.eye(n) + 0.3 * np.roll(np.eye(n), 1, axis=1)


@pytest.mark.parametrize(
    "transition",
    [
        np.random.default_rng(0).dirichlet(np.ones(6), size=6),
        sparse_chain(6),
        np.roll(np.eye(6), 2, axis=1),
        np.eye(6),
        np.kron(np.eye(2), sparse_chain(3)),
        np.tile([[1.0, 0, 0]], (3, 1)),
        np.array([[1 - 1e-40, 1e-40], [0.0, 1.0]]),
    ],
    ids=["dense", "ring", "permutation", "identity", "two rings", "absorbing", "one way"],
)
def test_markov_share_is_its_definition_over_10_000_steps(transition):
    losses = losses_of(3, 10_000, len(transition))
    experts = MarkovShare(transition)
    expected, weights = definition(losses, transition)
    assert_same(experts.run(losses), expected)
    np.testing.assert_allclose(experts.weights, weights.astype(float), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(
    ("n", "alphas"),
    [
        (2, optimal_alphas(horizon=10_000)[::8]),
        (5, optimal_alphas(horizon=100)),
        (5, [0.3]),
        (4, [1.0, 0.2, 0.0, 1 - 1e-9, 1e-12]),
        (1, [0.0, 0.5]),
    ],
    ids=["two experts", "optimal rates", "one rate", "the ends", "one expert"],
)
def test_learn_alpha_is_its_definition_over_10_000_steps(n, alphas):
    losses = losses_of(n, 10_000, n)
    experts = LearnAlpha(n, alphas=alphas)
    expected, weights, rates = learn_alpha_definition(losses, alphas)
    assert_same(experts.run(losses), expected)
    assert_same(experts.weights, weights)
    np.testing.assert_allclose(
        experts.alpha_weights, rates.astype(float), rtol=2e-12, atol=1e-200
    )  # rows leak 1e-16 of their mass a step: 1e-12 in 10,000


@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize("eta", [1.0, 2.5, "adahedge"])
def test_fixed_share_without_switching_is_static_expert(n, eta):
    losses = losses_of(1, 300, n)
    losses[::7, 0] = np.nan if n > 1 else 0.5
    static, fixed = StaticExpert(n, eta=eta), FixedShare(n, 0.0, eta=eta)
    assert (static.run(losses) == fixed.run(losses)).all()
    assert (static.weights == fixed.weights).all()


def test_one_rate_of_learn_alpha_is_fixed_share():
    losses = losses_of(2, 500, 5)
    for alpha in (0.0, 0.02, 0.7, 1.0):
        one, fixed = LearnAlpha(5, alphas=[alpha]), FixedShare(5, alpha)
        assert_same(one.run(losses), fixed.run(losses))
        assert_same(one.weights, fixed.weights)
        assert one.alpha_weights.tolist() == [1.0]


def test_markov_share_with_one_rate_for_all_is_fixed_share():
    losses = losses_of(2, 500, 5)
    for alpha in (0.0, 0.02, 0.7, 1.0):
        markov = MarkovShare(transition_matrix(5, alpha).astype(float))
        assert_same(markov.run(losses), FixedShare(5, alpha).run(losses))


@pytest.mark.parametrize(("steps", "n"), [(1, 3), (2, 4), (5, 4), (8, 2), (8, 3)])
def test_learn_alpha_is_the_sum_over_all_sequences_of_experts(steps, n):
    losses = losses_of(5, steps, n)
    alphas = [0.0, 0.01, 0.3, 0.5, 0.95, 1.0]
    paths, switches = all_paths(steps, n)
    likelihood = path_likelihoods(losses, paths)
    rows = np.array([path_priors(paths, switches, n, alpha) @ likelihood for alpha in alphas])
    experts = LearnAlpha(n, alphas=alphas)
    np.testing.assert_allclose(experts.run(losses).sum(), float(-np.log(rows.mean())), rtol=1e-13)
    np.testing.assert_allclose(experts.alpha_weights, (rows / rows.sum()).astype(float), rtol=1e-12)
    for alpha in alphas:
        total = FixedShare(n, alpha).run(losses).sum()
        np.testing.assert_allclose(total, float(enumerated_loss(losses, alpha)), rtol=1e-13)


def test_prior_weights_are_followed():
    losses, prior = losses_of(6, 60, 3), np.array([0.7, 0.2, 0.1])
    static = StaticExpert(3, prior=7 * prior)
    np.testing.assert_allclose(static.weights, prior, rtol=1e-15)
    expected, weights = definition(losses, np.eye(3), prior=prior)
    assert_same(static.run(losses), expected)
    assert_same(static.weights, weights)
    for alpha in (0.1, 1.0):
        expected, _ = definition(losses, transition_matrix(3, alpha), prior=prior)
        assert_same(FixedShare(3, alpha, prior=prior).run(losses), expected)
        assert_same(LearnAlpha(3, alphas=[alpha], prior=prior).run(losses), expected)
    expected, *_ = learn_alpha_definition(losses, [0.1, 0.4], prior=prior)
    assert_same(LearnAlpha(3, alphas=[0.1, 0.4], prior=prior).run(losses), expected)


def test_rate_scales_losses():
    losses = losses_of(7, 80, 4)
    for name, experts in one_of_each(4, eta=0.25).items():
        plain = one_of_each(4)[name]
        assert_same(experts.run(losses), 4 * plain.run(losses / 4))
        assert_same(experts.weights, plain.weights)


def test_a_common_shift_of_the_losses_changes_no_weight():
    losses = losses_of(8, 80, 4)
    shift = np.random.default_rng(8).integers(0, 1000, (80, 1)).astype(float)
    for name, experts in one_of_each(4).items():
        shifted = one_of_each(4)[name]
        np.testing.assert_allclose(shifted.run(losses + shift), experts.run(losses) + shift[:, 0])
        np.testing.assert_allclose(shifted.weights, experts.weights, rtol=1e-9)


def test_predictions_are_weighted_means_and_votes():
    experts = StaticExpert(3)
    experts.update([0.0, np.log(2), np.log(4)])  # weights 4/7, 2/7, 1/7
    assert experts.predict([7.0, 14.0, 0.0]) == pytest.approx(8.0)
    np.testing.assert_allclose(experts.predict([[7, 0], [14, 7], [0, 7]]), [8.0, 3.0])
    assert experts.vote(["a", "b", "b"]) == "a"
    assert experts.vote(["a", "b", "c"]) == "a"
    assert experts.vote([None, "b", "c"]) == "b"
    assert experts.predict([np.nan, 1.0, 4.0]) == pytest.approx(2.0)
    assert StaticExpert(2).vote([1, 0]) == 1  # a tie: the label first met


def test_weights_are_a_distribution_and_a_copy():
    losses = losses_of(9, 50, 4)
    for experts in one_of_each(4).values():
        experts.run(losses)
        weights = experts.weights
        assert weights.shape == (4,)
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1.0, abs=1e-14)
        weights[:] = 0
        assert experts.weights.sum() > 0.9
