"""`selectron inspect`: what is in a saved file, a learner, a tracker or experts; nothing is run."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from selectron.classifier.estimator import AnyRun
from selectron.classifier.store import read
from selectron.cli.output import check_outputs, write_json
from selectron.experts import Mixture, load_experts
from selectron.experts.store import FORMAT as EXPERTS
from selectron.files import format_name
from selectron.tracking.machine import MembersMachine
from selectron.tracking.members import Committee

MOST_SHOWN = 20  # weights on the screen; JSON has all


def add_inspect(parser: ArgumentParser) -> None:
    parser.add_argument("file", help="a learner, a tracker or experts, as they were saved")
    parser.add_argument("--json", metavar="FILE", help="write it to FILE as JSON, - for stdout")


def inspect_file(options: Namespace) -> int:
    check_outputs(options)
    path = Path(options.file)
    about = about_experts(path) if format_name(path) == EXPERTS.name else about_learner(path)
    size = {"file": path.name, "bytes": path.stat().st_size}
    facts: dict[str, Any] = size | about | {"sha256": "matches"}
    if options.json != "-":
        width = max(map(len, facts))
        for name, value in facts.items():
            print(f"{name.ljust(width)}  {shortened(value) if name == 'weights' else value}")
    write_json(facts, options.json)
    return 0


def about_learner(path: Path) -> dict[str, Any]:
    run, _ = read(path)
    machine, rules = run.machine, run.machine.rules
    about: dict[str, Any] = {"scaling": str(rules.scaling), "update": str(rules.update)}
    weights: dict[str, Any] = {}
    if isinstance(machine, MembersMachine) and isinstance(rules.update, Committee):
        about = {"learners": rules.update.names, "experts": type(machine.mixture).__name__}
        weights = about_weights(machine.mixture)
    about |= {"query": str(rules.query), **about_run(run)}
    return about | {"query state": machine.states.now.query._asdict()} | weights


def about_experts(path: Path) -> dict[str, Any]:
    mixture = load_experts(path)
    return {"experts": type(mixture).__name__, "number": mixture.n, **about_weights(mixture)}


def about_run(run: AnyRun) -> dict[str, Any]:
    machine = run.machine
    return {
        "features": machine.d,
        "float type": machine.dtype.name,
        "classes": run.labels.classes.tolist(),
        "seed": machine.seed,
        "rounds seen": run.rounds,
        "labels asked": run.n_asked,
        "updates": run.n_updates,
        "questions waiting": len(run.tickets.waiting),
    }


def about_weights(mixture: Mixture) -> dict[str, Any]:
    weights = mixture.weights
    return {
        "eta": mixture.state().get("eta", "adahedge"),
        "weights": weights.tolist(),
        "following": int(weights.argmax()),
    }


def shortened(weights: list[float]) -> str:
    """Round the numbers, and leave out those that nobody would read."""
    more = f", and {len(weights) - MOST_SHOWN} more" if len(weights) > MOST_SHOWN else ""
    return f"[{', '.join(f'{weight:.4g}' for weight in weights[:MOST_SHOWN])}{more}]"
