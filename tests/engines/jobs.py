"""Jobs for engines, in a module that a worker imports in no time."""

import os
import signal
from pathlib import Path


def square_root(value):
    return value**0.5 if value >= 0 else 1 / 0


def weighed(job):
    shared, weight = job
    value = shared.get()
    return weight * value["factor"] * sum(array.sum() for array in value["arrays"])


def dies_once(job):
    path, value = job
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def dies(job):
    os.kill(os.getpid(), signal.SIGKILL)
