"""Theorem 4 of [CBGZ06] for Winnow, and our bound for the p-norm Perceptron, over all coins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron.bounds import cbgz06
from tests.theorems.streams import (
    bits,
    comparators,
    hinge_losses,
    hostile,
    noisy,
    orthonormal,
    stubborn,
)
from tests.theorems.subjects import expect, hypotheses

streams = st.one_of(noisy(), hostile())
margins = st.sampled_from([0.25, 1.0, 3.0])
alphas = st.sampled_from([0.1, 0.5, 0.9])


def winnow(play, X, y, alpha, gamma, balanced=False):
    """Play Winnow with the parameters of Theorem 4; the labels asked must be as it says."""
    eta, b = cbgz06.winnow_parameters(
        alpha=alpha, target_margin=gamma, max_norm=float(np.abs(X).max())
    )
    update = ("Winnow", {"eta": eta, "balanced": balanced})
    odds = lambda X, y, played: b / (b + np.abs(played.margins))  # noqa: E731
    expected = expect(play, update, ("Margin", {"b": b}), X, y, odds)
    assert expected.asked == pytest.approx(expected.odds)
    return expected


def theorem_4(X, y, alpha, gamma, expected, us, n_weights):
    return min(
        cbgz06.winnow_mistakes(
            alpha=alpha,
            target_margin=gamma,
            max_norm=float(np.abs(X).max()),
            hinge=expected.updates @ hinge_losses(X, y, u, gamma),
            d=n_weights,
        )
        for u in us
    )


@given(case=streams, alpha=alphas, gamma=margins)
def test_theorem_4_holds(play, case, alpha, gamma):
    X, y = case
    d = X.shape[1]
    us = [*np.eye(d), np.full(d, 1 / d)]
    expected = winnow(play, X, y, alpha, gamma)
    bound = theorem_4(X, y, alpha, gamma, expected, us, d)
    assert expected.faults.sum() <= bound * (1 + 1e-9)


@given(case=streams, alpha=alphas, gamma=margins)
def test_theorem_4_holds_for_balanced_winnow_with_twice_the_weights(play, case, alpha, gamma):
    X, y = case
    fits = [u / max(1.0, np.abs(u).sum()) for u in comparators(X, y)]
    expected = winnow(play, X, y, alpha, gamma, balanced=True)
    bound = theorem_4(X, y, alpha, gamma, expected, fits, 2 * X.shape[1])
    assert expected.faults.sum() <= bound * (1 + 1e-9)


def test_a_stubborn_label_nearly_attains_theorem_4(play):
    X, y = np.tile([1.0, -1.0], (8, 1)), stubborn(8).y
    X[1:, 1] += 1e-6  # so that a return to equal weights is wrong, and no matter of rounding
    us = [np.array([c, 1 - c]) for c in np.linspace(0, 1, 101)]
    for alpha, gamma, share in ((0.7, 2.0, 0.88), (0.9, 5.0, 0.95), (0.5, 1.0, 0.8)):
        expected = winnow(play, X, y, alpha, gamma)
        bound = theorem_4(X, y, alpha, gamma, expected, us, 2)
        assert share * bound <= expected.faults.sum() <= bound


def test_halving_the_candidates_each_round_comes_close_to_theorem_4(play):
    # log₂ d mistakes against 2 ln d; the shift keeps margins off 0, where rounding would decide.
    X = 0.99 * bits(6).X - 0.01
    y = np.ones(6)
    expected = winnow(play, X, y, alpha=0.5, gamma=0.98)
    bound = theorem_4(X, y, 0.5, 0.98, expected, np.eye(64), 64)
    assert 0.69 * bound <= expected.mistakes.sum() <= bound


@given(alpha=st.floats(0.01, 0.99), gamma=st.floats(0.01, 10), X=st.floats(0.01, 10))
def test_the_parameters_of_theorem_4_are_those_its_proof_needs(alpha, gamma, X):
    # There an update is worth γ + |p| - ηX²/2, which must be b + |p|, and the entropy costs ln d/η.
    known = {"alpha": alpha, "target_margin": gamma, "max_norm": X}
    eta, b = cbgz06.winnow_parameters(**known)
    assert b == pytest.approx(gamma - eta * X**2 / 2)
    entropy_term = cbgz06.winnow_mistakes(hinge=0.0, d=7, **known)
    assert entropy_term == pytest.approx(np.log(7) / (eta * b))


@given(case=streams, eta=st.sampled_from([0.1, 0.5, 2.0]))
def test_each_winnow_update_pays_in_relative_entropy(play, case, eta):
    # The step of the proof, for u = the weights at the start, where a wrong eta shows at once.
    X, y = case
    weights = hypotheses(play, ("Winnow", {"eta": eta}), X, y)
    start = np.full(X.shape[1], 1 / X.shape[1])
    weights[0] = start
    gains = y * (X @ start) - y * np.einsum("td,td->t", X, weights[:-1])
    updates = (weights[1:] != weights[:-1]).any(axis=1)
    paid = np.diff([start @ np.log(start / w) for w in weights])
    allowed = eta**2 / 2 * np.abs(X).max() ** 2
    assert (eta * gains + paid <= allowed + 1e-9)[updates].all()


class TestPNorm:
    @staticmethod
    def bound(p, b, gamma, X, y, expected, us):
        q = p / (p - 1)
        return min(
            cbgz06.p_norm_mistakes(
                p=p,
                max_norm=float(np.linalg.norm(X, p, axis=1).max()),
                comparator_norm=float(np.linalg.norm(u, q)) * gamma,
                b=b,
                target_margin=gamma,
                hinge=expected.updates @ hinge_losses(X, y, u * gamma, gamma),
            )
            for u in us
        )

    @given(
        case=streams,
        p=st.sampled_from([2.0, 3.0, 6.0]),
        b=st.sampled_from([0.05, 0.5, 1.0, 4.0]),
        gamma=margins,
    )
    def test_it_holds(self, play, case, p, b, gamma):
        X, y = case
        expected = expect(play, ("PNorm", {"p": p}), ("Margin", {"b": b}), X, y)
        bound = self.bound(p, b, gamma, X, y, expected, comparators(X, y))
        assert expected.faults.sum() <= bound * (1 + 1e-9)

    def test_orthonormal_rows_attain_it_for_p_2(self, play):
        X, y = orthonormal(4)
        expected = expect(play, ("PNorm", {"p": 2.0}), ("Margin", {"b": 0.5}), X, y)
        assert self.bound(2.0, 0.5, 1.0, X, y, expected, [y @ X]) == pytest.approx(4)
        assert expected.mistakes.sum() == 4

    def test_the_factor_p_minus_1_is_needed(self, play):
        # 5 mistakes, and with X² for (p - 1)X² the bound would be below 3; p = 2 ln d, as usual.
        X, y = bits(5, tilt=0.01)
        p = 2 * np.log(32)
        b = np.linalg.norm(X, p, axis=1).max() ** 2 / 2
        expected = expect(play, ("PNorm", {"p": p}), ("Margin", {"b": b}), X, y)
        bound = self.bound(p, b, 1.0, X, y, expected, [np.eye(32)[0]])
        assert expected.mistakes.sum() == pytest.approx(5)
        assert 5 <= bound == pytest.approx(2 * b * p**2 / 4, rel=0.15)

    @given(case=noisy(max_rounds=9), p=st.sampled_from([2.0, 3.0, 6.0]))
    def test_the_weights_are_the_gradient_of_half_the_squared_norm(self, play, case, p):
        X, y = case
        weights = hypotheses(play, ("PNorm", {"p": p}), X, y)
        theta = np.zeros(X.shape[1])
        for t, x in enumerate(X):
            if y[t] * (weights[t] @ x) <= 0:
                theta = theta + y[t] * x
            assert weights[t + 1] @ theta == pytest.approx(np.linalg.norm(theta, p) ** 2)
