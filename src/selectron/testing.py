"""Checks that every rule must pass, for rules of other packages too.

`check_rule(MyRule())` plays the rule with a few partners and raises an AssertionError that says
which promise is broken: verbs that are missing, a label read that was not asked for, odds that
rise with certainty, a file that goes on differently, compiled code that differs from plain Python.
"""

import tempfile
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from selectron.arrays import Array
from selectron.classifier import SelectiveClassifier
from selectron.classifier.estimator import load_as
from selectron.classifier.machine import LinearMachine
from selectron.compiler.verbs import Verb
from selectron.loop import Kernel, Log, Rounds, run_pass
from selectron.numeric.coins import coins
from selectron.numeric.rows import Dense, DenseRow, sealed
from selectron.protocol import (
    Forecast,
    absorb,
    advance,
    ask_probability,
    glance,
    has_statistics,
    hypothesis,
    learn,
    observe,
    predict,
    present,
    ready,
)
from selectron.queries import Always, Balanced, Margin
from selectron.spec import QueryRule, Rules, Scaling, Spec, UpdateRule, from_plain, plain
from selectron.updates import Perceptron, Ridge

ROWS, WIDTH, CLASSES = 120, 7, 4
VERBS: dict[type[Spec], tuple[Verb, ...]] = {
    UpdateRule: (glance, predict, learn, hypothesis),
    QueryRule: (ask_probability, advance, observe),
    Scaling: (absorb, has_statistics, present, ready),
}
MARGINS = (0.0, 1e-9, 0.01, 0.3, 1.0, 7.0, 1e3)


def check_rule(rule: Spec) -> None:
    """Check an update rule, a query rule or a scaling; raise an AssertionError if it fails.

    Parameters
    ----------
    rule : UpdateRule, QueryRule or Scaling
        A rule with knobs that make it do something on 120 rows of length one.

    Examples
    --------
    >>> from selectron.queries import Margin
    >>> from selectron.testing import check_rule
    >>> check_rule(Margin(b=0.3))
    """
    role = next((kind for kind in VERBS if isinstance(rule, kind)), None)
    assert role is not None, f"{rule!r} is no UpdateRule, no QueryRule and no Scaling"
    _check_description(rule)
    _check_verbs(rule, VERBS[role])
    if isinstance(rule, QueryRule):
        _check_odds(rule)
    for learner in _learners(rule):
        _check_learner(rule, learner)


def _check_description(rule: Spec) -> None:
    assert rule == type(rule)(**rule.knobs()), f"{rule!r} is not made anew from its knobs"
    assert from_plain(plain(rule)) == rule, f"{rule!r} is not found again by its name"
    assert hash(rule) == hash(type(rule)(**rule.knobs())), f"{rule!r} is not a frozen dataclass"
    for knob in fields(rule):  # type: ignore[arg-type]
        number = knob.type in (float, "float") and knob.name not in type(rule).RANGES
        assert not number, f"{rule.label}.RANGES does not say what {knob.name} may be"


def _check_verbs(rule: Any, verbs: tuple[Verb, ...]) -> None:
    state = rule.begin(WIDTH) if isinstance(rule, QueryRule) else rule.begin(WIDTH, np.dtype(float))
    assert hasattr(state, "_fields"), f"{rule.label}.begin must return a NamedTuple"
    for verb in verbs:
        assert type(state) in verb.bodies, f"{type(state).__name__} has no {verb.name}"
    if isinstance(rule, UpdateRule):
        assert "n_updates" in state._fields, f"{type(state).__name__} has no field n_updates"
    if isinstance(rule, QueryRule):
        rule.many(WIDTH, CLASSES)


def _check_odds(rule: QueryRule) -> None:
    """Odds lie in [0, 1], never rise with certainty, and do not change by being looked at."""
    query, x = rule.begin(WIDTH), DenseRow(np.ones(WIDTH) / WIDTH**0.5)
    for unit in (0.1, 1.0, 10.0):
        for variance in (0.0, 0.5):
            odds = [
                ask_probability(query, x, Forecast(m, unit, unit, variance, True)) for m in MARGINS
            ]
            assert all(0.0 <= p <= 1.0 for p in odds), f"{rule!r} asks at odds of {odds}"
            falls = all(a >= b for a, b in pairwise(odds))
            assert falls, f"the odds of {rule!r} rise with certainty: {odds} at {MARGINS}"
        query = advance(query, Forecast(0.2, unit, unit, 0.0, True), True)
        query = observe(query, x, Forecast(0.2, unit, unit, 0.0, True), -1.0)


def _learners(rule: Spec) -> list[Callable[[], SelectiveClassifier]]:
    """Return what makes learners of the rule and some partners."""
    scaling = rule if isinstance(rule, Scaling) else None
    update: list[UpdateRule] = [Perceptron(), Ridge()]
    if isinstance(rule, UpdateRule):
        update = [rule]
    elif scaling is not None and not scaling.WRITTEN_OUT:
        update = [Perceptron()]
    query = [rule] if isinstance(rule, QueryRule) else [Margin(b=0.3), Balanced(), Always()]
    make = partial(SelectiveClassifier, scaling=scaling, random_state=3)
    return [partial(make, u, q) for u in update for q in query]


def _check_learner(rule: Spec, make: Callable[[], SelectiveClassifier]) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, WIDTH)) * (rng.random((ROWS, WIDTH)) < 0.7)
    X[:, 0] += 0.1
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = (X @ rng.standard_normal(WIDTH) > 0.0) ^ (rng.random(ROWS) < 0.1)
    whole = make().fit(X, y)
    # A label that is not asked for does not exist: the oracle is not called for it.
    oracle = make().fit(X, lambda t: y[t], classes=[False, True])
    same = _state(oracle) == _state(whole)
    assert same, f"{rule!r} learns other things from an oracle than from y"
    parts = make().fit(X[:50], y[:50], classes=[False, True])
    with tempfile.TemporaryDirectory() as folder:
        parts.save(Path(folder) / "rule")
        resumed = load_as([SelectiveClassifier], Path(folder) / "rule")
    for each in (parts, resumed):
        each.partial_fit(X[50:], y[50:])
    name = whole.rules_
    assert _state(parts) == _state(resumed), f"{name} goes on differently from a file"
    sparse = make().fit(csr_array(X), y)
    same = np.allclose(sparse.decision_function(X), whole.decision_function(X), atol=1e-6)
    assert same, f"{name} learns other things of CSR rows"
    assert sparse.n_asked_ == whole.n_asked_, f"{name} asks other labels of CSR rows"
    _check_plain(whole.rules_, X, y)


def _check_plain(rules: Rules, X: Array, y: Array) -> None:
    """The loop in plain Python gives the same bits as compiled."""
    runs = []
    plain_loop: Kernel = run_pass
    for plain_python in (True, False):
        machine = LinearMachine(rules, WIDTH, np.dtype(float), 3)
        labels, log = np.where(y, 1, -1).astype(np.int8), Log.of(ROWS)
        rounds = Rounds(sealed(Dense(X)), labels, coins(3, 0, ROWS), log, 0, False, True)
        states = machine.states
        if plain_python:
            with np.errstate(all="ignore"):
                plain_loop(states.tree, states.numbers, *rounds)
        else:
            machine.run(rounds)
        _check_forecasts(rules, log)
        runs.append([each.tobytes() for each in (log.forecasts, log.asked, states.numbers)])
    assert runs[0] == runs[1], f"{rules} computes other bits when it is compiled"


def _check_forecasts(rules: Rules, log: Log) -> None:
    """Forecasts are finite from the first row on, units positive; odds lie in [0, 1]."""
    margin, unit, norm, variance = log.forecasts.T
    finite = np.isfinite(log.forecasts).all()
    assert finite, f"a forecast of {rules.update!r} is not finite: {margin[0]}, {unit[0]}"
    assert (unit > 0.0).all(), (
        f"the unit of {rules.update!r} is {unit.min()}: query rules divide by it"
    )
    assert (norm >= 0.0).all(), f"the norm of {rules.update!r} is {norm.min()}"
    assert (variance >= 0.0).all(), f"the variance of {rules.update!r} is {variance.min()}"
    odds = log.probabilities
    within = ((odds >= 0.0) & (odds <= 1.0)).all()
    assert within, f"{rules.query!r} asks at odds of {odds.min()} to {odds.max()}"


def _state(learner: SelectiveClassifier) -> list[bytes]:
    machine = learner._started().machine
    return [*(array.tobytes() for array in machine.arrays()), machine.states.numbers.tobytes()]
