"""The rates of section 2.3: to the last digits, symmetric, dense enough, and no denser."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from selectron.bounds.divergence import bernoulli_divergence
from selectron.experts import discretisation_size, optimal_alphas


def decimal_alphas(delta):
    """Do section 2.3 by bisection with 40 digits; return the rates below 1/2."""
    with localcontext() as context:
        context.prec = 40
        one, delta = Decimal(1), Decimal(delta)

        def gap(p, q):
            return p * (p / q).ln() + (one - p) * ((one - p) / (one - q)).ln() - delta

        def root(function, low, high):
            for _ in range(100):
                middle = (low + high) / 2
                low, high = (middle, high) if function(middle) < 0 else (low, middle)
            return low

        alpha, rates, end = one - (-delta).exp(), [], one - Decimal("1e-30")
        while alpha < Decimal("0.5"):
            rates.append(float(alpha))
            last = alpha
            worst = root(lambda x, last=last: gap(x, last), last, end)
            alpha = root(lambda x, worst=worst: gap(worst, x), worst, end)
        return np.array(rates)


@pytest.mark.parametrize("delta", [0.69, 0.5, 0.1, 0.013, 1 / 2000])
def test_rates_are_right_to_1e_12(delta):
    expected = decimal_alphas(delta)
    lower = optimal_alphas(delta)[: len(expected)]
    np.testing.assert_allclose(lower, expected, rtol=1e-13, atol=0)
    assert len(optimal_alphas(delta)) == 2 * len(expected) + 1


@pytest.mark.parametrize("horizon", [1, 2, 7, 100, 27_000, 1_000_000])
def test_rates_are_symmetric_around_one_half(horizon):
    alphas = optimal_alphas(horizon=horizon)
    assert len(alphas) % 2 == 1
    assert alphas[len(alphas) // 2] == 0.5
    assert (np.diff(alphas) > 0).all()
    assert (alphas + alphas[::-1] == 1).all()
    assert alphas[0] == pytest.approx(-np.expm1(-1 / (2 * horizon)), rel=1e-14)


@pytest.mark.parametrize("delta", [0.3, 0.01, 1e-4, 5e-7])
def test_no_rate_is_further_than_delta(delta):
    """Equation 2.12: the worst α* between neighbours (2.14) costs δ; around 1/2 at most that."""
    alphas = optimal_alphas(delta)
    left, right = alphas[:-1], alphas[1:]
    stay = np.log((1 - left) / (1 - right))
    worst = stay / (stay + np.log(right / left))
    cost = np.array([bernoulli_divergence(a, b) for a, b in zip(worst, left, strict=True)])
    other = np.array([bernoulli_divergence(a, b) for a, b in zip(worst, right, strict=True)])
    np.testing.assert_allclose(cost, other, rtol=1e-6)
    middle = len(alphas) // 2
    edges = np.r_[cost[: middle - 1], cost[middle + 1 :]]
    np.testing.assert_allclose(edges, delta, rtol=1e-7)
    assert (cost <= delta * (1 + 1e-7)).all()
    assert bernoulli_divergence(0.0, alphas[0]) == pytest.approx(delta, rel=1e-12)
    assert bernoulli_divergence(1.0, alphas[-1]) == pytest.approx(delta, rel=1e-9)


def test_spacing_is_delta_at_the_edge_and_its_root_in_the_middle():
    alphas = optimal_alphas(1e-6)
    middle = len(alphas) // 2
    assert alphas[1] - alphas[0] < 10e-6
    assert alphas[middle - 1] - alphas[middle - 2] == pytest.approx(np.sqrt(2e-6), rel=0.01)


def test_known_sizes():
    assert discretisation_size(horizon=27_000) == 259
    assert discretisation_size(horizon=2_700) == 83
    assert sum(optimal_alphas(horizon=1000) <= 0.5) == 26
    assert sum(optimal_alphas(horizon=2000) <= 0.5) == 36


def test_a_price_above_log_2_needs_one_half_only():
    assert optimal_alphas(0.7).tolist() == [0.5]
    assert optimal_alphas(100.0).tolist() == [0.5]
    assert len(optimal_alphas(0.6931)) == 3


def test_the_largest_size_is_found_quickly():
    assert discretisation_size(1e-12) == pytest.approx(np.pi / np.sqrt(8e-12), rel=1e-5)
