"""Pictures of strokes are smoothed, other rows are not."""

import numpy as np
import pytest

from selectron import SelectiveClassifier, load
from selectron.numeric.pictures import smooth_table
from selectron.numeric.rows import DenseRow
from selectron.protocol import absorb, present
from selectron.queries import Always, Auto
from selectron.scalings import Automatic
from selectron.scalings.automatic import IMAGES
from selectron.updates import Perceptron, Probit, Rehearsal
from tests.oracles import scalings
from tests.rules.streams import as_csr, as_dense
from tests.rules.subject import play
from tests.rules.test_folding import as_rows, presented

SIDE = 12


def strokes(n, side=SIDE, seed=0, width=0.9):
    """Return pictures of a bright spot and a faint one; is the bright one on the left?"""
    draw = np.random.default_rng(seed)
    at = np.arange(side)
    X, left = np.zeros((n, side, side)), np.empty(n)
    for t in range(n):
        spots = draw.uniform(1.5, side - 2.5, (2, 2))
        for light, (line, place) in zip((1.0, 0.5), spots, strict=True):
            away = (at[:, None] - line) ** 2 + (at - place) ** 2
            X[t] += light * np.exp(-away / (2.0 * width * width))
        left[t] = spots[0, 1] < 0.5 * (side - 1)
    return X.reshape(n, -1), np.where(left > 0, 1, -1)


def areas(n, side=SIDE, seed=0):
    """Return pictures that are light on one side of an edge along and an edge across."""
    draw = np.random.default_rng(seed)
    edges = draw.random((n, side, side)) < 1.5 / side
    across = (edges[:, :1, :].cumsum(axis=2) + draw.integers(0, 2, (n, 1, 1))) % 2
    down = (edges[:, :, :1].cumsum(axis=1) + draw.integers(0, 2, (n, 1, 1))) % 2
    return (0.1 + across + down).reshape(n, -1).astype(float)


def after_warm_up(X, **knobs):
    state = Automatic(**knobs).begin(X.shape[1], np.float64)
    for x in X:
        state = absorb(state, DenseRow(x))
    return state


def test_rows_are_presented_as_the_twin_says():
    X, _ = strokes(70)
    state = after_warm_up(X)
    twin = scalings.Strokes(X.shape[1])
    assert state.kind == IMAGES
    wanted = scalings.presented(twin, X)[-1]
    assert state.smoothing.passes == twin.passes > 0
    assert state.smoothing.gain == pytest.approx(twin.gain, rel=1e-9)
    np.testing.assert_allclose(present(state, DenseRow(X[-1])).values, wanted, atol=1e-9)


def turned(X):
    """Return the same pictures with their pixels in another order."""
    return X[:, np.random.default_rng(5).permutation(X.shape[1])]


@pytest.mark.parametrize(
    ("X", "why"),
    [
        (areas(60), "areas"),
        (turned(strokes(60)[0]), "no neighbours"),
        (strokes(60)[0][:, : SIDE * (SIDE - 1)], "no square"),
        (np.random.default_rng(0).random((60, 64)), "noise"),
        (np.ones((60, 64)), "all the same"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_rows_stay_as_they_are(X, why):
    state = after_warm_up(X)
    assert state.kind == IMAGES
    assert state.smoothing.passes == 0


def test_few_rows_say_too_little():
    X, _ = strokes(60)
    assert after_warm_up(X, warmup=19).smoothing.passes == 0
    assert after_warm_up(X, warmup=20).smoothing.passes > 0


def test_wider_strokes_are_smoothed_further():
    passes = [after_warm_up(strokes(60, width=w)[0]).smoothing.passes for w in (0.6, 0.9, 1.3)]
    assert passes == sorted(set(passes))


def test_smoothing_is_symmetric_and_takes_from_neighbours():
    side = 5
    matrix = np.eye(side * side)
    smooth_table(matrix, np.zeros(side * side), 1, 16.0)
    assert (matrix == matrix.T).all()
    assert matrix[12].reshape(side, side)[1:4, 1:4].tolist() == [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
    assert matrix[0].reshape(side, side)[:3, :3].tolist() == [[4, 2, 0], [2, 1, 0], [0, 0, 0]]
    twice = np.eye(side * side)
    smooth_table(twice, np.zeros(side * side), 2, 1.0)
    np.testing.assert_allclose(twice, matrix @ matrix / 256.0, atol=1e-15)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_folded_scores_are_those_of_presented_rows(sparse, n_classes):
    X, y = strokes(300)
    y = y if n_classes == 2 else np.where(X[:, :20].sum(axis=1) > 1.0, 2, abs(y + 1) // 2)
    clf = SelectiveClassifier(random_state=0).fit(X, y)
    machine = clf._started().machine
    assert machine.states.now.scaling.smoothing.passes > 0
    rows = as_rows(X, sparse)
    folded = machine.scores(rows) if n_classes > 2 else machine.margins(rows, exact=True)
    found = presented(machine, rows, n_classes)
    assert np.abs(folded - found).max() <= 1e-12 * np.abs(found).max()


def test_compiled_and_sparse_rows_are_presented_alike():
    X, y = strokes(80)
    coins = np.zeros(len(y))
    scaling = Automatic(warmup=20)
    dense = play(Perceptron(), Always(), as_dense(X), y, coins, d=X.shape[1], scaling=scaling)
    sparse = play(Perceptron(), Always(), as_csr(X), y, coins, d=X.shape[1], scaling=scaling)
    np.testing.assert_allclose(dense.margins, sparse.margins, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("update", [Probit(), Rehearsal()])
def test_it_is_in_the_file(tmp_path, update):
    X, y = strokes(120)
    clf = SelectiveClassifier(update, Auto(), scaling=Automatic(), random_state=0).fit(X, y)
    clf.save(tmp_path / "strokes.selectron")
    again = load(tmp_path / "strokes.selectron")
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
    one, other = (c.partial_fit(X, y).decision_function(X) for c in (clf, again))
    np.testing.assert_array_equal(one, other)


def test_strokes_take_fewer_labels():
    """With the same 40 labels, pictures whose pixels are in disorder are learnt worse."""
    wrong = {False: [], True: []}
    for seed in range(8):
        X, y = strokes(1000, side=16, seed=seed)
        for disorder, rows in ((False, X), (True, turned(X))):
            clf = SelectiveClassifier(Probit(), Always(), scaling=Automatic()).fit(
                rows[:90], y[:90]
            )
            wrong[disorder].append(np.mean(clf.predict(rows[90:]) != y[90:]))
    assert 0.8 * np.mean(wrong[True]) > np.mean(wrong[False])
