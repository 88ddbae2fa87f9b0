"""The default learner: predictions beside one product, and what a row of a fit takes."""

from time import perf_counter

import numpy as np

from benchmarks.data import mnist, rcv1
from benchmarks.paired import Row, ratio, times
from selectron import SelectiveClassifier

N_TAUGHT = 5_000  # rows that teach before predictions are timed
N_SPARSE = 20_000
CLASSES = (2, 10)


def rows():
    stream = mnist(np.float32)
    found = []
    for n_classes in CLASSES:
        y = classes_of(stream.X, n_classes)
        found += _predictions(f"dense 784, {n_classes} classes", stream.X, y)
        gate = 6.0 if n_classes == 2 else 20.0
        found.append(_fit(f"fit, dense 784, {n_classes} classes", stream.X, y, gate))
    X = rcv1(np.float32, N_SPARSE).X
    for n_classes in (2, 4):
        y = classes_of(X, n_classes)
        gate = 15.0 if n_classes == 2 else 40.0
        found.append(_fit(f"fit, CSR 47,236, {n_classes} classes", X, y, gate))
    return found


def classes_of(X, n_classes):
    """Return the largest of some products with rows drawn at random."""
    weights = np.random.default_rng(1).standard_normal((X.shape[1], n_classes)).astype(X.dtype)
    return (X @ weights).argmax(axis=1)


def _predictions(name, X, y):
    learner = SelectiveClassifier(random_state=0).fit(X[:N_TAUGHT], y[:N_TAUGHT])
    n = len(learner.classes_)
    W = np.ones((X.shape[1], n) if n > 2 else X.shape[1], X.dtype)
    calls = "predict", "decision_function", "predict_proba"
    contestants = {call: lambda call=call: getattr(learner, call)(X) for call in calls}
    taken = times({"product": lambda: X @ W} | contestants)
    return [
        Row(f"default, {call} / X @ W, {name}", ratio(taken[call], taken["product"]), 1.3)
        for call in calls
    ]


def _fit(name, X, y, gate):
    """Return the least of three times a row, in microseconds."""
    taken = []
    for _ in range(3):
        began = perf_counter()
        SelectiveClassifier(random_state=0).fit(X, y)
        taken.append(1e6 * (perf_counter() - began) / X.shape[0])
    return Row(f"default, {name}", min(taken), gate, unit=" us a row")
