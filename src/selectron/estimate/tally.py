"""What is known at one moment, and between which ends it puts the total of an event."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple, Protocol

from selectron.estimate.mixture import Mixture
from selectron.estimate.sums import LOST, Sums


class Construction(Protocol):
    """How sums become evidence against a total: `Thinning` or `Bernstein`."""

    @property
    def risk(self) -> bool: ...
    def too_many(self, sums: Sums, explore: float) -> Mixture: ...
    def too_few(self, sums: Sums, explore: float) -> Mixture: ...


class Tally(NamedTuple):
    """The sums, and the rounds that they speak for."""

    sums: Sums
    explore: float
    rounds: int  # with odds of at least `explore`
    outside: int  # all others

    @property
    def labels(self) -> int:
        return round(float(self.sums.counts[:LOST].sum()))

    @property
    def lost(self) -> int:
        return round(float(self.sums.counts[LOST]))

    def times(self, factor: float) -> "Tally":
        """Return what more of the same would give."""
        rounds = round(self.rounds * factor)
        return Tally(self.sums.times(factor), self.explore, rounds, self.outside)


class Judge(NamedTuple):
    """A construction at a level, asked about events of one tally.

    A lost or pending answer counts as the event where it would speak for a larger total, and as
    none where for a smaller: the true bets are at least as large as those held here.
    """

    tally: Tally
    construction: Construction
    bound: float

    @classmethod
    def at(cls, tally: Tally, level: float, construction: Construction) -> "Judge":
        """Give each end half of what the level leaves."""
        return cls(tally, construction, log(2.0 / (1.0 - level)))

    def too_many(self, *outcomes: int) -> Mixture:
        return self.construction.too_many(self.tally.sums.of((*outcomes, LOST)), self.tally.explore)

    def too_few(self, *outcomes: int) -> Mixture:
        return self.construction.too_few(self.tally.sums.of(outcomes), self.tally.explore)

    def least(self, *outcomes: int) -> float:
        """Return the smallest total that is not ruled out."""
        return self._possible(float(self.too_few(*outcomes).crossing(self.bound)), outcomes)

    def most(self, *outcomes: int) -> float:
        """Return the largest total that is not ruled out; the floor must be above 0."""
        return self._possible(float(self.too_many(*outcomes).crossing(self.bound)), outcomes)

    def _possible(self, total: float, outcomes: Sequence[int]) -> float:
        """Move a total to where the answers allow it: events seen have happened, others have not.

        Of a risk they say nothing, but that it lies between none and all.
        """
        seen = 0.0 * self.tally.sums.counts if self.construction.risk else self.tally.sums.counts
        happened = float(seen[list(outcomes)].sum())
        others = float(seen[:LOST].sum()) - happened
        return min(max(total, happened), self.tally.rounds - others)


def check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie strictly between 0 and 1, got {level}")
