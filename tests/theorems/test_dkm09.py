"""[DKM09]: the reflection never errs more, the Perceptron overshoots, and the constants hold."""

from math import acos, atan, cos, degrees, pi, radians, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron.bounds import dkm09
from tests.theorems.streams import separable, stream
from tests.theorems.subjects import faults, hypotheses, play_twin, supervised

PERCEPTRON = ("Perceptron", {"eta": 1.0})
ERRORS, DELTAS = st.floats(1e-6, 0.3), st.floats(1e-6, 0.5)


def on_the_circle(*angles):
    """Rows of length 1 and label +1, each at an angle from u = (0, 1), in degrees."""
    turns = np.radians(angles)
    return stream(np.column_stack([np.sin(turns), np.cos(turns)]), np.ones(len(angles)))


def along(u, weights):
    """Return v·u of each hypothesis, scaled to length 1."""
    return weights @ u / np.sqrt((weights**2).sum(axis=1))


@given(case=separable(), alpha=st.sampled_from([0.1, 0.5, 1.0, 1.5, 2.0]))
def test_relaxation_never_turns_away_from_the_comparator(play, case, alpha):
    (X, y), u = case
    weights = hypotheses(play, ("Reflection", {"alpha": alpha}), X, y)[1:]
    assert (np.diff(along(u, weights)) >= -1e-12).all()


@given(case=separable())
def test_reflection_keeps_its_length_and_makes_wrong_margins_right(play, case):
    (X, y), u = case
    rows = X / np.sqrt((X**2).sum(axis=1))[:, None]
    weights = hypotheses(play, ("Reflection", {"alpha": 2.0}), X, y)[1:]
    assert (weights**2).sum(axis=1) == pytest.approx(np.ones(len(y)))
    before, after = (np.einsum("td,td->t", rows[1:], w) for w in (weights[:-1], weights[1:]))
    wrong = y[1:] * before < 0
    assert after == pytest.approx(np.where(wrong, -before, before), abs=1e-12)
    # Equation (5): each update gains 2|v·x||x·u|.
    gains = np.where(wrong, 2 * np.abs(before * (rows[1:] @ u)), 0.0)
    assert np.diff(weights @ u) == pytest.approx(gains, abs=1e-12)


def test_relaxation_by_more_than_two_would_turn_away():
    # Why alpha ends at 2: v at 45° from u, then a row nearly across u, which at 2 gains little.
    X, y = on_the_circle(45, -89)
    for alpha, turns_away in ((2.0, False), (2.5, True)):
        weights = hypotheses(play_twin, ("Reflection", {"alpha": alpha}), X, y)[1:]
        lost = -np.diff(along(np.array([0.0, 1.0]), weights))[0]
        assert bool(lost > 0) is turns_away


def sines_over_floors(play, X, y, u, start_norm):
    """List sin θ over its floor for each update that lowers θ; row 0 is v_0, of any length."""
    played = supervised(play, PERCEPTRON, X, y)
    weights = hypotheses(play, PERCEPTRON, X, y)
    cosines = np.clip(along(u, weights[1:]), -1, 1)
    ratios = []
    for n_updates, t in enumerate(np.flatnonzero(faults(y, played))[1:]):
        if cosines[t] >= cosines[t - 1]:
            floor = dkm09.perceptron_sine_floor(n_updates=n_updates, start_norm=start_norm)
            sharper = dkm09.perceptron_sine_floor_at(norm=np.sqrt(weights[t] @ weights[t]))
            assert floor <= sharper * (1 + 1e-9)
            ratios.append(sin(acos(cosines[t - 1])) / sharper)
    return ratios


@given(case=separable(), start=st.sampled_from([0.05, 0.1, 0.4, 0.6, 1.0, 3.0, 10.0]))
def test_theorem_1_no_perceptron_update_helps_near_the_target(play, case, start):
    (X, y), u = case
    X = X / np.sqrt((X**2).sum(axis=1))[:, None]
    X[0] *= start
    assert min(sines_over_floors(play, X, y, u, start), default=1) >= 1


@pytest.mark.parametrize(("length", "ratio"), [(0.6, 1.48), (1.0, 1.91), (10.0, 2.49)])
def test_the_worst_update_for_theorem_1_is_across_the_hypothesis(play, length, ratio):
    # It turns v by atan(1/‖v‖), and helps iff θ is at least half of that: the constants 1/3 and
    # 1/5 have a factor of 1.5 to 2.5 to spare.
    half_turn = degrees(atan(1 / length)) / 2
    for excess, helps in ((1.001, True), (0.999, False)):
        theta = half_turn * excess
        X, y = on_the_circle(theta, theta - 90 - 1e-6)
        X[0] *= length
        ratios = sines_over_floors(play, X, y, np.array([0.0, 1.0]), length)
        assert ratios == (pytest.approx([ratio], abs=0.01) if helps else [])


def test_theorem_1_needs_the_third_of_lemma_5_for_a_short_start(play):
    # The first update of a start of length 1/10 at 80° helps; as printed the floor would be 2.
    X, y = on_the_circle(80, -12)
    X[0] *= 0.1
    before, after = along(np.array([0.0, 1.0]), hypotheses(play, PERCEPTRON, X, y)[1:])
    assert after > before
    assert sin(radians(80)) >= dkm09.perceptron_sine_floor(n_updates=0, start_norm=0.1) == 1 / 3


def test_theorem_1_needs_a_start_on_the_side_of_the_target(play):
    # At 179° from u sin θ is below the floor of 1/5, and yet the update helps.
    X, y = on_the_circle(179, 45)
    before, after = along(np.array([0.0, 1.0]), hypotheses(play, PERCEPTRON, X, y)[1:])
    assert after > before
    assert sin(radians(179)) < dkm09.perceptron_sine_floor(n_updates=0, start_norm=1.0)


def test_the_floor_is_the_papers():
    floors = [dkm09.perceptron_sine_floor(n_updates=k, start_norm=0.0) for k in (1, 4, 100)]
    assert floors == pytest.approx([0.2, 0.1, 0.02])
    assert dkm09.perceptron_sine_floor(n_updates=3, start_norm=1.0) == pytest.approx(0.1)


def error_region(d, theta, n, seed=0):
    """Draw |v·x| and |u·x| for uniform rows in the error region, v and u at angle theta."""
    rng = np.random.default_rng(seed)
    plane = np.sqrt(rng.beta(1, (d - 2) / 2, n))  # length of x within the plane of u and v
    phi = theta * rng.random(n)
    return plane * np.sin(phi), plane * np.sin(theta - phi)


@pytest.mark.parametrize("d", [3, 10, 100])
@pytest.mark.parametrize("theta", [1e-3, 0.5, pi / 2])
def test_the_constants_of_lemma_6_hold_on_the_sphere(d, theta):
    to_v, to_u = error_region(d, theta, 100_000)
    shrinkage = 2 * to_v * to_u / (1 - cos(theta)) * d  # of 1 - v·u, in units of 1/d
    assert (shrinkage >= 1 / 50).mean() >= 1 / 3
    assert shrinkage.mean() >= 4 / (27 * pi**2) >= 1 / 150
    assert (shrinkage >= dkm09.ADMISSIBLE_C).mean() >= 63 / 64
    assert (shrinkage >= 0.05).mean() < 63 / 64  # so c cannot be much above 0.01


@given(d=st.integers(1, 10**6), error=ERRORS, delta=DELTAS)
def test_the_mistakes_of_theorem_7_are_enough(d, error, delta):
    # 1 - v·u is at most (1 - 4/(27π²d))^M / δ; then θ/π is below ε because 1 - cos θ ≥ 4θ²/π².
    mistakes = dkm09.modified_perceptron_mistakes(d=d, error=error, delta=delta)
    left = np.exp(mistakes * np.log1p(-4 / (27 * pi**2 * d))) / delta
    assert np.sqrt(left) / 2 <= error
    assert mistakes == pytest.approx(-150 * d * (np.log(error) + np.log(delta)))


def test_the_last_line_of_the_papers_proof_is_not_enough():
    mistakes = dkm09.modified_perceptron_mistakes(d=10, error=0.01, delta=0.05)
    left = np.exp(-mistakes / (150 * 10)) / 0.05
    assert np.sqrt(left) / 2 == pytest.approx(0.05)  # √ε/2, five times the ε wanted


@given(d=st.integers(1, 10**6), error=ERRORS, delta=DELTAS, c=st.floats(1e-6, 0.02))
def test_labels_and_patience_solve_the_equations_of_theorem_3(d, error, delta, c):
    known = {"d": d, "error": error, "delta": delta, "c": c}
    L, R = dkm09.active_labels(**known), dkm09.patience(**known)
    U = dkm09.active_updates(**known)
    last_threshold = error / (2 * np.sqrt(d))
    assert pytest.approx(10 * np.log(2 * L / (delta * R))) == R
    assert pytest.approx(R * (U + np.log2(1 / last_threshold))) == L
    assert pytest.approx(2 * d / c * np.log(pi**2 / (delta * (pi * error) ** 2))) == U
    assert delta / 4 >= L * 0.75**R
    assert dkm09.active_errors(**known) == pytest.approx(64 * U)
    assert np.exp(-U / 4) <= delta / 4  # Chernoff: 64U errors would give more than U updates


@given(d=st.integers(1, 10**6), error=ERRORS, delta=DELTAS, c=st.floats(1e-6, 0.02))
def test_among_the_rows_of_theorem_3_are_more_errors_than_it_allows(d, error, delta, c):
    """Chernoff, where every row errs with probability ε; the two ways to fail share δ/4."""
    known = {"d": d, "error": error, "delta": delta, "c": c}
    expected = error * dkm09.active_rows(**known)
    allowed = dkm09.active_errors(**known)
    assert expected > allowed
    fewer = np.exp(-((expected - allowed) ** 2) / (2 * expected))
    assert fewer + np.exp(-dkm09.active_updates(**known) / 4) <= delta / 4
    assert expected == pytest.approx(128 * dkm09.active_updates(**known))
