"""Learners in files: safetensors, a version, a SHA-256 of everything, and no pickle."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from selectron import queries, scalings, updates
from selectron.classifier.kernel_machine import KernelMachine
from selectron.classifier.kernel_rules import SETTINGS
from selectron.classifier.kernel_store import describe_kernel, described_machine
from selectron.classifier.labels import Labels
from selectron.classifier.machine import Machine
from selectron.classifier.rules import Rules
from selectron.classifier.run import Run
from selectron.classifier.tickets import Question, Tickets
from selectron.spec import Spec

FORMAT = "selectron learner"
VERSION, WITHOUT_KERNEL = 2, 1
SHELVES = {"scaling": scalings, "update": updates, "query": queries}


class DamagedFile(ValueError):
    """The file is not what was saved."""


def save(run: Run, params: dict[str, Any], path: Path) -> None:
    """Write the run to a file, whole or not at all."""
    from safetensors.numpy import save as to_bytes  # noqa: PLC0415 - a quarter of a second

    machine, tickets = run.machine, run.tickets
    kernel = None
    if isinstance(machine, KernelMachine):
        kernel = describe_kernel(machine)
    tensors = {f"state.{k}": np.ascontiguousarray(a) for k, a in enumerate(machine.arrays())}
    tensors["numbers"] = machine.numbers
    waiting = {}
    for number, question in tickets.waiting.items():
        tensors[f"question.{number}.values"] = question.values
        tensors[f"question.{number}.forecast"] = question.forecast
        if question.indices is not None:
            tensors[f"question.{number}.indices"] = question.indices
        waiting[str(number)] = [question.probability.hex(), question.round]
    description = {
        "rules": {name: _describe(rule) for name, rule in machine.rules._asdict().items()},
        "params": {name: _describe(params[name]) for name in SHELVES} | _plain_params(params),
        "classes": _describe_classes(run.labels),
        "d": machine.d,
        "dtype": machine.dtype.name,
        "seed": machine.seed,
        "counts": [machine.n_seen, machine.n_asked, machine.waits],
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
    if kernel is not None:
        description["kernel"] = kernel
    text = json.dumps(description, sort_keys=True)
    metadata = {
        "format": FORMAT,
        "version": str(WITHOUT_KERNEL if kernel is None else VERSION),
        "learner": text,
        "sha256": _checksum(tensors, text),
    }
    _write_whole(path, to_bytes(tensors, metadata))


def read(path: Path) -> tuple[Run, dict[str, Any]]:
    """Read a run and the parameters of its estimator."""
    tensors, description = read_checked(path)
    rules = Rules(
        **{name: _rule(name, described) for name, described in description["rules"].items()}
    )
    base = rules, description["d"], np.dtype(description["dtype"]), description["seed"]
    kernel = description.get("kernel")
    machine = Machine(*base) if kernel is None else described_machine(kernel, *base)
    for k, array in enumerate(machine.arrays()):
        array[...] = tensors[f"state.{k}"]
    machine.numbers[:] = tensors["numbers"]
    machine.n_seen, machine.n_asked, machine.waits = description["counts"]
    if isinstance(machine, KernelMachine):
        machine.settle()
    run = Run(machine, _labels(description["classes"]))
    run.tickets = _tickets(description["tickets"], tensors)
    params = {
        name: _rule(name, value) if name in SHELVES else value
        for name, value in description["params"].items()
    }
    return run, params


def read_checked(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the tensors and the description, and check that they are what was written."""
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415

    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        with safe_open(str(path), "numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise DamagedFile(f"{path} is truncated or not a learner's file: {error}") from None
    if metadata.get("format") != FORMAT:
        raise DamagedFile(f"{path} is a safetensors file, but not one of a selectron learner")
    version = metadata.get("version", "")
    if not version.isdecimal() or int(version) < 1:
        raise DamagedFile(f"{path} is damaged: it has no version; restore it from a copy")
    if int(version) > VERSION:
        raise DamagedFile(
            f"{path} has format version {version}, and this selectron reads up to {VERSION}: "
            "install a newer one"
        )
    if metadata.get("sha256") != _checksum(tensors, metadata.get("learner", "")):
        raise DamagedFile(f"{path} is damaged: its SHA-256 does not match; restore it from a copy")
    return tensors, json.loads(metadata["learner"])


def _checksum(tensors: dict[str, Any], text: str) -> str:
    total = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        array = tensors[name]
        total.update(f"{name} {array.dtype.name} {array.shape}".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def _write_whole(path: Path, content: bytes) -> None:
    """Write beside the file, force it to the disk, then put it in its place."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}: make it first")
    if path.exists() and not path.is_file():  # a device or a pipe must not be replaced
        path.write_bytes(content)
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    directory = os.open(path.resolve().parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _describe(rule: Spec | None) -> Any:
    if rule is None:
        return None
    knobs = rule.knobs()
    return {"rule": rule.label} | {
        name: _describe(value) if isinstance(value, Spec) else value
        for name, value in knobs.items()
    }


def _rule(name: str, described: Any) -> Any:
    if described is None:
        return None
    knobs = dict(described)
    kind = getattr(SHELVES[name], knobs.pop("rule"))
    within = {k: _rule(name, v) if isinstance(v, dict) else v for k, v in knobs.items()}
    return kind(**within)


def _plain_params(params: dict[str, Any]) -> dict[str, Any]:
    state = params["random_state"]
    return {
        "fit_intercept": bool(params["fit_intercept"]),
        "random_state": int(state) if isinstance(state, int | np.integer) else None,
    } | {name: params[name] for name in SETTINGS if params[name] is not None}


def _describe_classes(labels: Labels) -> dict[str, Any]:
    listed = labels.classes.tolist()
    if not all(isinstance(label, str | int | float | bool) for label in listed):
        raise TypeError(
            f"cannot save classes of type {type(listed[0]).__name__}: use text, numbers or booleans"
        )
    return {"fixed": labels.fixed, "dtype": labels.classes.dtype.str, "values": listed}


def _labels(described: dict[str, Any]) -> Labels:
    labels = Labels()
    labels.fixed = described["fixed"]
    kind = described["dtype"]
    labels.classes = np.array(described["values"], dtype=object if kind == "|O" else kind)
    return labels


def _tickets(described: dict[str, Any], tensors: dict[str, Any]) -> Tickets:
    waiting = {}
    for number, (probability, round_) in described["waiting"].items():
        waiting[int(number)] = Question(
            tensors[f"question.{number}.values"],
            tensors.get(f"question.{number}.indices"),
            tensors[f"question.{number}.forecast"],
            float.fromhex(probability),
            round_,
        )
    wait = described.get("wait", {})
    return Tickets(described["n_asked"], waiting, described["just_asked"], **wait)
