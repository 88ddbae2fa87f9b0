"""The digits of [SS05], section 5: shifted to mean zero, scaled to length one on the average."""

import os
from functools import cache
from math import fsum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Matrix
from selectron.classifier.kernel_machine import KernelMachine
from selectron.classifier.rules import Rules
from selectron.kernels.choice import KernelChoice
from selectron.numeric.rows import Dense
from selectron.queries import Always
from selectron.scalings import Raw
from selectron.updates import Ballseptron

FILES = {"MNIST": "mnist.npz", "USPS": "usps.npz"}
N_CLASSES = 10
KERNEL = {"kernel": "poly", "degree": 5, "gamma": 1.0, "coef0": 0.5}


class Digits(NamedTuple):
    X: Matrix
    y: NDArray[np.int64]


def require_files() -> None:
    """Refuse to begin where the data are not."""
    missing = [file for file in FILES.values() if not (_folder() / file).is_file()]
    if missing:
        raise ValueError(
            f"{' and '.join(missing)} not found in {_folder()}: set SELECTRON_DATA, or --data, to "
            "the folder that has them"
        )


@cache
def digits(name: str) -> Digits:
    """Read the training images, float32; the same bits on every machine."""
    with np.load(_folder() / FILES[name]) as stored:
        pixels, classes = stored["x_train"], stored["y_train"]
    columns = np.ascontiguousarray(pixels.reshape(len(pixels), -1).T, np.float64)
    columns -= np.array([fsum(column) / len(column) for column in columns.tolist()])[:, np.newaxis]
    squares = np.zeros(len(pixels))
    for column in columns:  # one after the other: a sum along rows may be taken in any order
        squares += column * column
    columns /= fsum(np.sqrt(squares).tolist()) / len(squares)
    return Digits(np.ascontiguousarray(columns.T, np.float32), classes.astype(np.int64))


def machine_for(
    X: Matrix, r: float, budget: int | None = None, removal: str = "random"
) -> KernelMachine:
    """Begin a Ballseptron that is told every label."""
    rules = Rules(Raw(), Ballseptron(r=r), Always())
    choice = KernelChoice(**KERNEL, budget=budget, removal=removal)  # type: ignore[arg-type]
    return KernelMachine(rules, Dense(X), 0, choice, n_classes=N_CLASSES)


def mistakes(machine: KernelMachine, X: Matrix, y: NDArray[np.int64]) -> int:
    """Go on with the pass over these rows; return how many were predicted wrong."""
    log = machine.log(len(y))
    machine.run(Dense(X), y.astype(np.int32), log=log)
    return int((log.predicted != y).sum())


def _folder() -> Path:
    return Path(os.environ.get("SELECTRON_DATA", "."))
