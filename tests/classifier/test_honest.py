"""The learner's own estimate of its error: the same whichever way the labels come."""

from dataclasses import replace

import numpy as np
import pytest

from selectron import SelectiveClassifier, load
from selectron.estimate import Evidence, Recent
from selectron.evaluate import progressive
from selectron.queries import Auto, Budget, Floor, Margin, Uniform
from selectron.queries.floor import FloorByCertainty
from selectron.updates import Perceptron

RNG = np.random.default_rng(3)
N = 3000
X = RNG.standard_normal((N, 6))
EARLY = X[:700]
Y = np.where(X @ RNG.standard_normal(6) + 0.3 * RNG.standard_normal(N) > 0, 1, -1)


def learner(**options):
    return SelectiveClassifier(random_state=0, **{"explore": 0.1} | options)


def by_hand(trace, explore, window=None):
    """Return the evidence of a trace, entered round by round."""
    whole, late = Evidence(explore), Recent(window, explore)
    outside = 0
    for t in range(len(trace)):
        outside += trace.probabilities[t] < explore
        for evidence in (whole, late):
            evidence.reach(t + 1, outside=int(outside))
            if trace.asked[t]:
                sign = 1 if trace.margins[t] > 0 else -1
                label = -sign if trace.mistakes[t] else sign
                evidence.add(t, trace.probabilities[t], sign, label)
    return whole.estimate(), late.estimate()


def both(clf):
    return clf.estimate(), clf.estimate(window=clf.window or "half")


def same(one, other):
    for a, b in zip(one, other, strict=True):
        assert (a.rounds, a.labels, a.outside, a.pending) == (
            b.rounds,
            b.labels,
            b.outside,
            b.pending,
        )
        np.testing.assert_allclose(
            [a.error, a.low, a.high], [b.error, b.low, b.high], rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"window": 400},
        {"update": Perceptron(), "query": Margin(b=0.2), "explore": 0.05},
        pytest.param(
            {"query": Budget(total=150, horizon=N), "explore": 0.02}, marks=pytest.mark.plain
        ),
        {"query": Uniform(rate=0.3), "update": Perceptron(), "explore": 0.3},
    ],
)
def test_a_fit_says_what_its_trace_says(options):
    clf = learner(**options)
    trace = progressive(clf, X, Y)
    expected = by_hand(trace, options.get("explore", 0.1), options.get("window"))
    same(both(trace.learner), expected)
    same(both(learner(**options).fit(X, Y)), expected)  # lazily, without the trace's exact odds


def test_every_way_to_learn_says_the_same():
    fitted = learner().partial_fit(X, Y)
    oracle = learner().partial_fit(X, lambda at: Y[at])
    asked, single = learner(), learner()
    for t in range(N):
        answer = asked.ask(X[t : t + 1])
        if answer.asked[0]:
            asked.tell(answer.tickets, Y[t : t + 1])
        if single.ask_one(X[t]).asked:
            single.learn_one(X[t], Y[t])
    for other in (oracle, asked, single):
        assert other.n_asked_ == fitted.n_asked_
        same(both(other), both(fitted))


def test_a_file_keeps_it(tmp_path):
    clf = learner(window=400, stop_when="error<=0.2")
    whole = learner(window=400, stop_when="error<=0.2").partial_fit(X, Y)
    clf.partial_fit(X[:1234], Y[:1234])
    clf.save(tmp_path / "a")
    clf = load(tmp_path / "a").partial_fit(X[1234:], Y[1234:])
    assert clf.readout() == whole.readout()
    assert clf.get_params()["stop_when"] == "error<=0.2"


def test_waiting_answers_count_as_mistakes_above_and_as_none_below():
    clf = learner().partial_fit(X[1000:1200], Y[1000:1200])
    first = clf.ask(X[:1000])
    at = np.flatnonzero(first.asked)
    clf.tell(first.tickets[at[:10]], Y[at[:10]])
    waiting = clf.estimate()
    assert waiting.pending == len(at) - 10
    clf.forget(first.tickets[at[10:12]])
    given_up = clf.estimate()
    assert given_up == replace(waiting, pending=len(at) - 12, lost=2)  # worth the same for ever
    clf.tell(first.tickets[at[12:]], Y[at[12:]])
    now = clf.estimate()
    assert (now.pending, now.lost) == (0, 2)
    assert waiting.low <= now.low <= now.high <= waiting.high


def test_a_refused_batch_is_not_entered():
    clf = learner().partial_fit(X[:500], Y[:500])
    before = clf.readout()
    bad = X[500:900].copy()
    bad[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        clf.partial_fit(bad, Y[500:900])
    assert clf.readout() == before


def test_lessons_nobody_asked_for_are_outside():
    clf = learner().partial_fit(X[:500], Y[:500])
    before = clf.estimate()
    for t in range(500, 600):
        clf.learn_one(X[t], Y[t])
    clf.partial_fit(X[600:601], Y[600:601])
    after = clf.estimate()
    assert after.outside == before.outside + 100
    assert after.rounds == before.rounds + 1


def test_it_stops_when_sure_and_goes_on_predicting():
    clf = learner(stop_when="error<=0.25").fit(X, Y)
    stopped = learner(stop_when="error<=0.25").partial_fit(X[:2000], Y[:2000])
    assert clf.n_asked_ == stopped.n_asked_ < learner().fit(X, Y).n_asked_
    assert "was met at round" in clf.readout()
    later = clf.ask(X[:500])
    assert not later.asked.any()
    assert not later.probabilities.any()
    one = clf.ask_one(X[0])
    assert (one.asked, one.probability if hasattr(one, "probability") else one.probabilities) == (
        False,
        0.0,
    )
    clf.learn_one(X[0], Y[0])
    assert clf.estimate().high <= 0.25 + 1e-9


def test_a_goal_out_of_reach_says_so():
    assert "out of reach" in learner(stop_when="error<=0.012").fit(X, Y).readout()
    assert "the learner still learns" in learner(stop_when="error<=0.001").fit(X, Y).readout()


def test_it_says_why_it_is_silent():
    assert "only measure" in learner().partial_fit(X[:20], Y[:20]).readout()
    spent = learner(query=Budget(total=5)).partial_fit(X, Y)
    assert "the budget is spent" in spent.readout()
    ones = SelectiveClassifier(random_state=0).partial_fit(X, np.ones(N, int))
    assert "only one class so far, 1" in ones.readout()
    late = learner()
    late.ask(X)
    assert "waits for" in late.readout()
    plain = SelectiveClassifier(Perceptron(), Margin(b=0.1)).fit(X, Y)
    assert "explore=0.05" in plain.readout()


def test_stop_when_alone_brings_its_floor():
    clf = SelectiveClassifier(stop_when="error<=0.2", random_state=0).fit(X, Y)
    assert clf.rules_.query == FloorByCertainty(Auto())
    other = SelectiveClassifier(stop_when="recall>=0.9", random_state=0).fit(X, Y)
    assert other.rules_.query == Auto(explore=0.2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"explore": 0.0}, r"explore must lie in \(0, 1\], got 0.0"),
        ({"explore": 1.5}, "got 1.5"),
        ({"explore": float("nan")}, "got nan"),
        ({"explore": "much"}, "got 'much'"),
        ({"window": 10}, "multiple of 4"),
        ({"window": "long"}, "'long'"),
        ({"explore": None, "window": 400}, "set explore too"),
        ({"stop_when": "error<0.03"}, "error<=0.03"),
        ({"stop_when": 0.03}, "0.03"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(ValueError, match=words):
        learner(**options).fit(X, Y)


def test_what_cannot_be_estimated():
    with pytest.raises(ValueError, match=r"explore=0\.05"):
        SelectiveClassifier().fit(X, Y).estimate()
    clf = learner(window=400).fit(X, Y)
    for window in (300, "half"):
        with pytest.raises(ValueError, match="window=400"):
            clf.estimate(window=window)
    with pytest.raises(TypeError, match="a budget goes outside"):
        Floor(Budget(total=5))


def test_many_classes_have_an_error_but_no_recall():
    X, y = EARLY, Y[: len(EARLY)] + 1 + (EARLY[:, 0] > 1.0)
    clf = learner(explore=0.2)
    trace = progressive(clf, X, y)
    shown = trace.learner.estimate()
    wrong = trace.asked & trace.mistakes & (trace.probabilities >= 0.2)
    total = (1.0 / trace.probabilities[wrong]).sum()
    assert shown.error == pytest.approx(total / shown.rounds)
    assert shown.recall.value is None
    with pytest.raises(ValueError, match=r"a goal is error<=0\.05"):
        learner(stop_when="recall>=0.9").fit(X, y)
    asked = learner(explore=0.2)
    asked.partial_fit(X[:1], y[:1], classes=np.unique(y))
    for t in range(1, len(y)):
        if asked.ask_one(X[t]).asked:
            asked.learn_one(X[t], y[t])
    given = learner(explore=0.2).partial_fit(X, y, classes=np.unique(y))
    same([asked.estimate()], [given.estimate()])


@pytest.mark.plain
def test_a_class_that_joins_leaves_the_account_as_it_is():
    n = 1000
    y = np.where(np.arange(n) > 700, Y[:n] + 1 + (X[:n, 0] > 1.0), Y[:n] + 1)
    clf = learner().partial_fit(X[:700], y[:700])
    before = clf.estimate()
    clf.partial_fit(X[700:n], y[700:])
    assert len(clf.classes_) > 2
    after = clf.estimate()
    assert (after.rounds + after.outside, before.rounds + before.outside) == (n, 700)
    assert after.labels > before.labels
