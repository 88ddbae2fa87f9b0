"""The default learner on the sphere: skipping rows changes nothing, and the labels are few."""

import json
from math import log

import numpy as np
import pytest
from scipy.stats import ks_2samp

from selectron.loop import Log
from selectron.numeric.rows import Dense
from selectron.queries import Auto
from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.default import sphere
from selectron.reproduce.default.sphere import (
    DKM,
    growth,
    labels_by_events,
    next_row,
    spread_of,
    summary,
    widest_margin,
)
from selectron.reproduce.dkm09 import World, labels_by_streaming
from selectron.streams.drifting import on_sphere
from selectron.updates import Probit, Reflection

RULES = {"default": (Probit(), Auto(hard=True)), "DKM": (Reflection(), DKM)}


@pytest.mark.parametrize("leak", [0, 1, 4])
def test_the_threshold_grows_as_it_would_row_by_row(leak):
    product = np.prod([1.0 + leak / t for t in range(11, 41)])
    assert growth(10, 40, leak) == pytest.approx(product)
    assert growth(10, 10, leak) == 1.0


@pytest.mark.parametrize("threshold", [0.01, 0.1, 1.0])
def test_no_row_within_the_threshold_is_beyond_the_band(threshold):
    d, rng = 6, np.random.default_rng(2)
    world = World(*RULES["default"], d, 0)
    machine = world.machine
    X = on_sphere(rng, 300, d)
    world.run.play(Dense(X), np.where(X[:, 0] > 0, 1, -1).astype(np.int8))
    (weights,), V = machine.states.now.update.store[:2]
    X = on_sphere(rng, 200_000, d)
    margins = np.abs(X @ weights)
    certain = margins / np.sqrt(np.einsum("ij,jk,ik->i", X, V, X))
    width = widest_margin(spread_of(machine.states.now.update), threshold)
    within = margins[certain <= threshold] / np.linalg.norm(weights)
    assert 0.4 * width < within.max() <= width


@pytest.mark.parametrize("name", RULES)
def test_skipping_rows_is_the_same_as_drawing_them(name):
    """Both ways to the same error need the same labels on average, within three sigma."""
    d, seeds, errors = 6, range(40), np.array([0.1, 0.03, 0.01])
    rules = *RULES[name], d, errors
    skipping = np.array([labels_by_events(*rules, seed, 4000) for seed in seeds], float)
    drawing = np.array([labels_by_streaming(*rules, 100 + seed, 10**6) for seed in seeds], float)
    assert np.isfinite(skipping).all()
    assert np.isfinite(drawing).all()
    spread = np.sqrt(skipping.var(axis=0) / 40 + drawing.var(axis=0) / 40)
    assert (np.abs(skipping.mean(axis=0) - drawing.mean(axis=0)) < 3 * spread).all()


@pytest.mark.parametrize("name", RULES)
def test_the_next_question_is_as_far_and_as_certain(name):
    """From one state: rounds until the next question, and how near the threshold it is."""
    d, rng = 5, np.random.default_rng(5)
    world = World(*RULES[name], d, 0)
    world.rng, machine = rng, world.machine
    X = on_sphere(rng, 2000, d)
    world.run.play(Dense(X), np.where(X[:, 0] > 0, 1, -1).astype(np.int8))
    before, spread = machine.snapshot(), spread_of(machine.states.now.update)

    def question(draw):
        machine.restore(before)
        while True:
            x = draw()
            if x is None:
                continue
            log, state = Log.of(1), machine.states.now
            world.run.play(Dense(x[np.newaxis]), np.ones(1, np.int8), log)
            if log.asked[0]:
                certainty = abs(log.forecasts[0, 0]) / log.forecasts[0, 1]
                return state.query.n_rounds, certainty / state.query.threshold

    skipped = np.array([question(lambda: next_row(world, spread)) for _ in range(600)])
    drawn = np.array([question(lambda: on_sphere(rng, 1, d)[0]) for _ in range(600)])
    for ours, theirs in zip(skipped.T, drawn.T, strict=True):
        assert ks_2samp(ours, theirs).pvalue > 0.01


def test_the_seed_decides_and_a_run_that_does_not_arrive_says_so():
    errors = np.array([0.1, 0.01, 1e-9])
    first, again, other = (
        labels_by_events(*RULES["default"], 8, errors, seed, 200) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert first[-1] is None


def test_the_goals_at_small_scale():
    """Two seeds to 1e-4: the standard error of the mean is about 0.1 d ln(1/eps)."""
    errors = np.array([1e-2, 1e-4])
    for name, d, most in (("default", 20, 3.3), ("DKM", 10, 7.0)):
        runs = [labels_by_events(*RULES[name], d, errors, seed, 200 * d) for seed in (200, 201)]
        labels = np.mean(np.array(runs, float), axis=0)
        assert (labels <= most * d * np.log(1 / errors)).all()


def test_tail_and_floor_keep_the_logarithm():
    d, errors = 20, np.array([1e-2, 1e-3])
    runs = [labels_by_streaming(Probit(), Auto(), d, errors, seed, 10**6) for seed in range(4)]
    labels = np.mean(np.array(runs, float), axis=0)
    assert labels[1] <= 19.5 * d
    assert labels[1] < 2.5 * labels[0]


# --- the table


def test_the_summary_has_means_where_all_arrived():
    errors = np.array([0.1, 0.01])
    whole = summary(errors, [[20, 40], [40, 60]], 10)
    assert whole["labels_per_d"] == [3.0, 5.0]
    assert whole["most_per_efold"] == pytest.approx(3.0 / log(10))
    some = summary(errors, [[20, 40], [40, None]], 10)
    assert some["labels_per_d"] == [3.0, None]
    assert some["most_per_efold"] is None
    assert some["reached"] == [1.0, 0.5]


def test_the_experiment_prints_and_draws(monkeypatch, tmp_path):
    def sample_of(errors):
        return lambda d, seed: [int(3 * d * log(1 / e)) for e in errors]

    curves = {n: c._replace(sample=sample_of(c.errors)) for n, c in sphere.CURVES.items()}
    monkeypatch.setattr(sphere, "CURVES", curves)
    ticks = []
    experiment = EXPERIMENTS["sphere"]
    result = json.loads(json.dumps(experiment.run(2, lambda: ticks.append(1))))
    assert len(ticks) == experiment.steps(2)
    shown = experiment.text(result)
    for learner in curves:
        assert f"\n{learner}\n" in shown
    assert "41.4 | 38.1" in shown.replace("  ", " ")
    assert "3.00 d ln(1/eps); goal 3.30" in shown
    experiment.plot(result, tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 10_000
