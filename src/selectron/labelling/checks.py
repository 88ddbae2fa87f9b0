"""What a call to the desk may hold; anything else is refused before it becomes an event."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from selectron.features.recipe import MOST_COLUMNS
from selectron.labelling.events import Item, canonical

Label = str | list[str]  # a list where an item may have several classes

CLIENT_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
GOAL = re.compile(r"\s*(?:(error)\s*<=|(recall)\s*>=)\s*(\d*\.?\d+)\s*(%?)\s*")
CONTENTS = ("text", "image", "fields", "vector")

Settings: TypeAlias = dict[str, Any]  # those of `DEFAULTS`, by name

DEFAULTS: Mapping[str, Any] = {
    "question": "Which class is it?",
    "goal": None,
    "budget": None,
    "overlap": 0.0,
    "seed": 0,
    "positive": None,
    "lease_seconds": 300.0,
    "multilabel": False,
    "audit_rate": 0.1,
    "level": 0.95,
    "beyond_goal": False,  # set by the desk: the budget was raised after the goal was reached
}


class Refused(ValueError):
    """A call that the desk cannot follow.

    Attributes
    ----------
    status : int
        The HTTP status: 403, 404, 409 or 422.
    error : str
        What is wrong.
    remedy : str
        What the caller can do.
    """

    def __init__(self, status: int, error: str, remedy: str) -> None:
        super().__init__(f"{error} {remedy}")
        self.status = status
        self.error = error
        self.remedy = remedy


class Goal(NamedTuple):
    """A goal as text, `error<=0.05` or `recall>=0.95`, taken apart."""

    measure: str
    limit: float


def goal(text: str) -> Goal:
    """Take a goal apart.

    Examples
    --------
    >>> goal("error <= 5%")
    Goal(measure='error', limit=0.05)
    """
    found = GOAL.fullmatch(text) if isinstance(text, str) else None
    limit = float(found[3]) / (100 if found[4] else 1) if found else math.nan
    if not found or not 0 < limit < 1:
        raise Refused(
            422,
            f"The goal {shown(text)} is not one the desk knows.",
            'Write "error<=0.05" or "recall>=0.95", with a share between 0 and 1.',
        )
    return Goal(found[1] or found[2], limit)


def shown(value: object) -> str:
    """Quote a value of the caller, cut to a length that fits into a message."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def client_id(value: object) -> str:
    if not isinstance(value, str) or not CLIENT_ID.fullmatch(value):
        raise Refused(
            422,
            f"The id {shown(value)} is not 1 to 64 characters of A-Z a-z 0-9 . _ : -",
            "Make an id for each answer, a UUID for example.",
        )
    return value


def words(value: object, what: str, longest: int) -> str:
    """Check a text that people wrote: something to read, not too long, and valid Unicode."""
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise Refused(
            422,
            f"The {what} {shown(value)} is not a text of 1 to {longest} characters.",
            f"Give the {what} as a text.",
        )
    storable(value, what)
    return value


def storable(value: object, what: str) -> None:
    try:
        canonical(value)
    except RecursionError:
        raise Refused(422, f"The {what} is nested too deep.", "Send fewer brackets.") from None
    except (TypeError, ValueError):
        raise Refused(
            422,
            f"The {what} holds {shown(_unstorable(value))}, which cannot be stored as JSON.",
            "Send finite numbers, valid Unicode and plain JSON values.",
        ) from None


def _unstorable(value: object) -> object:
    """Return the innermost part of a value that is no JSON."""
    parts = value if isinstance(value, list | tuple) else []
    if isinstance(value, dict):
        parts = [*value, *value.values()]
    for part in parts:
        try:
            canonical(part)
        except (TypeError, ValueError):
            return _unstorable(part)
    return value


def whole(value: object, what: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise Refused(
            422,
            f"The {what} {shown(value)} is not a whole number from {least} to {most}.",
            f"Give the {what} as a whole number.",
        )
    return value


def class_names(names: object) -> list[str]:
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise Refused(422, f"{shown(names)} is not a list of classes.", "Send a list of names.")
    return list(dict.fromkeys(words(name, "class", 200) for name in names))


def label(value: object, classes: Sequence[str], multilabel: bool) -> Label:
    """Check the label of an answer; several classes come in the order of the classes."""
    many = value if multilabel and isinstance(value, list) else [value]
    for name in many:
        if not isinstance(name, str) or name not in classes:
            raise Refused(
                422,
                f"{shown(name)} is not one of the classes.",
                "Choose one of the options, or add the class first.",
            )
    return [name for name in classes if name in many] if multilabel else str(value)


def item(value: object) -> Item:
    if not isinstance(value, dict):
        raise Refused(422, f"{shown(value)} is not an item.", 'Send {"id": ..., "text": ...}.')
    words(value.get("id"), "id of an item", 512)
    contents = [name for name in CONTENTS if name in value]
    unknown = sorted(set(map(str, value)) - {"id", "meta", *CONTENTS})
    if len(contents) != 1 or unknown:
        raise Refused(
            422,
            f"Item {shown(value['id'])} has {shown(contents + unknown)} beside its id.",
            "An item has one of text, image, fields and vector, and may have meta.",
        )
    kind = {"text": str, "image": str, "fields": dict, "vector": list}[contents[0]]
    if not isinstance(value[contents[0]], kind) or not isinstance(value.get("meta", {}), dict):
        raise Refused(
            422,
            f"The {contents[0]} or meta of item {shown(value['id'])} has the wrong type.",
            "text and image are texts, fields and meta objects, vector a list of numbers.",
        )
    if contents[0] == "vector" and not all(map(_is_moderate, value["vector"])):
        raise Refused(
            422,
            f"The vector of item {shown(value['id'])} is not of numbers up to 1e100.",
            "Send numbers.",
        )
    if contents[0] == "fields" and len(value["fields"]) > MOST_COLUMNS:
        raise Refused(
            422,
            f"Item {shown(value['id'])} has {len(value['fields']):,} fields.",
            f"Send at most {MOST_COLUMNS:,}, or their numbers as a vector.",
        )
    storable(value, f"item {shown(value['id'])}")
    return value


def fields_together(items: Sequence[Item]) -> None:
    """Refuse records that have too many fields, before each of them is looked at in all records."""
    names = {name for item in items for name in item["fields"]}
    if len(names) > MOST_COLUMNS:
        raise Refused(
            422,
            f"These records have {len(names):,} fields together.",
            f"Send at most {MOST_COLUMNS:,}, or their numbers as vectors.",
        )


def alike(item: Item, first: Item) -> None:
    """Refuse an item that cannot be a row beside the first one."""
    for name in CONTENTS:
        if (name in item) != (name in first):
            raise Refused(
                422,
                f"Item {shown(item['id'])} has a {name} or not, unlike {shown(first['id'])}.",
                "Label texts, pictures, records and vectors in stores of their own.",
            )
    if len(item.get("vector", ())) != len(first.get("vector", ())) or item.get("vector") == []:
        raise Refused(
            422,
            f"The vector of item {shown(item['id'])} has {len(item['vector'])} numbers, "
            f"the first one {len(first['vector'])}.",
            "Send vectors of one length.",
        )


def _is_moderate(value: object) -> bool:
    return is_number(value) and abs(value) <= 1e100


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _share(value: object) -> bool:
    return is_number(value) and 0 <= value <= 1


SETTINGS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "question": (lambda v: isinstance(v, str) and 0 < len(v) <= 1000, "a text"),
    "goal": (lambda v: v is None or bool(goal(v)), "a goal"),
    "budget": (
        lambda v: v is None or (is_number(v) and isinstance(v, int) and v >= 0),
        "a whole number of labels, or null",
    ),
    "overlap": (_share, "a share from 0 to 1"),
    "seed": (
        lambda v: is_number(v) and isinstance(v, int) and abs(v) < 2**63,
        "a whole number of 64 bits",
    ),
    "positive": (lambda v: v is None or isinstance(v, str), "a class, or null"),
    "lease_seconds": (lambda v: is_number(v) and 1 <= v <= 1e6, "seconds, at least 1"),
    "multilabel": (lambda v: isinstance(v, bool), "true or false"),
    "audit_rate": (_share, "a share from 0 to 1"),
    "level": (lambda v: is_number(v) and 0.5 <= v < 1, "a level from 0.5 to below 1"),
}


def settings(changes: object) -> Settings:
    if not isinstance(changes, dict):
        raise Refused(422, f"{shown(changes)} is no change of settings.", "Send an object.")
    for name, value in changes.items():
        if name not in SETTINGS:
            raise Refused(
                422,
                f"There is no setting {shown(name)}.",
                f"The settings are {', '.join(SETTINGS)}.",
            )
        right, what = SETTINGS[name]
        if not right(value):
            raise Refused(422, f"{name} {shown(value)} is not {what}.", f"Give {what}.")
    storable(changes, "settings")
    return changes
