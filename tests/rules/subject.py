"""Run the rules of the package themselves, with the coins given."""

from typing import Any, NamedTuple

import numpy as np

from selectron.classifier.machine import LinearMachine
from selectron.loop import DONE, NOT_GIVEN, Log, Rounds, compiled, run_pass
from selectron.numeric.rows import sealed
from selectron.protocol import hypothesis
from selectron.scalings import Raw
from selectron.spec import Rules


class Outcome(NamedTuple):
    margins: Any
    probabilities: Any
    asked: Any
    updated: Any
    weights: Any
    numbers: Any
    machine: LinearMachine


def machine_of(update, query, d, dtype=np.float64, scaling=None, seed=3):
    return LinearMachine(Rules(scaling or Raw(), update, query), d, np.dtype(dtype), seed)


def _signs(labels):
    """Labels as bytes; NaN, the poison of labels that must not be read, as no label at all."""
    labels = np.asarray(labels, float)
    return np.where(np.isnan(labels), NOT_GIVEN, labels).astype(np.int8)


def play(update, query, rows, labels, coins, *, d, dtype=np.float64, scaling=None, kept=True):
    """Run the one loop over the rows with these coins."""
    machine = machine_of(update, query, d, dtype, scaling)
    log = Log.of(len(labels) if kept else 0)
    loop = compiled(run_pass, machine.states.kinds)
    state = machine.states.tree, machine.states.numbers
    rounds = Rounds(sealed(rows), _signs(labels), np.asarray(coins, float), log, 0)
    done, status, _ = loop(*state, *rounds)
    assert (done, status) == (len(labels), DONE)
    weights = np.array(hypothesis(machine.states.now.update))
    return Outcome(
        log.forecasts[:, 0], log.probabilities, log.asked, log.updated, weights,
        machine.states.numbers.copy(), machine,
    )  # fmt: skip
