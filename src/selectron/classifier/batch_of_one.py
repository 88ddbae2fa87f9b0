"""One row at a time, as a batch of one: with a kernel, and while a row waits for its label."""

from typing import Any

import numpy as np

from selectron.classifier.inputs import row_values
from selectron.classifier.label_arrays import read_labels
from selectron.classifier.one_row import OneRow
from selectron.classifier.row_forms import Bench, Form
from selectron.classifier.run import NO_FORECASTS, Ask, Run
from selectron.numeric.rows import Csr, Dense, Rows


def batch_of_one(run: Run, like: Any) -> OneRow:
    """Bind the learner, for rows of the class of this one."""
    bench = Bench.for_rows_like(run, like)
    tickets = run.tickets

    def predict(x: Any) -> Any:
        return run.labels.names(run.machine.sides(_row(bench, x)))[0]

    def ask(x: Any) -> Ask:
        answer = run.ask(_row(bench, x))
        name, margin, probability, asked, ticket = (part[0] for part in answer)
        tickets.just_asked = int(ticket) if asked else None
        return Ask(name, float(margin), float(probability), bool(asked), int(ticket))

    def learn(x: Any, y: Any) -> None:
        row = _row(bench, x)
        if run.machine.waits:  # the scaling has taken it in already
            run.teach(row, read_labels([y], 1))
            return
        _vet(bench, row, y)
        ticket = tickets.answered_by(x, bench.read)
        if ticket is not None:
            run.tell([(ticket, y)])
            return
        code = run.admit(y)
        machine = run.machine
        run.lesson(row, np.array([code], machine.code_type), NO_FORECASTS, fresh=True)
        run.remember(row, code)
        machine.n_seen += 1
        machine.n_asked += 1
        tickets.just_asked = None

    return OneRow(predict, ask, learn)


def _row(bench: Bench, x: Any) -> Rows:
    values, columns = bench.read(x)
    if not np.isfinite(values).all():
        raise bench.refusal(values)
    if bench.form is Form.DENSE:
        return Dense(values[np.newaxis])
    starts = np.array([0, len(values)], np.int64)
    return Csr(values, columns.view(np.uint32), starts, bench.d)


def _vet(bench: Bench, row: Rows, y: Any) -> None:
    """Refuse a row ahead of its label: it must not leave a new class behind."""
    run = bench.run
    if not run.labels.knows(y) and not np.isfinite(run.margins(row, exact=True)).all():
        raise bench.refusal(row_values(row))
