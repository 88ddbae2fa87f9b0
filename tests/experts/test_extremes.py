"""Losses of any size that a number can have: the right weights, or a refusal, never nan."""

from fractions import Fraction

import numpy as np
import pytest

from selectron.experts import AdaHedge, FixedShare, StaticExpert
from tests.experts.twins import one_of_each


def exact_weights(losses, eta=1.0):
    """Return e^(-η · total) by whole fractions up to the exponential."""
    totals = [sum(map(Fraction, column)) for column in losses.T.tolist()]
    leads = np.array([float(total - min(totals)) for total in totals])
    shares = np.exp(-eta * leads)
    return shares / shares.sum()


@pytest.mark.parametrize("make", [StaticExpert, lambda n: FixedShare(n, 0.0)])
@pytest.mark.parametrize("size", [1e15, 1e19 / 3, 1e100 / 7, 1e306])
def test_large_totals_that_are_equal_stay_equal(make, size):
    experts = make(2)
    found = experts.run(np.full((30, 2), size))
    np.testing.assert_allclose(found, size, rtol=1e-15)
    assert experts.weights.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("seed", range(20))
def test_small_differences_of_large_totals_are_kept(seed):
    """Totals below 2^66 have low parts below 2^13, so each of 22 sums is right to 2^-40."""
    rng = np.random.default_rng(seed)
    losses = np.concatenate([np.tile(rng.random((18, 1)) * 4e18, 3), rng.random((4, 3))])
    rng.shuffle(losses)
    experts = StaticExpert(3)
    found = experts.run(losses)
    np.testing.assert_allclose(experts.weights, exact_weights(losses), rtol=2 * 22 * 2.0**-40)
    assert (found >= losses.min(axis=1)).all()
    assert (found <= losses.max(axis=1)).all()


def test_large_totals_with_sleepers():
    losses = np.full((40, 3), 1e19 / 3)
    losses[::3, 1] = np.nan
    experts = StaticExpert(3)
    assert np.isfinite(experts.run(losses)).all()
    assert np.isfinite(experts.weights).all()


@pytest.mark.parametrize("eta", [1.0, 1e300, "adahedge"])
def test_totals_beyond_all_numbers_are_refused_and_nothing_is_learnt(eta):
    experts = StaticExpert(2, eta=eta)
    experts.run([[0.0, 1e308], [1.0, 6e307]])
    before = experts.weights.tolist(), experts.state()["high"].tolist()
    with pytest.raises(ValueError, match=r"expert 1 at step 1 is 9e\+307, and .* larger units"):
        experts.run([[0.0, 0.0], [0.0, 9e307]])
    assert (experts.weights.tolist(), experts.state()["high"].tolist()) == before


@pytest.mark.parametrize("prior", [[1e308] * 3, [5e-324] * 3, [1.7e308, 1e308, 1e307]])
def test_priors_of_any_size(prior):
    shares = [float(Fraction(p) / sum(map(Fraction, prior))) for p in prior]
    for experts in one_of_each(3, prior=prior).values():
        np.testing.assert_allclose(experts.weights, shares, rtol=1e-15)


@pytest.mark.parametrize("prior", [[1e-280, 1e308], [1e-300, 1.0]])
def test_a_prior_that_drowns_is_refused(prior):
    with pytest.raises(ValueError, match="the smallest from 1e-280 of the largest"):
        StaticExpert(2, prior=prior)


@pytest.mark.parametrize("size", [1e-305, 1e-308, 1e-309, 5e-324])
@pytest.mark.parametrize("eta", ["adahedge", AdaHedge(10.0), AdaHedge(10.0, cap=1e308)])
def test_a_tuned_rate_for_the_smallest_losses(size, eta):
    losses = np.array([[size, 0.0, 0.0], [0.0, size, 0.0]] * 5)
    for name, experts in one_of_each(3, eta=eta).items():
        found = experts.run(losses)
        assert ((found >= 0) & (found <= size)).all(), name
        np.testing.assert_allclose(experts.weights.sum(), 1.0, err_msg=name)


def test_small_losses_are_told_apart_as_larger_ones_are():
    """Scaling all losses changes no weight, as long as their inverse is a number."""
    losses = np.random.default_rng(0).random((50, 3))
    for name, experts in one_of_each(3, eta="adahedge").items():
        tiny = one_of_each(3, eta="adahedge")[name]
        experts.run(losses)
        tiny.run(losses * 2.0**-1010)
        np.testing.assert_allclose(tiny.weights, experts.weights, rtol=1e-9, err_msg=name)
