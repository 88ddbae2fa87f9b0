"""`selectron reproduce`: the papers' tables and figures again, ours beside theirs."""

import os
from argparse import Namespace
from pathlib import Path

from selectron.cli.engines import engine_named
from selectron.cli.output import check_outputs, progress, tell, with_plot
from selectron.reproduce import EXPERIMENTS


def reproduce(options: Namespace) -> int:
    check_outputs(options)
    if options.list or options.name is None:
        summaries = {name: experiment.summary for name, experiment in EXPERIMENTS.items()}
        lines = (f"{name}: {summary}" for name, summary in summaries.items())
        return tell(options, "\n".join(lines), summaries)
    _prepare(options)
    experiment = EXPERIMENTS[options.name]
    with progress(experiment.steps(options.seeds), options.name) as bar:
        result = experiment.run(options.seeds, lambda: bar.update(1), engine_named(options))
    if options.plot:
        experiment.plot(result, Path(options.plot))
    return tell(options, with_plot(experiment.text(result), options), result)


def _prepare(options: Namespace) -> None:
    if options.name not in EXPERIMENTS:
        raise ValueError(f"unknown experiment {options.name!r}; known are {', '.join(EXPERIMENTS)}")
    if options.seeds is not None and options.seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {options.seeds}")
    if options.data:
        os.environ["SELECTRON_DATA"] = options.data  # where every reader of data sets looks
