"""A machine for one class more: what it knew stays, the new class begins with zeros."""

from copy import deepcopy
from typing import Any

import numpy as np

from selectron.arrays import Vector
from selectron.classifier.machine import Machine
from selectron.classifier.memory import Memory
from selectron.classifier.rules import Rules, Wishes
from selectron.compiler.numbers import numbers_of
from selectron.forecasts import MANY, TWO
from selectron.loop import Learner
from selectron.queries.floor import with_floor

NOTHING_TOLD = np.empty((0, TWO))


def widened(machine: Machine, rules: Rules, n_classes: int) -> Machine:
    """Return a machine for more classes with all that the old one's rules can hand on.

    The scaling is the same; prototypes are handed on to more prototypes; a query rule goes on where
    it was if it is the same rule, its counts and its budget with it.
    """
    wider = machine.for_classes(rules, n_classes)
    then, now = machine.state, wider.learner
    both = zip(then, now, machine.rules, rules, strict=True)
    hand_over(wider, Learner(*(carried(a, b) if one == other else b for a, b, one, other in both)))
    wider.drawn_at = machine.drawn_at
    wider.n_seen, wider.n_asked, wider.waits = machine.n_seen, machine.n_asked, machine.waits
    return wider


def taught_again(machine: Machine, wishes: Wishes, memory: Memory, n_classes: int) -> Machine:
    """Return a machine for many classes that was told what the one for two remembers."""
    rules = machine.rules_for(wishes, n_classes)
    if machine.ledger is not None:
        floor = machine.ledger.whole.explore
        rules = rules._replace(query=with_floor(rules.query, floor))
    wider = widened(machine, rules, n_classes)
    query = deepcopy(wider.state.query)
    for rows, classes in memory.batches(machine.d):
        wider.lesson(rows, classes, NOTHING_TOLD, fresh=False)
    if rules.query == machine.rules.query:  # it has seen these labels already
        hand_over(wider, wider.state._replace(query=query))
    return wider


def hand_over(machine: Machine, learner: Learner) -> None:
    """Let the machine go on with these states."""
    machine.learner = learner
    machine.numbers = np.array(numbers_of(learner))
    machine.settle()


def carried(then: Any, now: Any) -> Any:
    """Return a state as it was, in arrays that may be larger; another kind of state begins anew."""
    if type(then) is not type(now):
        return now
    fields = []
    for old, new in zip(then, now, strict=True):
        if isinstance(old, tuple):
            fields.append(carried(old, new))
        elif isinstance(old, np.ndarray):
            new[tuple(slice(length) for length in old.shape)] = old
            fields.append(new)
        else:
            fields.append(old)
    return type(now)(*fields)


def widened_forecast(told: Vector) -> Vector:
    """Return the forecast of two classes that was written down as one of many."""
    if len(told) > TWO:
        return told
    best = float(told[0] > 0.0)
    wider = np.zeros(MANY)
    wider[:TWO] = abs(told[0]), *told[1:]
    wider[TWO:] = best, 1.0 - best
    return wider
