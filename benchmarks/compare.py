"""`selectron compare` as a whole: 4 learners on 3 data sets with 20 seeds, and their controls."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.paired import Row

LEARNERS = ("default", "perceptron+margin:b=0.1", "half-step+balanced", "ridge+balanced")
SEEDS = 20


def rows() -> list[Row]:
    load = round(os.getloadavg()[0], 1)
    name = f"compare, {len(LEARNERS)} learners x 3 data sets x {SEEDS} seeds"
    return [Row(name, _seconds(), 120.0, unit=" s", load=load)]


def _seconds() -> float:
    """Return the time of the command, on the digits as 10 classes and as two problems of 2."""
    X, y = load_digits(return_X_y=True)
    problems = {"digits": y, "odd": y % 2, "above-four": y > 4}
    head = ",".join([*(f"pixel{k}" for k in range(X.shape[1])), "label"])
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.csv" for name in problems]
        for path, labels in zip(paths, problems.values(), strict=True):
            table = np.column_stack([X, labels])
            np.savetxt(path, table, fmt="%d", delimiter=",", header=head, comments="")
        options = ["--shuffle", "--seeds", str(SEEDS), "--json", "-"]
        command = [sys.executable, "-m", "selectron", "compare", *map(str, paths), *LEARNERS]
        began = perf_counter()
        subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - began
