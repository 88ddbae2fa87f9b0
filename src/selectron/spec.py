"""What a user writes: small frozen descriptions of rules, checked when they are made.

Every description registers itself by its package and its name, so that files, commands and texts
find rules of other packages too. A package whose rules shall be found before it is imported names
its module in the entry points of the group `selectron.rules`.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points
from math import isfinite
from numbers import Real
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from selectron.arrays import DType

# A state is a NamedTuple of arrays, numbers and other states; each rule has its own.
State: TypeAlias = Any
Knob: TypeAlias = Any  # the value of a knob: a number, a text, a rule or several rules


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
SHARE = Range(0.0, 1.0)


class Spec:
    """A frozen description of a rule; its numbers are checked against RANGES when it is made."""

    RANGES: ClassVar[Mapping[str, Range]] = {}
    NAMED: ClassVar[bool] = True  # False: commands and texts do not know it

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if not cls.__name__.startswith("_"):
            REGISTERED[registered_name(cls)] = cls

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

    def knobs(self) -> dict[str, Knob]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: v.item() if hasattr(v, "item") else v for name, v in values.items()}


REGISTERED: dict[str, type[Spec]] = {}
ENTRY_POINTS = "selectron.rules"
OWN = __name__.partition(".")[0]


def registered_name(kind: type[Spec]) -> str:
    """Return the name by which files know a rule: `Margin`, or `package:Band` of another package.

    Modules are no part of it: a package may move its rules about.
    """
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package == OWN else f"{package}:{kind.__name__}"


def registered(name: str) -> type[Spec]:
    """Return the rule of this name; packages that are not imported yet are asked for it."""
    if name not in REGISTERED:
        _import_others(tuple(sys.path))
    if name not in REGISTERED or not is_dataclass(REGISTERED[name]):
        raise KeyError(name)
    return REGISTERED[name]


@cache
def _import_others(path: tuple[str, ...]) -> None:
    """Import the packages with rules, once for each search path: finding them takes 20 ms."""
    for point in entry_points(group=ENTRY_POINTS):
        point.load()


def plain(value: object) -> Any:
    """Return a rule, a list of rules or a number as values that JSON has."""
    if isinstance(value, Spec):
        knobs = {name: plain(knob) for name, knob in value.knobs().items()}
        return {"rule": registered_name(type(value))} | knobs
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def from_plain(value: object) -> Any:
    """Return what `plain` was given; lists come back as tuples."""
    if isinstance(value, dict):
        knobs = {name: from_plain(knob) for name, knob in value.items()}
        return registered(knobs.pop("rule"))(**knobs)
    return tuple(map(from_plain, value)) if isinstance(value, list) else value


def in_words(name: str) -> str:
    """Return the name of a rule as commands write it: `adaptive-margin` for AdaptiveMargin."""
    words = "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")
    return words.replace("p-norm", "pnorm")


def rules_in_words(*roles: type[Spec]) -> dict[str, type[Spec]]:
    """Return every rule of these roles by its name in words; our own come last, and win."""
    _import_others(tuple(sys.path))
    kinds = sorted(REGISTERED.values(), key=lambda kind: kind.__module__.startswith(f"{OWN}."))
    wanted = [k for k in kinds if issubclass(k, roles) and k.NAMED and is_dataclass(k)]
    return {in_words(kind.__name__): kind for kind in wanted}


def rule_from_text(text: str, *roles: type[Spec]) -> Any:
    """Return the rule that a text such as `margin:b=0.5` describes.

    Examples
    --------
    >>> from selectron.queries import Margin
    >>> rule_from_text("margin:b=0.5", QueryRule)
    Margin(b=0.5)
    """
    name, _, given = text.partition(":")
    known = rules_in_words(*roles)
    kind = known.get(name.strip().lower())
    if kind is None:
        near = get_close_matches(name.strip().lower(), known, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ValueError(f"unknown rule {name!r}; {hint}known are {', '.join(sorted(known))}")
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    knobs: dict[str, Knob] = {}
    for assignment in filter(None, given.split(",")):
        knob, _, value = assignment.partition("=")
        if knob not in names:
            has = f"it has {', '.join(names)}" if names else "it has no knobs"
            raise ValueError(f"{name} has no knob {knob!r}; {has}")
        knobs[knob] = _value(value)
    return kind(**knobs)


def _value(text: str) -> bool | int | float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


class Scaling(Spec):
    """How a row is presented to the update rule."""

    WRITTEN_OUT: ClassVar[bool] = True  # False: dense rows of which only products can be had
    EXTRA: ClassVar[int] = 0  # how many columns presented rows have beyond their features
    HOLDS_BACK: ClassVar[bool] = (
        False  # True: the first rows of a stream are held back to be studied
    )

    def begin(self, d: int, dtype: DType) -> State:
        """Return the state before the first row."""
        raise NotImplementedError  # every scaling has its own

    def study(self, state: State, rows: Any) -> State:
        """Return the state after a look at all rows at hand; None: rows are absorbed in a pass."""
        return None

    def waits_for(self, state: State) -> int | None:
        """Return how many rows of a stream are still held back to be studied; None: none are."""
        return None

    def study_held(self, state: State) -> State:
        """Return the state after a look at the rows that were held back."""
        return state


class UpdateRule(Spec):
    """How a label changes the hypothesis."""

    UNIT_ROWS: ClassVar[bool] = False  # True: rows of other lengths are scaled
    CORRECTABLE: ClassVar[bool] = False  # True: a label can be replaced later (`relabel`)
    HAS_SCALE: ClassVar[bool] = False  # True: margins tell how probable a class is (`chances`)

    @property
    def by_products(self) -> bool:
        """Whether products with a row, and sums of rows, are all it needs."""
        return False

    def begin(self, d: int, dtype: DType) -> State:
        """Return the state of two classes before the first label."""
        raise NotImplementedError  # every rule has its own

    def many(self, d: int, dtype: DType, n_classes: int) -> State:
        """Begin with more than two classes, a prototype each; most rules have no such form."""
        raise ValueError(
            f"{self.label} is for two classes and there are {n_classes}: choose a rule for more, "
            "such as Perceptron(), Ballseptron(), PassiveAggressive(), SecondOrder() or Ridge()"
        )


class QueryRule(Spec):
    """Whether to ask for a label."""

    LEARNS: ClassVar[bool] = True  # False: answers change nothing, only odds are tossed
    explore: float = 0.0  # the least odds of a question while it may ask at all

    def many(self, d: int, n_classes: int) -> State:
        """Begin with more than two classes; most rules look at the margin alone."""
        return self.begin(d)

    def begin(self, d: int) -> State:
        """Return the state before the first round."""
        raise NotImplementedError  # every rule has its own


class Rules(NamedTuple):
    """The descriptions of the three rules that make up a learner."""

    scaling: Scaling
    update: UpdateRule
    query: QueryRule
