"""Estimates of a run from its asked labels alone, beside the truth."""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.estimate import Evidence
from selectron.evaluate import plot_estimates, progressive
from selectron.queries import Always, Balanced, Margin, Uniform
from selectron.updates import Perceptron
from tests.rules.streams import stream

X, Y = stream(n=400)


def traced(query):
    return progressive(SelectiveClassifier(Perceptron(), query), X, Y)


@pytest.fixture(scope="module")
def uniform():
    return traced(Uniform(rate=0.2))


def test_estimates_are_those_of_the_evidence_so_far(uniform):
    shown = uniform.estimates(0.9, every=70)
    assert [e.rounds for e in shown] == [70, 140, 210, 280, 350, 400]
    signs = np.where(uniform.margins > 0, 1, -1)
    for estimate in shown:
        evidence = Evidence(0.2)
        evidence.reach(estimate.rounds)
        told = np.flatnonzero(uniform.asked[: estimate.rounds])
        evidence.add(told, uniform.probabilities[told], signs[told], uniform.signs[told])
        assert evidence.estimate(0.9) == estimate
        assert evidence.estimate(0.9).f1 == estimate.f1


def test_labels_that_were_not_asked_do_not_matter(uniform):
    mistakes = np.where(uniform.asked, uniform.mistakes, ~uniform.mistakes)
    other = type(uniform)(**{**vars(uniform), "mistakes": mistakes})
    assert other.estimates() == uniform.estimates()
    assert len(uniform.estimates()) == 100


def test_the_floor_is_that_of_the_rule_or_given():
    assert all(e.low == e.high == e.error for e in traced(Always()).estimates(every=100))
    hard = traced(Balanced()).estimates(every=400)[-1]
    assert (hard.error, hard.high) == (None, None)
    trace = traced(Margin(b=0.05))
    assert trace.estimates()[-1].high is None
    below = int((trace.probabilities < 0.1).sum())
    given = trace.estimates(explore=0.1)[-1]
    assert below > 0
    assert (given.outside, given.rounds) == (below, 400 - below)


@pytest.mark.parametrize("every", [0, -3])
def test_a_bad_step_is_refused(uniform, every):
    with pytest.raises(ValueError, match="every must be at least 1 round"):
        uniform.estimates(every=every)


def test_the_picture_shows_estimate_band_and_truth(uniform, tmp_path):
    figure = plot_estimates(uniform, tmp_path / "run.png", every=50)
    (axes,) = figure.axes
    shown = uniform.estimates(every=50)
    estimate, truth = axes.lines
    assert estimate.get_ydata().tolist() == [e.error for e in shown]
    assert truth.get_ydata()[-1] == pytest.approx(uniform.error)
    assert len(axes.collections) == 1
    assert axes.get_title() == str(shown[-1])
    assert (tmp_path / "run.png").stat().st_size > 5000
    assert plot_estimates(traced(Balanced())) is not None
