"""Labels whose types NumPy would change: the same classes by every door, or a clear refusal."""

import numpy as np
import pytest

from selectron import SelectiveClassifier, load
from selectron.queries import Always
from selectron.updates import Perceptron

pytestmark = pytest.mark.plain
X = np.random.default_rng(0).standard_normal((6, 3))


def fresh():
    return SelectiveClassifier(Perceptron(), Always())


def fit(y):
    return fresh().fit(X, y)


def partial_fit(y):
    return fresh().partial_fit(X, y)


def told_the_classes(y):
    return fresh().partial_fit(X, y, classes=list(dict.fromkeys(y)))


def one_by_one(y):
    clf = fresh()
    for x, label in zip(X, y, strict=True):
        clf.learn_one(x, label)
    return clf


def by_tickets(y):
    clf = fresh()
    clf.tell(clf.ask(X).tickets, y)
    return clf


def by_an_oracle(y):
    return fresh().partial_fit(X, lambda positions: [y[i] for i in positions])


DOORS = [fit, partial_fit, told_the_classes, one_by_one, by_tickets, by_an_oracle]


def in_order(classes):
    return sorted(classes, key=repr)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "y",
    [
        [1, "a", 1, "a", 1, "a"],
        [1, "1", 1, "1", 1, "1"],
        [1, "a", 2.0, "a", 1, 2.0],
        [True, "True", True, "True", True, "True"],
        [b"a", "a", b"a", "a", "b", "b"],
        ["a", "bcd", "a", "bcd", "a", "a"],
    ],
    ids=str,
)
def test_a_label_keeps_its_type(door, y):
    clf = door(y)
    wanted = list(dict.fromkeys(y))
    assert in_order(clf.classes_.tolist()) == in_order(wanted)
    assert {type(label) for label in clf.classes_.tolist()} == {type(label) for label in wanted}
    assert set(clf.predict(X).tolist()) <= set(wanted)
    assert clf.score(X, y) == np.mean([a == b for a, b in zip(clf.predict(X), y, strict=True)])


def test_mixed_classes_are_saved(tmp_path):
    clf = partial_fit([1, "1", 1, "1", 1, "1"])
    clf.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.classes_.tolist() == [1, "1"]
    assert again.partial_fit(X, [1, "1"] * 3).classes_.tolist() == [1, "1"]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("y", [[True, 2, 1, 2, True, 2], [1, 2.0, 1.0, 2, True, 2]], ids=str)
def test_equal_numbers_are_one_class(door, y):
    assert sorted(door(y).classes_.tolist()) == [1, 2]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([None, "a", "b", "a", "b", "a"], "None"),
        ([None, 1, 2, 1, 2, 1], "None"),
        ([1.0, np.nan, 2.0, 1.0, 2.0, 1.0], "(?i)nan"),
    ],
    ids=str,
)
def test_nothing_is_no_label(door, y, message):
    if door is by_tickets and y[0] is None:
        pytest.skip("None answers a question: nobody knows (test_waiting.py)")
    with pytest.raises(ValueError, match=message):
        door(y)


@pytest.mark.parametrize("door", [door for door in DOORS if door is not told_the_classes])
@pytest.mark.parametrize("y", [[1, 2.5, 1, 2.5, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]], ids=str)
def test_fractions_are_no_labels(door, y):
    with pytest.raises(ValueError, match="Labels must be classes"):
        door(y)
