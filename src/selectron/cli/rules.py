"""Rules in words: `perceptron+margin:b=0.5`, `ridge:a=2+balanced`, `default`."""

from dataclasses import fields
from typing import Any

from selectron import SelectiveClassifier, queries, updates

EXAMPLES = "default, perceptron+margin:b=0.5, reflection+halving:patience=16, ridge+balanced"


def known() -> dict[str, Any]:
    """Return every rule by its name in words."""
    return {
        _words(name): getattr(shelf, name) for shelf in (updates, queries) for name in shelf.__all__
    }


def learner_of(text: str, **options: Any) -> SelectiveClassifier:
    """Read a pair of rules, update first."""
    if text == "default":
        return SelectiveClassifier(**options)
    parts = [_rule(part) for part in text.split("+")]
    update = next((rule for rule in parts if type(rule).__name__ in updates.__all__), None)
    query = next((rule for rule in parts if type(rule).__name__ in queries.__all__), None)
    if len(parts) > 2 or update is None or (len(parts) == 2 and query is None):
        raise ValueError(f"{text!r} is not an update rule and a query rule; try {EXAMPLES}")
    return SelectiveClassifier(update, query, **options)


def _rule(text: str) -> Any:
    name, _, given = text.partition(":")
    kind = known().get(name.strip().lower())
    if kind is None:
        raise ValueError(f"unknown rule {name!r}; known are {', '.join(sorted(known()))}")
    names = [field.name for field in fields(kind)]
    knobs: dict[str, Any] = {}
    for assignment in filter(None, given.split(",")):
        knob, _, value = assignment.partition("=")
        if knob not in names:
            has = f"it has {', '.join(names)}" if names else "it has no knobs"
            raise ValueError(f"{name} has no knob {knob!r}; {has}")
        knobs[knob] = _value(value)
    return kind(**knobs)


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _words(name: str) -> str:
    words = "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")
    return words.replace("p-norm", "pnorm")
