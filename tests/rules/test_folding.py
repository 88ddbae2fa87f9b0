"""Predictions of many rows: scaling and weights folded into one, beside presented rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier
from selectron.classifier.machine import written
from selectron.loop import run_margins, run_scores
from selectron.numeric.rows import Csr, Dense
from selectron.scalings import Centred
from selectron.updates import Rehearsal, Ridge, SecondOrder


def pictures(n, d=40, seed=0):
    """Return rows that are not negative, two alike columns, and the number of the largest block."""
    draw = np.random.default_rng(seed)
    X = draw.gamma(2.0, size=(n, d))
    y = X.reshape(n, 4, -1).sum(axis=2).argmax(axis=1)
    X[np.arange(n), y * (d // 4)] += 6.0
    return X, y


def presented(machine, rows, n_classes):
    if n_classes > 2:
        return written(machine.states, run_scores, rows, np.empty((rows_in(rows), n_classes)))
    return written(machine.states, run_margins, rows, np.empty(rows_in(rows)), True)


def rows_in(rows):
    return len(rows.values) if isinstance(rows, Dense) else len(rows.starts) - 1


def as_rows(X, sparse):
    if not sparse:
        return Dense(X)
    sparse = csr_array(X)
    columns = sparse.indices.astype(np.uint32), sparse.indptr.astype(np.int64)
    return Csr(sparse.data, *columns, X.shape[1])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("dtype", "off"), [(np.float64, 1e-13), (np.float32, 1e-6)])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_scores_are_those_of_presented_rows(n_classes, dtype, off, sparse):
    X, y = pictures(400)
    X, y = X.astype(dtype), np.minimum(y, n_classes - 1)
    clf = SelectiveClassifier(random_state=0).fit(X, y)
    machine = clf._started().machine
    X[8] *= 1e-30
    X[9] = 0.0
    if dtype is np.float64:
        X[10] *= 1e200
    rows = as_rows(X, sparse)
    folded = machine.scores(rows) if n_classes > 2 else machine.margins(rows, exact=True)
    assert machine._folded_scores(rows) is not None
    found = presented(machine, rows, n_classes)
    assert np.abs(folded - found).max() <= off * np.abs(found).max()
    assert (folded[9] == found[9]).all()  # a row of zeros is presented


def test_rows_next_to_their_mean_are_presented():
    X, y = pictures(300)
    X = 100.0 + X  # all in nearly one direction: sums of products would lose digits
    clf = SelectiveClassifier(Ridge(), "always", scaling=Centred()).fit(X, y > 1)
    machine, rows = clf._started().machine, as_rows(X, sparse=False)
    assert (machine.margins(rows, exact=True) == presented(machine, rows, 2)).mean() > 0.9


def test_rules_whose_scores_are_more_than_products_are_presented():
    X, y = pictures(200)
    rows = as_rows(X, sparse=False)
    damped = SelectiveClassifier(SecondOrder(), "always", scaling=Centred()).fit(X, y > 1)
    assert damped._started().machine._folded_scores(rows) is None
    some = SelectiveClassifier(Rehearsal(), "always", scaling=Centred())
    some.partial_fit(X[y < 2], y[y < 2], classes=range(4))  # two classes without a label
    machine = some._started().machine
    assert machine._folded_scores(rows) is None
    assert set(some.predict(X)) == {0, 1}
    table = SelectiveClassifier(random_state=0).fit(X - 1.0, y > 1)
    assert table._started().machine._folded_scores(rows) is None


def test_a_row_that_is_not_finite_is_refused_and_the_others_stay():
    X, y = pictures(200)
    clf = SelectiveClassifier(Ridge(), "always", scaling=Centred()).fit(X, y > 1)
    before = clf.decision_function(X)
    for wrong in (np.nan, np.inf, -np.inf):
        broken = X.copy()
        broken[17, 3] = wrong
        with pytest.raises(ValueError, match="row 17"):
            clf.predict(broken)
    assert (clf.decision_function(X) == before).all()
    # The same row has the same score in every batch.
    assert (clf.decision_function(X[20:37]) == before[20:37]).all()
