"""`selectron inspect`: what is in a saved file, a learner, a tracker or experts; nothing is run."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from selectron.classifier.lifecycle import AnyRun
from selectron.classifier.store import read as read_learner
from selectron.cli.output import check_outputs, write_json
from selectron.experts import Mixture, load_experts
from selectron.experts.store import FORMAT as EXPERTS
from selectron.files import format_name
from selectron.tracking.store import FORMAT as TRACKER
from selectron.tracking.store import read as read_tracker

MOST_SHOWN = 20  # weights on the screen; JSON has all


def add_inspect(parser: ArgumentParser) -> None:
    parser.add_argument("file", help="a learner, a tracker or experts, as they were saved")
    parser.add_argument("--json", metavar="FILE", help="write it to FILE as JSON, - for stdout")


def inspect_file(options: Namespace) -> int:
    check_outputs(options)
    path = Path(options.file)
    describe = {EXPERTS.name: about_experts, TRACKER.name: about_tracker}
    about = describe.get(format_name(path), about_learner)(path)
    size = {"file": path.name, "bytes": path.stat().st_size}
    facts: dict[str, Any] = size | about | {"sha256": "matches"}
    if options.json != "-":
        width = max(map(len, facts))
        for name, value in facts.items():
            print(f"{name.ljust(width)}  {shortened(value) if name == 'weights' else value}")
    write_json(facts, options.json)
    return 0


def about_learner(path: Path) -> dict[str, Any]:
    run, _ = read_learner(path)
    rules, state = run.machine.rules, run.machine.state
    return {
        "scaling": str(rules.scaling),
        "update": str(rules.update),
        "query": str(rules.query),
        **about_run(run, sum(int(each.state.update.n_updates) for each in run.machines)),
        "query state": state.query._asdict(),
    }


def about_tracker(path: Path) -> dict[str, Any]:
    run, _ = read_tracker(path)
    machine: Any = run.machine
    return {
        "learners": machine.rules.update.names,
        "experts": type(machine.mixture).__name__,
        "query": str(machine.rules.query),
        **about_run(run, machine.n_asked - len(run.tickets.waiting)),
        "query state": machine.state.query._asdict(),
        **about_weights(machine.mixture),
    }


def about_experts(path: Path) -> dict[str, Any]:
    mixture = load_experts(path)
    return {"experts": type(mixture).__name__, "number": mixture.n, **about_weights(mixture)}


def about_run(run: AnyRun, updates: int) -> dict[str, Any]:
    machine = run.machine
    return {
        "features": machine.d,
        "float type": machine.dtype.name,
        "classes": run.labels.classes.tolist(),
        "seed": machine.seed,
        "rounds seen": machine.n_seen,
        "labels asked": machine.n_asked,
        "updates": updates,
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
