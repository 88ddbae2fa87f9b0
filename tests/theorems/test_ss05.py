"""The D1 and D2 bounds of [SS05] for Ballseptron and Perceptron, and their margin errors."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron.bounds import ss05
from tests.oracles.learners import Ballseptron
from tests.oracles.multiclass import MulticlassBallseptron
from tests.theorems.streams import (
    Stream,
    hinge_losses,
    hostile,
    noisy,
    orthonormal,
    separable,
    stream,
)
from tests.theorems.subjects import faults, hypotheses, supervised

fractions = st.sampled_from([0.0, 0.1, 0.4, 0.7, 1.0])  # of the largest r, and of the largest γ
streams = st.one_of(
    noisy(max_rounds=14), hostile(max_rounds=14), separable().map(lambda case: case[0])
)


class Counts(NamedTuple):
    mistakes: int
    margin_errors: int
    updates: np.ndarray


def count(play, X, y, r, **knobs):
    update = ("Ballseptron", {"r": r} | knobs)
    wrong = faults(y, supervised(play, update, X, y))
    weights = hypotheses(play, update, X, y)
    moved = (weights[1:] != weights[:-1]).any(axis=1)
    return Counts(wrong.sum(), (moved & ~wrong).sum(), wrong | moved)


def directions(X, y):
    """Comparators of length 1: two that fit, and the axes."""
    fits = [y @ X, np.linalg.lstsq(X, y, rcond=None)[0], *np.eye(X.shape[1])]
    return [u / np.sqrt(u @ u) for u in fits if u @ u > 1e-9]


def bounds(case, u, target_margin, r, counts):
    """Return (first term, refined) of the D2 bound and of the D1 bound."""
    known = {"max_norm": case.max_norm, "target_margin": target_margin, "r": r}
    losses = hinge_losses(case.X, case.y, u, target_margin)[counts.updates]
    d1, d2 = losses.sum(), np.sqrt(losses @ losses)
    n = counts.margin_errors
    return (
        (
            ss05.d2_mistakes(hinge_norm=d2, **known),
            ss05.d2_mistakes_refined(hinge_norm=d2, n_margin_errors=n, **known),
        ),
        (
            ss05.d1_mistakes(hinge=d1, **known),
            ss05.d1_mistakes_refined(hinge=d1, n_margin_errors=n, **known),
        ),
    )


@given(case=streams, radius=fractions, share=fractions.filter(bool))
def test_theorems_1_and_2_hold_with_their_refinements(play, case, radius, share):
    target_margin = share * case.max_norm
    r = 0.9999 * radius * ss05.LARGEST_RADIUS * target_margin
    counts = count(play, *case, r)
    for u in directions(*case):
        for first, refined in bounds(case, u, target_margin, r, counts):
            assert refined <= first
            assert counts.mistakes <= refined + 1e-9
            # Ours: a margin error may be taken off twice.
            assert counts.mistakes <= 2 * refined - first + 1e-9


@pytest.mark.parametrize("n", [1, 9])
def test_orthonormal_rows_attain_both_theorems(play, n):
    case = orthonormal(n)
    counts = count(play, *case, 0.0)
    u = np.ones(n) / np.sqrt(n)
    (d2, _), (d1, _) = bounds(case, u, 1 / np.sqrt(n), 0.0, counts)
    assert counts.mistakes == n
    assert (d1, d2) == pytest.approx((n, n))


@pytest.mark.parametrize("target_margin", [1.0, 0.5])
def test_a_comparator_that_knows_nothing_comes_close_to_both_theorems(play, target_margin):
    # n mistakes against (1/γ + √n)²: all that u can say is γ lost in every round.
    case = orthonormal(64)
    padded = Stream(np.hstack([case.X, np.zeros((64, 1))]), case.y)
    counts = count(play, *padded, 0.0)
    for first, _ in bounds(padded, np.eye(65)[-1], target_margin, 0.0, counts):
        assert first == pytest.approx((1 / target_margin + 8) ** 2)
    assert counts.mistakes == 64


def test_margin_errors_are_nearly_worth_twice_the_discount(play):
    # Almost orthogonal rows, each just on the right side: one mistake, then margin errors only.
    n, tilt, r = 12, 1e-6, 1e-5
    X = np.eye(n)
    for t in range(1, n):
        X[t] += tilt * X[:t].sum(axis=0)
    case = stream(X, np.ones(n))
    counts = count(play, *case, r)
    u = X.sum(axis=0) / np.sqrt((X.sum(axis=0) ** 2).sum())
    assert (counts.mistakes, counts.margin_errors) == (1, n - 1)
    for first, refined in bounds(case, u, (X @ u).min(), r, counts):
        assert 2 * refined - first == pytest.approx(1, abs=0.01)


def test_a_radius_that_is_too_large_fails_and_is_refused(play):
    # The paper's example, after Figure 2: the same row T times, r = 2, and T/2 mistakes.
    case = stream(np.ones((10, 1)), np.ones(10))
    assert count(play, *case, 2.0).mistakes == 5
    with pytest.raises(ValueError, match="lower r"):
        ss05.d2_mistakes(max_norm=1.0, target_margin=1.0, hinge_norm=0.0, r=2.0)


@given(case=streams, radius=fractions, share=fractions.filter(bool))
def test_the_worst_point_on_mistakes_too_keeps_the_bounds_of_section_6(play, case, radius, share):
    target_margin = share * case.max_norm
    r = 0.9999 * radius * target_margin
    counts = count(play, *case, r, mistakes_too=True)
    known = {"max_norm": case.max_norm, "target_margin": target_margin, "r": r}
    known["n_margin_errors"] = counts.margin_errors
    for u in directions(*case):
        losses = hinge_losses(*case, u, target_margin)[counts.updates]
        d1, d2 = losses.sum(), np.sqrt(losses @ losses)
        assert counts.mistakes <= ss05.d1_mistakes_too(hinge=d1, **known) + 1e-9
        assert counts.mistakes <= ss05.d2_mistakes_too(hinge_norm=d2, **known) + 1e-9


def test_the_bounds_of_section_6_need_the_margin_that_the_ball_leaves():
    # Rows of margin γ to u, each as far from w as an update allows: w grows along u by γ - r only.
    target_margin, r = 0.2, 0.1
    side = np.sqrt(1.0 - target_margin**2)
    learner, rounds, cosine = Ballseptron(3, r, mistakes_too=True), 0, 1.0
    while cosine >= -1.0:
        turn = np.arccos(cosine) + np.arctan2(learner.weights[2], learner.weights[1])
        learner.learn(np.array([target_margin, side * np.cos(turn), side * np.sin(turn)]), 1.0)
        rounds += 1
        along, *across = learner.weights
        most = r * np.linalg.norm(learner.weights) - target_margin * along - 1e-9  # rounding
        cosine = min(1.0, most / (side * np.hypot(*across)))
    assert learner.n_updates == rounds
    known = {"max_norm": 1.0, "target_margin": target_margin, "hinge": 0.0}
    of_the_row_alone = ss05.d1_mistakes_too(r=0.0, n_margin_errors=0, **known)
    assert 2 * of_the_row_alone < rounds
    known["n_margin_errors"] = learner.n_margin_errors
    assert rounds - learner.n_margin_errors <= ss05.d1_mistakes_too(r=r, **known)


def play_classes(X, labels, n_classes, r, **knobs):
    learner = MulticlassBallseptron(X.shape[1], n_classes, r, **knobs)
    for x, label in zip(X, labels, strict=True):
        learner.learn(x, label)
    return learner


def class_losses(U, X, labels, target_margin):
    scores = X @ U.T
    own = scores[np.arange(len(X)), labels]
    scores[np.arange(len(X)), labels] = -np.inf
    return np.maximum(0.0, target_margin - (own - scores.max(axis=1)))


@given(
    case=noisy(max_rounds=14, dimensions=(2, 3)),
    labels=st.lists(st.integers(0, 2), min_size=14, max_size=14),
    radius=fractions,
    share=fractions.filter(bool),
    too=st.booleans(),
)
def test_the_bounds_hold_for_several_classes_with_both_radii_scaled(
    case, labels, radius, share, too
):
    X, labels = case.X, labels[: len(case.y)]
    largest, d1_mistakes, d2_mistakes = (
        (1.0, ss05.d1_mistakes_too, ss05.d2_mistakes_too)
        if too
        else (ss05.LARGEST_RADIUS, ss05.d1_mistakes_refined, ss05.d2_mistakes_refined)
    )
    r = 0.9999 * radius * largest * share * case.max_norm
    learner = play_classes(X, labels, 3, r, mistakes_too=too)
    max_norm, r = ss05.multiclass_scale(max_norm=case.max_norm, r=r)
    U = np.eye(3, X.shape[1])
    np.add.at(U, labels, X)
    losses = class_losses(U / np.sqrt((U**2).sum()), X, labels, share * max_norm)
    known = {"max_norm": max_norm, "target_margin": share * max_norm, "r": r}
    known["n_margin_errors"] = learner.n_margin_errors
    assert learner.n_mistakes <= d1_mistakes(hinge=losses.sum(), **known) + 1e-9
    norm = np.sqrt(losses @ losses)
    assert learner.n_mistakes <= d2_mistakes(hinge_norm=norm, **known) + 1e-9


def test_two_classes_of_orthonormal_rows_attain_the_multiclass_bound():
    X, labels = np.eye(9), [0] * 9
    assert play_classes(X, labels, 2, 0.0).n_mistakes == 9
    U = np.array([np.ones(9), -np.ones(9)]) / np.sqrt(18)
    max_norm, _ = ss05.multiclass_scale(max_norm=1.0)
    target_margin = 2 / np.sqrt(18)
    assert class_losses(U, X, labels, target_margin) == pytest.approx(0)
    known = {"max_norm": max_norm, "target_margin": target_margin}
    assert ss05.d2_mistakes(hinge_norm=0.0, **known) == pytest.approx(9)
