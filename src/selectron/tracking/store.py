"""Trackers in files: safetensors with a SHA-256 of everything, as those of other learners."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from selectron import experts, queries, updates
from selectron.classifier.run import Run
from selectron.classifier.store import (
    DamagedFile,
    _checksum,
    _describe_classes,
    _labels,
    _tickets,
    _write_whole,
)
from selectron.experts import Mixture
from selectron.spec import Spec
from selectron.tracking.by_margin import ByMargin
from selectron.tracking.by_mistakes import ByMistakes
from selectron.tracking.forgetting_ridge import ForgettingRidge
from selectron.tracking.machine import CrewMachine
from selectron.tracking.machines import begin_machine

FORMAT = "selectron tracker"
VERSION = 1
OWN_RULES: dict[str, type[Spec]] = {
    kind.__name__: kind for kind in (ByMargin, ByMistakes, ForgettingRidge)
}


def save(run: Run, params: dict[str, Any], path: Path) -> None:
    """Write the run to a file, whole or not at all."""
    from safetensors.numpy import save as to_bytes  # noqa: PLC0415 - a quarter of a second

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
            "waiting": waiting,
        },
    }
    text = json.dumps(description, sort_keys=True)
    metadata = {
        "format": FORMAT,
        "version": str(VERSION),
        "learner": text,
        "sha256": _checksum(tensors, text),
    }
    _write_whole(path, to_bytes(tensors, metadata))


def read(path: Path) -> tuple[Run, dict[str, Any]]:
    """Read a run and the parameters of its estimator."""
    tensors, described = _read_checked(path)
    learners = [_rule(rule) for rule in described["learners"]]
    query = _rule(described["query"])
    d, dtype, seed = described["setting"]
    mixture = _mixture("experts", described["experts"], tensors)
    machine = begin_machine(learners, mixture, query, None, (d, np.dtype(dtype), seed))
    for k, array in enumerate(machine.arrays()):
        array[...] = tensors[f"state.{k}"]
    machine.numbers[:] = tensors["numbers"]
    machine.n_seen, machine.n_asked = described["counts"]
    run = Run(machine, _labels(described["classes"]).only_two())
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


def _read_checked(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and the description of a file, or say what is wrong with it."""
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415

    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise DamagedFile(f"{path} is truncated or not a tracker's file: {error}") from None
    if metadata.get("format") != FORMAT:
        raise DamagedFile(f"{path} is a safetensors file, but not one of a tracker")
    version = metadata.get("version", "")
    if not version.isdecimal() or int(version) < 1:
        raise DamagedFile(f"{path} is damaged: it has no version; restore it from a copy")
    if int(version) > VERSION:
        raise DamagedFile(
            f"{path} has format version {version}, and this selectron reads up to "
            f"{VERSION}: install a newer one"
        )
    if metadata.get("sha256") != _checksum(tensors, metadata.get("learner", "")):
        raise DamagedFile(f"{path} is damaged: its SHA-256 does not match; restore it from a copy")
    return tensors, json.loads(metadata["learner"])


def _describe(rule: Spec) -> dict[str, Any]:
    return {"rule": rule.label, **rule.knobs()}


def _rule(described: dict[str, Any]) -> Any:
    knobs = dict(described)
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
