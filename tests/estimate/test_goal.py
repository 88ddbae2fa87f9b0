"""Goals, the outlook, and reasons for silence."""

import numpy as np
import pytest

from selectron.estimate import Estimate, Evidence, Goal, labels_to_goal, outlook, why_silent
from tests.estimate.test_evidence import evidence_of, stream


@pytest.mark.parametrize(
    ("text", "measure", "bound"),
    [
        ("error<=0.03", "error", 0.03),
        (" error <= 3e-2 ", "error", 0.03),
        ("precision>=0.9", "precision", 0.9),
        ("recall>=.5", "recall", 0.5),
        ("f1>=0.75", "f1", 0.75),
    ],
)
def test_goals_are_read(text, measure, bound):
    goal = Goal.parse(text)
    assert (goal.measure, goal.bound) == (measure, bound)
    assert Goal.parse(str(goal)) == goal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("error", "a goal reads error<=0.03"),
        ("error<0.03", "a goal reads error<=0.03"),
        ("error<=..", "a goal reads"),
        ("speed<=0.03", "no goal for 'speed'; known are error, risk"),
        ("error>=0.03", "wrong way: a goal reads error<=0.03"),
        ("recall<=0.9", "wrong way: a goal reads recall>=0.9"),
        ("error<=3", "must lie in"),
        ("error<=0", "must lie in"),
    ],
)
def test_bad_goals_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        Goal.parse(text)


def test_a_goal_looks_at_the_end_that_counts():
    error = Goal.parse("error<=0.05")
    assert error.met(Estimate(0.01, 0.0, 0.05, 100, 10, 0.95))
    assert not error.met(Estimate(0.01, 0.0, 0.0501, 100, 10, 0.95))
    assert not error.met(Estimate(None, 0.0, None, 100, 10, 0.95))
    shown = evidence_of(*stream(n=4000)).estimate()
    for measure in ("precision", "recall", "f1"):
        low = getattr(shown, measure).low
        assert Goal(measure, low).met(shown)
        assert not Goal(measure, low + 1e-9).met(shown)


def test_a_goal_says_where_it_stands():
    goal = Goal.parse("error<=0.05")
    assert goal.status(Estimate(0.01, 0.0, 0.04, 100, 10, 0.95, outside=20)) == (
        "goal met at round 120: error at most 4.0 %, wanted at most 5.0 %"
    )
    assert goal.status(Estimate(0.01, 0.0, 0.2, 100, 10, 0.95)) == (
        "too early: error at most 20.0 %, wanted at most 5.0 %"
    )
    assert "cannot be met" in goal.status(Estimate(None, 0.0, None, 100, 10, 0.95))
    assert "recall at least" in Goal.parse("recall>=0.99").status(
        evidence_of(*stream(n=4000)).estimate()
    )


def test_the_outlook_is_what_comes_if_all_goes_on():
    """A stream played twice over has just the interval that was foretold."""
    run = stream(n=2000, seed=3)
    evidence = evidence_of(*run)
    labels = evidence.estimate().labels
    foretold = outlook(evidence, labels)
    twice = evidence_of(*(np.concatenate([part, part]) for part in run)).estimate()
    assert foretold.now == evidence.estimate()
    assert foretold.then.rounds == 4000
    assert foretold.then.labels == 2 * labels
    assert (foretold.then.low, foretold.then.high) == (
        pytest.approx(twice.low, rel=1e-9), pytest.approx(twice.high, rel=1e-9),
    )  # fmt: skip
    widths = [e.high - e.low for e in foretold]
    assert foretold.narrower == pytest.approx(1.0 - widths[1] / widths[0])
    assert 0.2 < foretold.narrower < 0.5
    assert str(foretold).startswith(f"{labels} more labels, in about 2,000 rounds: ")


def test_an_outlook_needs_a_label_and_a_floor():
    with pytest.raises(ValueError, match="no label yet"):
        outlook(Evidence(0.1))
    assert "no upper end" in str(outlook(evidence_of(*stream(), explore=0.0)))
    assert outlook(evidence_of(*stream(), explore=0.0)).narrower == 0.0


def test_labels_to_a_goal_are_enough_and_hardly_more():
    run = stream(n=2000, seed=3, rate=0.05)
    evidence = evidence_of(*run)
    goal = Goal.parse("error<=0.08")
    assert not goal.met(evidence.estimate())
    needed = labels_to_goal(evidence, goal)
    assert goal.met(outlook(evidence, int(1.01 * needed)).then)
    assert not goal.met(outlook(evidence, int(0.97 * needed)).then)
    assert labels_to_goal(evidence, Goal("error", evidence.estimate().high)) == 0
    assert labels_to_goal(evidence, Goal.parse("error<=0.01")) is None


def test_silence_has_its_reason():
    goal, met = Goal.parse("error<=0.05"), Estimate(0.01, 0.0, 0.04, 100, 10, 0.95)
    assert why_silent(0.0, goal=goal, estimate=met).startswith("goal met at round 100")
    open_ = Estimate(0.01, 0.0, 0.4, 100, 10, 0.95)
    assert why_silent(0.0, goal=goal, estimate=open_) == "margin beyond the threshold"
    assert why_silent(0.0, warm_up=7) == "too early: 7 more rounds to measure the rows"
    assert why_silent(0.25) == "not drawn: the odds were 25.0 %"
