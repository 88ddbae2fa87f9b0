"""Precision, recall and F-measure: as scikit-learn counts them, of runs, blocks and problems."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_recall_fscore_support

from selectron import SelectiveClassifier
from selectron.evaluate import Found, macro_f1, micro, progressive
from selectron.queries import Always, Margin
from selectron.updates import Perceptron

RNG = np.random.default_rng(3)
X = RNG.standard_normal((400, 4))
TWO = np.where(X[:, 0] + 0.3 * X[:, 1] > 0.8, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.7])]


def named(trace):
    many = len(trace.learner.classes_) > 2
    return trace.learner.classes_[trace.predicted if many else (trace.predicted > 0).astype(int)]


def test_two_classes_count_the_second():
    trace = progressive(SelectiveClassifier(Perceptron(), Margin(b=0.5)), X, TWO)
    wanted = precision_recall_fscore_support(TWO, named(trace), pos_label="yes", average="binary")
    assert (trace.precision, trace.recall, trace.f1) == pytest.approx(wanted[:3])


def test_more_classes_are_averaged():
    trace = progressive(SelectiveClassifier(Perceptron(), Always()), X, THREE)
    wanted = precision_recall_fscore_support(THREE, named(trace), average="macro")
    assert (trace.precision, trace.recall, trace.f1) == pytest.approx(wanted[:3])
    assert micro(trace.found()).f1 == pytest.approx(1.0 - trace.error)


def test_blocks_are_stretches_of_the_run():
    trace = progressive(SelectiveClassifier(Perceptron(), Always()), X, TWO)
    parts = np.split(np.arange(len(X)), [100, 200, 300])
    wanted = [f1_score(TWO[part], named(trace)[part], pos_label="yes") for part in parts]
    assert trace.f1_by_block(4) == pytest.approx(wanted)
    assert micro([trace.found(0, 150)[1], trace.found(150)[1]]) == trace.found()[1]


def test_nothing_found_is_zero_and_problems_are_averaged():
    nothing = Found.among([False, False], [False, False])
    assert (nothing.precision, nothing.recall, nothing.f1) == (0.0, 0.0, 0.0)
    half = Found.among([True, True, False], [True, False, True])
    assert half == Found(1, 2, 2)
    assert macro_f1([nothing, half]) == 0.25
    assert micro([nothing, half]).f1 == 0.5
