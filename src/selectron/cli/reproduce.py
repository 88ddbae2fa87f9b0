"""`selectron reproduce`: the papers' tables and figures again, ours beside theirs."""

import os
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path

from selectron.cli.named import engine_named, others_aside
from selectron.cli.output import check_outputs, progress, tell, with_plot
from selectron.files import write_whole
from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.harness.page import page_of
from selectron.reproduce.harness.session import Session


def reproduce(options: Namespace) -> int:
    check_outputs(options)
    _prepare(options)
    if options.all:
        return _reproduce_all(options)
    if options.list or options.name is None:
        summaries = {name: experiment.summary for name, experiment in EXPERIMENTS.items()}
        lines = (f"{name}: {summary}" for name, summary in summaries.items())
        return tell(options, "\n".join(lines), summaries)
    experiment = EXPERIMENTS[options.name]
    with progress(experiment.steps(options.seeds), options.name) as bar, others_aside():
        result = experiment.run(options.seeds, lambda: bar.update(1), engine_named(options))
    if options.plot:
        experiment.plot(result, Path(options.plot))
    return tell(options, with_plot(experiment.text(result), options), result)


def _reproduce_all(options: Namespace) -> int:
    """Run what can be run here, and write the page; exit code 1 if an experiment failed."""
    folder = Path(options.report)
    folder.mkdir(parents=True, exist_ok=True)
    session, experiments = Session(folder, options.quick, options.seeds), EXPERIMENTS.values()
    outcomes = []
    with progress(session.steps(experiments), "reproduce") as bar:
        for outcome in session.outcomes(experiments, lambda: bar.update(1)):
            outcomes.append(outcome)
            bar.set_description(outcome.name)
            page = page_of(outcomes, options.quick, len(experiments))
            write_whole(folder / "index.html", page.encode())
    failed = [each.name for each in outcomes if each.failed]
    missing = [each.name for each in outcomes if each.not_run]
    facts = {
        each.name: {"verdicts": [v["verdict"] for v in each.verdicts], "seconds": each.seconds,
                    "not_run": each.not_run, "failed": each.failed}
        for each in outcomes
    }  # fmt: skip
    lines = [f"{len(outcomes) - len(failed) - len(missing)} of {len(outcomes)} experiments ran"]
    lines += [f"{each.name}: {each.not_run}" for each in outcomes if each.not_run]
    lines += [f"{each.name} failed: {each.failed}" for each in outcomes if each.failed]
    tell(options, "\n".join([*lines, f"report: {folder / 'index.html'}"]), facts)
    return 1 if failed else 0


def _prepare(options: Namespace) -> None:
    if options.name is not None and options.name not in EXPERIMENTS:
        raise ValueError(f"unknown experiment {options.name!r}; known are {', '.join(EXPERIMENTS)}")
    if options.all and (options.name or options.list or options.plot or not options.report):
        raise ValueError("--all takes no experiment, --list or --plot, and needs --report DIR")
    if not options.all and (options.report or options.quick):
        raise ValueError("--report and --quick go with --all")
    if options.report and find_spec("matplotlib") is None:
        raise ModuleNotFoundError(name="matplotlib")
    if options.seeds is not None and options.seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {options.seeds}")
    if options.data:
        os.environ["SELECTRON_DATA"] = options.data  # where every reader of data sets looks
