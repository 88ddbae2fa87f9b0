"""Trackers in files go on exactly; damaged or foreign files are refused."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

import selectron
from selectron import SelectiveClassifier
from selectron.classifier import DamagedFile
from selectron.experts import AdaHedge, FixedShare, LearnAlpha, StaticExpert
from selectron.queries import Always, Budget, Margin
from selectron.streams import drifting
from selectron.tracking import ByMargin, ByMistakes, ForgettingRidge, TrackingClassifier, load
from selectron.updates import Perceptron

FEW = [ForgettingRidge(), ForgettingRidge(memory=None, reset_every=70), Perceptron()]
X, Y, *_ = drifting("flips", 5, n=1500)
NAMES = np.where(Y > 0, "yes", "no")


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"learners": FEW, "query": ByMistakes(), "random_state": 9},
        {"learners": FEW, "experts": LearnAlpha(3, alphas=[0.0, 0.1], eta=AdaHedge(cap=5.0))},
        {"learners": FEW, "experts": FixedShare(3, 0.02, eta=0.2), "query": ByMargin(rate=0.2)},
        {"learners": FEW, "experts": StaticExpert(3, eta=0.2)},
        {"learners": FEW, "eta": 0.3},
    ],
    ids=["default", "mistakes", "adahedge", "fixed-share", "static", "rate"],
)
def test_a_run_goes_on_exactly(tmp_path, params):
    path = tmp_path / "tracker.selectron"
    clf = TrackingClassifier(**params).fit(X[:500], NAMES[:500])
    answer = clf.ask(X[500:700])
    assert answer.asked.any()
    clf.save(path)
    twin = load(path)
    for name in ("learners", "query", "eta", "random_state"):
        assert twin.get_params()[name] == clf.get_params()[name]
    for one in (clf, twin):
        one.tell(answer.tickets[answer.asked], NAMES[500:700][answer.asked])
        one.partial_fit(X[700:], NAMES[700:])
    assert (twin.n_seen_, twin.n_asked_) == (clf.n_seen_, clf.n_asked_)
    np.testing.assert_array_equal(twin.weights_, clf.weights_)
    np.testing.assert_array_equal(twin.decision_function(X), clf.decision_function(X))
    assert twin.classes_.tolist() == ["no", "yes"]
    twin.fit(X[:300], NAMES[:300])
    np.testing.assert_array_equal(
        twin.weights_, TrackingClassifier(**params).fit(X[:300], NAMES[:300]).weights_
    )


@pytest.mark.plain
@pytest.mark.parametrize(
    "query", [Budget(rate=0.2), Budget(rate=0.3, query=Margin(b=0.5))], ids=str
)
def test_a_rule_within_a_rule_is_saved(tmp_path, query):
    clf = TrackingClassifier(FEW, query=query).fit(X[:300], NAMES[:300])
    clf.save(tmp_path / "x")
    twin = load(tmp_path / "x")
    assert twin.query == query
    for one in (clf, twin):
        one.partial_fit(X[300:], NAMES[300:])
    np.testing.assert_array_equal(twin.decision_function(X), clf.decision_function(X))


@pytest.mark.plain
def test_how_long_answers_take_is_saved(tmp_path):
    """What counts as overdue depends on it."""
    clf = TrackingClassifier(FEW, query=Budget(rate=0.5))
    first = clf.ask(X[:200])
    clf.ask(X[200:260])
    clf.tell(first.tickets[first.asked], NAMES[:200][first.asked])
    clf.ask(X[260:700])
    clf.save(tmp_path / "x")
    twin = load(tmp_path / "x")
    tickets = clf._run.tickets
    assert tickets.answers > 0
    assert tickets.fresh_from > 0
    for name in ("answers", "rounds_waited", "fresh_from", "n_overdue"):
        assert getattr(twin._run.tickets, name) == getattr(tickets, name)


def test_foreign_learners_cannot_be_saved(tmp_path):
    clf = TrackingClassifier([SGDClassifier()]).fit(X[:50], NAMES[:50])
    with pytest.raises(TypeError, match="only trackers whose learners are all rules"):
        clf.save(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_damaged_and_other_files_are_refused(tmp_path):
    path, other = tmp_path / "a", tmp_path / "b"
    TrackingClassifier(FEW).fit(X[:50], NAMES[:50]).save(path)
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(DamagedFile, match="SHA-256"):
        load(path)
    path.write_bytes(content[:-9])
    with pytest.raises(DamagedFile, match="truncated"):
        load(path)
    path.write_bytes(content)
    assert type(selectron.load(path)) is TrackingClassifier
    SelectiveClassifier(Perceptron(), Always()).fit(X[:50], NAMES[:50]).save(other)
    with pytest.raises(
        DamagedFile, match="holds a 'SelectiveClassifier', not a TrackingClassifier"
    ):
        load(other)
    with pytest.raises(FileNotFoundError, match="no such file"):
        load(tmp_path / "c")
