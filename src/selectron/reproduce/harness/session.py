"""Run many experiments one after the other, keep what each gave, and go on after a stop.

A file for each experiment keeps its outcome. The file is made again when the version, the number
of seeds, the folder of data or `--quick` is another. An experiment that fails is told in its
outcome and not kept.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import numpy as np

from selectron import __version__
from selectron.engines import Tick
from selectron.files import write_whole
from selectron.reproduce.harness.experiment import AnyExperiment, Row
from selectron.reproduce.harness.problems import data_folder

FORM = 2  # of the outcomes that are kept


class Outcome(NamedTuple):
    """What an experiment gave, or why it gave nothing."""

    name: str
    summary: str
    command: str
    seconds: float = 0.0
    text: str = ""
    verdicts: list[Row] = []  # noqa: RUF012 - never changed
    data: str = ""  # the name of the data, where the study tells it: stand-ins are named here
    picture: str = ""  # a PNG in base64
    not_run: str = ""  # the reason: a file or a package is missing, or the experiment is too long
    failed: str = ""  # the error


@dataclass(frozen=True)
class Session:
    """A folder of outcomes, and how experiments are run for it.

    Parameters
    ----------
    folder : Path
        Where the files of outcomes are.
    quick : bool
        Run every experiment with the fewest seeds that it allows.
    seeds : int, optional
        Run every experiment with so many seeds.
    """

    folder: Path
    quick: bool = False
    seeds: int | None = None

    def seeds_of(self, experiment: AnyExperiment) -> int:
        usual = experiment.quick if self.quick else experiment.hour or experiment.seeds
        return self.seeds or usual

    def why_not(self, experiment: AnyExperiment) -> str:
        """Return why an experiment cannot be run here; empty if it can."""
        if self.quick and not experiment.quick:
            return "left out of --quick: it takes minutes with any number of seeds"
        if experiment.reads_data and data_folder() is None:
            return "needs the folder of data sets: name it with --data, or in SELECTRON_DATA"
        try:
            experiment.needs()
        except (ValueError, OSError, ImportError) as missing:
            return str(missing)
        return ""

    def kept(self, experiment: AnyExperiment) -> Outcome | None:
        """Return the outcome of an earlier run with the same setting, if there is a whole one."""
        try:
            stored = json.loads(self._file(experiment).read_text("utf-8"))
            if stored["setting"] == self._setting(experiment):
                return Outcome(**stored["outcome"])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # no file, or none of ours: the experiment is run
        return None

    def steps(self, experiments: Iterable[AnyExperiment]) -> int:
        """Count the jobs of all experiments that are still to be run."""
        total = 0
        for each in experiments:
            if not self.why_not(each) and self.kept(each) is None:
                with suppress(Exception):  # it will fail again when it runs, and be told then
                    total += each.steps(self.seeds_of(each) or None)
        return total

    def outcomes(self, experiments: Iterable[AnyExperiment], tick: Tick) -> Iterator[Outcome]:
        """Yield the outcome of each experiment, kept or new; call `tick` after each new job."""
        for experiment in experiments:
            yield self.kept(experiment) or self._run(experiment, tick)

    def _run(self, experiment: AnyExperiment, tick: Tick) -> Outcome:
        n = self.seeds_of(experiment)
        chosen = n not in (0, experiment.seeds)
        command = f"selectron reproduce {experiment.name}" + (f" --seeds {n}" if chosen else "")
        outcome = Outcome(experiment.name, experiment.summary, command)
        if reason := self.why_not(experiment):
            return outcome._replace(not_run=reason)
        began = monotonic()
        try:
            result = experiment.run(n or None, tick)
            outcome = outcome._replace(
                text=experiment.text(result),
                verdicts=result.get("verdicts", []),
                data=result.get("data", ""),
                picture=_drawn(experiment, result),
                seconds=monotonic() - began,
            )
            self._keep(experiment, outcome, result)
        except (FileNotFoundError, ModuleNotFoundError) as missing:
            return outcome._replace(not_run=str(missing))
        except Exception as error:  # whatever it is, the other experiments go on
            return outcome._replace(failed=f"{type(error).__name__}: {error}")
        return outcome

    def _keep(self, experiment: AnyExperiment, outcome: Outcome, result: Row) -> None:
        stored = {
            "setting": self._setting(experiment),
            "outcome": outcome._asdict(),
            "result": result,
        }
        text = json.dumps(stored, default=_plain, allow_nan=False)
        write_whole(self._file(experiment), text.encode())

    def _setting(self, experiment: AnyExperiment) -> Row:
        n = self.seeds_of(experiment)
        data = str(data_folder()) if experiment.reads_data else ""
        return {"form": FORM, "version": __version__, "seeds": n, "quick": self.quick, "data": data}

    def _file(self, experiment: AnyExperiment) -> Path:
        return self.folder / f"{experiment.name}.json"


def _drawn(experiment: AnyExperiment, result: Row) -> str:
    drawn = BytesIO()
    experiment.study.draw(result).savefig(drawn, dpi=100, format="png")
    return b64encode(drawn.getvalue()).decode()


def _plain(value: object) -> object:
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)
