"""Learners in files: safetensors, a version, a SHA-256 of everything, and no pickle.

The arrays of a run are tensors; everything else is a description in JSON. `read` makes the run anew
from the description, which settles the shape and type of every array, and then fills them in.
Nothing in a file is executed: rules are looked up by name among those that are registered.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from selectron.classifier import class_weight
from selectron.classifier.labels import Labels
from selectron.classifier.ledger import Ledger, with_ledger
from selectron.classifier.machine import MACHINES, Machine, Setting
from selectron.classifier.memory import Memory, read_row
from selectron.classifier.multilabel import MultilabelRun
from selectron.classifier.pool import Pool
from selectron.classifier.rules import Wishes, choose_rules
from selectron.classifier.run import Run
from selectron.classifier.tickets import Question, Tickets
from selectron.compiler.states import nodes, number_fields
from selectron.experts import made_mixture
from selectron.experts.mixture import Mixture
from selectron.files import (
    LARGEST,
    DamagedFile,
    Description,
    Format,
    MissingRule,
    Reader,
    Tensors,
    fields,
    file_of,
    flag,
    read_file,
    refusing,
    whole,
    write_whole,
)
from selectron.kernels.machine import KernelMachine
from selectron.protocol import MANY, TWO, constants, flaw
from selectron.spec import Rules, State, from_plain, plain

MACHINES["kernel"] = lambda setting, described, reader: KernelMachine.described(
    setting, described, reader.n_numbers
)
Params = dict[str, Any]  # the arguments of a classifier's constructor, by name
NO_NAMES = np.array([], object)
FORMAT = Format(
    "selectron learner", 5, "learner", file="a learner's file", owner="a selectron learner"
)
LEDGER = "estimate."
ESTIMATED = "explore", "window", "stop_when"
DESCRIBED = (
    "classifier", "params", "features", "rules", "classes", "setting", "several_labels", "counts",
    "machines", "tickets", "pool",
)  # fmt: skip
KINDS_OF_CLASSES = ("<U", "|S", "<i", "<u", "<f", "|b", "|i", "|u", "|O", ">U", ">i", ">u", ">f")
TWO_CLASSES = 2
MOST_TEXT = 1 << 26  # bytes of all names of classes
MOST_SETTLED = 1 << 24  # questions in a row that wait no more: each is passed over on its own
MOST_WIDTH = 1 << 16  # features without support vectors; others keep a number a feature
WAIT = "n_asked", "just_asked", "answers", "rounds_waited", "fresh_from", "n_overdue"


def save(learner: object, run: Run | MultilabelRun, path: Path) -> None:
    """Write a classifier and its run to a file, whole or not at all."""
    write_whole(path, packing(learner, run)())


def packing(learner: object, run: Run | MultilabelRun) -> Callable[[], bytes]:
    """Copy a classifier and its run; return what makes a file of them.

    The lock is held while everything is copied; others go on while the file is made.
    """
    with run.lock:
        tensors, description = _copied(learner, run)
    return partial(file_of, FORMAT, tensors, json.dumps(description, sort_keys=True))


def _copied(learner: Any, run: Run | MultilabelRun) -> tuple[Tensors, Description]:
    """Copy the arrays of a run, and describe the rest."""
    runs, tickets, machine = _runs(run), run.tickets, run.machine
    tensors: Tensors = run.memory.tensors()
    pool = None if isinstance(run, MultilabelRun) else run.pool
    if pool is not None:
        tensors |= pool.tensors()
    for m, each in enumerate(runs):
        each.machine.settle()
        for k, array in enumerate(each.machine.arrays()):
            tensors[f"run.{m}.state.{k}"] = np.array(array, order="C")
        tensors[f"run.{m}.numbers"] = each.machine.states.numbers.copy()
        for name, array in each.machine.companions().items():
            tensors[f"run.{m}.{name}"] = array
    if run.ledger is not None:
        run.ledger.skip_to(run.rounds)
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
        "pool": None if pool is None else pool.describe(),
    }
    return tensors | experts, description


def read(path: Path) -> tuple[Run | MultilabelRun, Description]:
    """Read a run, and the description of its classifier with its parameters made anew.

    Whatever is wrong with the file is a `DamagedFile`.
    """
    tensors, text = read_file(path, FORMAT)
    reader = Reader(tensors)
    with refusing(path):
        description = fields(json.loads(text), "the description", DESCRIBED)
        run, params = _made_anew(description, reader)
        reader.check_all_taken()
        recipe = params.get("recipe")
        if recipe is not None and recipe.width != run.machine.d:
            raise DamagedFile(f"the recipe makes rows of {recipe.width}, not {run.machine.d}")
        named = _features(description["features"], run.machine.d)
    return run, description | {"params": params, "features": named}


def _features(described: list[str], d: int) -> list[str]:
    """Return the names of the columns, all or none."""
    named = isinstance(described, list) and all(isinstance(name, str) for name in described)
    if not named or len(described) not in (0, d):
        raise DamagedFile(f"the columns are called {described!r:.60}")
    return described


def _made_anew(description: Description, reader: Reader) -> tuple[Run | MultilabelRun, Params]:
    labels = _labels(description["classes"])
    params = _params(description["params"], reader)
    setting, ledger = _setting(description, params, labels, reader)
    several = flag(description["several_labels"], "several_labels")
    machines = description["machines"]
    if len(machines) != (len(labels.classes) if several else 1):
        raise DamagedFile(f"there are {len(machines)} machines")
    rounds, n_asked, arrived = description["counts"]
    rounds, n_asked = whole(rounds, "rounds"), whole(n_asked, "labels asked", 0, rounds)
    if ledger is not None and not (
        ledger.rounds == rounds and all(0 <= asked < rounds for asked in ledger.pending)
    ):
        raise DamagedFile(f"{rounds} rounds, of which the estimate counts {ledger.rounds}")
    wishes = Wishes.of(params.get("update"), params.get("query"))
    choose_rules(None, *wishes, fit_intercept=False, d=setting.d)  # refuses what is no rule
    runs = []
    for m, described in enumerate(machines):
        machine = _machine(setting, described, reader.within(f"run.{m}."))
        run = Run(machine, Labels() if several else labels, wishes, ledger)
        run.rounds, run.n_asked, run.arrived = rounds, n_asked, flag(arrived, "arrived")
        runs.append(run)
    whole_run = MultilabelRun(runs, labels) if several else runs[0]
    whole_run.tickets = _tickets(description["tickets"], whole_run, reader)
    whole_run.memory = Memory.read(reader, setting.d, setting.dtype)
    pool = Pool.read(description["pool"], reader, setting.n_classes)
    if isinstance(whole_run, Run):
        whole_run.pool = pool
    return whole_run, params


def _setting(
    description: Description, params: Params, labels: Labels, reader: Reader
) -> tuple[Setting, Ledger | None]:
    """Return what all machines have in common, and the ledger if one was kept."""
    rules = Rules(*(_rule(rule) for rule in description["rules"]))
    choose_rules(*rules, fit_intercept=False, d=1)  # refuses those that do not go together
    rules, ledger = with_ledger(rules, *(params.get(name) for name in ESTIMATED))
    entries = reader.within(LEDGER)
    if not entries.tensors:
        ledger = None  # none was kept: a rule with a floor may have come with a third class
    elif ledger is None:
        raise DamagedFile("there are estimates, and no rule with a floor under its odds")
    else:
        ledger.read(entries)
    d, dtype, seed, n_classes = description["setting"]
    if dtype not in ("float32", "float64"):
        raise DamagedFile(f"rows are of {dtype!r:.30}")
    by_kernel = description["machines"][0]["machine"] == "kernel"
    whole(d, "features", 1, max(MOST_WIDTH * by_kernel, reader.n_numbers))
    whole(seed, "seed", 0, 2**63 - 1)
    expected = TWO_CLASSES if description["several_labels"] else max(2, len(labels.classes))
    whole(n_classes, "classes", expected, expected)
    return Setting(rules, d, np.dtype(dtype), seed, n_classes), ledger


def _rule(described: object) -> Any:
    """Return a rule, or whatever else a parameter is."""
    try:
        return from_plain(described)
    except KeyError as error:
        package, _, name = str(error.args[0])[:80].rpartition(":")
        if not name.isidentifier() or not package.isidentifier():
            raise
        raise MissingRule(
            f"the rule {name} of the package {package}, which is not installed, or has no entry "
            "point in the group selectron.rules: install or import it"
        ) from None


def _runs(run: Run | MultilabelRun) -> list[Run]:
    return run.runs if isinstance(run, MultilabelRun) else [run]


def _machine(setting: Setting, described: Description, reader: Reader) -> Machine:
    machine = MACHINES[described["machine"]](setting, described, reader)
    for k, array in enumerate(machine.arrays()):
        reader.fill(f"state.{k}", array)
    reader.fill("numbers", machine.states.numbers)
    named = zip(number_fields(machine.states.tree), machine.states.numbers.tolist(), strict=True)
    for (name, kind), number in named:
        most = 1 if kind is bool else LARGEST
        counts = issubclass(kind, int | np.integer)
        if counts and not (0 <= number <= most and number == int(number)):
            raise DamagedFile(f"{name} is {number}")
    for begun, node in zip(nodes(machine.states.tree), nodes(machine.states.now), strict=True):
        if isinstance(node, tuple):
            _check_state(begun, node)
    reader.check_all_taken()
    machine.settle()
    return machine


def _check_state(begun: State, now: State) -> None:
    """Refuse a state that does not go on from how its rule begins."""
    for name in constants(now):
        was, found = getattr(begun, name), getattr(now, name)
        if not isinstance(was, tuple | np.ndarray) and found != was:
            raise DamagedFile(f"{type(now).__name__}: {name} is {found}, not {was}")
    if said := flaw(now):
        raise DamagedFile(f"{type(now).__name__}: {said}")


def _describe_params(params: Params) -> tuple[Description, Tensors]:
    """Return the parameters as values that JSON has, and the arrays of a mixture among them."""
    listed: Description = {}
    tensors: Tensors = {}
    for name, value in params.items():
        if isinstance(value, Mixture):
            listed[name] = {"mixture": type(value).__name__}
            tensors = {f"param.{name}.{k}": np.asarray(v) for k, v in value.state().items()}
        elif name == "recipe":
            listed[name] = None if value is None else value.describe()
        elif name == "class_weight":
            listed[name] = None if value is None else class_weight.described(value)
        elif name == "random_state" and not isinstance(value, int | np.integer):
            listed[name] = None  # the coins are those of the seed that it gave
        else:
            listed[name] = plain(value)
    return listed, tensors


def _params(described: Description, reader: Reader) -> Params:
    params: Params = {}
    for name, value in described.items():
        if isinstance(value, dict) and "mixture" in value:
            state = reader.within(f"param.{name}.")
            params[name] = made_mixture(value["mixture"], state.tensors)
        elif name == "recipe":
            params[name] = None if value is None else _recipe(value)
        elif name == "class_weight":
            params[name] = None if value is None else class_weight.from_description(value)
        else:
            made = _rule(value)
            params[name] = list(made) if isinstance(value, list) else made
    return params


def _recipe(described: Description) -> object:
    from selectron.features import Recipe  # noqa: PLC0415 - most files have none

    return Recipe.described(described)


def _describe_labels(labels: Labels) -> Description:
    listed = labels.classes.tolist()
    if not all(isinstance(label, str | int | float | bool) for label in listed):
        raise TypeError(
            f"cannot save classes of type {type(listed[0]).__name__}: use text, numbers or booleans"
        )
    dtype = labels.classes.dtype.str
    return {"fixed": labels.fixed, "most": labels.most, "dtype": dtype, "values": listed}


def _labels(described: Description) -> Labels:
    fields(described, "classes", ("fixed", "most", "dtype", "values"))
    values, kind, most = described["values"], described["dtype"], described["most"]
    if not all(isinstance(label, str | int | float | bool) for label in values):
        raise DamagedFile("a class is neither text nor a number")
    if not (isinstance(kind, str) and kind[:2] in KINDS_OF_CLASSES and len(kind) < 12):
        raise DamagedFile(f"classes are of {kind!r:.30}")
    if np.dtype(kind).itemsize * len(values) > MOST_TEXT:
        raise DamagedFile(f"{len(values)} classes are of {kind}")
    classes = np.array(values, dtype=object if kind == "|O" else kind)
    if classes.shape != (len(values),) or len(set(classes.tolist())) != len(values):
        raise DamagedFile("a class stands there twice, or in parts")
    if most is not None and most != TWO_CLASSES:
        raise DamagedFile(f"there may be {most!r:.30} classes at most")
    return Labels(classes, fixed=flag(described["fixed"], "fixed"), most=most)


def _tickets(described: Description, run: Run | MultilabelRun, reader: Reader) -> Tickets:
    fields(described, "tickets", (*WAIT, "waiting"))
    machine, n_asked = run.machine, whole(described["n_asked"], "questions", 0, run.n_asked)
    numbers = 1 + (MANY if machine.n_classes > 2 else TWO)
    shape = (len(run.runs), numbers) if isinstance(run, MultilabelRun) else (numbers,)
    waiting = {}
    for name, round_ in described["waiting"].items():
        number, place = whole(int(name), "a ticket", 0, n_asked - 1), f"question.{int(name)}."
        values, indices = read_row(reader, place, machine.d, machine.dtype)
        told = reader.take(f"{place}told", np.float64, shape)
        odds = told[..., -1]
        if not ((odds > 0.0) & (odds <= 1.0)).all():
            raise DamagedFile(f"question {number} was asked at odds {odds}")
        if machine.n_classes > 2 and not np.isin(told[TWO:MANY], range(machine.n_classes)).all():
            raise DamagedFile(f"question {number} is about classes {told[TWO:MANY]}")
        whole(round_, "a round", 0, run.rounds - 1)
        waiting[number] = Question(values, indices, told, round_)
    just_asked = described["just_asked"]
    if just_asked is not None and just_asked not in waiting:
        raise DamagedFile(f"the question just asked, {just_asked!r:.30}, does not wait")
    counts = {name: whole(described[name], name) for name in WAIT if name != "just_asked"}
    if not n_asked - MOST_SETTLED <= counts["fresh_from"] <= n_asked:
        raise DamagedFile(f"questions from {counts['fresh_from']} on may be overdue, of {n_asked}")
    if counts["n_overdue"] > len(waiting):
        raise DamagedFile("more questions are overdue than wait")
    tickets = Tickets(waiting=waiting, just_asked=just_asked)
    for name, count in counts.items():
        setattr(tickets, name, count)
    return tickets
