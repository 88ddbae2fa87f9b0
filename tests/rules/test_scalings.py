"""The scalings that learn from rows without labels, against their definitions."""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.numeric.rows import DenseRow
from selectron.protocol import absorb, present
from selectron.queries import Always, Auto
from selectron.scalings import Automatic, Centred, Winsorised
from selectron.scalings.automatic import IMAGES, TABLE
from selectron.updates import Perceptron, Probit
from tests.oracles import scalings
from tests.rules.streams import as_csr, as_dense, stream
from tests.rules.subject import play

RNG = np.random.default_rng(3)


def table(n=80, d=6):
    """Scales apart by a factor of a million, one heavy tail, one constant, one rare column."""
    X = RNG.standard_normal((n, d)) * 10.0 ** RNG.integers(-3, 4, d) + RNG.normal(size=d)
    X[:, 0] = RNG.standard_cauchy(n)
    X[:, 1] = 7.0
    X[:, 2] = np.arange(n) == n // 2
    return X


def presented(scaling, X):
    state = scaling.begin(X.shape[1], np.float64)
    for x in X:
        state = absorb(state, DenseRow(x))
        yield present(state, DenseRow(x)).values.copy()


@pytest.mark.parametrize(
    ("scaling", "twin"), [(Winsorised(), scalings.Winsorised), (Centred(), scalings.Centred)]
)
def test_the_definition(scaling, twin):
    X = table()
    for ours, theirs in zip(presented(scaling, X), scalings.presented(twin(6), X), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_units_do_not_matter_to_a_table():
    X = table()
    other = X * 10.0 ** np.arange(-3, 3) + 1.0
    for one, two in zip(presented(Winsorised(), X), presented(Winsorised(), other), strict=True):
        np.testing.assert_allclose(one[3:], two[3:], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (RNG.random((60, 40)), IMAGES),
        (RNG.random((60, 31)), TABLE),  # too few columns
        (RNG.random((60, 40)) - 0.01, TABLE),  # negative entries
        (RNG.random((60, 40)) * np.where(np.arange(40) < 4, 9.0, 1.0), TABLE),  # other units
        (RNG.random((60, 40)) * np.where(np.arange(40) < 20, 0.0, 1.0), IMAGES),  # dark margins
    ],
)
def test_images_or_a_table(X, kind):
    state = Automatic(warmup=50).begin(X.shape[1], np.float64)
    for x in X:
        state = absorb(state, DenseRow(x))
    assert state.kind == kind
    twin = (scalings.Centred if kind == IMAGES else scalings.Table)(X.shape[1])
    np.testing.assert_allclose(
        present(state, DenseRow(X[-1])).values, scalings.presented(twin, X)[-1], atol=1e-9
    )


@pytest.mark.parametrize(
    "scaling", [Automatic(warmup=5), pytest.param(Winsorised(warmup=5), marks=pytest.mark.plain)]
)
@pytest.mark.parametrize("d", [9, 40])
def test_compiled_and_sparse_rows_are_presented_alike(scaling, d):
    X, y = stream(n=60, d=d, seed=4)
    X = np.abs(X)
    coins = np.zeros(len(y))
    dense = play(Perceptron(), Always(), as_dense(X), y, coins, d=d, scaling=scaling)
    sparse = play(Perceptron(), Always(), as_csr(X), y, coins, d=d, scaling=scaling)
    np.testing.assert_allclose(dense.margins, sparse.margins, rtol=1e-10, atol=1e-12)
    weights = np.zeros(d + 1)
    for t, z in enumerate(presented(scaling, X)):
        if t >= 5:
            assert dense.margins[t] == pytest.approx(weights @ z, abs=1e-12)
            if y[t] * (weights @ z) <= 0:
                weights += y[t] * z


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_that_is_not_finite_leaves_no_trace(bad):
    X, y = stream(n=80, d=40)
    clf = SelectiveClassifier(Probit(), Auto(), scaling=Automatic(), random_state=0).fit(X, y)
    before = clf.decision_function(X)
    X[3, 2] = bad
    with pytest.raises(ValueError, match="NaN or infinity in row 3"):
        clf.partial_fit(X, y)
    X[3, 2] = 0.0
    np.testing.assert_array_equal(clf.decision_function(X)[:3], before[:3])
