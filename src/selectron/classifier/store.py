"""Learners in files: safetensors, a version, a SHA-256 of everything, and no pickle.

The arrays of a run are tensors; everything else is a description in JSON. `read` makes the run anew
from the description, which settles the shape and type of every array, and then fills them in.
Nothing in a file is executed: rules are looked up by name among those that are registered.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from selectron.classifier.labels import Labels
from selectron.classifier.ledger import with_ledger
from selectron.classifier.machine import MACHINES, Machine, Setting
from selectron.classifier.memory import Memory
from selectron.classifier.multilabel import MultilabelRun
from selectron.classifier.rules import Wishes
from selectron.classifier.run import Run
from selectron.classifier.tickets import Question, Tickets
from selectron.experts.mixture import Mixture
from selectron.experts.store import made_mixture
from selectron.files import DamagedFile, Format, Tensors, read_file, write_file
from selectron.kernels.machine import KernelMachine
from selectron.spec import Rules, from_plain, plain

MACHINES["kernel"] = lambda setting, described, _: KernelMachine.described(setting, described)
NO_NAMES = np.array([], object)
FORMAT = Format(
    "selectron learner", 3, "learner", file="a learner's file", owner="a selectron learner"
)
LEDGER = "estimate."
ESTIMATED = "explore", "window", "stop_when"
WAIT = "n_asked", "just_asked", "answers", "rounds_waited", "fresh_from", "n_overdue"


def save(learner: Any, run: Run | MultilabelRun, path: Path) -> None:
    """Write a classifier and its run to a file, whole or not at all."""
    runs, tickets, machine = _runs(run), run.tickets, run.machine
    tensors: Tensors = run.memory.tensors()
    for m, each in enumerate(runs):
        each.machine.settle()
        for k, array in enumerate(each.machine.arrays()):
            tensors[f"run.{m}.state.{k}"] = np.ascontiguousarray(array)
        tensors[f"run.{m}.numbers"] = each.machine.numbers
        for name, array in each.machine.companions().items():
            tensors[f"run.{m}.{name}"] = array
    if run.ledger is not None:
        tensors |= {f"{LEDGER}{name}": array for name, array in run.ledger.state().items()}
    for number, question in tickets.waiting.items():
        tensors[f"question.{number}.values"] = question.values
        tensors[f"question.{number}.told"] = question.told
        if question.indices is not None:
            tensors[f"question.{number}.indices"] = question.indices
    waiting = {str(number): question.round for number, question in tickets.waiting.items()}
    params, experts = _describe_params(learner._begun_with)
    description = {
        "classifier": type(learner).__name__,
        "params": params,
        "features": getattr(learner, "feature_names_in_", NO_NAMES).tolist(),
        "rules": [plain(rule) for rule in machine.rules],
        "classes": _describe_labels(run.labels),
        "setting": [machine.d, machine.dtype.name, machine.seed, machine.n_classes],
        "several_labels": isinstance(run, MultilabelRun),
        "counts": [run.rounds, run.n_asked, run.arrived],
        "machines": [each.machine.describe() for each in runs],
        "tickets": {name: getattr(tickets, name) for name in WAIT} | {"waiting": waiting},
    }
    write_file(path, FORMAT, tensors | experts, json.dumps(description, sort_keys=True))


def read(path: Path) -> tuple[Run | MultilabelRun, dict[str, Any]]:
    """Read a run, and the description of its classifier with its parameters made anew."""
    tensors, text = read_file(path, FORMAT)
    try:
        return _made_anew(json.loads(text), tensors)
    except DamagedFile:
        raise
    except (ValueError, TypeError, LookupError, OverflowError, ArithmeticError) as error:
        said = " ".join(f"{type(error).__name__} {error}".split())
        raise DamagedFile(f"{path} is damaged: {said[:200]}; restore it from a copy") from None


def _made_anew(description: Any, tensors: Tensors) -> tuple[Run | MultilabelRun, dict[str, Any]]:
    rules = Rules(*(from_plain(rule) for rule in description["rules"]))
    labels = _labels(description["classes"])
    params = _params(description["params"], tensors)
    rules, ledger = with_ledger(rules, *(params.get(name) for name in ESTIMATED))
    if not any(name.startswith(LEDGER) for name in tensors):
        ledger = None  # none was kept: a rule with a floor may have come with a third class
    if ledger is not None:
        ledger.restore({name.removeprefix(LEDGER): a for name, a in tensors.items()})
    d, dtype, seed, n_classes = description["setting"]
    setting = Setting(rules, d, np.dtype(dtype), seed, n_classes)
    runs = [
        Run(
            _machine(setting, each, _within(f"run.{m}.", tensors)),
            Labels() if description["several_labels"] else labels,
            Wishes(params.get("update"), params.get("query")),
            ledger,
        )
        for m, each in enumerate(description["machines"])
    ]
    for each in runs:
        each.rounds, each.n_asked, each.arrived = description["counts"]
    run = MultilabelRun(runs, labels) if description["several_labels"] else runs[0]
    run.tickets = _tickets(description["tickets"], tensors)
    run.memory = Memory.from_tensors(tensors)
    return run, description | {"params": params}


def _runs(run: Run | MultilabelRun) -> list[Run]:
    return run.runs if isinstance(run, MultilabelRun) else [run]


def _within(place: str, tensors: Tensors) -> Tensors:
    return {k.removeprefix(place): array for k, array in tensors.items() if k.startswith(place)}


def _machine(setting: Setting, described: dict[str, Any], tensors: Tensors) -> Machine:
    machine = MACHINES[described["machine"]](setting, described, tensors)
    for k, array in enumerate(machine.arrays()):
        array[...] = tensors[f"state.{k}"]
    machine.numbers[:] = tensors["numbers"]
    machine.settle()
    return machine


def _describe_params(params: dict[str, Any]) -> tuple[dict[str, Any], Tensors]:
    """Return the parameters as values that JSON has, and the arrays of a mixture among them."""
    listed: dict[str, Any] = {}
    tensors: Tensors = {}
    for name, value in params.items():
        if isinstance(value, Mixture):
            listed[name] = {"mixture": type(value).__name__}
            tensors = {f"param.{name}.{k}": np.asarray(v) for k, v in value.state().items()}
        elif name == "random_state" and not isinstance(value, int | np.integer):
            listed[name] = None  # the coins are those of the seed that it gave
        else:
            listed[name] = plain(value)
    return listed, tensors


def _params(described: dict[str, Any], tensors: Tensors) -> dict[str, Any]:
    params = {}
    for name, value in described.items():
        if isinstance(value, dict) and "mixture" in value:
            params[name] = made_mixture(value["mixture"], _within(f"param.{name}.", tensors))
        else:
            params[name] = from_plain(value)
    return params


def _describe_labels(labels: Labels) -> dict[str, Any]:
    listed = labels.classes.tolist()
    if not all(isinstance(label, str | int | float | bool) for label in listed):
        raise TypeError(
            f"cannot save classes of type {type(listed[0]).__name__}: use text, numbers or booleans"
        )
    dtype = labels.classes.dtype.str
    return {"fixed": labels.fixed, "most": labels.most, "dtype": dtype, "values": listed}


def _labels(described: dict[str, Any]) -> Labels:
    kind = described["dtype"]
    classes = np.array(described["values"], dtype=object if kind == "|O" else kind)
    return Labels(classes, fixed=described["fixed"], most=described["most"])


def _tickets(described: dict[str, Any], tensors: Tensors) -> Tickets:
    waiting = {
        int(number): Question(
            tensors[f"question.{number}.values"],
            tensors.get(f"question.{number}.indices"),
            tensors[f"question.{number}.told"],
            round_,
        )
        for number, round_ in described["waiting"].items()
    }
    return Tickets(waiting=waiting, **{name: described[name] for name in WAIT})
