"""Rows at hand: which of them is most worth a label.

A file, a labelling page, a buffer of a service: rows need not be decided in their order. A `Pool`
keeps all of them as the scaling presents them, and finds after every answer the row whose class is
least certain. Before answers have named two classes, it is the row of which least is known.
"""

from copy import copy
from typing import NamedTuple

import numpy as np

from selectron.arrays import Array, Flags, Indices, Matrix, Table, Vector
from selectron.classifier.machine import CHUNK, Before, LinearMachine, Machine
from selectron.compiler.states import Snapshot, nodes, used_part
from selectron.files import DamagedFile, Description, Reader, Tensors, fields, whole
from selectron.loop import compiled, run_forecasts, run_presented, run_products, run_table_scores
from selectron.numeric.coins import coins
from selectron.numeric.rows import (
    Csr,
    Dense,
    Rows,
    SparseRow,
    add_scaled,
    n_entries,
    row,
    sealed,
    shape,
    square_norm,
)
from selectron.protocol import MANY, TWO, present, rooms

FIRST, DOUBT, AUDIT = "first", "doubt", "audit"
SHORTLIST = 64  # rows of least margin whose variance is computed
LONG_SHORTLIST = 256  # where many are wanted at once
FIRST_LOOK = 2000  # rows among which the first ones are looked for
COIN_OF_CHOICE = 0x5EED  # sets the coins of choices apart from those of rounds
MOST_ROWS = 1 << 26  # in a file: a flag each, which the file itself does not hold


class Choice(NamedTuple):
    """Rows whose labels are most worth asking for, the worthiest first.

    `rows` are positions in X, `tickets` go to `tell`, `odds` are the chances with which each was
    chosen, and `reasons` say why: "first" (two classes are not known yet), "doubt" (the class is
    least certain), "audit" (drawn evenly from all rows that are left).
    """

    rows: Indices
    tickets: Indices
    odds: Vector
    reasons: list[str]

    def to_dict(self) -> dict[str, list[object]]:
        """Return all by name as lists, ready for JSON."""
        return {name: np.asarray(value).tolist() for name, value in self._asdict().items()}


class Pool:
    """Rows at hand as they are presented, and which of them are left."""

    def __init__(self, n: int) -> None:
        self.left: Flags = np.ones(n, bool)
        self.n_choices = 0
        self.told: set[float] = set()  # the classes that answers have named
        self._given: Table = None  # the X that the user passed
        self._rounds = -1  # after which its rows were presented
        self._table: Rows | None = None  # its rows as they are presented
        self._scaling: tuple[Machine, int, list[Array]] | None = None  # copied after these rounds

    def copy(self) -> "Pool":
        """Return a pool of the same rows whose choices go their own way."""
        other = copy(self)
        other.left, other.told = self.left.copy(), self.told.copy()
        return other

    def grow(self, n: int) -> None:
        """Make room for rows that have joined at the end."""
        self.left = np.concatenate([self.left, np.ones(n - len(self.left), bool)])

    def look_at(self, given: Table, rows: Rows, machine: Machine, rounds: int) -> None:
        """Present the rows, unless that was done and the scaling has not moved since."""
        if not self.holds(given, rounds):
            self._table = presented(machine, rows)
            self._given, self._rounds = given, rounds

    def holds(self, given: Table, rounds: int) -> bool:
        """Tell whether these are the rows that were presented, as they would be presented now."""
        return self._given is given and self._rounds == rounds

    def snapshot(self, machine: Machine, rounds: int) -> Before:
        """Copy what answers change of a machine; leave out free room, and room for a row at hand.

        The scaling moves with rounds alone, so snapshots between two rounds share one copy of it.
        """
        if not isinstance(machine, LinearMachine):
            return machine.snapshot()
        tree, arrays = machine.states.tree, machine.states.arrays
        n = sum(isinstance(node, np.ndarray) for node in nodes(tree.scaling))
        if self._scaling is None or self._scaling[:2] != (machine, rounds):
            self._scaling = machine, rounds, [array.copy() for array in arrays[:n]]
        states = [state for state in nodes(tree) if isinstance(state, tuple)]
        rooms_at_hand = {id(getattr(state, name)) for state in states for name in rooms(state)}
        copies = [
            array.reshape(-1)[:0] if id(array) in rooms_at_hand else used_part(array).copy()
            for array in arrays[n:]
        ]
        return Snapshot(self._scaling[2] + copies, machine.states.numbers.copy())

    def pick(
        self, machine: Machine, n: int, explore: float, among: Flags
    ) -> tuple[list[int], Vector, list[str]]:
        """Return n of these rows, the odds of each, and why it was chosen.

        Each is the worthiest with probability 1 - explore, and else drawn evenly.
        """
        left = np.flatnonzero(among)
        if not len(left):
            return [], np.zeros(0), []
        more = 2 * n if explore > 0.0 else n  # audits may take some of the worthiest
        worthy, why = (
            self._worthiest(machine, left, n, more) if explore < 1.0 else (left.tolist(), "")
        )
        rows: list[int] = []
        odds, reasons = [], []
        for k in range(min(n, len(left))):
            worthiest = next(t for t in worthy if t not in rows)
            place = 2 * (self.n_choices + k)
            toss, draw = coins(machine.seed ^ COIN_OF_CHOICE, place, 2).tolist()
            chosen = int(left[int(draw * len(left))]) if toss < explore else worthiest
            rows.append(chosen)
            odds.append((1.0 - explore) * (chosen == worthiest) + explore / len(left))
            reasons.append(AUDIT if toss < explore else why)
            left = left[left != chosen]
        return rows, np.array(odds), reasons

    def _worthiest(
        self, machine: Machine, left: Indices, n: int, more: int
    ) -> tuple[list[int], str]:
        """Return `more` of the rows most worth a label, of which n are wanted."""
        if len(self.told) < 2:
            spaced = np.linspace(0, len(left) - 1, min(len(left), max(2 * n, FIRST_LOOK)))
            some = left[np.unique(spaced.astype(np.int64))]
            seen = self.forecasts(machine, some, exact=True)
            return self._apart(some, seen[:, 3].max() - seen[:, 3], n, more), FIRST
        margins = np.abs(self.forecasts(machine, left, exact=False)[:, 0])
        length = min(len(left), max(SHORTLIST, min(8 * n, LONG_SHORTLIST), 2 * n))
        near = left[np.sort(np.argpartition(margins, length - 1)[:length])]
        seen = self.forecasts(machine, near, exact=True)
        return self._apart(near, np.abs(seen[:, 0]) / seen[:, 1], n, more), DOUBT

    def scores(self, machine: Machine) -> Vector:
        """Return the margin of every row, of many classes a score a class.

        Rules that have chances do not need a variance for a margin, which a glance gives exactly.
        """
        states, every = machine.states, np.arange(len(self.left))
        if machine.n_classes == 2:
            return self.forecasts(machine, every, exact=False)[:, 0]
        out = np.zeros((len(every), machine.n_classes))
        with states.busy:
            loop = compiled(run_table_scores, states.kinds)
            loop(states.tree, states.numbers, sealed(self._table), out)
        return out

    def forecasts(self, machine: Machine, chosen: Indices, *, exact: bool) -> Matrix:
        """Return margin, unit, norm, variance of some rows; of many classes best and second."""
        out = np.zeros((len(chosen), MANY if machine.n_classes > 2 else TWO))
        states = machine.states
        with states.busy:
            loop = compiled(run_forecasts, states.kinds)
            loop(states.tree, states.numbers, sealed(self._table), chosen, exact, out)
        return out

    def _apart(self, candidates: Indices, cost: Vector, n: int, more: int) -> list[int]:
        """Return some candidates of least cost; if n > 1, likeness to an earlier one costs too."""
        order: list[int] = []
        dearest = float(cost.max())
        spread = np.zeros(0 if self._table is None else shape(self._table)[1])
        while len(order) < min(more, len(candidates)):
            best = int(cost.argmin())
            order.append(int(candidates[best]))
            cost[best] = np.inf
            if n > 1 and self._table is not None:
                cost += dearest * likeness(self._table, order[-1], candidates, spread) ** 2
        return order

    # --- in files

    def tensors(self) -> Tensors:
        return {"pool.taken": np.flatnonzero(~self.left)}

    def describe(self) -> Description:
        return {"rows": len(self.left), "choices": self.n_choices, "told": sorted(self.told)}

    @classmethod
    def read(cls, described: Description | None, reader: Reader, n_classes: int) -> "Pool | None":
        """Return the pool of a file, None if there was none."""
        if described is None:
            return None
        fields(described, "pool", ("rows", "choices", "told"))
        pool = cls(whole(described["rows"], "rows at hand", 1, MOST_ROWS))
        taken = reader.take("pool.taken", np.int64, (None,), 0, len(pool.left) - 1)
        pool.left[taken] = False
        pool.n_choices = whole(described["choices"], "choices")
        if not all(code in (-1, *range(n_classes)) for code in described["told"]):
            raise DamagedFile(f"classes {described['told']!r:.40} were named")
        pool.told = {float(code) for code in described["told"]}
        return pool


def presented(machine: Machine, rows: Rows) -> Rows:
    """Return all rows as the scaling presents them."""
    (n, d), extra, states = shape(rows), machine.rules.scaling.EXTRA, machine.states
    first = present(states.now.scaling, row(rows, 0))
    if isinstance(first, SparseRow):
        room = n_entries(rows) + n * extra
        entries = np.zeros(room, first.values.dtype), np.zeros(room, np.uint32)
        table: Rows = Csr(*entries, np.zeros(n + 1, np.int64), d + extra)
    else:
        table = Dense(np.zeros((n, d + extra), first.values.dtype))
    loop, given = compiled(run_presented, states.kinds), sealed(rows)
    for start in range(0, n, CHUNK):
        with states.busy:
            loop(states.tree, states.numbers, given, table, start, min(n, start + CHUNK))
    return table


def likeness(table: Rows, t: int, others: Indices, spread: Vector) -> Vector:
    """Return the cosine of row t with each of the others; `spread` has zeros, before and after."""
    x, products = row(table, t), np.zeros((len(others), 2))
    add_scaled(x, 1.0, spread)
    compiled(run_products, ())(sealed(table), others, spread, products)
    spread[x.indices if isinstance(x, SparseRow) else slice(None)] = 0.0
    lengths = products[:, 1] * square_norm(x)
    cosines: Vector = products[:, 0] / np.sqrt(np.maximum(lengths, 1e-300))
    return cosines
