"""Arrays that may not be written to: learnt from like others, by the same kernels."""

import numpy as np
import pytest
from numba import config
from scipy.sparse import csr_array

from selectron import SelectiveClassifier
from selectron.loop import compiled, run_margins, run_pass
from selectron.queries import Margin
from selectron.updates import Perceptron

X = np.random.default_rng(0).standard_normal((40, 4))
Y = X[:, 0] > 0


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is nothing compiled to count")
@pytest.mark.parametrize("make", [np.copy, csr_array])
def test_a_read_only_array_compiles_nothing_anew(make):
    clf = SelectiveClassifier(Perceptron(), Margin(b=1.0), random_state=0).fit(make(X), Y)
    predicted = clf.predict(make(X))
    kernels = [compiled(loop, clf._run.machine.states.kinds) for loop in (run_pass, run_margins)]
    before = [len(each.signatures) for each in kernels]
    rows = make(X)
    for array in (rows.data, rows.indices, rows.indptr) if make is csr_array else (rows,):
        array.flags.writeable = False
    again = SelectiveClassifier(Perceptron(), Margin(b=1.0), random_state=0).fit(rows, Y)
    np.testing.assert_array_equal(again.predict(rows), predicted)
    assert [len(each.signatures) for each in kernels] == before
