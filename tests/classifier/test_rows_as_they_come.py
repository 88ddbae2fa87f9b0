"""One row in whatever form: read where it lies, or converted, or refused; never misread."""

import gc
import pickle
import sys
import weakref
from copy import deepcopy

import numpy as np
import pytest
from numba import config
from scipy.sparse import coo_array, csr_array, csr_matrix

import selectron
from selectron import SelectiveClassifier
from selectron.classifier.rows import RowReader
from selectron.queries import Margin
from selectron.updates import Perceptron
from tests.classifier.test_memory import resident_megabytes
from tests.rules.streams import stream

X, SIGNS = stream(n=60)
X[:, 2] = 0.0
Y = np.where(SIGNS > 0, "b", "a")
D = X.shape[1]


class Own(np.ndarray):
    pass


def sparse(x, kind=csr_array, index=np.int32):
    row = kind(x.reshape(1, -1))
    row.indices, row.indptr = row.indices.astype(index), row.indptr.astype(index)
    return row


def unsorted(x):
    row = sparse(x)
    row.indices, row.data = row.indices[::-1].copy(), row.data[::-1].copy()
    row.has_sorted_indices = row.has_canonical_format = False
    return row


def twice(x):
    """Give every entry as two halves."""
    columns = np.tile(np.flatnonzero(x), 2).astype(np.int32)
    return csr_array((x[columns] / 2, columns, np.array([0, len(columns)], np.int32)), (1, D))


def read_only(x):
    row = x.copy()
    row.flags.writeable = False
    return row


def sparse_read_only(x):
    row = sparse(x)
    row.data.flags.writeable = row.indices.flags.writeable = False
    return row


def sparse_with_strides(x):
    row = sparse(x)
    row.data, row.indices = np.repeat(row.data, 2)[::2], np.repeat(row.indices, 3)[::3]
    return row


def misaligned(x):
    return np.frombuffer(b"1" + x.tobytes(), np.uint8)[1:].view(float)


FORMS = {
    "dense": np.copy,
    "read-only": read_only,
    "float32": lambda x: x.astype(np.float32),
    "other byte order": lambda x: x.astype(np.dtype(float).newbyteorder()),
    "dtype of its own": lambda x: pickle.loads(pickle.dumps(x)),
    "strides": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "a Fortran row": lambda x: np.asfortranarray(np.stack([x, x]))[0],
    "a Fortran table": lambda x: np.asfortranarray(x[np.newaxis]),
    "subclass": lambda x: x.view(Own),
    "matrix": lambda x: np.asmatrix(x),
    "not aligned": misaligned,
    "list": lambda x: x.tolist(),
    "csr_array": sparse,
    "csr_matrix": lambda x: sparse(x, csr_matrix),
    "csr_array of one dimension": csr_array,
    "csr, int64 columns": lambda x: sparse(x, index=np.int64),
    "csr, float32": lambda x: sparse(x.astype(np.float32)),
    "csr, read-only": sparse_read_only,
    "csr, strides": sparse_with_strides,
    "csr, columns unsorted": unsorted,
    "csr, columns twice": twice,
    "coo": lambda x: coo_array(x[np.newaxis]),
}


def make():
    return SelectiveClassifier(Perceptron(), Margin(b=0.4), random_state=5)


def begun(classes=None):
    clf = make() if classes is None else make().partial_fit(X[:1], Y[:1], classes=classes)
    for x, y in zip(X[:20], Y[:20], strict=True):
        clf.learn_one(x, y)
    return clf


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_row(form):
    as_given, table = FORMS[form], csr_array if "c" in form[:2] else np.asarray
    clf, twin = begun(), begun()
    for x, y in zip(X[20:], Y[20:], strict=True):
        x = x.astype(np.float32).astype(float) if "float32" in form else x
        row, rows = as_given(x), table(x[np.newaxis])
        assert clf.predict_one(row) == twin.predict(rows)[0]
        answer, batch = clf.ask_one(row), twin.ask(rows)
        assert answer == tuple(column[0] for column in batch)
        clf.learn_one(row, y)
        if answer.asked:
            twin.tell(batch.tickets, [y])
        else:
            twin.learn_one(x if table is np.asarray else rows, y)
    np.testing.assert_array_equal(clf.coef_, twin.coef_)
    assert (clf.n_seen_, clf.n_asked_) == (twin.n_seen_, twin.n_asked_)


def loaded(clf, folder):
    clf.save(folder / "learner")
    return selectron.load(folder / "learner")


MOVES = {
    "as it was": lambda clf, folder: clf,
    "copied": lambda clf, folder: deepcopy(clf),
    "pickled": lambda clf, folder: pickle.loads(pickle.dumps(clf)),
    "loaded": loaded,
}


USUAL = ["dense", "read-only", "dtype of its own", "csr_array", "csr_matrix", "csr, read-only"]


@pytest.mark.parametrize("form", USUAL)
@pytest.mark.parametrize("move", MOVES)
def test_a_usual_row_is_not_converted(form, move, monkeypatch, tmp_path):
    clf = make().fit(X, Y, classes=["a", "b"])
    row = FORMS[form](X[0])
    clf.predict_one(row)
    clf = MOVES[move](clf, tmp_path)

    def read(bench, x):
        raise AssertionError("converted")

    monkeypatch.setattr(RowReader, "read", read)
    clf.predict_one(row)
    clf.learn_one(row, "a")
    with pytest.raises(AssertionError, match="converted"):
        clf.predict_one(row.astype(np.float32))


def nothing_learnt(clf, row, message):
    before = clf.coef_.copy(), clf.n_seen_, clf.n_asked_
    for action in (clf.predict_one, clf.ask_one, lambda x: clf.learn_one(x, "a")):
        with pytest.raises(ValueError, match=message):
            action(row)
    np.testing.assert_array_equal(clf.coef_, before[0])
    assert (clf.n_seen_, clf.n_asked_) == before[1:]


def narrow(x):
    return x[:-1]


def wide(x):
    return np.r_[x, 0.0]


@pytest.mark.parametrize("change", [narrow, wide])
@pytest.mark.parametrize("form", ["dense", "read-only", "strides", "subclass", "list", "csr_array"])
def test_another_width_is_refused(form, change):
    nothing_learnt(begun(), FORMS[form](change(X[0])), f"a row of {D} features is expected")


def test_two_rows_are_refused():
    two = csr_array(X[:2])
    two.indices, two.indptr = two.indices.astype(np.int32), two.indptr.astype(np.int32)
    for rows in (X[:2], two, csr_matrix(two)):
        nothing_learnt(begun(), rows, f"a row of {D} features is expected")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", ["dense", "strides", "csr_array", "csr_matrix"])
def test_numbers_that_are_none_are_refused(form, value):
    bad = X[0].copy()
    bad[1] = value
    nothing_learnt(begun(), FORMS[form](bad), "NaN or infinity")


@pytest.mark.parametrize("column", [-1, D, 2**31 - 1])
def test_a_column_outside_is_refused(column):
    row = sparse(X[0])
    row.indices[-1 if column > 0 else 0] = column
    nothing_learnt(begun(), row, f"has an entry in column {column}")


@pytest.mark.parametrize("lost", ["data", "indices"])
def test_a_sparse_row_that_lacks_numbers_is_not_read_beyond_its_end(lost):
    clf, row = begun(), sparse(X[0])
    setattr(row, lost, getattr(row, lost)[:2])
    with pytest.raises((ValueError, IndexError)):
        clf.predict_one(row)


def test_an_empty_sparse_row_is_on_neither_side():
    clf = begun()
    empty = csr_array((1, D))
    assert clf.predict_one(empty) == clf.predict(np.zeros((1, D)))[0]


@pytest.mark.parametrize("form", ["dense", "csr_array", "strides"])
def test_nothing_is_kept_of_a_row(form):
    clf, row = begun(classes=["a", "b"]), FORMS[form](X[0])
    arrays = [row.data, row.indices] if form == "csr_array" else [row]
    clf.predict_one(row)
    clf.learn_one(row, "a")
    n = 2_000 if config.DISABLE_JIT or form == "strides" else 100_000
    watched = [row, *arrays, clf._one_row, "a"]
    before = [sys.getrefcount(thing) for thing in watched], resident_megabytes()
    for _ in range(n):
        clf.predict_one(row)
        clf.learn_one(row, "a")
    assert [sys.getrefcount(thing) for thing in watched] == before[0]
    assert resident_megabytes() - before[1] < 2
    if form != "strides":
        last = weakref.ref(arrays[0])
        del row, arrays, watched
        gc.collect()
        assert last() is None


def test_rows_that_are_freed_at_once():
    clf, twin = begun(), begun()
    for x, y in zip(np.tile(X, (20, 1)), np.tile(Y, 20), strict=True):
        assert clf.predict_one(x * 1.0) == twin.predict_one(x)
        clf.learn_one(x * 1.0, y)
        twin.learn_one(x, y)
    np.testing.assert_array_equal(clf.coef_, twin.coef_)


@pytest.mark.parametrize("form", ["dense", "csr_array"])
@pytest.mark.parametrize("move", ["copied", "pickled", "loaded"])
def test_a_learner_that_moved_goes_on_with_its_own_arrays(move, form, tmp_path):
    clf, as_given = begun(), FORMS[form]
    clf.predict_one(as_given(X[0]))
    moved, before = MOVES[move](clf, tmp_path), clf.coef_.copy()
    for x, y in zip(X[20:], Y[20:], strict=True):
        moved.learn_one(as_given(x), y)
    np.testing.assert_array_equal(clf.coef_, before)
    for x, y in zip(X[20:], Y[20:], strict=True):
        clf.learn_one(as_given(x), y)
    np.testing.assert_array_equal(clf.coef_, moved.coef_)
    assert not np.array_equal(clf.coef_, before)


@pytest.mark.parametrize("form", ["dense", "csr_array"])
def test_a_path_bound_before_a_class_joined_still_has_its_arrays(form):
    clf, as_given = begun(), FORMS[form]
    clf.predict_one(as_given(X[0]))
    old, side = clf._one_row, clf.predict_one(as_given(X[0]))
    clf.learn_one(as_given(X[1]), "c")
    assert set(clf.classes_) == {"a", "b", "c"}
    gc.collect()
    [np.full(D, 7.0) for _ in range(100)]
    assert old.predict(as_given(X[0])) == side
    for x, y in zip(X, Y, strict=True):
        assert clf.predict_one(as_given(x)) == clf.predict(x[np.newaxis])[0]
        clf.learn_one(as_given(x), y)
    assert clf.n_seen_ == 21 + len(X)
