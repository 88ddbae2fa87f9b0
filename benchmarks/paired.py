"""The statistic of every speed figure: the median over rounds of paired ratios.

The speed of a machine drifts within a run, so the contestants take turns inside each round and only
times of the same round are divided by each other.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter
from typing import Any

ROUNDS = 11


@dataclass(frozen=True)
class Row:
    """One bar: a ratio, the gate it must pass, and which side of it is good."""

    name: str
    ratio: float
    gate: float
    faster: bool = False  # True: the ratio says how many times faster we are
    unit: str = ""  # of a figure that is no ratio
    load: float | None = None  # of the machine when such a figure was measured

    @property
    def passed(self) -> bool:
        return bool(self.ratio >= self.gate if self.faster else self.ratio <= self.gate)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"passed": self.passed}


def times(contestants: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """Run all contestants once to warm up, then in turns; return their times by round."""
    for run in contestants.values():
        run()
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, run in contestants.items():
            start = perf_counter()
            run()
            taken[name].append(perf_counter() - start)
    return taken


def ratio(above: list[float], below: list[float]) -> float:
    """Return the median of the paired ratios."""
    return median(a / b for a, b in zip(above, below, strict=True))
