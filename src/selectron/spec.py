"""What a user writes: small frozen descriptions of rules, checked when they are made."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from numbers import Real
from typing import Any, ClassVar

import numpy as np


@dataclass(frozen=True)
class Range:
    """The numbers a knob may take."""

    low: float
    high: float
    low_open: bool = False
    high_open: bool = False

    def holds(self, value: float) -> bool:
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above and below

    def __str__(self) -> str:
        left, right = "(["[not self.low_open], ")]"[not self.high_open]
        return f"{left}{self.low:g}, {self.high:g}{right}"


POSITIVE = Range(0.0, float("inf"), low_open=True, high_open=True)
NOT_NEGATIVE = Range(0.0, float("inf"), high_open=True)
FRACTION = Range(0.0, 1.0, low_open=True)


class Spec:
    """A frozen description of a rule; its numbers are checked against RANGES when it is made."""

    RANGES: ClassVar[Mapping[str, Range]] = {}

    def __post_init__(self) -> None:
        for name, allowed in self.RANGES.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real):
                raise TypeError(f"{self.label}: {name} must be a number, got {value!r}")
            if not (isfinite(value) and allowed.holds(float(value))):
                raise ValueError(
                    f"{self.label}: {name} must lie in {allowed}, got {name}={value!r}"
                )
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.type is int and value != int(value):
                raise ValueError(f"{self.label}: {field.name} must be whole, got {value!r}")
            if field.type is bool and not isinstance(value, bool | np.bool_):
                raise TypeError(f"{self.label}: {field.name} is True or False, got {value!r}")

    @property
    def label(self) -> str:
        return type(self).__name__

    def knobs(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: v.item() if hasattr(v, "item") else v for name, v in values.items()}


class Scaling(Spec):
    """How a row is presented to the update rule."""

    WRITTEN_OUT: ClassVar[bool] = True  # False: dense rows of which only products can be had


class UpdateRule(Spec):
    """How a label changes the hypothesis."""

    UNIT_ROWS: ClassVar[bool] = False  # True: rows of other lengths are scaled

    @property
    def by_products(self) -> bool:
        """Whether products with a row, and sums of rows, are all it needs."""
        return False

    def many(self, d: int, dtype: Any, n_classes: int) -> Any:
        """Begin with more than two classes, a prototype each; most rules have no such form."""
        raise ValueError(
            f"{self.label} is for two classes and there are {n_classes}: choose a rule for more, "
            "such as Perceptron(), Ballseptron(), PassiveAggressive(), SecondOrder() or Ridge()"
        )


class QueryRule(Spec):
    """Whether to ask for a label."""

    def many(self, d: int, n_classes: int) -> Any:
        """Begin with more than two classes; most rules look at the margin alone."""
        return self.begin(d)

    def begin(self, d: int) -> Any:
        """Return the state before the first round."""
        raise NotImplementedError  # every rule has its own
