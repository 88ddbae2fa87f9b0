"""A log that is replayed on another processor makes the same learner, bit for bit."""

import pytest
from numpy._core import _multiarray_umath as numpy_core

from tests.labelling.digests import KINDS, digest, products
from tests.other_process import CPUS, digests_of

VECTORS = [name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__[name]]
# NumPy and its BLAS choose their loops when they are imported; Numba compiles anew for a processor.
SETTINGS = {
    "BLAS of Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "BLAS of Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "NumPy without vectors": {"NPY_DISABLE_CPU_FEATURES": " ".join(VECTORS)},
    **CPUS,
}
FAST = [name for name in SETTINGS if name not in CPUS]
DIFFER = ["BLAS of Prescott", "NumPy without vectors"] if VECTORS else []  # from every newer one


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        *((name, ["text"]) for name in FAST),
        *(pytest.param(name, KINDS, marks=pytest.mark.slow) for name in SETTINGS),
    ],
)
def test_the_processor_does_not_show(name, kinds):
    found = digests_of("tests.labelling.digests", *kinds, **SETTINGS[name])
    there = found.pop("products")
    assert found == {kind: digest(kind) for kind in kinds}
    if name in DIFFER:  # control: products of NumPy show it
        assert there != products()
