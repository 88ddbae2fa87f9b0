"""Pairs of rules in words: `perceptron+margin:b=0.5`, `ridge:a=2+balanced`, `default`."""

from typing import Any

from selectron import SelectiveClassifier
from selectron.spec import QueryRule, UpdateRule, rule_from_text

EXAMPLES = "default, perceptron+margin:b=0.5, reflection+halving:patience=16, ridge+balanced"


def learner_of(text: str, **options: Any) -> SelectiveClassifier:
    """Read a pair of rules, update first."""
    if text == "default":
        return SelectiveClassifier(**options)
    parts = [rule_from_text(part, UpdateRule, QueryRule) for part in text.split("+")]
    update = next((rule for rule in parts if isinstance(rule, UpdateRule)), None)
    query = next((rule for rule in parts if isinstance(rule, QueryRule)), None)
    if len(parts) > 2 or update is None or (len(parts) == 2 and query is None):
        raise ValueError(f"{text!r} is not an update rule and a query rule; try {EXAMPLES}")
    return SelectiveClassifier(update, query, **options)
