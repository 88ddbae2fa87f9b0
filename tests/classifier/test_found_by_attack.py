"""What an attack on many classes, kernels and estimates found, each as a test."""

import copy
import pickle

import numpy as np
import pytest
from scipy.sparse import bsr_array, csc_array, csr_array

from selectron import SelectiveClassifier, load
from selectron.queries import Always, Margin
from selectron.updates import Ballseptron, Perceptron, Reflection, Ridge, SecondOrder

RNG = np.random.default_rng(5)
N = 300
X = RNG.standard_normal((N, 4))
Y = np.array(["a", "b", "c", "d"])[np.abs(X).argmax(axis=1)]
TWO = np.where(X[:, 0] > 0, "a", "b")
POLY = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0}


def plain(**options):
    return SelectiveClassifier(Perceptron(), Margin(b=1.0), random_state=0, **options)


def facts(clf, path):
    """Return what a file says, apart from its own order."""
    clf.save(path)
    again = load(path)
    return again.n_seen_, again.n_asked_, again.classes_.tolist(), again.n_updates_


@pytest.mark.plain
def test_copies_of_a_kernel_learner_predict_as_it_does():
    clf = SelectiveClassifier(Ballseptron(r=0.1), Margin(b=1.0), random_state=0, **POLY).fit(X, Y)
    for twin in (copy.deepcopy(clf), pickle.loads(pickle.dumps(clf)), copy.copy(clf)):
        np.testing.assert_array_equal(twin.decision_function(X), clf.decision_function(X))
        twin.partial_fit(X, Y)
        assert twin.n_seen_ == 2 * N
    assert clf.n_seen_ == N


def test_rounds_without_a_choice_are_outside_of_the_estimate():
    clf = plain(explore=1.0)
    for x in X:
        answer = clf.ask_one(x)
        clf.tell(answer.tickets, "a")
    batch = plain(explore=1.0).partial_fit(X, np.full(N, "a"))
    for learner in (clf, batch):
        assert (learner.estimate().rounds, learner.estimate().outside) == (0, N)
        assert "no round so far was drawn" in str(learner.estimate())
    mixed = plain(explore=1.0).partial_fit(X, TWO)
    single = plain(explore=1.0)
    for x, y in zip(X, TWO, strict=True):
        single.tell(single.ask_one(x).tickets, y)
    first = int(np.argmax(TWO[0] != TWO)) + 1  # rows until two classes were known
    for learner in (mixed, single):
        assert learner.estimate().outside == first
        assert learner.estimate().error == mixed.estimate().error


def test_held_methods_and_subclasses_see_every_call():
    clf = plain()
    for x, y in zip(X[:50], TWO[:50], strict=True):
        clf.learn_one(x, y)
    held, seen = clf.learn_one, clf.n_seen_
    clf.partial_fit(X[50:60], ["c"] * 10)
    held(X[60], "a")
    assert clf.n_seen_ == seen + 11

    class Counting(SelectiveClassifier):
        calls = 0

        def learn_one(self, x, y):
            self.calls += 1
            return super().learn_one(x, y)

    counting = Counting(Perceptron(), Always())
    for x, y in zip(X[:10], TWO[:10], strict=True):
        counting.learn_one(x, y)
    assert counting.calls == 10


@pytest.mark.parametrize("bad", ["label", "row"])
def test_a_batch_refused_before_two_classes_are_known_leaves_nothing(bad, tmp_path):
    clf = SelectiveClassifier(Ridge(), Always()).partial_fit(X[:5], ["a"] * 5)
    before = facts(clf, tmp_path / "m")
    rows, labels = X[5:50].copy(), np.array(["b", "a"] * 22 + ["a"], object)
    if bad == "label":
        labels[40:] = None
    else:
        rows[40] = 1e308
    with pytest.raises(ValueError, match=r"label|margin"):
        clf.partial_fit(rows, labels)
    assert facts(clf, tmp_path / "m") == before


def test_several_labels_are_asked_for_whole_or_not_at_all():
    clf = SelectiveClassifier(Perceptron(), Always()).fit(X, np.stack([TWO == "a", Y == "c"], 1))
    bad = X[:20].copy()
    bad[9] = 1e308
    with pytest.raises(ValueError, match="margin"):
        clf.ask(bad)
    assert clf.n_seen_ == N


def test_a_settled_ticket_brings_no_class():
    clf = plain().partial_fit(X, TWO)
    answer = clf.ask(X)
    ticket = answer.tickets[answer.asked][:1]
    assert clf.tell(ticket, ["a"]) == 1
    assert clf.tell(ticket, ["NEW"]) == 0
    assert clf.tell(answer.tickets[answer.asked][[1, 1]], ["a", "NEW"]) == 1
    assert clf.classes_.tolist() == ["a", "b"] or clf.classes_.tolist() == ["b", "a"]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"update": Perceptron(), **POLY}, marks=pytest.mark.plain),
        pytest.param({"update": SecondOrder()}, marks=pytest.mark.plain),
        {"update": Ridge()},
    ],
    ids=["kernel", "second-order", "ridge"],
)
@pytest.mark.parametrize("label", ["a", "c", "NEW"])
def test_a_row_too_large_leaves_nothing(options, label, tmp_path):
    clf = SelectiveClassifier(query=Always(), **options).partial_fit(X, Y)
    before, scores = facts(clf, tmp_path / "m"), clf.decision_function(X)
    with pytest.raises(ValueError, match=r"too large|margin"):
        clf.learn_one(X[0] * 1e160, label)
    assert facts(clf, tmp_path / "m") == before
    np.testing.assert_array_equal(clf.decision_function(X), scores)


def test_a_readout_of_a_point_and_of_nothing():
    clf = plain(explore=1.0).partial_fit(X[:5], TWO[:5])
    assert "error" in clf.readout()
    given = plain(explore=0.1)
    given.learn_one(X[0], "a")
    assert "no round so far was drawn" in str(given.estimate())
    with pytest.raises(ValueError, match="at least 1, got -5"):
        plain(explore=1.0).partial_fit(X, TWO).outlook(-5)


def test_a_goal_about_two_classes_keeps_a_third_out():
    clf = plain(stop_when="recall>=0.5").partial_fit(X[:50], TWO[:50])
    with pytest.raises(ValueError, match="about two classes"):
        clf.partial_fit(X[50:], np.full(N - 50, "c"))
    assert clf.n_seen_ == 50


def test_looking_at_a_row_settles_nothing():
    clf = plain()
    assert clf.predict_one([1.0, 2.0, 3.0]) is None
    assert clf.partial_fit(X, TWO).n_features_in_ == 4


def test_numbers_of_numpy_go_to_files(tmp_path):
    clf = plain(explore=np.float32(0.5), window=np.int64(40)).fit(X, TWO)
    clf.save(tmp_path / "m")
    assert load(tmp_path / "m").readout() == clf.readout()


def damaged(matrix, entry, pointer):
    matrix.indptr = matrix.indptr.copy()
    matrix.indptr[entry] = pointer
    return matrix


@pytest.mark.plain
@pytest.mark.parametrize("form", [csr_array, csc_array, bsr_array])
@pytest.mark.parametrize(("entry", "pointer"), [(2, 999), (0, 3), (-1, 999), (1, -7)])
def test_pointers_that_lead_out_of_a_matrix_are_refused(form, entry, pointer):
    rows = damaged(form(X[:5]), entry, pointer)
    with pytest.raises(ValueError, match=r"damaged .* indptr must rise from 0 .* make the matrix"):
        plain().fit(rows, TWO[:5])
    clf = plain().fit(csr_array(X), TWO)
    for door in (clf.predict, clf.ask, lambda bad: clf.partial_fit(bad, TWO[:5])):
        with pytest.raises(ValueError, match="damaged"):
            door(rows)
    assert clf.n_seen_ == N


@pytest.mark.plain
def test_matrices_with_too_few_pointers_or_columns_are_refused():
    for part in ("indptr", "indices"):
        rows = csr_array(X[:5])
        setattr(rows, part, getattr(rows, part)[:-2].copy())
        with pytest.raises(ValueError, match="damaged CSR"):
            plain().fit(rows, TWO[:5])


@pytest.mark.plain
def test_pointers_that_lead_out_of_one_row_are_refused():
    clf = plain().fit(csr_array(X), TWO)
    backwards = csr_array((X[0], np.arange(4)[::-1], [0, 4]), shape=(1, 4))
    clf.predict_one(backwards)
    rows = damaged(backwards.copy(), 1, 999), damaged(csc_array(X[:1]), 1, 999)
    for row in rows:
        for one in (clf.predict_one, clf.ask_one, lambda bad: clf.learn_one(bad, "a")):
            with pytest.raises(ValueError, match="damaged"):
                one(row)
        with pytest.raises(ValueError, match="damaged"):
            plain().learn_one(row, "a")
    with pytest.raises(ValueError, match="damaged"):
        plain().learn_one(damaged(csr_array(X[0]), 1, 999), "a")
    assert clf.n_seen_ == N


@pytest.mark.plain
@pytest.mark.parametrize(
    ("labels", "options"),
    [
        (TWO, {}),
        (Y, {}),
        (TWO, {"kernel": "linear"}),
        (np.stack([X[:, 0] > 0, X[:, 1] > 0], axis=1), {}),
    ],
    ids=["two", "many", "kernel", "several"],
)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_margin_that_overflows_is_refused_by_every_door(labels, options, form):
    clf = plain(**options).fit(form(X), labels)
    high = X[:3].copy()
    high[1] = 1.5e308
    for door in (clf.predict, clf.decision_function, clf.ask):
        with pytest.raises(ValueError, match=r"row \d of X gives a margin that is not finite"):
            door(form(high))
    assert clf.n_seen_ == N


@pytest.mark.plain
def test_large_weights_do_not_excuse_an_overflow():
    clf = SelectiveClassifier(Perceptron(), Always())
    clf.learn_one([1e300, 1e300], "b")
    with pytest.raises(ValueError, match="row 0 of X gives a margin that is not finite"):
        clf.predict([[1e10, 1e10]])


@pytest.mark.plain
@pytest.mark.parametrize("labels", [TWO, Y], ids=["two", "many"])
def test_rows_without_a_direction_stay_on_neither_side(labels):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    clf = SelectiveClassifier(Reflection(), Always()).fit(unit, labels)
    for scale in (0.0, 1e-200):
        assert not clf.decision_function(unit[:2] * scale).any()


LARGE = [
    np.array([2**64 - 1, 5], np.uint64),
    [2**63 + 1, 2**63 + 2],
    [3, 2**63 + 1, 2**63 + 2],
    [-1, 2**63 + 1, 2**63 + 2],
    [5, 2**64 + 1, 2**64 + 2],
]


@pytest.mark.plain
@pytest.mark.parametrize("names", LARGE, ids=["uint64", "two", "three", "signed", "beyond"])
def test_whole_numbers_beyond_63_bits_stay_classes_of_their_own(names, tmp_path):
    which = np.arange(N) % len(names)
    y = names[which] if isinstance(names, np.ndarray) else [names[k] for k in which]
    wanted = {int(name) for name in names}

    def always():
        return SelectiveClassifier(Perceptron(), Always(), random_state=0)

    single, told = always(), always()
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label)
        told.tell(told.ask_one(x).tickets, label)
    learners = [
        always().fit(X, y),
        always().fit(X, y, classes=list(names)),
        always().partial_fit(X, y),
        always().partial_fit(X, y, classes=list(names)).partial_fit(X, y),
        always().fit(X, lambda indices: [y[i] for i in indices]),
        single,
        told,
    ]
    for clf in learners:
        assert {int(name) for name in clf.classes_} == wanted
        assert {int(name) for name in clf.predict(X)} <= wanted
        clf.save(tmp_path / "m")
        assert load(tmp_path / "m").classes_.tolist() == clf.classes_.tolist()
        right = [int(a) == int(b) for a, b in zip(clf.predict(X), y, strict=True)]
        assert clf.score(X, y) == np.mean(right)
    assert learners[0].n_updates_ == learners[1].n_updates_


@pytest.mark.plain
def test_fractions_and_infinities_beside_large_numbers_are_no_labels():
    for odd in (0.5, np.inf, np.nan):
        with pytest.raises(ValueError, match=r"continuous|NaN or infinity"):
            plain().fit(X[:3], [2**63 + 1, odd, 2])


@pytest.mark.plain
def test_labels_that_are_no_single_values_are_refused_by_every_door():
    for y in ([{}, {}, {}], [1, {}, "a"]):
        clf = SelectiveClassifier(Perceptron(), Always())
        for door in (clf.fit, clf.partial_fit):
            with pytest.raises(ValueError, match="a label must be a single value"):
                door(X[:3], y)
        with pytest.raises(ValueError, match="a label must be a single value"):
            plain().fit(X[:3], [1, 2, 1], classes=y)


def test_masked_numbers_and_labels_are_refused():
    hidden = np.ma.masked_array(X, mask=np.zeros(X.shape, bool))
    shown = plain().fit(hidden, TWO)
    np.testing.assert_array_equal(shown.coef_, plain().fit(X, TWO).coef_)
    hidden[3, 1] = np.ma.masked
    with pytest.raises(ValueError, match="X has masked entries"):
        plain().fit(hidden, TWO)
    for door in (shown.predict_one, shown.ask_one, lambda x: shown.learn_one(x, "a")):
        with pytest.raises(ValueError, match="X has masked entries"):
            door(hidden[3])
    labels = np.ma.masked_array(TWO, mask=np.arange(N) == 7)
    with pytest.raises(ValueError, match="y has masked labels"):
        plain().fit(X, labels)


def test_several_labels_a_row_name_the_row_that_is_refused():
    flags = np.column_stack([X[:, 0] > 0, X[:, 1] > 0])
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    clf = SelectiveClassifier(Reflection(), Always(), random_state=0).fit(rows, flags)
    broken = rows.copy()
    broken[4] = 0.0
    with pytest.raises(ValueError, match="row 4 of X has norm 0"):
        clf.ask(broken)


@pytest.mark.parametrize("unit", ["ns", "s", "D"])
@pytest.mark.parametrize("door", ["fit", "partial_fit"])
def test_moments_in_time_stay_what_they_are(unit, door):
    early, late, never = (np.datetime64(t, unit) for t in ("2020-01-01", "2021-01-01", "NaT"))
    y = np.where(X[:, 0] > 0, early, late)
    clf = getattr(plain(), door)(X, y).partial_fit(X[:1], y[:1])
    clf.learn_one(X[0], y[0])
    assert clf.classes_.dtype == y.dtype
    assert clf.score(X, y) > 0.8
    assert clf.predict_one(X[0]) in (early, late)
    y[3] = never
    with pytest.raises(ValueError, match="NaN or None"):
        plain().fit(X, y)


def test_a_tuple_is_no_label():
    y = np.empty(N, object)
    y[:] = TWO
    y[5] = ("a", "b")
    for wrong in (lambda: plain().fit(X, y), lambda: plain().partial_fit(X, y, classes=y[:6])):
        with pytest.raises(ValueError, match="a label must be a single value"):
            wrong()
