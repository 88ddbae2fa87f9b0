"""Products with panels: right, whatever the shape, and the same in a tile as alone."""

import numpy as np
import pytest

from selectron.classifier.rows import read_rows
from selectron.queries import Margin
from selectron.updates import Perceptron
from tests.kernels.subject import LINEAR, POLY, RBF, machine_of, play, rings, twin_kernel

OPTIONS = {"cubic": POLY, "sextic": POLY | {"degree": 6}, "linear": LINEAR, "rbf": RBF}
# Compiling takes longer than running, and the products are the same for all kernels.
PLAIN = [pytest.param(name, marks=pytest.mark.plain) for name in ("linear", "rbf")]


@pytest.mark.parametrize("name", ["cubic", "sextic", *PLAIN])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (5, 3), (40, 17), (130, 33)])
def test_values_of_a_block(n, d, dtype, name):
    X, y = rings(n=max(n, 8), d=d, dtype=dtype)
    X, y = X[:n], y[:n]
    machine = machine_of(X, Perceptron(), Margin(b=1e9), **OPTIONS[name])
    play(machine, X, y)
    m = machine.store.support.n_support
    assert m > 0
    block, _ = machine.piece(read_rows(X), 0)
    kernel = twin_kernel(OPTIONS[name])
    wide, support = X.astype(float), machine.support_vectors().astype(float)
    expected = np.array([[kernel(x, s) for s in support] for x in wide])
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(block.values[:n, :m], expected, rtol=tolerance, atol=tolerance)
