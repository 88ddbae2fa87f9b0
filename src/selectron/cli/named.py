"""Learners and engines as options name them: `perceptron+margin:b=0.5`, `default`, `ray`."""

import sys
from argparse import Namespace
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, TextIO

from selectron import SelectiveClassifier
from selectron.engines import Engine, engine_of
from selectron.spec import QueryRule, UpdateRule, rule_from_text, rules_in_words

EXAMPLES = "default, perceptron+margin:b=0.5, reflection+halving:patience=16, ridge+balanced"


def is_learner(text: str) -> bool:
    """Tell whether a text means a learner: it begins with a rule, or has a + and is no file."""
    name = text.partition("+")[0].partition(":")[0].strip().lower()
    known = name == "default" or name in rules_in_words(UpdateRule, QueryRule)
    return known or ("+" in text and not Path(text).exists())


def why_no_learner(text: str) -> str:
    """Say why a text is no pair of rules; nothing if it is one."""
    try:
        learner_of(text)
    except ValueError as error:
        return str(error)
    return ""


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


def others_aside() -> redirect_stdout[TextIO]:
    """Send what is printed meanwhile to standard error: Ray tells there of workers that died."""
    return redirect_stdout(sys.stderr)


def engine_named(options: Namespace) -> Engine | None:
    """Return the engine that options name; None if they name none."""
    if options.engine is None:
        unused = next((n for n in ("workers", "address") if getattr(options, n) is not None), None)
        if unused:
            raise ValueError(f"--{unused} needs --engine beside it: local or ray")
        return None
    return engine_of(options.engine, options.workers, options.address)
