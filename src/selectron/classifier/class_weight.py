"""What the user says labels weigh: read, held against the classes, and written into files."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from selectron.arrays import Label
from selectron.classifier.labels import Labels, listed, plain
from selectron.classifier.machine import Machine
from selectron.spec import plain as plain_number
from selectron.updates.weighted import Weighted, Weights, check

ClassWeight: TypeAlias = Mapping[Any, float] | str | None  # what users pass


def read_weights(class_weight: ClassWeight) -> Weights:
    """Return pairs of a label and its weight, or "balanced"; refuse anything else."""
    if isinstance(class_weight, Mapping):
        weights: Weights = tuple((plain(k), plain_number(w)) for k, w in class_weight.items())
    elif isinstance(class_weight, str):
        weights = class_weight
    else:
        raise TypeError(
            'class_weight must be None, "balanced" or a dictionary of labels and their weights, '
            f"got {class_weight!r}"
        )
    check(weights)
    return weights


def check_named(weights: Weights, labels: Labels) -> None:
    """Refuse weights of labels that are no class.

    Of classes that were found in y, some may be missing by chance: as in scikit-learn, a weight too
    many is then no error as long as every class has one.
    """
    if isinstance(weights, str) or not labels.fixed:
        return
    known, given = labels.codes_by_name, dict(weights)
    unknown = [label for label in given if label not in known]
    if unknown and not (labels.found and all(label in given for label in known)):
        raise ValueError(
            f"class_weight names {unknown[0]!r}, and the classes are "
            f"{', '.join(map(repr, known))}: weigh these"
        )


def set_weights(machine: Machine, labels: Labels) -> None:
    """Write into the state of a rule that weighs labels what those of each class weigh."""
    rule = machine.rules.update
    assert isinstance(rule, Weighted)
    rule.weigh(machine.states.tree.update, listed(labels.classes))


def described(class_weight: ClassWeight) -> list[list[object]] | str:
    """Return weights as values that JSON has: its dictionaries have texts as keys only."""
    weights = read_weights(class_weight)
    return list(map(list, weights)) if isinstance(weights, tuple) else weights


def from_description(value: list[tuple[Label, float]] | str) -> ClassWeight:
    """Return the weights that `described` was given, or refuse them."""
    weights = dict(value) if isinstance(value, list) else value
    read_weights(weights)
    return weights
