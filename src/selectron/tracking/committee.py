"""The learners that take part, as a description: what they are called, and which are rules."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from selectron.spec import UpdateRule
from selectron.tracking.forgetting_ridge import ForgettingRidge
from selectron.updates import HalfStep, Perceptron


@dataclass(frozen=True)
class Committee(UpdateRule):
    """Several learners in the place of one update rule."""

    learners: tuple[Any, ...] = ()

    @property
    def label(self) -> str:
        return f"{len(self.learners)} learners"

    @property
    def names(self) -> list[str]:
        """What the learners are called: rules by the knobs that were turned, others as printed."""
        return [_name(learner) for learner in self.learners]

    @property
    def all_rules(self) -> bool:
        """Tell whether all of them are rules of ours, which one compiled loop can run."""
        return all(isinstance(learner, UpdateRule) for learner in self.learners)


def _name(learner: Any) -> str:
    if not isinstance(learner, UpdateRule):
        return " ".join(repr(learner).split())
    defaults = type(learner)().knobs()
    turned = [f"{k}={v!r}" for k, v in learner.knobs().items() if v != defaults[k]]
    return f"{learner.label}({', '.join(turned)})"


def default_learners() -> tuple[UpdateRule, ...]:
    """Return six that are good at different kinds of drift, and at none."""
    return (
        ForgettingRidge(memory=5.0),
        ForgettingRidge(memory=50.0),
        ForgettingRidge(memory=None),
        Perceptron(),
        HalfStep(),
        ForgettingRidge(memory=None, reset_every=400),
    )


def read_committee(learners: Iterable[Any] | None) -> Committee:
    """Return what the user passed as learners; the defaults for None."""
    if learners is None:
        return Committee(default_learners())
    if isinstance(learners, UpdateRule) or not isinstance(learners, Iterable):
        raise TypeError(f"learners must be a list of learners, got {learners!r}")
    listed = tuple(learners)
    if not listed:
        raise ValueError("learners is empty: give at least one, or None for the defaults")
    return Committee(listed)
