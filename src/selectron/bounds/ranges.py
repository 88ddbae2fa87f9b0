"""What the arguments of a bound may be: one range for each name, the same in every theorem."""

from collections.abc import Mapping
from math import inf, isfinite

from selectron.spec import NOT_NEGATIVE, POSITIVE, Range

Ranges = Mapping[str, tuple[Range, str]]  # the range, and what to do with a value outside of it

INSIDE_UNIT = Range(0, 1, low_open=True, high_open=True)
FROM_ONE = Range(1, inf, high_open=True)

RANGES: Ranges = {
    "a": (POSITIVE, "it is the ridge A starts from; the paper has 1"),
    "alpha": (INSIDE_UNIT, "1/2 gives the smallest bound on separable data"),
    "b": (POSITIVE, "max_norm**2 / 2 is the paper's choice for separable data"),
    "beta": (POSITIVE, "any constant will do, and a larger one asks more"),
    "c": (INSIDE_UNIT, "dkm09.ADMISSIBLE_C is proven"),
    "comparator_energy": (NOT_NEGATIVE, "it is uᵀE[A]u for the comparator u"),
    "comparator_norm": (NOT_NEGATIVE, "give the norm of the comparator u"),
    "d": (FROM_ONE, "give the number of features"),
    "delta": (INSIDE_UNIT, "it is the chance to fail, as 0.05"),
    "error": (Range(0, 0.5, True, True), "it is the error rate to reach, as 0.01"),
    "eta": (POSITIVE, "it is the rate that Winnow runs with"),
    "hinge": (NOT_NEGATIVE, "sum max(0, target_margin - y u.x) over the rounds"),
    "hinge_norm": (NOT_NEGATIVE, "it is the 2-norm of the hinge losses"),
    "log_volume": (NOT_NEGATIVE, "use log_volume_of(eigenvalues=...)"),
    "margin": (POSITIVE, "Novikoff needs separable data: try ss05.d1_mistakes"),
    "max_norm": (POSITIVE, "give the largest norm of a row; drop empty rows"),
    "n_margin_errors": (NOT_NEGATIVE, "count the updates made on a right answer"),
    "n_updates": (NOT_NEGATIVE, "count the updates made so far"),
    "norm": (POSITIVE, "a vector of length 0 has no angle"),
    "p": (Range(2, inf, high_open=True), "p = 2 is the Perceptron"),
    "r": (NOT_NEGATIVE, "r = 0 is the Perceptron"),
    "similarity": (Range(0, 1, low_open=True), "1 is the uniform distribution"),
    "start_norm": (NOT_NEGATIVE, "0 starts from the zero vector"),
    "target_margin": (POSITIVE, "the bound holds for every margin: minimise over it"),
}


def check(**values: float) -> None:
    """Refuse the first value that is outside the range of its name."""
    check_in(RANGES, **values)


def check_in(ranges: Ranges, **values: float) -> None:
    """Do as `check` does, by the table of another paper, where a letter has another meaning."""
    for name, value in values.items():
        allowed, remedy = ranges[name]
        if not (isfinite(value) and allowed.holds(value)):
            raise ValueError(f"{name} must be in {allowed}, got {value!r}; {remedy}")
