"""From parameters to a machine: compiled where all learners are rules of ours, plain otherwise."""

from typing import Any

import numpy as np

from selectron.classifier.labels import Labels
from selectron.classifier.rules import Rules
from selectron.scalings import Raw
from selectron.spec import QueryRule
from selectron.tracking.adapters import adapt
from selectron.tracking.by_margin import ByMargin
from selectron.tracking.committee import read_committee
from selectron.tracking.machine import CrewMachine
from selectron.tracking.mixtures import default_mixture, fresh_copy
from selectron.tracking.plain_machine import PlainMachine


def begin_machine(
    learners: Any,
    experts: Any,
    query: QueryRule,
    eta: float | None,
    setting: tuple[int, np.dtype[Any], int],
    labels: Labels,
) -> CrewMachine | PlainMachine:
    """Return a machine at its start; `setting` is width, type of float, and seed."""
    committee = read_committee(learners)
    n = len(committee.learners)
    if experts is not None and eta is not None:
        raise ValueError(
            f"eta is {eta!r} and experts is given: eta is the rate of the default mixture; give "
            "the rate to the mixture, or leave one of them out"
        )
    mixture = default_mixture(n, query, eta) if experts is None else fresh_copy(experts, n)
    rules = Rules(Raw(), committee, query)
    if committee.all_rules:
        return CrewMachine(rules, mixture, *setting)
    members = [adapt(learner, labels) for learner in committee.learners]
    return PlainMachine(rules, mixture, members, *setting)


def read_query(query: Any) -> QueryRule:
    """Return the query rule, the default for None, or say what one is."""
    if query is None:
        return ByMargin()
    if not isinstance(query, QueryRule):
        raise TypeError(
            "query must be a rule such as selectron.tracking.ByMargin or those of "
            f"selectron.queries, got {query!r}"
        )
    return query
