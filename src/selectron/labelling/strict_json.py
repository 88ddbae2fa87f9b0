"""JSON as a service should read it: no doubled keys, no NaN, no NUL, no bottomless nesting.

`json.loads` takes the last of two equal keys, reads NaN and 1e999, and lets a lone surrogate pass
that no database stores. Each of these would change an answer silently or fail far from its cause.
"""

import json
from math import isfinite
from typing import Any

DEEPEST = 16
LONGEST_STRING = 8_000_000  # a picture as data is the longest string that an item has


class NotJSON(ValueError):
    """The body is not JSON (400)."""


class BadValue(ValueError):
    """The body is JSON with a value that nothing here accepts (422)."""


def loads(body: bytes) -> Any:
    """Return the value of a body."""
    try:
        value = DECODER.decode(body.decode(json.detect_encoding(body), "surrogatepass"))
    except (BadValue, NotJSON):
        raise
    except (ValueError, RecursionError):
        raise NotJSON("The body is not JSON.") from None
    check(value)
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise BadValue("A key occurs twice in one object.")
    return members


def _refuse_constant(name: str) -> None:
    raise NotJSON(f"{name} is not JSON.")


DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)


def check(value: object, depth: int = 0) -> None:
    """Refuse a value that nothing here accepts."""
    if depth > DEEPEST:
        raise BadValue(f"Values are nested more than {DEEPEST} deep.")
    if isinstance(value, str):
        _check_string(value)
    elif isinstance(value, float) and not isfinite(value):
        raise BadValue("A number is too large.")
    elif isinstance(value, list | dict):
        for member in value:  # the members of a list, or the keys of an object
            check(member, depth + 1)
        for member in value.values() if isinstance(value, dict) else ():
            check(member, depth + 1)


def _check_string(text: str) -> None:
    if len(text) > LONGEST_STRING:
        raise BadValue(f"A string is longer than {LONGEST_STRING} characters.")
    if "\0" in text:
        raise BadValue("A string has a NUL character.")
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise BadValue("A string has half of a surrogate pair.")
