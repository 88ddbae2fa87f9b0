import re

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron.streams import Stream, two_classes

X = np.arange(12.0).reshape(6, 2)
DIGITS = np.array([0, 1, 2, 0, 1, 2])


def test_two_stay_as_they_are():
    stream = Stream(X, np.array(["a", "b"] * 3), "s")
    assert two_classes(stream) is stream


@pytest.mark.parametrize("labels", [DIGITS, DIGITS.astype(float), DIGITS.astype("U1")])
@pytest.mark.parametrize("rows", [X, csr_array(X)])
def test_some_against_the_rest(labels, rows):
    stream = two_classes(Stream(rows, labels, "s"), ["0", "2"])
    assert stream.X is rows
    assert stream.y.tolist() == [True, False, True, True, False, True]
    assert stream.name == "s 0,2 v all"


@pytest.mark.parametrize("rows", [X, csr_array(X)])
def test_some_against_others_drops_the_rest(rows):
    stream = two_classes(Stream(rows, DIGITS, "s"), ["2"], ["0"])
    kept = stream.X.toarray() if hasattr(stream.X, "toarray") else stream.X
    np.testing.assert_array_equal(kept, X[[0, 2, 3, 5]])
    assert stream.y.tolist() == [False, True, False, True]
    assert stream.name == "s 2 v 0"


def test_the_test_rows_are_chosen_the_same_way():
    stream = two_classes(Stream(X, DIGITS, "s", (X[:3], DIGITS[:3])), ["2"], ["0"])
    np.testing.assert_array_equal(stream.test[0], X[[0, 2]])
    assert stream.test[1].tolist() == [False, True]


def test_fractions_and_booleans_are_classes_too():
    stream = two_classes(Stream(X, np.array([0.5, 1.0, 2.0] * 2), "s"), ["0.5"])
    assert stream.y.tolist() == [True, False, False] * 2
    stream = two_classes(Stream(X, np.array([True, False] * 3), "s"), ["True"])
    assert stream.y.tolist() == [True, False] * 3


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_labels_that_are_no_whole_numbers_do_no_harm(odd):
    stream = two_classes(Stream(X, np.array([1.0, odd] * 3), "s"), ["1"])
    assert stream.y.tolist() == [True, False] * 3


ERRORS = {
    "unknown": (["7"], None, "there is no row of class '7'; classes are 0, 1, 2"),
    "unknown on the other side": (["1"], ["7"], "there is no row of class '7'"),
    "only negative": (None, ["1", "2"], "--negative 1,2 needs --positive beside it"),
    "both sides": (["1", "2"], ["2"], "class '2' is on the positive and on the negative side"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_makes_no_two_classes(case):
    positive, negative, message = ERRORS[case]
    with pytest.raises(ValueError, match=re.escape(message)):
        two_classes(Stream(X, DIGITS, "s"), positive, negative)


def test_many_classes_stay_as_they_are():
    stream = Stream(X, DIGITS, "s")
    assert two_classes(stream) is stream


def test_one_class_is_not_enough():
    with pytest.raises(ValueError, match="nothing to tell apart"):
        two_classes(Stream(X, np.zeros(6), "s"))
