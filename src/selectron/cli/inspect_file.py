"""`selectron inspect`: what a saved learner is, without running it."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from selectron.classifier.store import read
from selectron.cli.output import check_outputs, write_json


def add_inspect(parser: ArgumentParser) -> None:
    parser.add_argument("file", help="a learner written by save")
    parser.add_argument("--json", metavar="FILE", help="write it to FILE as JSON, - for stdout")


def inspect_file(options: Namespace) -> int:
    check_outputs(options)
    path = Path(options.file)
    run, _ = read(path)
    machine, state = run.machine, run.machine.state
    facts: dict[str, Any] = {
        "file": path.name,
        "bytes": path.stat().st_size,
        "scaling": str(machine.rules.scaling),
        "update": str(machine.rules.update),
        "query": str(machine.rules.query),
        "features": machine.d,
        "float type": machine.dtype.name,
        "classes": run.labels.classes.tolist(),
        "seed": machine.seed,
        "rounds seen": machine.n_seen,
        "labels asked": machine.n_asked,
        "updates": int(state.update.n_updates),
        "questions waiting": len(run.tickets.waiting),
        "query state": state.query._asdict(),
        "sha256": "matches",
    }
    if options.json != "-":
        width = max(map(len, facts))
        for name, value in facts.items():
            print(f"{name.ljust(width)}  {value}")
    write_json(facts, options.json)
    return 0
