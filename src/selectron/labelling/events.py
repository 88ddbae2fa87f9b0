"""What happened, as it is stored: one event after the other, in strict JSON."""

import json
from functools import partial
from typing import Any, NamedTuple, TypeAlias

KINDS = (
    "items",  # {"items": [item, ...]}, and "stream": true where they were pushed; with "source":
    # {"name", "messages"} the ids of the messages of a source that brought them, one an item
    "classes",  # {"names": [...]}
    "settings",  # what changed
    "joined",  # {"annotator"}
    "chosen",  # {"question", "item", "kind", "margin", "odds", "text", "guess", "unlabelled",
    # "digest"}: guess is the class predicted then, of so many items that could have been drawn
    "leased",  # {"question", "annotator"}
    "expired",  # {"question", "annotator"}
    "answered",  # {"id", "question", "item", "label", "annotator"}, and "found": true in review
    "skipped",  # {"id", "question", "item", "annotator"}
    "corrected",  # {"id", "label", "annotator"}
    "undone",  # {"id", "annotator"}
    "noted",  # {"item", "text", "annotator"}
    "frozen",  # {"answers"}: audits of later questions judge the model at so many answers, or with
    # null the learner as it goes on
)

# Objects of JSON.
Item: TypeAlias = dict[str, Any]  # its id, its text, image, fields or vector, and perhaps meta
Body: TypeAlias = dict[str, Any]  # what an event says
Reply: TypeAlias = dict[str, Any]  # what a caller is told


class Event(NamedTuple):
    """One thing that happened.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    body : dict
        JSON values only.
    at : float
        Seconds since 1970, for people to read. The time decides nothing.
    """

    kind: str
    body: Body
    at: float


strict = partial(json.JSONEncoder, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
IN_ORDER, SORTED = strict(), strict(sort_keys=True)


def written(value: object) -> str:
    """Write a JSON value as it is stored and chained, its keys in the order given.

    The order of keys is the order of columns, for people and for the learner. Nothing is added
    between tokens. NaN, infinities and halves of surrogate pairs raise ValueError: no other program
    could read them back.

    Examples
    --------
    >>> written({"b": [1, 0.5], "a": None})
    '{"b":[1,0.5],"a":null}'
    """
    text = IN_ORDER.encode(value)
    text.encode()
    return text


def canonical(value: object) -> str:
    """Write a JSON value in the one form that is hashed: the same, with its keys sorted.

    Examples
    --------
    >>> canonical({"b": [1, 0.5], "a": None})
    '{"a":null,"b":[1,0.5]}'
    """
    text = SORTED.encode(value)
    text.encode()
    return text
