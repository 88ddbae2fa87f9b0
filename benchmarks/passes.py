"""One pass over a stream, against reading the data once and against scipy's product."""

from statistics import median
from threading import RLock

import numpy as np
from numba import njit

from benchmarks.data import mnist, rcv1, small
from benchmarks.paired import Row, ratio, times
from selectron import SelectiveClassifier
from selectron.queries import Margin
from selectron.updates import Perceptron, Winnow

CALLS = 100_000
WINNOW = Winnow(eta=5.0, balanced=True)  # about a fifth of the rows update it


@njit(fastmath=True)
def read_once(values):
    """The fastest way there is to touch every number: a sum in any order."""
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


def one_pass(stream, update=None, b=0.1):
    """A fresh learner, validation on, one call of the public interface."""
    learner = SelectiveClassifier(update or Perceptron(), Margin(b=b), random_state=0)
    return lambda: learner.fit(stream.X, stream.y)


def price_of_the_lock():
    """Return what a one-row call pays for the lock of its run, in nanoseconds."""
    lock = RLock()
    acquire, release = lock.acquire, lock.release

    def locked():
        for _ in range(CALLS):
            acquire()
            release()

    def bare():
        for _ in range(CALLS):
            pass

    taken = times({"locked": locked, "bare": bare})
    both = zip(taken["locked"], taken["bare"], strict=True)
    return 1e9 / CALLS * median(a - b for a, b in both)


def rows():
    found = [Row("one-row call: its lock", price_of_the_lock(), 100.0, unit=" ns")]
    sparse, narrow = rcv1(), rcv1(np.float32)
    w = np.random.default_rng(1).standard_normal(sparse.X.shape[1])
    taken = times(
        {
            "scipy": lambda: sparse.X @ w,
            "f64": one_pass(sparse),
            "f32": one_pass(narrow),
            "winnow": one_pass(sparse, WINNOW, b=0.01),
        }
    )
    found += [
        Row("1 CSR f64 pass / scipy X@w f64", ratio(taken["f64"], taken["scipy"]), 1.25),
        Row("2 CSR f32 pass / scipy X@w f64", ratio(taken["f32"], taken["scipy"]), 0.95),
        Row("9 CSR Winnow pass / scipy X@w f64", ratio(taken["winnow"], taken["scipy"]), 1.7),
    ]
    for dtype in (np.float64, np.float32):
        dense = mnist(dtype)
        flat = dense.X.reshape(-1)
        contestants = {"read": lambda flat=flat: read_once(flat), "pass": one_pass(dense)}
        if dtype is np.float64:
            contestants["winnow"] = one_pass(dense, WINNOW, b=0.01)
        taken = times(contestants)
        kind = np.dtype(dtype).name
        found.append(
            Row(f"3 {dense.name} {kind} pass / read", ratio(taken["pass"], taken["read"]), 1.4)
        )
        if "winnow" in taken:
            found.append(
                Row(
                    f"9 {dense.name} Winnow pass / read", ratio(taken["winnow"], taken["read"]), 1.7
                )
            )
    dense = small()
    flat = dense.X.reshape(-1)
    taken = times({"read": lambda: read_once(flat), "pass": one_pass(dense)})
    found.append(Row("4 dense 2M x 30 f64 pass / read", ratio(taken["pass"], taken["read"]), 1.4))
    return found
