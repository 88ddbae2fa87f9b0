"""The theorems of [Mon06], chapter 2, on thousands of sequences, random and adversarial."""

from fractions import Fraction

import numpy as np
import pytest

from selectron.bounds.divergence import bernoulli_divergence, divergence
from selectron.bounds.mon06_experts import (
    approximate_size,
    discretised_regret,
    fixed_share_regret,
    fixed_share_regret_floor,
    learn_alpha_regret,
    markov_share_regret,
    partition_regret,
    quality_from_variance,
    regret_identity,
    relative_quality,
    static_expert_regret,
)
from selectron.experts import (
    FixedShare,
    LearnAlpha,
    MarkovShare,
    StaticExpert,
    best_alpha,
    discretisation_size,
    fixed_share_losses,
    optimal_alphas,
    regret_to_best_alpha,
    regret_to_best_expert,
)
from tests.experts.twins import (
    all_paths,
    loss_from_coefficients,
    loss_sequences,
    switch_coefficients,
    switch_posterior,
)

RATES = [0.0, 1e-6, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999, 1.0]
SLACK = 1e-9


@pytest.mark.parametrize(("steps", "n"), [(2, 3), (4, 4), (6, 3), (8, 2)])
def test_lemma_1_is_an_exact_identity(steps, n):
    """In fractions: likelihoods and rates are rational, so both sides are."""
    rng = np.random.default_rng(steps)
    likelihood = [[Fraction(int(x), 20) for x in row] for row in rng.integers(1, 21, (steps, n))]
    paths, switches = all_paths(steps, n)
    best, used = Fraction(2, 7), Fraction(5, 9)

    def joint(path, k, alpha):
        product = Fraction(1, n) * (alpha / (n - 1)) ** k * (1 - alpha) ** (steps - 1 - k)
        for t, i in enumerate(path):
            product *= likelihood[t][i]
        return product

    counts = [int(k) for k in switches]
    under_best = [joint(path, k, best) for path, k in zip(paths, counts, strict=True)]
    under_used = sum(joint(path, k, used) for path, k in zip(paths, counts, strict=True))
    posterior = [Fraction(0)] * steps
    for k, mass in zip(counts, under_best, strict=True):
        posterior[k] += mass / sum(under_best)
    gains = [
        (used / best) ** k * ((1 - used) / (1 - best)) ** (steps - 1 - k) for k in range(steps)
    ]
    exact = sum(q * gain for q, gain in zip(posterior, gains, strict=True))
    assert under_used / sum(under_best) == exact

    losses = -np.log(np.array(likelihood, dtype=float))
    regret = np.subtract(*fixed_share_losses(losses, [float(used), float(best)]))
    identity = regret_identity(
        horizon=steps,
        best_alpha=float(best),
        alpha=float(used),
        switch_rates=[k / (steps - 1) for k in range(steps)],
        probabilities=[float(q) for q in posterior],
    )
    assert regret == pytest.approx(-np.log(float(exact)), abs=1e-13)
    assert identity == pytest.approx(-np.log(float(exact)), abs=1e-13)


def test_theorems_1_and_2_and_lemma_1_on_2000_sequences():
    rng = np.random.default_rng(0)
    inside = meetings = 0
    for losses in loss_sequences(rng, 2000):
        steps = len(losses)
        best = best_alpha(losses)
        coefficients = switch_coefficients(losses)
        totals = fixed_share_losses(losses, RATES)
        twin = loss_from_coefficients(coefficients, RATES).astype(float)
        np.testing.assert_allclose(totals, twin, rtol=1e-11, atol=1e-12)
        regrets = totals - best.loss
        assert (regrets >= -SLACK).all()
        for alpha, regret in zip(RATES, regrets, strict=True):
            bound = fixed_share_regret(horizon=steps, best_alpha=best.alpha, alpha=alpha)
            assert regret <= bound * (1 + 1e-6) + 1e-6
        if not 1e-9 < best.alpha < 1 - 1e-9:
            continue
        inside += 1
        posterior = switch_posterior(coefficients, best.alpha).astype(float)
        rates = np.arange(steps) / (steps - 1)
        mean = posterior @ rates
        assert mean == pytest.approx(best.alpha, abs=1e-7)  # (C1)
        variance = posterior @ (rates - mean) ** 2
        quality = quality_from_variance(
            horizon=steps, best_alpha=best.alpha, variance=variance.item()
        )
        assert quality == pytest.approx(best.quality, abs=1e-6)  # Claim 1
        assert -1e-6 <= quality <= 1 + 1e-12
        for alpha, regret in zip(RATES, regrets, strict=True):
            exact = regret_identity(
                horizon=steps,
                best_alpha=best.alpha,
                alpha=alpha,
                switch_rates=rates.tolist(),
                probabilities=posterior.tolist(),
            )
            assert regret == pytest.approx(exact, abs=1e-8, rel=1e-9)
            floor = fixed_share_regret_floor(
                horizon=steps,
                best_alpha=best.alpha,
                alpha=alpha,
                quality=min(max(quality, 0.0), 1.0),
            )
            assert floor <= regret * (1 + 1e-7) + 1e-7
            meetings += floor > 0.9 * regret > 0.01
    assert inside > 500
    assert meetings > 100  # the floor is not idle


def test_corollary_1_on_1000_sequences():
    rng = np.random.default_rng(1)
    for k, losses in enumerate(loss_sequences(rng, 1000)):
        steps, n = losses.shape
        alphas = optimal_alphas(horizon=steps) if k % 2 else rng.random(1 + k % 5)
        total = LearnAlpha(n, alphas=alphas).run(losses).sum()
        best = best_alpha(losses)
        bound = learn_alpha_regret(horizon=steps, best_alpha=best.alpha, alphas=alphas.tolist())
        assert total - best.loss <= bound * (1 + 1e-9) + 1e-7
        rows = fixed_share_losses(losses, alphas)
        assert total <= rows.min() + np.log(len(alphas)) + SLACK  # (2.10)
        if k % 2:
            uniform = discretised_regret(horizon=steps, n_alphas=len(alphas))
            assert total - best.loss <= uniform + SLACK <= np.log(len(alphas)) + 0.5 + 2 * SLACK


def test_static_expert_loses_at_most_log_n():
    for losses in loss_sequences(np.random.default_rng(2), 500):
        n = losses.shape[1]
        regret = regret_to_best_expert(StaticExpert(n).run(losses), losses)
        assert regret <= static_expert_regret(n=n) + SLACK


def best_partitions(losses):
    """Return the least loss with exactly k switches, k = 0, ..., T - 1, by trying every path."""
    paths, switches = all_paths(*losses.shape)
    totals = losses[np.arange(len(losses)), paths].sum(axis=1)
    return [totals[switches == k].min() for k in range(len(losses))]


@pytest.mark.parametrize("alpha", [None, 0.05, 0.5, 0.9])
def test_fixed_share_against_the_best_partition(alpha):
    for losses in loss_sequences(np.random.default_rng(9), 60, max_steps=5, max_n=4):
        steps, n = losses.shape
        for k, best in enumerate(best_partitions(losses)):
            rate = k / (steps - 1) if alpha is None else alpha
            regret = float(fixed_share_losses(losses, [rate])[0]) - best
            assert regret <= partition_regret(horizon=steps, n=n, switches=k, alpha=alpha) + SLACK


def test_a_forced_partition_costs_all_of_the_bound():
    path = np.array([0, 0, 2, 2, 2, 1, 1])
    losses = 200.0 * (np.arange(3) != path[:, None])
    for alpha in (0.1, 2 / 6):
        bound = partition_regret(horizon=7, n=3, switches=2, alpha=alpha)
        assert float(fixed_share_losses(losses, [alpha])[0]) == pytest.approx(bound)
    assert partition_regret(horizon=7, n=3, switches=2) == pytest.approx(bound)
    rates = np.linspace(0.01, 0.99, 99)
    assert bound <= min(partition_regret(horizon=7, n=3, switches=2, alpha=a) for a in rates)


def best_transition(likelihood, paths, counts, steps=400):
    """Climb to the best transition matrix in hindsight by expectation maximisation."""
    n = counts.shape[1]
    matrix = np.full((n, n), 1 / n) + 0.1 * np.eye(n)
    matrix /= matrix.sum(axis=1, keepdims=True)
    for _ in range(steps):
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(counts > 0, counts * np.log(matrix), 0.0).sum(axis=(1, 2))
        joint = likelihood * np.exp(logs)
        expected = np.tensordot(joint / joint.sum(), counts, axes=1)
        visits = expected.sum(axis=1, keepdims=True)
        matrix = np.where(visits > 0, expected / np.where(visits > 0, visits, 1), matrix)
    return matrix / matrix.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("steps", "n"), [(6, 2), (5, 3)])
def test_theorem_1_for_matrices(steps, n):
    rng = np.random.default_rng(n)
    paths, _ = all_paths(steps, n)
    counts = np.zeros((len(paths), n, n))
    for t in range(1, steps):
        np.add.at(counts, (np.arange(len(paths)), paths[:, t - 1], paths[:, t]), 1)
    for k in range(60):
        losses = rng.exponential(size=(steps, n)) * (1 + 4 * (k % 3))
        likelihood = np.exp(-losses[np.arange(steps), paths].sum(axis=1))
        best = best_transition(likelihood, paths, counts)
        used = rng.dirichlet(np.ones(n), size=n)
        regret = MarkovShare(used).run(losses).sum() - MarkovShare(best).run(losses).sum()
        bound = markov_share_regret(
            horizon=steps, best_transition=best.tolist(), transition=used.tolist()
        )
        assert -1e-3 <= regret <= bound + 1e-3  # the climb has not quite ended


def forced(steps, n, switches, seed=0):
    """Losses that leave one sequence of experts, which switches so often; and L_T(α) of it."""
    rng = np.random.default_rng(seed)
    change = np.zeros(steps, np.int64)
    change[1 + rng.choice(steps - 1, switches, replace=False)] = rng.integers(1, n, switches)
    path = change.cumsum() % n
    losses = np.where(np.arange(n) == path[:, None], 0.0, 1e6)

    def loss(alpha):
        stay = (steps - 1 - switches) * np.log1p(-alpha)
        return np.log(n) - switches * np.log(alpha / (n - 1)) - stay

    return losses, loss


def test_bounds_meet_where_the_minimum_is_sharp():
    """On a forced path β* = 1, and the regret is (T - 1) D(α* ‖ α) to the digit."""
    for steps, switches in ((101, 10), (1001, 300), (5001, 50)):
        losses, loss = forced(steps, 4, switches)
        best = switches / (steps - 1)
        found = best_alpha(losses)
        assert found.alpha == pytest.approx(best, rel=1e-9)
        assert found.loss == pytest.approx(loss(best), rel=1e-12)
        assert found.quality == pytest.approx(1.0, abs=1e-9)
        for alpha in (0.001, 0.2, 0.8):
            regret = FixedShare(4, alpha).run(losses).sum() - loss(best)
            above = fixed_share_regret(horizon=steps, best_alpha=best, alpha=alpha)
            below = fixed_share_regret_floor(
                horizon=steps, best_alpha=best, alpha=alpha, quality=1.0
            )
            assert regret == pytest.approx(above, rel=1e-11)
            assert below == pytest.approx(above, rel=1e-12)


@pytest.mark.parametrize(("best", "alpha"), [(0.2, 0.35), (0.4, 0.1)])
def test_the_floor_rises_to_the_ceiling_as_the_minimum_sharpens(best, alpha):
    ceiling = fixed_share_regret(horizon=20, best_alpha=best, alpha=alpha)
    qualities = [0.0, 0.5, 0.9, 0.99, 0.999, 1 - 1e-6, 1 - 1e-9, 1.0]
    floors = [
        fixed_share_regret_floor(horizon=20, best_alpha=best, alpha=alpha, quality=quality)
        for quality in qualities
    ]
    assert floors == sorted(floors)
    assert floors[-1] == pytest.approx(ceiling, rel=1e-14)
    assert floors[-2] == pytest.approx(ceiling, rel=1e-4)
    assert floors[0] < 0.5 * ceiling
    same = fixed_share_regret_floor(horizon=20, best_alpha=best, alpha=best, quality=0.3)
    assert same == pytest.approx(0.0, abs=1e-14)


def test_a_wrong_rate_costs_in_proportion_to_time_and_learning_it_does_not():
    lengths = [1000, 2000, 4000, 8000]
    wrong, learnt = [], []
    for steps in lengths:
        losses, loss = forced(steps + 1, 3, steps // 10)
        best = loss(0.1)
        wrong.append(FixedShare(3, 0.01).run(losses).sum() - best)
        learnt.append(LearnAlpha(3, horizon=steps).run(losses).sum() - best)
        assert learnt[-1] <= np.log(discretisation_size(horizon=steps)) + 0.5
    np.testing.assert_allclose(np.array(wrong) / lengths, bernoulli_divergence(0.1, 0.01))
    assert learnt[-1] - learnt[0] <= 0.5 * np.log(lengths[-1] / lengths[0]) + 0.1


@pytest.mark.parametrize("steps", [10, 100, 1000, 10_000])
def test_learn_alpha_is_within_log_m_and_a_half_of_the_best_rate(steps):
    rng = np.random.default_rng(steps)
    budget = np.log(discretisation_size(horizon=steps)) + 0.5
    for switching in (0.0, 0.003, 0.1, 0.5, 0.97, 1.0):
        n = int(rng.integers(2, 5))
        path = (np.cumsum((rng.random(steps) < switching) * rng.integers(1, n, steps))) % n
        for noise in (0.0, 1.0, 4.0):
            losses = 2.0 * (np.arange(n) != path[:, None]) + noise * rng.random((steps, n))
            regret = regret_to_best_alpha(LearnAlpha(n, horizon=steps).run(losses), losses)
            assert -SLACK <= regret <= budget + 1e-7


def test_learn_alpha_is_within_log_m_and_a_half_over_a_million_steps():
    steps = 1_000_000
    losses, loss = forced(steps, 2, 1234)
    experts = LearnAlpha(2, horizon=steps)
    regret = experts.run(losses).sum() - loss(1234 / (steps - 1))
    assert 0 <= regret <= np.log(len(experts.alphas)) + 0.5
    assert len(experts.alphas) == 1571
    favourite = experts.alphas[experts.alpha_weights.argmax()]
    assert favourite == pytest.approx(1234 / (steps - 1), rel=0.1)


def test_divergences():
    assert bernoulli_divergence(0.0, 0.3) == pytest.approx(-np.log(0.7))
    assert bernoulli_divergence(1.0, 0.3) == pytest.approx(-np.log(0.3))
    assert bernoulli_divergence(0.3, 0.3) == 0.0
    assert bernoulli_divergence(0.3, 1.0) == np.inf
    assert bernoulli_divergence(0.0, 0.0) == bernoulli_divergence(1.0, 1.0) == 0.0
    tiny = bernoulli_divergence(0.5 + 1e-9, 0.5)
    assert tiny == pytest.approx(2e-18, rel=1e-3)
    assert divergence([0.2, 0.8], [0.5, 0.5]) == pytest.approx(bernoulli_divergence(0.2, 0.5))
    assert divergence([1e-300, 1 - 1e-300], [0.5, 0.5]) == pytest.approx(np.log(2))


def test_one_step_has_no_regret():
    assert fixed_share_regret(horizon=1, best_alpha=0.3, alpha=0.0) == 0.0
    one = markov_share_regret(horizon=1, best_transition=[[1.0]], transition=[[1.0]])
    assert one == 0.0
    assert learn_alpha_regret(horizon=1, best_alpha=0.3, alphas=[0.0, 1.0]) == np.log(2)


def test_sizes():
    for steps in (100, 10_000, 1_000_000):
        size = discretisation_size(horizon=steps)
        assert size == pytest.approx(approximate_size(delta=1 / (2 * steps)), abs=2)
        assert size == pytest.approx(np.pi / 2 * np.sqrt(steps), abs=2)
        half_log = 0.5 * np.log(2 * steps)  # [Mon06]: log m(δ) ≈ -½ log δ
        assert np.log(size) == pytest.approx(half_log, abs=0.2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bernoulli_divergence(1.5, 0.5), r"p is 1.5; it lies in \[0, 1\]"),
        (lambda: divergence([0.5, 0.4], [0.5, 0.5]), "p is .* sums to 1"),
        (lambda: divergence([0.5, 0.5], [1.5, -0.5]), "q is .* sums to 1"),
        (
            lambda: fixed_share_regret(horizon=0, best_alpha=0.1, alpha=0.1),
            "horizon must be .* got 0",
        ),
        (
            lambda: fixed_share_regret(horizon=5, best_alpha=-1, alpha=0.1),
            "best_alpha must be .* got -1",
        ),
        (
            lambda: fixed_share_regret_floor(horizon=5, best_alpha=0.0, alpha=0.1, quality=0.5),
            r"best_alpha must be in \(0, 1\)",
        ),
        (
            lambda: fixed_share_regret_floor(horizon=5, best_alpha=0.5, alpha=0.1, quality=1.5),
            "quality must be .* got 1.5",
        ),
        (
            lambda: relative_quality(horizon=1, best_alpha=0.5, second_derivative=1.0),
            r"horizon must be in \[2, inf\), got 1",
        ),
        (
            lambda: partition_regret(horizon=3, n=4, switches=3),
            "3 switches do not fit into 3 steps",
        ),
        (
            lambda: partition_regret(horizon=3, n=1, switches=1),
            "1 switches do not fit .* 1 experts",
        ),
        (lambda: static_expert_regret(n=0), "n must be .* got 0"),
        (lambda: approximate_size(delta=0.0), "delta must be .* got 0.0"),
    ],
)
def test_bounds_refuse_what_they_do_not_cover(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_quality_has_two_faces():
    losses = np.random.default_rng(9).exponential(size=(30, 3)) * 3
    best = best_alpha(losses)
    assert 0.01 < best.alpha < 0.99
    step = 1e-4
    low, mid, high = fixed_share_losses(losses, best.alpha + step * np.array([-1, 0, 1]))
    second = (low - 2 * mid + high) / step**2
    quality = relative_quality(horizon=len(losses), best_alpha=best.alpha, second_derivative=second)
    assert quality == pytest.approx(best.quality, rel=1e-4)
