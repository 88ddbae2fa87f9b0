"""Over seeded runs of real learners: no bias, and intervals that hold at all times.

The reproduction `estimate-coverage` does the same with thousands of longer runs.
"""

from math import sqrt

import numpy as np
import pytest

from selectron.estimate import Bernstein, Evidence, Recent, Thinning
from selectron.estimate.sums import MISTAKES
from selectron.queries import AdaptiveMargin, Auto, Margin, Uniform
from selectron.reproduce.default.estimate_coverage import (
    Case,
    breaks,
    gather,
    judge,
    path_of,
    play,
)
from selectron.updates import Perceptron, Ridge

RUNS, ROUNDS = 200, 1000
ALLOWED = 0.05 * RUNS + 3.0 * sqrt(0.05 * 0.95 * RUNS)  # 19 of 200
CASES = [
    Case("margin", Perceptron(), Margin(b=0.5), 0.02),
    Case("adaptive", Perceptron(), AdaptiveMargin(beta=0.1), 0.09),
    Case("uniform", Ridge(), Uniform(rate=0.05), 0.05),
    Case("default", None, Auto(explore=0.05), 0.05),
    Case("drift", Ridge(), Margin(b=0.05), 0.03, "new concepts"),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def runs(request):
    return [judge(request.param, 500 + seed, ROUNDS) for seed in range(RUNS)]


def test_the_estimate_has_no_bias(runs):
    for kind in ("error", "guessed"):
        off = np.array([run[kind] - run["truth"] for run in runs])
        assert abs(off.mean()) < 3.5 * off.std(ddof=1) / sqrt(RUNS)
        assert off.std() < 0.2


def test_the_claims_hold(runs):
    for name in ("thinning", "bernstein"):
        assert sum(any(run[f"{name} off"]) for run in runs) <= ALLOWED
        assert sum(run[f"{name} windows off"] for run in runs) <= ALLOWED
    for measure in range(3):
        assert sum(run["ratios off"][measure] for run in runs) <= ALLOWED


def test_a_normal_interval_would_not(runs):
    """So the runs are hard enough to find out who is wrong, even with four looks."""
    assert sum(run["normal off"] for run in runs) > 0.05 * RUNS


def test_breaking_a_claim_is_seen():
    """A floor above the true odds, or forgotten odds, breaks nearly every run."""
    case = CASES[2]
    wrong_odds = [play(case, seed, 4000) for seed in range(20)]
    paths = [
        path_of(played._replace(odds=np.ones_like(played.odds)), 0.05, MISTAKES)
        for played in wrong_odds
    ]
    for construction in (Thinning(), Bernstein()):
        assert np.mean([any(breaks(path, construction, 0.05)) for path in paths]) > 0.9


def test_what_is_judged_is_what_is_reported():
    """The true error leaves the reported interval, at a level of 50 %, if the judge says so."""
    judged, case = [], Case("weak", Ridge(), Uniform(rate=0.3), 0.3)
    for seed in range(40):
        played = play(case, seed, 200)
        wrong = played.predicted != played.labels
        evidence, left = Evidence(case.explore), [False, False]
        for t in range(200):
            evidence.reach(t + 1)
            if played.asked[t]:
                evidence.add(t, played.odds[t], played.predicted[t], played.labels[t])
            if wrong[t]:
                shown = evidence.estimate(0.5)
                total = wrong[: t + 1].sum() / (t + 1)
                left[0] |= bool(shown.high < total - 1e-9)
                left[1] |= bool(shown.low > total + 1e-9)
        path = path_of(played, case.explore, MISTAKES)
        assert tuple(left) == breaks(path, Thinning(), case.explore, 0.5)
        assert evidence.estimate() == gather(case, played).estimate()
        judged.append(left)
    assert 0 < np.sum(judged) < 40


def test_windows_hold_through_a_jump():
    """The error jumps from 2 to 40 %: the window follows, and is hardly ever wrong."""
    left, follows, runs, every = 0, 0, 40, 100
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        labels = np.where(rng.random(2400) < np.where(np.arange(2400) < 1200, 0.02, 0.4), -1, 1)
        asked = rng.random(2400) < 0.2
        recent, ever = Recent(400, 0.2), False
        for reached in range(every, 2401, every):
            recent.reach(reached)
            told = reached - every + np.flatnonzero(asked[reached - every : reached])
            alike = np.ones(len(told), int)
            recent.add(told, 0.2 * alike, alike, labels[told])
            shown = recent.estimate()
            truth = (labels[reached - shown.rounds : reached] < 0).mean()
            ever |= not shown.low <= truth + 1e-9 <= shown.high + 2e-9
        left += ever
        follows += recent.estimate().low > 0.1
    assert left <= runs * 0.05 + 3 * sqrt(runs * 0.05 * 0.95)
    assert follows > 0.9 * runs
