"""[DKM09], Lemmas 4 and 8 to 11: what the active learner's band holds, on the sphere.

Shares of the sphere are exact: `band_share` is a band, and `wrong_outside` the errors beside a band
(`tests/reproduce/test_sphere.py` holds both against drawn rows). The runs are those of the learner
itself, `Reflection` + `Halving`.
"""

from functools import cache
from math import cos, inf, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron.bounds import dkm09
from selectron.queries import Halving
from selectron.reproduce.dkm09 import World, band_share, inside, wrong_outside
from selectron.streams.drifting import on_sphere
from selectron.updates import Reflection

DIMENSIONS = st.sampled_from([3, 4, 5, 10, 30, 100])
ANGLES = st.floats(1e-6, pi / 2)
SHARES = st.floats(0.01, 1.0)  # of the widest band that a lemma speaks of
RUNS, LABELS, PATIENCE = 12, 300, 27


def share_of_errors_inside(d, theta, width):
    """Return which share of the rows that are predicted wrongly lies in the band."""
    return 1 - wrong_outside(d, theta, width) / (theta / pi)


@given(d=st.integers(2, 10**6), gamma=st.floats(1e-9, 1.0))
def test_lemma_4_a_band_holds_between_a_quarter_of_its_width_and_all_of_it(d, gamma):
    assert gamma / 4 <= band_share(d, gamma / sqrt(d)) <= gamma


@pytest.mark.parametrize("d", [2, 3, 10, 100])
def test_lemma_4_holds_on_rows_as_they_are_drawn(d):
    rng = np.random.default_rng(d)
    margins = np.abs(on_sphere(rng, 40_000, d) @ on_sphere(rng, 1, d)[0])
    for gamma in (0.1, 0.4, 1.0):
        share = (margins <= gamma / sqrt(d)).mean()
        assert gamma / 4 <= share <= gamma


@given(d=DIMENSIONS, theta=ANGLES, share=SHARES)
def test_lemma_9_a_quarter_of_the_rows_of_a_narrow_band_are_errors(d, theta, share):
    width = share * sin(theta) / sqrt(4 * d)
    errors = share_of_errors_inside(d, theta, width) * theta / pi
    assert errors / band_share(d, width) >= 1 / 4


@pytest.mark.parametrize("d", [3, 10, 100])
def test_lemma_9_holds_on_rows_drawn_from_the_band(d):
    rng, theta = np.random.default_rng(d), 0.3
    v, u = np.eye(d)[0], cos(theta) * np.eye(d)[0] + sin(theta) * np.eye(d)[1]
    wrong = {}
    for times in (1, 10):  # a band ten times as wide has fewer
        width = times * sin(theta) / sqrt(4 * d)
        rows = np.array([inside(rng, v, width) for _ in range(2000)])
        wrong[times] = ((rows @ v > 0) != (rows @ u > 0)).mean()
    assert wrong[1] >= 1 / 4 > wrong[10]


@given(d=DIMENSIONS, theta=ANGLES, times=st.floats(1.0, 50.0))
def test_lemma_10_one_error_in_32_is_asked_about(d, theta, times):
    threshold = min(1.0, times * sin(theta) / sqrt(16 * d))
    assert share_of_errors_inside(d, theta, threshold) >= 1 / 32


@pytest.mark.parametrize("d", [3, 10, 100])
@pytest.mark.parametrize("theta", [1e-3, 0.5, pi / 2])
def test_lemma_11_half_of_the_errors_asked_about_are_good_updates(d, theta):
    rng = np.random.default_rng(d)
    v, u = np.eye(d)[0], cos(theta) * np.eye(d)[0] + sin(theta) * np.eye(d)[1]
    rows = np.array([inside(rng, v, sin(theta) / sqrt(16 * d)) for _ in range(8000)])
    rows = rows[(rows @ v) * (rows @ u) < 0]
    lost = 1 - 2 * (rows @ v) * -(rows @ u) / (1 - cos(theta))  # what is left of 1 - v.u
    assert (lost <= 1 - dkm09.ADMISSIBLE_C / d).mean() >= 1 / 2
    assert (lost <= 1 - 0.5 / d).mean() < 1 / 2  # so the half is not for any c


class Watched(NamedTuple):
    """Runs of the learner: the least threshold over its floor, and what became of the errors."""

    least: list[float]  # of each run, s_t over the floor of Lemma 8
    good: list[bool]  # of each update
    mistakes: int  # on all rows, asked about or not


def watch(d, patience):
    least, good, mistakes = [], [], [0] * RUNS
    for seed in range(RUNS):
        world, before = World(Reflection(), Halving(patience), d, seed), None
        least.append(inf)
        for tally, error in world.by_band(LABELS):
            threshold = world.machine.states.now.query.threshold
            least[-1] = min(least[-1], threshold / (sin(pi * error) / sqrt(16 * d)))
            if before is not None and error != before:
                left = (1 - cos(pi * error)) / (1 - cos(pi * before))
                good.append(left <= 1 - dkm09.ADMISSIBLE_C / d)
            before, mistakes[seed] = error, tally.mistakes
    return Watched(least, good, sum(mistakes))


@pytest.fixture(scope="module", params=[3, 10, 50])
def runs(request):
    return watch(request.param, PATIENCE)


def test_lemma_8_the_threshold_does_not_fall_too_soon(runs):
    too_small = sum(ratio < 1 for ratio in runs.least)
    assert too_small / RUNS <= LABELS * 0.75**PATIENCE < 1 / 4


@cache
def fall():
    """Return what is left of the threshold after a run of right answers to the learner itself."""
    world = World(Reflection(), Halving(1), 10, 0)
    first = world.machine.states.now.query.threshold
    for _ in world.by_band(100):
        left = world.machine.states.now.query.threshold / first
        if left < 1:
            return left
    raise AssertionError("the threshold never fell")


@given(d=DIMENSIONS, theta=ANGLES, share=st.floats(0.0, 1.0, exclude_min=True))
def test_lemma_8_a_fall_below_the_floor_needs_unlikely_answers(d, theta, share):
    """The step of the proof: R right answers in a row have odds of (3/4)^R before such a fall.

    The threshold is at the floor or above, and a fall takes it below. It is halved, so it was less
    than twice the floor, where Lemma 9 has an error in four answers.
    """
    floor = sin(theta) / sqrt(16 * d)
    threshold = floor * (1 + share * (1 / fall() - 1))
    errors = share_of_errors_inside(d, theta, threshold) * theta / pi
    assert 1 - errors / band_share(d, threshold) <= 3 / 4


def test_lemma_10_holds_in_runs_of_the_learner(runs):
    assert len(runs.good) >= runs.mistakes / 32


def test_lemma_11_holds_in_runs_of_the_learner(runs):
    assert sum(runs.good) >= len(runs.good) / 2 > 0


def test_a_patience_of_2_breaks_all_three():
    # The bound of Lemma 8 is then above 1: the threshold falls too soon, errors go unasked, and
    # the updates that are left are too close to the hypothesis to be good.
    runs = watch(10, 2)
    assert all(ratio < 1 for ratio in runs.least)
    assert len(runs.good) < runs.mistakes / 32
    assert sum(runs.good) < len(runs.good) / 2
