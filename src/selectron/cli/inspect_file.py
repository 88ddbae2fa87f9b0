"""`selectron inspect`: what is in a saved file, a learner, a tracker or experts; nothing is run."""

from argparse import Namespace
from pathlib import Path

from selectron.classifier.multilabel import AnyRun
from selectron.classifier.store import read
from selectron.cli.output import check_outputs, tell
from selectron.experts import FORMAT as EXPERTS
from selectron.experts import Mixture, load_experts
from selectron.files import format_name
from selectron.tracking.machine import MembersMachine
from selectron.tracking.members import Committee

Facts = dict[str, object]
MOST_SHOWN = 20  # weights on the screen; JSON has all


def inspect_file(options: Namespace) -> int:
    check_outputs(options)
    path = Path(options.file)
    about = about_experts(path) if format_name(path) == EXPERTS.name else about_learner(path)
    facts = {"file": path.name, "bytes": path.stat().st_size, **about, "sha256": "matches"}
    shown = {name: str(value) for name, value in facts.items()}
    if isinstance(weights := about.get("weights"), list):
        shown["weights"] = shortened(weights)
    width = max(map(len, shown))
    text = "\n".join(f"{name.ljust(width)}  {value}" for name, value in shown.items())
    return tell(options, text, facts)


def about_learner(path: Path) -> Facts:
    run, _ = read(path)
    machine, rules = run.machine, run.machine.rules
    about: Facts = {"scaling": str(rules.scaling), "update": str(rules.update)}
    weights: Facts = {}
    if isinstance(machine, MembersMachine) and isinstance(rules.update, Committee):
        about = {"learners": rules.update.names, "experts": type(machine.mixture).__name__}
        weights = about_weights(machine.mixture)
    about |= {"query": str(rules.query), **about_run(run)}
    return about | {"query state": machine.states.now.query._asdict()} | weights


def about_experts(path: Path) -> Facts:
    mixture = load_experts(path)
    return {"experts": type(mixture).__name__, "number": mixture.n, **about_weights(mixture)}


def about_run(run: AnyRun) -> Facts:
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


def about_weights(mixture: Mixture) -> Facts:
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
