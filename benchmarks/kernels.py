"""A pass with a kernel, against gemm, against one row at a time, and against SVC.fit."""

import numpy as np
from sklearn.svm import SVC

from benchmarks.data import mnist
from benchmarks.paired import Row, ratio, times
from selectron import SelectiveClassifier
from selectron.evaluate import progressive
from selectron.queries import Always
from selectron.updates import Perceptron

KERNEL = {"kernel": "poly", "degree": 5, "gamma": 1.0, "coef0": 0.5}
FEW = 10_000
BLOCK = 512
GEMMS = 64


def learner():
    return SelectiveClassifier(Perceptron(), Always(), **KERNEL)


def row_by_row(X, y):
    """The same algorithm in numpy: a matrix times a vector for every row."""
    support, alphas, m = np.zeros_like(X), np.zeros(len(X)), 0
    for x, sign in zip(X, np.where(y, 1.0, -1.0), strict=True):
        values = (support[:m] @ x + 0.5) ** 5
        if sign * (values @ alphas[:m]) <= 0:
            support[m], alphas[m], m = x, sign, m + 1
    return m


def rows():
    X, y, name = mnist(np.float32)
    trace = progressive(learner(), X, y)
    support = np.cumsum(trace.updated)
    products = int(support.sum() - trace.updated.sum())  # a row is held against those before it
    S = np.ascontiguousarray(X[: support[-1]].T)
    out = np.empty((BLOCK, support[-1]), np.float32)

    def gemm():  # as long as the pass, into memory that is there: at its best
        for _ in range(GEMMS):
            np.matmul(X[:BLOCK], S, out=out)

    taken = times({"pass": lambda: learner().fit(X, y), "gemm": gemm})
    work = float(products / (GEMMS * BLOCK * support[-1]))
    found = [
        Row(
            f"11 {name} kernel pass, share of the sgemm rate",
            work * ratio(taken["gemm"], taken["pass"]),
            0.75,
            faster=True,
        )
    ]
    assert row_by_row(X[:FEW], y[:FEW]) == support[FEW - 1]
    taken = times({"pass": lambda: learner().fit(X, y), "by row": lambda: row_by_row(X, y)})
    name = "12 kernel pass / row by row, 60,000 rows"
    found.append(Row(name, ratio(taken["by row"], taken["pass"]), 2.0, faster=True))
    few = X[:FEW], y[:FEW]
    taken = times({"pass": lambda: learner().fit(*few), "SVC": lambda: SVC(**KERNEL).fit(*few)})
    name = "12 kernel pass / SVC.fit, 10,000 rows"
    return [*found, Row(name, ratio(taken["SVC"], taken["pass"]), 50.0, faster=True)]
