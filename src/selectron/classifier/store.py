"""Learners in files: safetensors, a version, a SHA-256 of everything, and no pickle."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from selectron import queries, scalings, updates
from selectron.classifier.kernel_machine import KernelMachine
from selectron.classifier.kernel_rules import SETTINGS
from selectron.classifier.kernel_store import describe_kernel, described_machine
from selectron.classifier.labels import Labels
from selectron.classifier.ledger import Ledger, with_ledger
from selectron.classifier.machine import Machine
from selectron.classifier.memory import Memory
from selectron.classifier.multilabel import MultilabelRun
from selectron.classifier.rules import Rules, Wishes
from selectron.classifier.run import Run
from selectron.classifier.tickets import Question, Tickets
from selectron.files import Format, read_file, write_file
from selectron.spec import Spec

FORMAT = Format(
    "selectron learner", 2, "learner", file="a learner's file", owner="a selectron learner"
)  # version 1 knew two classes and no kernels
LEDGER = "estimate."
HONEST = "explore", "window", "stop_when"
SHELVES = {"scaling": scalings, "update": updates, "query": queries}


def save(run: Run | MultilabelRun, params: dict[str, Any], path: Path) -> None:
    """Write the run to a file, whole or not at all."""
    machine, tickets = run.machine, run.tickets
    tensors = {}
    for m, each in enumerate(run.machines):
        each.settle()
        place = _place(m)
        for k, array in enumerate(each.arrays()):
            tensors[f"{place}state.{k}"] = np.ascontiguousarray(array)
        tensors[f"{place}numbers"] = each.numbers
    tensors |= run.memory.tensors()
    if machine.ledger is not None:
        tensors |= {f"{LEDGER}{name}": array for name, array in machine.ledger.state().items()}
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
        "n_classes": machine.n_classes,
        "several_labels": isinstance(run, MultilabelRun),
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
    kernels = [describe_kernel(m) for m in run.machines if isinstance(m, KernelMachine)]
    if kernels:
        description["kernel"] = kernels
    write_file(path, FORMAT, tensors, json.dumps(description, sort_keys=True))


def read(path: Path) -> tuple[Run | MultilabelRun, dict[str, Any]]:
    """Read a run and the parameters of its estimator."""
    tensors, text = read_file(path, FORMAT)
    description = json.loads(text)
    rules = Rules(
        **{name: _rule(name, described) for name, described in description["rules"].items()}
    )
    labels = _labels(description["classes"])
    several = description.get("several_labels", False)
    params = {
        name: _rule(name, value) if name in SHELVES else value
        for name, value in description["params"].items()
    }
    rules, ledger = with_ledger(rules, *(params.get(name) for name in HONEST))
    if not any(name.startswith(LEDGER) for name in tensors):
        ledger = None  # none was kept: a rule with a floor may have come with a third class
    if ledger is not None:
        ledger.restore({name.removeprefix(LEDGER): a for name, a in tensors.items()})
    machines = [
        _machine(rules, _of(description, m), tensors, _place(m), ledger)
        for m in range(len(labels.classes) if several else 1)
    ]
    run: Run | MultilabelRun = (
        MultilabelRun(machines, labels)
        if several
        else Run(machines[0], labels, Wishes(params["update"], params["query"]))
    )
    run.tickets = _tickets(description["tickets"], tensors)
    run.memory = Memory.from_tensors(tensors)
    return run, params


def _place(m: int) -> str:
    """Return where the m-th of several learners stands; the first where a single one does."""
    return f"label.{m}." if m else ""


def _of(description: dict[str, Any], m: int) -> dict[str, Any]:
    """Return the description of the m-th of several learners: their rooms differ."""
    rooms = description.get("kernel")
    return description if rooms is None else description | {"kernel": rooms[m]}


def _machine(
    rules: Rules, described: Any, tensors: dict[str, Any], place: str, ledger: Ledger | None
) -> Machine:
    base = rules, described["d"], np.dtype(described["dtype"]), described["seed"]
    kernel, n_classes = described.get("kernel"), described.get("n_classes", 2)
    machine = (
        Machine(*base, n_classes, ledger)
        if kernel is None
        else described_machine(kernel, *base, ledger)
    )
    for k, array in enumerate(machine.arrays()):
        array[...] = tensors[f"{place}state.{k}"]
    machine.numbers[:] = tensors[f"{place}numbers"]
    machine.n_seen, machine.n_asked, machine.waits = described["counts"]
    machine.settle()
    return machine


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


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _plain_params(params: dict[str, Any]) -> dict[str, Any]:
    state = params["random_state"]
    return {
        "fit_intercept": bool(params["fit_intercept"]),
        "random_state": int(state) if isinstance(state, int | np.integer) else None,
        **{name: _plain(params[name]) for name in (*HONEST, *SETTINGS) if params[name] is not None},
    }


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
