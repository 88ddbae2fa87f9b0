"""Batches that are learnt whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Codes
from selectron.classifier.inputs import all_finite, outside, part, row_values, shape
from selectron.classifier.interrupts import heard_afterwards
from selectron.classifier.labels import Labels
from selectron.classifier.machine import Machine, Stop
from selectron.loop import (
    DONE,
    LABEL_UNKNOWN,
    NOT_FINITE,
    UNKNOWN,
    UNSOUND,
    UPDATED,
    Log,
)
from selectron.numeric.rows import Csr, Dense, Rows

# Below this size no product of a few entries overflows, so a finite row has a finite margin.
TAME = {np.dtype(np.float64): 1e75, np.dtype(np.float32): 1e9}

FIRST_PART, BRISK, SLOW = 1024, 0.1, 0.4  # rows; seconds a part shall take


class Given(NamedTuple):
    """The labels as the user gave them, for messages."""

    y: Any
    labels: Labels


def learn_batch(
    machine: Machine,
    rows: Rows,
    labels: Codes,
    log: Log,
    *,
    teach: bool = True,
    given: Given | None = None,
) -> None:
    """Run the pass over a batch; if it is refused or broken off, everything is as before."""
    with whole_or_not(machine, rows, labels):
        stop = machine.run(rows, labels, log=log, teach=teach)
        if stop.status == LABEL_UNKNOWN and given is not None:
            raise ValueError(
                f"unknown label {given.y[stop.position]!s} in row {stop.position} of y: "
                f"{given.labels.remedy}"
            )
        if stop.status != DONE:
            raise refusal(machine, rows, stop)


@contextmanager
def whole_or_not(machine: Machine, rows: Rows, labels: Codes) -> Iterator[None]:
    """Put the state back if anything within fails, be it a row or Ctrl-C.

    Numbers are checked while they are read, and a copy of the state is taken before. Where the
    state is larger than the batch, the batch is looked through first instead: a copy would cost
    more than the work. Such a batch is learnt to its end before a Ctrl-C is heard.
    """
    if machine.outweighs(rows) and (labels != UNKNOWN).all() and harmless(rows):
        with heard_afterwards():
            yield
        return
    before = machine.snapshot()
    try:
        yield
    except BaseException:
        machine.restore(before)
        raise


def pauses(machine: Machine, rows: Rows, labels: Codes, log: Log) -> Any:
    """Run the pass, and yield after every update the number of rows done."""
    stop = Stop(0, UPDATED)
    while stop.status == UPDATED:
        stop = machine.run(rows, labels, log=log, first=stop.position, pause=True)
        if stop.status == UPDATED:
            yield stop.position
    if stop.status != DONE:
        raise refusal(machine, rows, stop)


def parts(machine: Machine, rows: Rows, labels: Codes, log: Log) -> Iterator[int]:
    """Run the pass in parts long enough to cost nothing, and yield the number of rows of each."""
    n, done, size = shape(rows)[0], 0, FIRST_PART
    while done < n:
        began, end = perf_counter(), min(n, done + size)
        stretch = part(rows, done, end)
        stop = machine.run(stretch, labels[done:end], log=log.part(done, end))
        if stop.status != DONE:
            raise refusal(machine, rows, Stop(done + stop.position, stop.status))
        yield end - done
        done, taken = end, perf_counter() - began
        size = 2 * size if taken < BRISK else max(1, size // 2) if taken > SLOW else size


def vet(machine: Machine, rows: Rows) -> None:
    """Refuse rows that cannot be learnt before a single label is paid for."""
    if outside(rows) is not None:
        raise refusal(machine, rows, Stop(0, UNSOUND))
    finite = np.isfinite(rows.values)
    if not finite.all():
        at = int(np.argmin(finite.reshape(-1)))
        position = at // rows.values.shape[1] if isinstance(rows, Dense) else _row_of(rows, at)
        raise refusal(machine, rows, Stop(position, NOT_FINITE))


def harmless(rows: Rows) -> bool:
    """Tell whether no row can be refused half-way: finite, tame, none empty."""
    if not tame(rows):
        return False
    values = row_values(rows)
    if isinstance(rows, Dense):
        return bool((values != 0.0).any(axis=1).all())
    whole = (np.diff(rows.starts) > 0).all() and (values != 0.0).all()
    return bool(whole) and outside(rows) is None


def tame(rows: Rows) -> bool:
    """Tell whether all numbers are finite, and so small that no margin overflows by them."""
    values = row_values(rows)
    return bool((np.abs(values) < TAME[values.dtype]).all())


def refusal(machine: Machine, rows: Rows, stop: Stop) -> ValueError:
    """Say what is wrong with the row at which a pass stopped."""
    position = stop.position
    row = part(rows, position, position + 1)
    if stop.status == UNSOUND:
        return ValueError(
            f"X has an entry in column {outside(rows)} but a width of {shape(rows)[1]}: its index "
            "arrays are damaged"
        )
    if stop.status != NOT_FINITE:
        return ValueError(f"the label of row {position} was asked and is missing from y")
    if not all_finite(row):
        return ValueError(
            f"Input X contains NaN or infinity in row {position}: drop or impute such rows first"
        )
    if not row_values(row).any():
        return ValueError(
            f"row {position} of X has norm 0, and {machine.rules.update.label} needs a direction: "
            "drop empty rows"
        )
    return ValueError(
        f"row {position} of X gives a margin that is not finite: its numbers are too large for "
        f"{machine.dtype}; scale the features down"
    )


def _row_of(rows: Csr, entry: int) -> int:
    return int(np.searchsorted(rows.starts, entry, side="right") - 1)
