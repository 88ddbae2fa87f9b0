"""A few pairs of rules in which each rule is met.

Compiling takes longer than running: the fast suite plays every pair in plain Python and compiles
these, which must give the same bits. What the bodies of a pair say to each other is a forecast and
a label, so what is wrong with one partner is rarely right with another; the slow tests compile
every pair.
"""

import pytest

from selectron.compiler.states import nodes
from tests.rules.catalogue import PAIRS, QUERIES, UPDATES


def spread(pairs, begin):
    """Choose kernels that have every rule in them; return all pairs that need no other kernel."""
    types = {(u, q): (kinds(begin(UPDATES[u])), kinds(QUERIES[q].begin(3))) for u, q in pairs}
    chosen, met = set(), (set(), set())
    by_use = sorted(pairs, key=lambda pair: pair[1] != "margin")  # which other tests compile too
    for wanted in (2, 1):  # first those that bring two new rules, then what is missing
        for update, query in (types[pair] for pair in by_use):
            if (update not in met[0]) + (query not in met[1]) >= wanted:
                chosen.add((update, query))
                met[0].add(update)
                met[1].add(query)
    return [pair for pair in pairs if types[pair] in chosen]


def kinds(state):
    """List the types that a kernel is compiled for: knobs do not matter to it."""
    return tuple(type(node) for node in nodes(state) if isinstance(node, tuple))


def compiled_or_plain(pairs, compiled):
    """Mark the pairs that are not compiled in the fast suite."""
    return [pytest.param(*p, marks=() if p in compiled else pytest.mark.plain) for p in pairs]


SPREAD = spread(PAIRS, lambda update: update.begin(3, float))
FEW = [next(pair for pair in SPREAD if pair[0] == u) for u in ("perceptron", "probit")]
