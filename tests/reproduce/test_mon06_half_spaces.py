"""[Mon06] chapter 4 beyond uniform rows and clean labels: version spaces, λ-similar rows, noise."""

from math import erfc, sqrt

import numpy as np
import pytest
from scipy.stats import ks_2samp

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.dkm09 import BLOCK, Job, tightness
from selectron.reproduce.dkm09.labels import patience
from selectron.reproduce.mon06 import noise, similar, version_space
from selectron.reproduce.mon06.noise import KINDS, NoisyWorld
from selectron.reproduce.mon06.similar import SHAPES, SimilarWorld
from selectron.streams.drifting import on_sphere


def said(verdicts):
    return [each["verdict"] for each in verdicts]


# --- the version space


def stay_by_hand(d, seed):
    """Play DKM from its pseudo-code, and hold every label against every hypothesis."""
    rng = np.random.default_rng(seed)
    u = on_sphere(rng, 1, d)[0]
    v, s, right, taught = None, d**-0.5, 0, []
    left = left_by_another = None
    outside, wrong = 0, np.zeros(0, bool)
    for _ in range(20_000 * d // BLOCK + 1):
        for x in on_sphere(rng, BLOCK, d):
            if v is not None and abs(v @ x) > s:
                continue
            if len(taught) == 20 * d:
                return len(taught), left, left_by_another, outside, np.array(taught) @ v <= 0
            outside += wrong.any()
            y = 1.0 if u @ x > 0 else -1.0
            taught.append(y * x)
            if v is None:
                v = y * x
            elif y * (v @ x) < 0:
                v, right = v - 2 * (v @ x) * x, 0
                wrong = np.array(taught[:-1]) @ v <= 0
                left = left or (len(taught) if wrong.any() else None)
                left_by_another = left_by_another or (len(taught) if wrong[1:].any() else None)
            else:
                right += 1
                if right == patience(d):
                    s, right = s / 2, 0
    return len(taught), left, left_by_another, outside, np.array(taught) @ v <= 0


@pytest.mark.parametrize(("d", "seed"), [(2, 0), (2, 3), (5, 1), (10, 2)])
def test_a_run_leaves_the_version_space_when_the_pseudo_code_does(d, seed):
    labels, left, left_by_another, outside, wrong = stay_by_hand(d, seed)
    found = version_space.measure(Job(version_space.DKM, d, seed))
    assert found.labels == labels
    assert (found.left, found.left_by_another) == (left, left_by_another)
    assert (found.outside, found.wrong) == (outside, wrong.sum())
    if d > 2:
        assert 0 < found.left <= found.left_by_another
        assert found.outside > 0


def test_neither_the_latest_row_nor_the_first_counts_as_another(monkeypatch):
    rows = np.array([(1, 0), (0, 1), (-1, 2), (1, 1), (3, 1), (0, 2)], float)
    taught = [(1, (1, 0)), (2, (1, -1)), (3, (-1, 2)), (4, (2, -1)), (6, (2, -1))]
    steps = [(rows[:n], np.array(weights, float)) for n, weights in taught]
    monkeypatch.setattr(version_space, "lessons", lambda *_: iter(steps))
    found = version_space.measure(Job(version_space.PERCEPTRON, 2, 0))
    # (1, -1) is wrong on its latest row alone, (-1, 2) on the first; (2, -1) on three of six
    assert (found.left, found.left_by_another) == (3, 4)
    assert (found.labels, found.outside, found.wrong) == (6, 1 + 2, 3)


def stays(leave=1.0, by_another=0.5):
    rows = [{"learner": name, "d": d, "leave": leave, "by_another": by_another}
            for name in version_space.LEARNERS for d in version_space.DIMENSIONS]  # fmt: skip
    return {"rows": rows}


def test_verdicts_on_the_version_space():
    held, refuted = "holds", "does not hold"
    asked = [each["claim"].startswith("question: ") for each in version_space.verdicts(stays())]
    assert asked == [False, False, True, True]
    assert said(version_space.verdicts(stays())) == [held, held, refuted, held]
    assert said(version_space.verdicts(stays(by_another=0.0))) == [held] * 4
    assert said(version_space.verdicts(stays(0.0, 0.0))) == [refuted, refuted, held, refuted]
    assert said(version_space.verdicts({"rows": []})) == ["not measured"] * 4


def test_the_experiment_on_the_version_space(monkeypatch):
    monkeypatch.setattr(version_space, "DIMENSIONS", (2, 5))
    experiment = EXPERIMENTS["mon06-version-space"]
    shown = experiment.text(experiment.run(1, lambda: None))
    for words in (*version_space.LEARNERS, "the first 20 d labels of 1 runs", "question: (4.3.1)"):
        assert words in shown


# --- rows that are λ-similar to uniform


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("similarity", [0.05, 0.5, 1.0])
def test_no_set_is_likelier_or_rarer_than_similarity_allows(shape, similarity):
    d = 6
    world = SimilarWorld(SHAPES[shape], similarity, d, 1)
    X, uniform = world.judged, on_sphere(np.random.default_rng(0), len(world.judged), d)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
    for a, b in ((world.axis, world.axis), (world.axis, world.target), *np.eye(d).reshape(3, 2, d)):
        for cut in (0.0, 0.1, 0.4):
            ours, theirs = (((rows @ a > cut) & (rows @ b < 0.8)).mean() for rows in (X, uniform))
            noise = 4 * sqrt(max(ours, theirs) / len(X))
            assert similarity * theirs - noise <= ours <= theirs / similarity + noise
    assert world.likely(uniform).mean() == pytest.approx(similarity / (1 + similarity), abs=0.015)
    # as far from uniform as can be, and the far ends are met
    assert world.measured() == pytest.approx(similarity, rel=0.12)


def test_rows_are_likely_where_the_shape_says():
    close = {}
    for name, shape in SHAPES.items():
        world = SimilarWorld(shape, 0.1, 5, 3)
        assert abs(world.axis @ world.target) == pytest.approx(float(shape.of_target), abs=1e-9)
        close[name] = np.abs(world.judged @ world.axis).mean()
        across = world.judged @ np.linalg.svd(world.axis[np.newaxis])[2][1]
        assert abs(across.mean()) < 0.02  # nothing else is preferred
    assert [distance < 0.2 for distance in close.values()] == [True, False, True, False]


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_of_similarity_1_are_uniform(shape):
    world = SimilarWorld(SHAPES[shape], 1.0, 4, 2)
    uniform = on_sphere(np.random.default_rng(5), 20_000, 4)
    for direction in (world.axis, world.target, np.eye(4)[2]):
        assert ks_2samp(world.judged @ direction, uniform @ direction).pvalue > 0.01


def cells(labels=100.0, mistakes=50.0, grown=0.5, reach=1.0):
    return {
        "finest": 0.01, "errors": [0.01],
        "powers": [{"patience": name, "shape": "a", "d": 5, "power": grown}
                   for name in similar.PATIENCES],
        "cells": [{"patience": name, "similarity": s, "labels": [labels], "mistakes": [mistakes],
                   "most_labels": [1e3], "most_mistakes": [1e5],
                   "reach": [reach if name == similar.GROWN else 0.5]}
                  for name in similar.PATIENCES for s in (1.0, 0.1)],
    }  # fmt: skip


def test_verdicts_on_similar_rows():
    assert said(similar.verdicts(cells())) == ["holds"] * 4
    assert said(similar.verdicts(cells(reach=0.9)))[0] == "does not hold"
    assert said(similar.verdicts(cells(labels=2e3)))[1] == "does not hold"
    assert said(similar.verdicts(cells(mistakes=2e5)))[2] == "does not hold"
    assert said(similar.verdicts(cells(grown=15.0)))[3] == "does not hold"


def test_a_bound_that_holds_by_a_thousand_is_far_from_tight():
    _, labels, mistakes, _ = similar.verdicts(cells())
    assert labels["ours"] == "bound over measured, at least: 1.0e+01"
    assert mistakes["ours"] == "bound over measured, at least: 2.0e+03, far from tight"
    assert tightness(999.0) == "1.0e+03"
    assert tightness(1000.0) == "1.0e+03, far from tight"


@pytest.mark.parametrize("power", [0, 2])
def test_the_patience_grows_with_a_power_of_the_similarity(power):
    world = SimilarWorld(SHAPES["far from a plane across"], 0.2, 5, 0, power)
    assert world.machine.states.now.query.patience == np.ceil(patience(5) * 5**power)


def test_the_experiment_on_similar_rows(monkeypatch):
    monkeypatch.setattr(similar, "DIMENSIONS", (5,))
    monkeypatch.setattr(similar, "SIMILARITIES", (1.0, 0.5))
    experiment = EXPERIMENTS["mon06-similar"]
    result = experiment.run(1, lambda: None)
    for name in similar.PATIENCES:
        one = similar.measure(similar.SimilarJob(name, "far from a plane across", 0.5, 5, 0))
        found = next(c for c in result["cells"] if c["shape"] == "far from a plane across"
                     and (c["patience"], c["similarity"]) == (name, 0.5))  # fmt: skip
        assert found["labels"] == [tally.labels for tally in one.tallies]
        assert found["labels"] == sorted(found["labels"])
        shown = experiment.text(result)
        for words in (*SHAPES, "Theorem 7", f"mistakes, d = 5, {name}"):
            assert words in shown
        assert f"{found['labels'][-1]:.0f}" in shown


# --- noise, Gaussian classes, rows with a margin


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("flipped", [0.0, 0.1])
def test_labels_are_flipped_as_often_as_it_says(kind, flipped):
    world = NoisyWorld(noise.LEARNERS[noise.DKM], kind, flipped, 0)
    X, labels = world.labelled(40_000)
    wrong = (labels != world.signs(X)).mean()
    overlap = erfc(noise.BETWEEN / sqrt(2)) / 2 if kind == "Gaussian classes" else 0.0
    assert wrong == pytest.approx(overlap + flipped * (1 - 2 * overlap), abs=0.006)
    assert (labels > 0).mean() == pytest.approx(0.5, abs=0.01)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
    distances = np.abs(X @ world.target)
    assert bool(distances.min() >= noise.GAP - 1e-12) is (kind == "a margin")
    if kind == "a margin":  # beside the gap rows are as they were
        uniform = np.abs(on_sphere(np.random.default_rng(1), 40_000, noise.D)[:, 0])
        assert ks_2samp(distances, uniform[uniform >= noise.GAP]).pvalue > 0.01


def test_the_error_is_the_difference_from_the_best_half_space():
    world = NoisyWorld(noise.LEARNERS[noise.DKM], "Gaussian classes", 0.1, 0)
    world.weights()[:] = world.target
    assert world.error() == 0.0
    world.weights()[:] = -world.target
    assert world.error() == 1.0


def noisy(labels=(50, 40, 30, 20), share=1.0, errors=(0.1, 0.2, 0.3, 0.4)):
    """Return cells in which the learners, in their order, need these labels."""
    return {"cells": [
        {"learner": name, "kind": kind, "noise": flipped, "error": error,
         "reaches": [{"mean": n, "sd": 1.0, "reach": share if name == noise.DKM else 1.0}] * 3}
        for kind in KINDS for flipped in noise.NOISE
        for name, n, error in zip(noise.LEARNERS, labels, errors, strict=True)
    ]}  # fmt: skip


def test_verdicts_on_noise():
    held, refuted = "holds", "does not hold"
    asked = [each["claim"].startswith("question: ") for each in noise.verdicts(noisy())]
    assert asked == [True, True, True, False, False]
    assert said(noise.verdicts(noisy())) == [held, held, refuted, held, refuted]
    more = noise.verdicts(noisy(labels=(30, 40, 50, 20), errors=(0.4, 0.3, 0.2, 0.1)))
    assert said(more) == [held, refuted, held, refuted, held]
    # runs that do not arrive count against a learner, however few labels the others took
    assert said(noise.verdicts(noisy(labels=(30, 40, 50, 20), share=0.9)))[::3] == [refuted, held]


def test_the_experiment_on_noise(monkeypatch):
    monkeypatch.setattr(noise, "NOISE", (0.0, 0.1))
    monkeypatch.setattr(noise, "MOST_ROWS", 4000)
    experiment = EXPERIMENTS["mon06-noise"]
    result = experiment.run(1, lambda: None)
    one = noise.measure(noise.NoisyJob(noise.CBGZ, "a margin", 0.1, 0))
    found = next(c for c in result["cells"] if (c["learner"], c["kind"], c["noise"])
                 == (noise.CBGZ, "a margin", 0.1))  # fmt: skip
    assert [reach["mean"] for reach in found["reaches"]] == one.reached
    assert (found["labels"], found["error"]) == (one.labels, one.error)
    shown = experiment.text(result)
    for words in (*noise.LEARNERS, *KINDS, f"{one.error:.4f}", "after 4,000 rows"):
        assert words in shown
