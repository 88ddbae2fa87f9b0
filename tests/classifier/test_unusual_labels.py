"""Labels of unusual kinds stay what they are, or are refused."""

import numpy as np
import pytest

from selectron import SelectiveClassifier, load
from selectron.queries import Always, Margin
from selectron.updates import Perceptron, Reflection

RNG = np.random.default_rng(5)
N = 300
X = RNG.standard_normal((N, 4))
Y = np.array(["a", "b", "c", "d"])[np.abs(X).argmax(axis=1)]
TWO = np.where(X[:, 0] > 0, "a", "b")


def plain(**options):
    return SelectiveClassifier(Perceptron(), Margin(b=1.0), random_state=0, **options)


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
