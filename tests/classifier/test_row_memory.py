"""What is kept for a third class, and whom a query rule hears of."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier
from selectron.classifier.memory import MOST_NUMBERS, Memory
from selectron.classifier.rows import read_rows
from selectron.files import Reader
from selectron.loop import Log
from selectron.protocol import (
    advance,
    ask_probability,
    count_class,
    observe,
    unmoved_by_choice,
    unmoved_by_label,
)
from selectron.queries import Always, Budget, Floor
from selectron.spec import QueryRule
from selectron.updates import Perceptron


def kept(memory):
    return [(values.tolist(), sign) for values, _, sign in memory.rows]


def test_the_latest_rows_are_kept_and_no_more_numbers_than_allowed():
    memory, size = Memory(), MOST_NUMBERS // 2
    for sign in (-1.0, 1.0, -1.0, 1.0, 1.0):
        memory.keep(np.full(size, sign), None, sign)
    assert [sign for *_, sign in memory.rows] == [1.0, 1.0]
    assert memory.n_numbers == MOST_NUMBERS
    memory.keep(np.zeros(MOST_NUMBERS + 1), None, 1.0)
    assert len(memory.rows) == memory.n_numbers == 0


@pytest.mark.parametrize("read", [np.asarray, csr_array])
def test_a_batch_keeps_what_its_rows_would(read):
    n, d = 40, MOST_NUMBERS // 8
    X = np.zeros((n, d), np.float32)
    X[:, : d // 2] = np.arange(1, n + 1)[:, np.newaxis]
    rows = read_rows(read(X))
    log = Log.of(n)
    log.asked[::2] = True
    signs = np.where(np.arange(n) % 3, 1, -1).astype(np.int8)
    at_once, one_by_one = Memory(), Memory()
    at_once.keep_asked(rows, signs, log)
    for t in range(0, n, 2):
        one_by_one.keep_row(read_rows(read(X[t : t + 1])), float(signs[t]))
    assert kept(at_once) == kept(one_by_one)
    assert 0 < at_once.n_numbers <= MOST_NUMBERS
    again = Memory.read(Reader(at_once.tensors()), d, X.dtype)
    assert kept(again) == kept(at_once)


def test_fixed_classes_and_booleans_need_no_memory():
    X = np.random.default_rng(0).standard_normal((20, 3))
    numbers, truths = np.arange(20) % 2, np.arange(20) % 2 == 0
    for y, classes, rows in ((numbers, None, 20), (numbers, [0, 1], 0), (truths, None, 2)):
        clf = SelectiveClassifier(Perceptron(), Always())
        for x, label in zip(X, y, strict=True):
            clf.partial_fit(x[np.newaxis], [label], classes=classes)
        assert len(clf._run.memory.rows) <= rows
        assert (len(clf._run.memory.rows) == 20) == (rows == 20)


@dataclass(frozen=True)
class Listening(QueryRule):
    """Ask always, and remember the class last answered."""

    def begin(self, d):
        return ListeningState(-1, 0, 1.0)


class ListeningState(NamedTuple):
    last: int
    n_classes: int
    rate: float


@ask_probability.of(ListeningState)
def certain(query, x, forecast):
    return query.rate


@count_class.of(ListeningState)
def listen(query, k, n_classes):
    return ListeningState(k, n_classes, query.rate)


advance.of(ListeningState)(unmoved_by_choice)
observe.of(ListeningState)(unmoved_by_label)


BUDGET, FLOOR = partial(Budget, total=30), partial(Floor, explore=0.1)


@pytest.mark.parametrize(
    ("n_classes", "around"),
    [
        (4, BUDGET),
        pytest.param(4, FLOOR, marks=pytest.mark.plain),  # compiling takes longer than running
        pytest.param(2, BUDGET, marks=pytest.mark.plain),
        pytest.param(2, FLOOR, marks=pytest.mark.plain),
    ],
)
def test_a_query_rule_is_told_which_class_was_answered(n_classes, around):
    X = np.random.default_rng(0).standard_normal((30, 3))
    y = np.arange(30) % n_classes
    clf = SelectiveClassifier(Perceptron(), around(Listening())).fit(X, y)
    heard = clf._run.machine.states.now.query.rule
    assert (heard.last, heard.n_classes) == (29 % n_classes, n_classes)
    clf.learn_one(X[0], 1)
    assert clf._run.machine.states.now.query.rule.last == 1
