"""`selectron reproduce`: the papers' tables and figures again, ours beside theirs."""

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from selectron.cli.output import check_outputs, progress, write_json
from selectron.reproduce import EXPERIMENTS


def add_reproduce(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="which; --list names them")
    parser.add_argument("--list", action="store_true", help="list the experiments")
    parser.add_argument("--data", metavar="DIR", default=os.environ.get("SELECTRON_DATA"),
                        help="folder of data sets [env SELECTRON_DATA]")  # fmt: skip
    parser.add_argument("--seeds", type=int, metavar="N", help="runs to average over")
    parser.add_argument("--plot", metavar="FILE", help="draw the figure to FILE")
    parser.add_argument("--json", metavar="FILE", help="write the numbers to FILE, - for stdout")


def reproduce(options: Namespace) -> int:
    check_outputs(options)
    if options.list or options.name is None:
        summaries = {name: experiment.summary for name, experiment in EXPERIMENTS.items()}
        if options.json != "-":
            print("\n".join(f"{name}: {summary}" for name, summary in summaries.items()))
        write_json(summaries, options.json)
        return 0
    _prepare(options)
    experiment = EXPERIMENTS[options.name]
    with progress(experiment.steps(options.seeds), options.name) as bar:
        result = experiment.run(options.seeds, lambda: bar.update(1))
    if options.json != "-":
        print(experiment.text(result))
    if options.plot:
        experiment.plot(result, Path(options.plot))
        if options.json != "-":
            print(f"\nplot: {options.plot}")
    write_json(result, options.json)
    return 0


def _prepare(options: Namespace) -> None:
    if options.name not in EXPERIMENTS:
        raise ValueError(f"unknown experiment {options.name!r}; known are {', '.join(EXPERIMENTS)}")
    if options.seeds is not None and options.seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {options.seeds}")
    if options.data:
        os.environ["SELECTRON_DATA"] = options.data  # where every reader of data sets looks
