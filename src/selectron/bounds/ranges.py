"""What the arguments of a bound may be: one range a word, the same in every theorem."""

from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple


class Range(NamedTuple):
    """The interval from `low` to `high`, each end in or out of it, and what to do outside."""

    low: float
    high: float
    open_low: bool
    open_high: bool
    remedy: str

    def admits(self, value: float) -> bool:
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return isfinite(value) and above and below

    def __str__(self) -> str:
        left, right = "(" if self.open_low else "[", ")" if self.open_high else "]"
        return f"{left}{self.low:g}, {self.high:g}{right}"


INFINITY = float("inf")


def _above(low: float, remedy: str) -> Range:
    return Range(low, INFINITY, True, True, remedy)


def _at_least(low: float, remedy: str) -> Range:
    return Range(low, INFINITY, False, True, remedy)


def _inside(low: float, high: float, remedy: str) -> Range:
    return Range(low, high, True, True, remedy)


RANGES = {
    "a": _above(0, "it is the ridge A starts from; the paper has 1"),
    "alpha": _inside(0, 1, "1/2 gives the smallest bound on separable data"),
    "b": _above(0, "max_norm**2 / 2 is the paper's choice for separable data"),
    "beta": _above(0, "any constant will do, and a larger one asks more"),
    "c": _inside(0, 1, "dkm09.ADMISSIBLE_C is proven"),
    "comparator_energy": _at_least(0, "it is uᵀE[A]u for the comparator u"),
    "comparator_norm": _at_least(0, "give the norm of the comparator u"),
    "d": _at_least(1, "give the number of features"),
    "delta": _inside(0, 1, "it is the chance to fail, as 0.05"),
    "error": _inside(0, 0.5, "it is the error rate to reach, as 0.01"),
    "hinge": _at_least(0, "sum max(0, target_margin - y u.x) over the rounds"),
    "hinge_norm": _at_least(0, "it is the 2-norm of the hinge losses"),
    "log_volume": _at_least(0, "use log_volume_of(eigenvalues=...)"),
    "margin": _above(0, "Novikoff needs separable data: try ss05.d1_mistakes"),
    "max_norm": _above(0, "give the largest norm of a row; drop empty rows"),
    "n_margin_errors": _at_least(0, "count the updates made on a right answer"),
    "n_updates": _at_least(0, "count the updates made so far"),
    "norm": _above(0, "a vector of length 0 has no angle"),
    "p": _at_least(2, "p = 2 is the Perceptron"),
    "r": _at_least(0, "r = 0 is the Perceptron"),
    "similarity": Range(0, 1, True, False, "1 is the uniform distribution"),
    "start_norm": _at_least(0, "0 starts from the zero vector"),
    "target_margin": _above(0, "the bound holds for every margin: minimise over it"),
}


def check(**values: float) -> None:
    """Refuse the first value that is outside the range of its word."""
    check_in(RANGES, **values)


def check_in(ranges: Mapping[str, Range], **values: float) -> None:
    """Do as `check` by another paper's table, where the same letter is another thing."""
    for name, value in values.items():
        allowed = ranges[name]
        if not allowed.admits(value):
            raise ValueError(f"{name} must be in {allowed}, got {value!r}; {allowed.remedy}")
