"""Trackers in files: safetensors with a SHA-256 of everything, as those of other learners."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from selectron import experts, queries, updates
from selectron.classifier.run import Run
from selectron.classifier.store import _describe_classes, _labels, _tickets
from selectron.experts import Mixture
from selectron.files import Format, read_file, write_file
from selectron.spec import Spec
from selectron.tracking.by_margin import ByMargin
from selectron.tracking.by_mistakes import ByMistakes
from selectron.tracking.forgetting_ridge import ForgettingRidge
from selectron.tracking.machine import CrewMachine
from selectron.tracking.machines import begin_machine

FORMAT = Format("selectron tracker", 1, "learner", file="a tracker's file", owner="a tracker")
OWN_RULES: dict[str, type[Spec]] = {
    kind.__name__: kind for kind in (ByMargin, ByMistakes, ForgettingRidge)
}


def save(run: Run, params: dict[str, Any], path: Path) -> None:
    """Write the run to a file, whole or not at all."""
    machine, tickets = run.machine, run.tickets
    if not isinstance(machine, CrewMachine):
        raise TypeError(
            "only trackers whose learners are all rules of selectron can be saved: the file keeps "
            "numbers, no code of others; pickle the tracker, or save its learners your own way"
        )
    tensors = {f"state.{k}": np.ascontiguousarray(a) for k, a in enumerate(machine.arrays())}
    tensors["numbers"] = machine.numbers
    tensors |= _mixture_tensors("experts", machine.mixture)
    given = params["experts"]
    if given is not None:
        tensors |= _mixture_tensors("given", given)
    waiting = {}
    for number, question in tickets.waiting.items():
        tensors[f"question.{number}.values"] = question.values
        tensors[f"question.{number}.forecast"] = question.forecast
        if question.indices is not None:
            tensors[f"question.{number}.indices"] = question.indices
        waiting[str(number)] = [question.probability.hex(), question.round]
    seed = params["random_state"]
    description = {
        "learners": [_describe(rule) for rule in machine.rules.update.learners],
        "default_learners": params["learners"] is None,
        "query": _describe(machine.rules.query),
        "default_query": params["query"] is None,
        "experts": type(machine.mixture).__name__,
        "given": None if given is None else type(given).__name__,
        "eta": params["eta"],
        "random_state": int(seed) if isinstance(seed, int | np.integer) else None,
        "classes": _describe_classes(run.labels),
        "setting": [machine.d, machine.dtype.name, machine.seed],
        "counts": [machine.n_seen, machine.n_asked],
        "tickets": {
            "n_asked": tickets.n_asked,
            "just_asked": tickets.just_asked,
            "wait": {
                "answers": tickets.answers,
                "rounds_waited": tickets.rounds_waited,
                "fresh_from": tickets.fresh_from,
                "n_overdue": tickets.n_overdue,
            },
            "waiting": waiting,
        },
    }
    write_file(path, FORMAT, tensors, json.dumps(description, sort_keys=True))


def read(path: Path) -> tuple[Run, dict[str, Any]]:
    """Read a run and the parameters of its estimator."""
    tensors, text = read_file(path, FORMAT)
    described = json.loads(text)
    learners = [_rule(rule) for rule in described["learners"]]
    query = _rule(described["query"])
    d, dtype, seed = described["setting"]
    mixture = _mixture("experts", described["experts"], tensors)
    labels = _labels(described["classes"]).only_two()
    machine = begin_machine(learners, mixture, query, None, (d, np.dtype(dtype), seed), labels)
    for k, array in enumerate(machine.arrays()):
        array[...] = tensors[f"state.{k}"]
    machine.numbers[:] = tensors["numbers"]
    machine.n_seen, machine.n_asked = described["counts"]
    run = Run(machine, labels)
    run.tickets = _tickets(described["tickets"], tensors)
    given = described["given"]
    params = {
        "learners": None if described["default_learners"] else learners,
        "experts": None if given is None else _mixture("given", given, tensors),
        "query": None if described["default_query"] else query,
        "eta": described["eta"],
        "random_state": described["random_state"],
    }
    return run, params


def _describe(rule: Spec) -> dict[str, Any]:
    knobs = rule.knobs().items()
    return {"rule": rule.label} | {
        name: _describe(value) if isinstance(value, Spec) else value for name, value in knobs
    }


def _rule(described: dict[str, Any]) -> Any:
    knobs = {k: _rule(v) if isinstance(v, dict) else v for k, v in described.items()}
    name = knobs.pop("rule")
    shelf = updates if hasattr(updates, name) else queries
    return (OWN_RULES[name] if name in OWN_RULES else getattr(shelf, name))(**knobs)


def _mixture_tensors(name: str, mixture: Mixture) -> dict[str, Any]:
    return {f"{name}.{key}": np.asarray(value) for key, value in mixture.state().items()}


def _mixture(name: str, kind: str, tensors: dict[str, Any]) -> Any:
    state = {
        key.removeprefix(f"{name}."): value
        for key, value in tensors.items()
        if key.startswith(f"{name}.")
    }
    return getattr(experts, kind).from_state(state)
