"""What happens exactly on a boundary, and where digits would be lost.

Streams of random rows never get there, so twins and theorems cannot tell.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier
from selectron.numeric.rows import DenseRow, SparseRow
from selectron.protocol import Forecast, glance, hypothesis, learn, observe
from selectron.queries import Always, Halving
from selectron.updates import Ballseptron, Perceptron, PNorm, Reflection, Winnow

RIGHT = DenseRow(np.array([1.0, 0.0]))
ACROSS = DenseRow(np.array([0.0, 1.0]))
MISTAKE = Forecast(0.0, 1.0, 1.0, 0.0, True)


def taught(update, *lessons):
    state = update.begin(2, np.float64)
    for x, y in lessons:
        state = learn(state, x, y, glance(state, x))
    return state


@pytest.mark.parametrize(("update", "moves"), [(Perceptron(), True), (Reflection(), False)])
def test_a_margin_of_zero_is_a_mistake_of_the_perceptron_and_none_of_dkm(update, moves):
    state = taught(update, (RIGHT, 1.0), (ACROSS, -1.0))
    assert state.n_updates == 1 + moves


def test_the_border_of_the_ball_belongs_to_it():
    on, outside = (DenseRow(np.array([margin, 0.3])) for margin in (0.5, np.nextafter(0.5, 1.0)))
    assert taught(Ballseptron(r=0.5), (RIGHT, 1.0), (on, 1.0)).n_margin_errors == 1
    assert taught(Ballseptron(r=0.5), (RIGHT, 1.0), (outside, 1.0)).n_margin_errors == 0


@pytest.mark.parametrize(
    ("margin", "norm", "streak"), [(-0.1, 1.0, 0), (0.0, 1.0, 4), (0.1, 1.0, 4), (0.0, 0.0, 3)]
)
def test_what_counts_as_a_right_answer_to_halving(margin, norm, streak):
    state = Halving(patience=9).begin(2)._replace(streak=3)
    forecast = Forecast(margin, 1.0, norm, 0.0, True)
    assert observe(state, RIGHT, forecast, 1.0).streak == streak


def test_a_ball_as_large_as_the_hypothesis_leaves_the_row_alone():
    half = DenseRow(np.array([0.5, 0.0]))
    state = taught(Ballseptron(r=1.0), (RIGHT, 1.0), (half, 1.0))
    np.testing.assert_array_equal(hypothesis(state), half.values)


@pytest.mark.parametrize("p", [2.0, 3.0, 5.5])
def test_a_norm_that_shrinks_keeps_its_digits(p):
    state = PNorm(p=p).begin(2, np.float64)
    for x, y in ((np.array([1e7, 0.0]), 1.0), (np.array([1e7, 1.0]), -1.0)):
        state = learn(state, DenseRow(x), y, MISTAKE)
    assert state.total == 1.0


def test_weights_that_shrink_keep_their_sum():
    state = Winnow(eta=1.0).begin(3, np.float64)
    row = SparseRow(np.array([30.0, 31.0, 32.0]), np.arange(3, dtype=np.uint32))
    state = learn(state, row, -1.0, MISTAKE)
    np.testing.assert_allclose(state.total, state.positive.sum() + state.negative.sum(), 1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("size", [1e3, 1e10, 1e60])
def test_winnow_outlasts_rows_of_any_size(balanced, sparse, size):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) * size
    y = rng.random(60) < 0.5
    update = Winnow(eta=50.0, balanced=balanced)
    rows = csr_array(X) if sparse else X
    clf = SelectiveClassifier(update, Always(), random_state=0).fit(rows, y)
    assert np.isfinite(clf.coef_).all()
    assert np.abs(clf.coef_).sum() <= 1.0 + 1e-9
