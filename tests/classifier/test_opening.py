"""The opening of a stream of texts: of the first rows the worthiest are asked about first."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier, load
from selectron.classifier import machine, rules
from selectron.classifier.progress import watched_batch
from selectron.evaluate import progressive
from selectron.queries import Auto
from selectron.scalings import TextDirections
from selectron.updates import DualProbit

RNG = np.random.default_rng(5)
N, STUDIED = 120, 60
TOPIC = RNG.integers(0, 3, N)
LIKELY = np.where(np.arange(60) // 20 == TOPIC[:, np.newaxis], 0.3, 0.05)
X = csr_array((RNG.random((N, 60)) < LIKELY).astype(float))
TWO, THREE = np.where(TOPIC == 1, "b", "a"), np.array(["a", "b", "c"])[TOPIC]

pytestmark = pytest.mark.plain


@pytest.fixture(autouse=True)
def _short_study(monkeypatch):
    monkeypatch.setattr(machine, "LEAST_STUDIED", 40)
    monkeypatch.setattr(machine, "MOST_STUDIED", STUDIED)
    monkeypatch.setattr(rules, "SHORT", 0)  # batches do not know how long the stream is


def learner(query=None, **more):
    scaling = TextDirections(directions=4, held_back=20)
    return SelectiveClassifier(DualProbit(), query, scaling=scaling, random_state=0, **more)


class Oracle:
    """Answers, and notes whom it was asked about."""

    def __init__(self, y):
        self.y, self.asked = y, []

    def __call__(self, indices):
        self.asked += indices.tolist()
        return self.y[indices]

    def label_of(self, t):
        return self(np.array([t]))[0]


def opened(asked):
    """Return how many questions came before the first whose row lies after a later one."""
    rises = np.flatnonzero(np.diff(asked) < 0)
    return 0 if not len(rises) else int(rises[-1]) + 1


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three"])
def test_every_door_asks_the_same_rows_in_the_same_order(y):
    asked_one, watched = Oracle(y), Oracle(y)
    by_oracle = learner().fit(X, asked_one, classes=np.unique(y))
    by_batch = learner()
    watched_batch(by_batch, X, watched.label_of, np.unique(y))
    by_array = learner().partial_fit(X, y, classes=np.unique(y))
    trace = progressive(learner(), X, y)
    assert watched.asked == asked_one.asked
    assert len(set(asked_one.asked)) == len(asked_one.asked) == by_array.n_asked_ == trace.n_asked
    for clf in (by_batch, by_array, trace.learner):
        np.testing.assert_array_equal(clf.decision_function(X), by_oracle.decision_function(X))


def test_the_worthiest_come_first_and_only_a_share_of_the_rows_that_are_studied():
    asked = Oracle(TWO)
    clf = learner().fit(X, asked, classes=["a", "b"])
    n = opened(asked.asked)
    assert 2 <= n <= 0.2 * STUDIED
    assert max(asked.asked[:n]) < STUDIED
    assert asked.asked[n:] == sorted(asked.asked[n:])
    assert clf.n_seen_ == N
    assert clf.n_asked_ == len(asked.asked)


def test_classes_join_in_the_opening():
    asked = Oracle(THREE)
    clf = learner().fit(X, asked)
    assert set(clf.classes_) == {"a", "b", "c"}
    assert len(set(THREE[asked.asked[: opened(asked.asked)]])) == 3
    assert (clf.predict(X) == THREE).mean() > 0.8


def test_labels_that_are_not_asked_are_never_read():
    asked = Oracle(TWO)
    clean = learner().fit(X, asked, classes=["a", "b"])
    poisoned = np.full(N, "b")
    poisoned[asked.asked] = TWO[asked.asked]
    dirty = learner().fit(X, poisoned, classes=["a", "b"])
    np.testing.assert_array_equal(dirty.decision_function(X), clean.decision_function(X))


def test_a_trace_has_each_row_once_in_the_order_of_rounds():
    trace = progressive(learner(), X, TWO, test=(X, TWO))
    asked = Oracle(TWO)
    learner().fit(X, asked, classes=["a", "b"])
    n = opened(asked.asked)
    left = np.setdiff1d(np.arange(N), asked.asked[:n])
    order = np.concatenate([asked.asked[:n], left])
    np.testing.assert_array_equal(trace.signs, np.where(TWO[order] == "b", 1, -1))
    assert trace.asked[:n].all()
    assert (trace.probabilities[:n] == 1.0).all()
    np.testing.assert_array_equal(trace.test_rounds, np.flatnonzero(trace.updated) + 1)
    assert trace.test_errors[-1] == np.mean(trace.learner.predict(X) != TWO)


def test_what_was_not_known_is_given_up_and_the_stream_goes_on():
    asked = Oracle(TWO)
    clf = learner()

    def label_of(t):
        return None if len(asked.asked) % 3 == 1 and asked.label_of(t) else asked.label_of(t)

    predicted = watched_batch(clf, X, label_of, ["a", "b"])
    assert len(predicted) == N
    assert set(predicted) <= {"a", "b", None}
    assert clf.n_updates_ < len(asked.asked)
    assert not len(clf.waiting)


def test_an_oracle_that_fails_leaves_what_was_learnt():
    class Broken(Exception):
        pass

    class Fails(Oracle):
        def __call__(self, indices):
            if len(self.asked) == 4:
                raise Broken
            return super().__call__(indices)

    clf = learner()
    with pytest.raises(Broken):
        clf.fit(X, Fails(TWO), classes=["a", "b"])
    assert clf.n_asked_ == clf.n_updates_ == 4
    assert clf.partial_fit(X, TWO).n_seen_ == N + 4


def test_a_learner_that_was_told_nothing_is_saved_and_loaded(tmp_path):
    clf = learner()
    watched_batch(clf, X, lambda t: None)
    clf.save(tmp_path / "nothing.selectron")
    assert load(tmp_path / "nothing.selectron").n_seen_ == N
    pool = learner()
    pool.forget(pool.choose(X, 5).tickets)
    pool.save(tmp_path / "pool.selectron")
    load(tmp_path / "pool.selectron")


@pytest.mark.parametrize("bad", [None, 1.5, float("nan"), "unheard of"])
@pytest.mark.parametrize("at", [0, 4])
def test_a_bad_answer_changes_nothing(bad, at):
    asked = Oracle(TWO)

    def oracle(indices):
        return bad if len(asked.asked) == at else asked(indices)

    clf = learner(explore=0.1)
    with pytest.raises(ValueError, match="label"):
        clf.fit(X, oracle, classes=["a", "b"])
    with pytest.raises(ValueError, match="label"):
        clf.partial_fit(X, oracle)
    assert clf.n_asked_ == clf.n_updates_ == at
    assert not len(clf.waiting)


def test_a_label_of_none_is_refused_as_outside_of_the_opening():
    asked = Oracle(TWO)
    learner().fit(X, asked, classes=["a", "b"])
    y = TWO.astype(object)
    y[asked.asked[3]] = None
    with pytest.raises(ValueError, match="None"):
        learner().fit(X, y, classes=["a", "b"])


def test_a_first_question_that_fails_leaves_the_opening_to_come():
    def fails(_):
        raise KeyboardInterrupt

    clf, whole = learner(), learner()
    with pytest.raises(KeyboardInterrupt):
        clf.partial_fit(X, fails, classes=["a", "b"])
    first, then = Oracle(TWO), Oracle(TWO)
    whole.partial_fit(X, first, classes=["a", "b"])
    clf.partial_fit(X, then, classes=["a", "b"])
    assert then.asked == first.asked


def test_a_file_written_in_the_opening_has_no_rows_at_hand(tmp_path):
    clf, asked = learner(), Oracle(TWO)

    def oracle(indices):
        if len(asked.asked) == 5:
            clf.save(tmp_path / "within.selectron")
        return asked(indices)

    clf.partial_fit(X, oracle, classes=["a", "b"])
    assert len(load(tmp_path / "within.selectron").choose(X[:30]).rows) == 1


def test_a_refused_batch_changes_nothing():
    clf, broken = learner(), X.copy()
    broken.data[-1] = np.nan
    with pytest.raises(ValueError, match="row 119"):
        clf.partial_fit(broken, TWO, classes=["a", "b"])
    whole = learner().partial_fit(X, TWO, classes=["a", "b"])
    clf.partial_fit(X, TWO, classes=["a", "b"])
    np.testing.assert_array_equal(clf.decision_function(X), whole.decision_function(X))


def test_an_unknown_label_names_its_row():
    y = TWO.copy()
    asked = Oracle(TWO)
    learner().fit(X, asked, classes=["a", "b"])
    late = asked.asked[-1]
    y[late] = "z"
    with pytest.raises(ValueError, match=rf"label z.* row {late}|label 'z'"):
        learner().fit(X, y, classes=["a", "b"])


def test_a_learner_saved_after_the_opening_goes_on(tmp_path):
    whole = learner().partial_fit(X[:80], TWO[:80], classes=["a", "b"])
    whole.save(tmp_path / "half.selectron")
    half = load(tmp_path / "half.selectron")
    for clf in (whole, half):
        clf.partial_fit(X[80:], TWO[80:])
    assert half.n_asked_ == whole.n_asked_
    np.testing.assert_array_equal(half.decision_function(X), whole.decision_function(X))


def test_the_estimate_knows_the_questions_of_the_opening():
    clf = learner(explore=0.2).fit(X, TWO)
    plain = learner(explore=0.2)
    watched = Oracle(TWO)
    watched_batch(plain, X, watched.label_of, ["a", "b"])
    found = clf.estimate()
    assert found == plain.estimate()
    assert found.low <= found.error <= found.high
    assert found.rounds == N


def test_a_named_query_rule_takes_rows_in_their_order():
    for rows, query in ((X, Auto()), (X[:39], None)):
        asked = Oracle(TWO)
        learner(query).fit(rows, asked, classes=["a", "b"])
        assert asked.asked == sorted(asked.asked)
