"""Batches whose classes are met as they come: a new one joins at the row that names it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from selectron.classifier.batch import Given, learn_batch, refusal, vet
from selectron.classifier.inputs import part, shape
from selectron.classifier.machine import ASKED
from selectron.loop import DONE, LABEL_NEEDED, LABEL_UNKNOWN, NOT_GIVEN, UNKNOWN, Log
from selectron.numeric.rows import Rows


def consult(run: Any, rows: Rows, label_of: Callable[[int], Any], log: Log) -> None:
    """Run the pass, calling `label_of` with the position of each row whose label is asked.

    What has been answered stays learnt, whatever happens later.
    """
    vet(run.machine, rows)
    codes = np.full(shape(rows)[0], NOT_GIVEN, run.machine.code_type)
    stop = run.machine.run(rows, codes, log=log)
    while stop.status == LABEL_NEEDED:
        machine = run.machine
        code = run.admit(label_of(stop.position))
        joined = run.machine is not machine
        if joined:
            run.machine.next_coin = ASKED  # the label is paid for, whatever the odds are now
            codes = np.full(len(codes), NOT_GIVEN, run.machine.code_type)
        codes[stop.position] = code
        run.remember(part(rows, stop.position, stop.position + 1), code)
        stop = run.machine.run(rows, codes, log=log, first=stop.position)
    if stop.status != DONE:
        raise refusal(run.machine, rows, stop)


def learn_open(run: Any, rows: Rows, y: Any, log: Log) -> None:
    """Learn a batch of given labels, whole or not at all; new classes join where they are asked."""
    codes = run.labels.codes(y)
    log = Log.of_questions(len(codes)) if run.remembers and not log.kept else log
    if (codes != UNKNOWN).all():
        learn_batch(run.machine, rows, codes, log, given=Given(y, run.labels))
        run.remember_asked(rows, codes, log)
        return
    before = run.checkpoint()
    try:
        stop = run.machine.run(rows, codes, log=log)
        while stop.status == LABEL_UNKNOWN:
            run.remember_asked(part(rows, 0, stop.position), codes, log.part(0, stop.position))
            log.asked[: stop.position] = False
            machine = run.machine
            run.admit(y[stop.position])
            if run.machine is not machine:
                run.machine.next_coin = ASKED
            codes = run.labels.codes(y)
            stop = run.machine.run(rows, codes, log=log, first=stop.position)
        if stop.status != DONE:
            raise refusal(run.machine, rows, stop)
        run.remember_asked(rows, codes, log)
    except BaseException:
        run.back_to(before)
        raise
