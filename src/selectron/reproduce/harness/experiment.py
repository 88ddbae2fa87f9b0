"""Run an experiment: measure its jobs, report them, write a text, draw a figure.

A study is a module with five functions: `jobs`, `measure`, `report`, `text` and `draw`. Where the
paper claims something of its table or figure, a sixth, `verdicts`, says whether ours bears it out.
The experiment runs the study under a name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from selectron.engines import Engine, Here, Local, Tick
from selectron.evaluate.plots import write_figure

STANDING_IN = ", on a stand-in"
Row = dict[str, Any]  # an object of the JSON report: its values are numbers, words, lists, objects


def verdict(claim: str, ours: str, holds: bool | Sequence[bool], tolerance: str = "none") -> Row:
    """Return a claim of the paper, our numbers, and a verdict that follows from them.

    Parameters
    ----------
    claim, ours : str
        What the paper says, and what we measured.
    holds : bool, or several
        Whether the claim holds, in each case that it speaks of. None: nothing was measured.
    tolerance : str
        How far our numbers may be from the claim.
    """
    cases = [holds] if isinstance(holds, bool | int) else list(holds)
    if not cases:
        said = "not measured"
    elif all(cases):
        said = "holds"
    elif any(cases):
        said = f"holds in part ({sum(map(bool, cases))} of {len(cases)})"
    else:
        said = "does not hold"
    return {"claim": claim, "ours": ours, "tolerance": tolerance, "verdict": said}


def on_data(verdicts: list[Row], result: Row) -> list[Row]:
    """Say of every verdict that it is on a stand-in, where the report calls its data one."""
    if "stand-in" not in result.get("data", ""):
        return verdicts
    return [each | {"verdict": f"{each['verdict']}{STANDING_IN}"} for each in verdicts]


def verdict_lines(verdicts: list[Row]) -> list[str]:
    """Lay out verdicts: the claim, then ours and the verdict below it."""
    return [
        line
        for each in verdicts
        for line in (f"The paper: {each['claim']}", f"  ours: {each['ours']} -> {each['verdict']}")
    ]


if TYPE_CHECKING:
    from matplotlib.figure import Figure

Job = TypeVar("Job")
Found = TypeVar("Found")


class Study(Protocol[Job, Found]):
    """The five parts of an experiment; modules have them as functions."""

    def jobs(self, seeds: int, /) -> Sequence[Job]:
        """List what is to be measured with so many seeds."""

    def measure(self, job: Job, /) -> Found:
        """Measure one job."""

    def report(self, found: list[tuple[Job, Found]], seeds: int, /) -> Row:
        """Gather all measurements into an object that JSON can hold."""

    def text(self, result: Row, /) -> str:
        """Write the report as text."""

    def draw(self, result: Row, /) -> "Figure":
        """Draw the report as a figure."""


class Parts(NamedTuple, Generic[Job, Found]):
    """A study put together from functions, where several figures share a module."""

    jobs: Callable[[int], Sequence[Job]]
    measure: Callable[[Job], Found]
    report: Callable[[list[tuple[Job, Found]], int], Row]
    text: Callable[[Row], str]
    draw: Callable[[Row], "Figure"]
    verdicts: Callable[[Row], list[Row]] | None = None


def nothing() -> None:
    """Do nothing: the experiment needs no file and no package."""


@dataclass(frozen=True)
class Experiment(Generic[Job, Found]):
    """One table or figure, ours beside theirs.

    Parameters
    ----------
    name, summary : str
        The name for `selectron reproduce`, and the line that `--list` shows.
    study : Study
        A module, or `Parts`.
    seeds : int
        How many seeds are run if the user names no number. 0: the study decides for each part.
    quick : int
        The fewest seeds that show something. 0: too long for a quick run with any number of seeds.
    hour : int
        How many seeds the report of everything runs, which takes an hour. 0: as many as `seeds`.
    reads_data : bool
        The page of the experiment is made only where the folder of data sets is.
    processes : bool
        The jobs run on all cores, each in a process, or on the engine that the user names.
    needs : callable
        Raises ValueError where a file or a package that every job needs is missing.
    caption : str
        The text begins with it; names of the report in braces stand for their values.
    """

    name: str
    summary: str
    study: Study[Job, Found]
    seeds: int = 0
    quick: int = 1
    hour: int = 0
    reads_data: bool = False
    processes: bool = False
    needs: Callable[[], object] = nothing
    caption: str = ""

    def steps(self, seeds: int | None) -> int:
        """Count the jobs, for a progress bar."""
        return len(self.study.jobs(seeds or self.seeds))

    def run(self, seeds: int | None, tick: Tick, engine: Engine | None = None) -> Row:
        """Measure every job and report all; call `tick` after each job."""
        if engine is not None and not self.processes:
            raise ValueError(f"{self.name} runs in one process: leave --engine out")
        self.needs()
        n = seeds or self.seeds
        jobs = self.study.jobs(n)
        with engine or (Local() if self.processes else Here()) as workers:
            measured = workers.map(self.study.measure, jobs, tick)
        found = zip(jobs, measured, strict=True)
        result = {"experiment": self.name} | self.study.report(list(found), n)
        judge = getattr(self.study, "verdicts", None)
        return result | ({"verdicts": on_data(judge(result), result)} if judge else {})

    def text(self, result: Row) -> str:
        """Write the report between its caption and the claims, with a verdict on each."""
        judged = "\n".join(["", *verdict_lines(result["verdicts"])]) if "verdicts" in result else ""
        parts = self.caption.format_map(result), self.study.text(result), judged
        return "\n".join(part for part in parts if part)

    def plot(self, result: Row, path: Path) -> None:
        """Draw the figure and write it to a file, whole or not at all."""
        write_figure(self.study.draw(result), path)


AnyExperiment: TypeAlias = Experiment[Any, Any]  # of any kind of job and of result
