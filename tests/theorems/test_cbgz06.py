"""Theorems 1 to 3 of [CBGZ06], with every expectation taken over all coin outcomes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron.bounds import cbgz06
from tests.theorems.streams import (
    comparators,
    hinge_losses,
    hostile,
    noisy,
    orthonormal,
    stubborn,
)
from tests.theorems.subjects import expect, faults

PERCEPTRON = ("Perceptron", {"eta": 1.0})
streams = st.one_of(noisy(), hostile())
margins = st.sampled_from([0.25, 1.0, 3.0])
scales = st.sampled_from([0.05, 0.2, 0.5, 1.0, 4.0])


def assert_below(expected, bound):
    assert (expected.mistakes <= expected.faults + 1e-12).all()
    assert expected.faults.sum() <= bound * (1 + 1e-9) + 1e-9


def margin_odds(b):
    return lambda X, y, played: b / (b + np.abs(played.margins))


def test_the_expected_mistakes_count_every_round(play):
    # By hand: w = 1 after the first label; the second is a mistake, asked with 1/(1 + 1).
    X, y = stubborn(2)
    expected = expect(play, PERCEPTRON, ("Margin", {"b": 1.0}), X, y)
    assert expected.mistakes.tolist() == [1.0, 1.0]
    assert expected.asked.tolist() == [1.0, 0.5]


class TestTheorem1:
    def bound(self, b, max_norm, target_margin, X, y, updates):
        return min(
            cbgz06.perceptron_mistakes(
                b=b,
                max_norm=max_norm,
                target_margin=target_margin,
                hinge=updates @ hinge_losses(X, y, u * target_margin, target_margin),
                comparator_norm=np.sqrt(u @ u) * target_margin,
            )
            for u in comparators(X, y)
        )

    @given(case=streams, b=scales, gamma=margins)
    def test_it_holds(self, play, case, b, gamma):
        X, y = case
        expected = expect(play, PERCEPTRON, ("Margin", {"b": b}), X, y, margin_odds(b))
        assert_below(expected, self.bound(b, case.max_norm, gamma, X, y, expected.updates))
        assert expected.asked == pytest.approx(expected.odds)

    @pytest.mark.parametrize("b", [0.5, 1.0, 3.0])
    def test_orthonormal_rows_attain_it(self, play, b):
        # Equality needs u = w/α with α = (2b + X²)/(2γ), and a hinge nowhere cut off: b ≥ ½.
        X, y = orthonormal(4)
        expected = expect(play, PERCEPTRON, ("Margin", {"b": b}), X, y)
        u = y @ X / (b + 0.5)
        bound = cbgz06.perceptron_mistakes(
            b=b,
            max_norm=1.0,
            target_margin=1.0,
            hinge=expected.updates @ hinge_losses(X, y, u, 1.0),
            comparator_norm=np.sqrt(u @ u),
        )
        assert expected.mistakes.sum() == 4
        assert bound == pytest.approx(4)

    @pytest.mark.parametrize("b", [0.5, 1.0, 2.0])
    def test_a_stubborn_label_nearly_attains_it(self, play, b):
        # Here the margin is 1 while the learner waits to ask: 3 + 1/b faults in a long stream.
        X, y = stubborn(10)
        expected = expect(play, PERCEPTRON, ("Margin", {"b": b}), X, y)
        u = -X[0] / (b + 0.5)
        bound = cbgz06.perceptron_mistakes(
            b=b,
            max_norm=1.0,
            target_margin=1.0,
            hinge=expected.updates @ hinge_losses(X, y, u, 1.0),
            comparator_norm=np.sqrt(u @ u),
        )
        assert 0.97 * bound <= expected.faults.sum() <= bound

    @given(
        hinge=st.floats(0, 50), u=st.floats(0.1, 5), X=st.floats(0.1, 5), gamma=st.floats(0.1, 5)
    )
    def test_the_optimal_b_gives_inequality_1_and_no_b_less(self, hinge, u, X, gamma):
        known = {"max_norm": X, "target_margin": gamma, "hinge": hinge, "comparator_norm": u}
        best_b = cbgz06.perceptron_optimal_b(**known)
        least = cbgz06.perceptron_optimal_mistakes(**known)
        assert cbgz06.perceptron_mistakes(b=best_b, **known) == pytest.approx(least)
        for b in (0.7 * best_b, 1.3 * best_b):
            assert cbgz06.perceptron_mistakes(b=b, **known) > least


class TestTheorem2:
    @staticmethod
    def odds(beta):
        def odds_of(X, y, played):
            norms = np.sqrt((X**2).sum(axis=1))
            odds, longest, n_updates = [], 0.0, 0
            for t, update in enumerate(faults(y, played) & played.asked):
                b = beta * max(longest, norms[t]) ** 2 * np.sqrt(1 + n_updates)
                odds.append(b / (b + abs(played.margins[t])))
                if update:
                    longest, n_updates = max(longest, norms[t]), n_updates + 1
            return odds

        return odds_of

    @given(case=streams, beta=scales, gamma=margins)
    def test_it_holds(self, play, case, beta, gamma):
        X, y = case
        query = ("AdaptiveMargin", {"beta": beta})
        expected = expect(play, PERCEPTRON, query, X, y, self.odds(beta))
        bounds = [
            cbgz06.adaptive_mistakes(
                beta=beta,
                max_norm=case.max_norm,
                target_margin=gamma,
                hinge=expected.updates @ hinge_losses(X, y, u * gamma, gamma),
                comparator_norm=np.sqrt(u @ u) * gamma,
            )
            for u in comparators(X, y)
        ]
        assert_below(expected, min(bounds))
        assert expected.asked == pytest.approx(expected.odds)

    def test_orthonormal_rows_nearly_attain_it_when_all_is_asked(self, play):
        X, y = orthonormal(8)
        expected = expect(play, PERCEPTRON, ("AdaptiveMargin", {"beta": 1e5}), X, y)
        known = {"max_norm": 1.0, "target_margin": 1.0, "comparator_norm": np.sqrt(8)}
        bound = cbgz06.adaptive_mistakes(beta=1e5, hinge=0.0, **known)
        assert 0.999 * bound <= expected.mistakes.sum() <= bound

    @given(case=streams, beta=scales)
    def test_the_rate_never_falls_below_its_floor(self, play, case, beta):
        X, y = case
        played = play(PERCEPTRON, ("AdaptiveMargin", {"beta": beta}), X, y, np.zeros(len(y)))
        n_updates = np.cumsum(faults(y, played)) - faults(y, played)
        floors = [cbgz06.adaptive_rate_floor(beta=beta, n_updates=k) for k in n_updates]
        assert (played.probabilities >= np.array(floors) * (1 - 1e-12)).all()
        assert (np.array(floors) >= cbgz06.adaptive_rate_floor(beta=beta)).all()

    @pytest.mark.parametrize("n", [1, 4, 9])
    def test_a_row_along_the_weights_attains_the_floor(self, play, n):
        X = np.vstack([np.eye(n), np.ones(n) / np.sqrt(n)])
        y = np.ones(n + 1)
        played = play(PERCEPTRON, ("AdaptiveMargin", {"beta": 0.3}), X, y, np.zeros(n + 1))
        floor = cbgz06.adaptive_rate_floor(beta=0.3, n_updates=n)
        assert played.probabilities[-1] == pytest.approx(floor)


class TestTheorem3:
    @staticmethod
    def sharp_odds(b, a):
        def odds_of(X, y, played):
            A, odds = a * np.eye(X.shape[1]), []
            for x, margin, update in zip(
                X, played.margins, faults(y, played) & played.asked, strict=True
            ):
                r = x @ np.linalg.solve(A, x)
                odds.append(b / (b + abs(margin) + margin**2 * (1 + r) / 2))
                A = A + update * np.outer(x, x)
            return odds

        return odds_of

    @staticmethod
    def bound(b, gamma, X, y, expected, a=1.0, us=None):
        A = a * np.eye(X.shape[1]) + (X.T * expected.updates) @ X
        return min(
            cbgz06.second_order_mistakes(
                b=b,
                target_margin=gamma,
                hinge=expected.updates @ hinge_losses(X, y, u * gamma, gamma),
                comparator_energy=u @ A @ u * gamma**2,
                log_volume=float(expected.log_volume),
            )
            for u in (comparators(X, y) if us is None else us)
        )

    @given(case=streams, b=scales, gamma=margins, a=st.sampled_from([0.3, 1.0, 2.5]))
    def test_it_holds(self, play, case, b, gamma, a):
        X, y = case
        update = ("SecondOrder", {"a": a})
        expected = expect(play, update, ("Margin", {"b": b}), X, y, margin_odds(b), a)
        assert_below(expected, self.bound(b, gamma, X, y, expected, a))
        assert expected.asked == pytest.approx(expected.odds)

    @given(case=streams, b=scales, gamma=margins, a=st.sampled_from([0.3, 1.0, 2.5]))
    def test_it_holds_for_the_sharper_odds(self, play, case, b, gamma, a):
        X, y = case
        query = ("SecondOrderMargin", {"b": b})
        expected = expect(play, ("SecondOrder", {"a": a}), query, X, y, self.sharp_odds(b, a), a)
        assert_below(expected, self.bound(b, gamma, X, y, expected, a))
        assert expected.asked == pytest.approx(expected.odds)

    @pytest.mark.parametrize("a", [1.0, 4.0])
    @pytest.mark.parametrize("query", ["Margin", "SecondOrderMargin"])
    def test_a_stubborn_label_on_short_rows_nearly_attains_it(self, play, query, a):
        # Short rows: then ln(1 + λ) is as small as λ, and no p² is lost. Only x/√a matters. The
        # stretch makes v = 0 a wrong answer once the learner yields, and no matter of rounding.
        X, y = stubborn(9, scale=0.1 * np.sqrt(a), stretch=1 - 1e-6)
        expected = expect(play, ("SecondOrder", {"a": a}), (query, {"b": 0.02}), X, y, a=a)
        us = [np.array([c]) / np.sqrt(a) for c in np.linspace(-8, 8, 401)]
        bound = self.bound(0.02, 1.0, X, y, expected, a, us)
        assert 0.99 * bound <= expected.faults.sum() <= bound

    def test_the_sharper_odds_leave_little_to_spare(self, play):
        # Twice the quadratic term would break the theorem on this stream.
        X, y = stubborn(11, n=4, scale=0.5, stretch=np.sqrt(1.25))
        query = ("SecondOrderMargin", {"b": 0.6})
        expected = expect(play, ("SecondOrder", {"a": 1.0}), query, X, y)
        us = [np.full(4, c) for c in np.linspace(-2, 2, 201)]
        bound = self.bound(0.6, 1.0, X, y, expected, us=us)
        assert 0.95 * bound <= expected.faults.sum() <= bound

    @given(
        hinge=st.floats(0, 9), u=st.floats(0.1, 50), volume=st.floats(0.1, 50), g=st.floats(0.1, 5)
    )
    def test_the_optimal_b_gives_inequality_13_and_no_b_less(self, hinge, u, volume, g):
        known = {"target_margin": g, "comparator_energy": u, "log_volume": volume}
        best_b = cbgz06.second_order_optimal_b(**known)
        least = cbgz06.second_order_optimal_mistakes(hinge=hinge, **known)
        assert cbgz06.second_order_mistakes(b=best_b, hinge=hinge, **known) == pytest.approx(least)
        for b in (0.7 * best_b, 1.3 * best_b):
            assert cbgz06.second_order_mistakes(b=b, hinge=hinge, **known) > least

    @given(case=noisy(), a=st.floats(0.1, 10))
    def test_the_log_volume_is_that_of_the_matrix(self, case, a):
        X, d = case.X, case.X.shape[1]
        eigenvalues = np.linalg.eigvalsh(X.T @ X)
        volume = np.linalg.slogdet(np.eye(d) + X.T @ X / a)[1]
        assert cbgz06.log_volume_of(eigenvalues=eigenvalues, a=a) == pytest.approx(volume)
