"""Sift rows with a copy of a learner, and teach the learner those that are worth a label.

A copy goes over a block of rows and predicts all of them. It hands on the rows that it would ask
about, and a sample of the others. The learner itself then plays the rows that were handed on, in
their order: it forecasts each anew and decides by the same coin whether it still asks. The rows in
between count as rounds without a question.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Array, Codes, Flags, Indices, Table
from selectron.classifier.estimator import SelectiveClassifier, load_as
from selectron.classifier.machine import LinearMachine
from selectron.classifier.rows import Stop
from selectron.classifier.run import ASKED, PASSED, Run
from selectron.compiler.states import Snapshot, used_part
from selectron.loop import DONE, LABEL_NEEDED, NOT_GIVEN, compiled, run_unasked
from selectron.numeric.coins import coins
from selectron.numeric.rows import Rows, part, sealed, shape

SAMPLE = 32  # rows of a block, evenly spaced, from which the scaling goes on learning

LabelOf = Callable[[int], Any]  # of the position of a row in its block; None if nobody knows


class Refused(ValueError):
    """A row cannot be learnt."""

    def __init__(self, position: int, why: str) -> None:
        super().__init__(position, why)
        self.position, self.why = position, why


class Sifted(NamedTuple):
    """What the sifting of a block hands on."""

    n_rows: int
    positions: Indices  # of the rows that are handed on: rising, the first row among them
    asked: Flags  # which of these the copy asked about
    sampled: Flags  # which of these are of the sample
    X: Table
    first_coin: int


def to_bytes(learner: SelectiveClassifier) -> bytes:
    """Return the file of a learner."""
    return learner.packing()()


def from_bytes(file: bytes) -> SelectiveClassifier:
    """Return the learner of a file."""
    with NamedTemporaryFile(suffix=".selectron") as beside:
        beside.write(file)
        beside.flush()
        return load_as([SelectiveClassifier], Path(beside.name))


def states_of(learner: SelectiveClassifier) -> Snapshot:
    """Return what of a learner changes with every row, as it is now and not copied."""
    states = _run_of(learner).machine.states
    return Snapshot([used_part(array) for array in states.arrays], states.numbers)


def go_on_from(copy: SelectiveClassifier, states: Snapshot) -> None:
    """Put a copy of a learner into the states that the learner has."""
    _run_of(copy).machine.restore(states)


def made_of(learner: SelectiveClassifier) -> tuple[object, object]:
    """Return what a class that joins makes anew: as long as it is the same, a copy can go on."""
    run = _run_of(learner)
    return run.machine, run.labels


def sift(learner: SelectiveClassifier, X: Table, first_coin: int) -> tuple[Sifted, Array]:
    """Go over a block of rows with a copy of a learner, which moves.

    Row t is decided on by coin `first_coin` + t. Returns what is handed on, and a prediction for
    every row; None where no class is known yet.
    """
    run, rows = _run_of(learner), learner._read_more(X)
    n = shape(rows)[0]
    run.rounds, log = first_coin, run.log(n, exact=False)
    labels: Codes = np.ones(n, run.code_type)
    _check(run, rows, run.play(rows, labels, log, teach=False))
    sampled = np.zeros(n, bool)
    sampled[:: -(-n // SAMPLE)] = True
    positions = np.flatnonzero(log.asked | sampled)
    handed_on = Sifted(
        n, positions, log.asked[positions], sampled[positions], X[positions], first_coin
    )
    return handed_on, run.labels.names(log.sides)


def teach(learner: SelectiveClassifier, sifted: Sifted, label_of: LabelOf) -> None:
    """Play the rounds of a sifted block; `label_of` is asked for labels as they are needed."""
    run, rows = _run_of(learner), learner._read_more(sifted.X)
    with run.lock:
        done = 0
        for k, position in enumerate(sifted.positions.tolist()):
            asked, sampled = bool(sifted.asked[k]), bool(sifted.sampled[k])
            _pass_over(run, rows, k, position - done, shown=not sampled)
            coin = float(coins(run.machine.seed, sifted.first_coin + position, 1)[0])
            row = part(rows, k, k + 1)
            run.arrived, run.next_coin = not sampled, coin if asked else PASSED
            _play(run, row, position, label_of)
            done = position + 1
        _pass_over(run, rows, len(sifted.positions) - 1, sifted.n_rows - done, shown=False)


def _run_of(learner: SelectiveClassifier) -> Run:
    run = learner._started()
    if not isinstance(run, Run) or not isinstance(run.machine, LinearMachine):
        raise ValueError("rows are sifted for one label a row, without a kernel")
    if run.ledger is not None:
        raise ValueError("rows are sifted without explore, window and stop_when: leave them out")
    return run


def _pass_over(run: Run, rows: Rows, k: int, n: int, *, shown: bool) -> None:
    states = run.machine.states
    if n or shown:
        with states.busy:
            loop = compiled(run_unasked, states.kinds)
            loop(states.tree, states.numbers, sealed(rows), k, n, shown)
    run.rounds += n


def _play(run: Run, row: Rows, position: int, label_of: LabelOf) -> None:
    """Play the round of one row with the coin that was laid out for it."""
    coin = run.next_coin
    codes: Codes = np.array([NOT_GIVEN], run.code_type)
    stop = run.play(row, codes)
    if stop.status == LABEL_NEEDED:
        label = label_of(position)
        run.next_coin = coin
        if label is None:
            run.next_coin = ASKED
            run.forget(run.ask(row).tickets.tolist())
            return
        code = run.admit_asked(label)
        run.remember(row, code)
        stop = run.play(row, np.array([code], run.code_type))
    _check(run, row, stop, position)


def _check(run: Run, rows: Rows, stop: Stop, offset: int = 0) -> None:
    if stop.status != DONE:
        raise Refused(stop.position + offset, str(run.refusal(rows, stop)))
