"""`--class-weight`: balanced, or a weight for each of some classes, such as spam=5,ham=1."""

from collections.abc import Iterable
from contextlib import suppress

from selectron.arrays import Label
from selectron.classifier.class_weight import ClassWeight, read_weights
from selectron.features.columns import text_of
from selectron.updates.weighted import BALANCED

TRUTHS = {"True": True, "False": False}


def weights_of(text: str | None, classes: Iterable[Label] | None) -> ClassWeight:
    """Return the weights of these classes; None: of any that a name may stand for later."""
    if text is None or text == BALANCED:
        return text
    by_name = dict(map(_weight, text.split(",")))
    read_weights(by_name)
    if classes is None:
        return {label: weight for name, weight in by_name.items() for label in _labels(name)}
    known = {text_of(label): label for label in classes}
    if unknown := [name for name in by_name if name not in known]:
        raise ValueError(
            f"--class-weight names {unknown[0]!r}; classes are {', '.join(list(known)[:12])}"
        )
    return {known[name]: weight for name, weight in by_name.items()}


def _weight(assignment: str) -> tuple[str, float]:
    name, _, weight = assignment.rpartition("=")
    try:
        return name.strip(), float(weight)
    except ValueError:
        raise ValueError(
            f"--class-weight: {assignment!r} is no weight; write balanced, or spam=5,ham=1"
        ) from None


def _labels(name: str) -> list[Label]:
    """List the labels that are written like this: a text, a whole number, a truth value."""
    labels: list[Label] = [name]
    with suppress(ValueError):
        labels.append(int(name))
    return [*labels, TRUTHS[name]] if name in TRUTHS else labels
