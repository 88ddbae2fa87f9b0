"""Why a label is asked now or not, in words."""

from typing import Any

from selectron.classifier.lifecycle import AnyRun
from selectron.compiler.numbers import unpack
from selectron.protocol import ready
from selectron.queries.auto import AutoState, floor_of, one_class, paused
from selectron.queries.budget import BudgetState, left
from selectron.queries.floor import FloorState


def silence(run: AnyRun) -> str:
    """Return the strongest reason first."""
    machine = run.machine
    ledger, state = machine.ledger, unpack(machine.learner, machine.numbers)
    if ledger is not None and ledger.met_at is not None:
        return f"asks nothing: the goal {ledger.goal} was met at round {ledger.met_at:,}"
    if not ready(state.scaling):
        return "asks nothing: the first rows only measure the features"
    return _of_rule(state.query, run)


def _of_rule(query: Any, run: AnyRun) -> str:
    if isinstance(query, BudgetState):
        if left(query) < 1.0:
            kind = "for now: the rate of the budget" if query.rate > 0.0 else "the budget"
            return f"asks nothing: {kind} is spent"
        return _of_rule(query.rule, run)
    if isinstance(query, FloorState):
        return f"{_of_rule(query.rule, run)}, and at least {query.explore:.1%} of all"
    if isinstance(query, AutoState):
        return _of_auto(query, run)
    return "asks as its rule says"


def _of_auto(query: AutoState, run: AnyRun) -> str:
    if paused(query):
        waiting = query.n_asked - query.n_negative - query.n_positive
        return f"waits for {waiting:,} answers; until some come, odds are {floor_of(query):.1%}"
    if query.n_negative + query.n_positive == 0:
        return "asks: no label is known yet"
    if one_class(query):
        names = run.labels.classes.tolist()
        return (
            f"only one class so far, {names[0]!r}: asks for what is new, and at least "
            f"{floor_of(query):.1%} of all"
        )
    return f"asks below its threshold, and at least {floor_of(query):.1%} of all"
