"""The package's own kernel learners, run on given rows."""

import numpy as np

from selectron.classifier.labels import Labels
from selectron.classifier.rows import read_rows
from selectron.classifier.run import Run
from selectron.kernels import KernelChoice
from selectron.kernels.machine import EXITS, KernelMachine
from selectron.loop import DONE, NOT_GIVEN, Log
from selectron.numeric.coins import coins
from selectron.queries import Always
from selectron.scalings import Raw
from selectron.spec import Rules
from tests.oracles import kernels as twins

SEED = 5
POLY = {"kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 1.0}
RBF = {"kernel": "rbf", "gamma": 0.3}
LINEAR = {"kernel": "linear"}
TWINS = {
    "poly": lambda o: twins.poly(o["degree"], o["gamma"], o["coef0"]),
    "rbf": lambda o: twins.rbf(o["gamma"]),
    "linear": lambda o: twins.linear,
}


def twin_kernel(options):
    return TWINS[options["kernel"]](options)


def exit_coins(n):
    """The coins by which support vectors leave."""
    return coins(SEED ^ EXITS, 0, n)


def machine_of(X, update, query=None, *, n_classes=2, largest_block=512, **options):
    rules = Rules(Raw(), update, query or Always())
    choice = KernelChoice(**options)
    return KernelMachine(
        rules, read_rows(X), SEED, choice, n_classes=n_classes, largest_block=largest_block
    )


def play(machine, X, labels):
    """Run a pass over signs; NaN is a label that must not be read."""
    log = Log.of(len(labels))
    labels = np.asarray(labels, float)
    signs = np.where(np.isnan(labels), NOT_GIVEN, labels).astype(np.int8)
    stop = Run(machine, Labels()).play(read_rows(X), signs, log)
    assert (stop.position, stop.status) == (len(labels), DONE)
    return log


def play_classes(machine, X, labels):
    run = Run(machine, Labels())
    log = run.log(len(labels))
    stop = run.play(read_rows(X), np.asarray(labels, np.int32), log)
    assert (stop.position, stop.status) == (len(labels), DONE)
    return log, log.predicted


def rings(n=90, d=5, seed=0, dtype=np.float64):
    """Rows whose sign no half-space can tell, with zeros and one row twice."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[rng.random((n, d)) < 0.3] = 0.0
    X[7] = X[3]
    y = np.where((X * X).sum(axis=1) > 0.6 * d, 1.0, -1.0)
    y[rng.random(n) < 0.08] *= -1.0
    return X.astype(dtype), y


def classes_of(X, n_classes):
    """Numbers of classes that a product cannot tell."""
    lengths = (np.asarray(X, float) ** 2).sum(axis=1)
    edges = np.quantile(lengths, np.arange(1, n_classes) / n_classes)
    return np.searchsorted(edges, lengths)
