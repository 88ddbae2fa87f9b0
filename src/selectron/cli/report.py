"""Runs of a learner over seeds, as numbers for a table, JSON and a plot."""

import csv
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from selectron import SelectiveClassifier
from selectron.classifier.estimator import StreamClassifier
from selectron.cli.output import table, text_of
from selectron.engines import Engine
from selectron.evaluate import Certificate, Found, RunCurve, Trace, progressive
from selectron.evaluate.plots import error_band
from selectron.queries import Uniform
from selectron.streams import Stream
from selectron.updates.weighted import Weighted

HEAD = (
    "learner", "labels", "of the rows", "mistakes", "stream error", "F", "test error", "updates"
)  # fmt: skip

CONTROL = ", at random"  # ends the name of a learner that asks at random
BLOCKS = 10  # stretches of a run that have an F-measure each
WIDEST_TABLE = 20  # classes; the confusion of more classes is in the JSON only

AnyResult: TypeAlias = Any  # a `Result`, or a `PassResult`
Facts: TypeAlias = dict[str, Any]  # an object of JSON that a command writes


class Numbers(NamedTuple):
    """What one run of a learner came to."""

    labels: int
    mistakes: int
    updates: int
    f1: float
    precision: float
    recall: float
    test_error: float | None


@dataclass(frozen=True)
class Result:
    """One learner with several seeds: numbers of every run, the first trace, the last learner."""

    name: str
    runs: list[Numbers]
    trace: Trace
    learner: StreamClassifier
    curves: list[RunCurve]
    found: list[list[Found]]  # of each run: what its F-measure counts, class by class
    f1_by_block: list[list[float]]  # of each run
    data: str = ""  # what the stream is called

    @property
    def rounds(self) -> int:
        return len(self.trace)

    def all(self, name: str) -> list[float]:
        """Return a number of every run; nothing where it was not measured."""
        values = (getattr(run, name) for run in self.runs)
        return [value for value in values if value is not None]

    def row(self) -> list[object]:
        tested = self.all("test_error")
        return [
            self.name,
            _spread(self.all("labels"), 0),
            f"{100 * self.rate:.2f} %",
            _spread(self.all("mistakes"), 0),
            _spread([n / self.rounds for n in self.all("mistakes")], 4),
            _spread(self.all("f1"), 4),
            _spread(tested, 4) if tested else None,
            _spread(self.all("updates"), 0),
        ]

    def as_json(self) -> dict[str, object]:
        numbers = {name: self.all(name) or None for name in Numbers._fields}
        facts: dict[str, object] = {"learner": self.name, "rounds": self.rounds, **numbers}
        facts["f1_by_block"] = self.f1_by_block
        facts["certificate"] = str(self.certificate)
        facts["curve"] = self.curve_as_json()
        if self.many:  # how often each class was predicted as each, in the stream of the first seed
            confusion, recalls = self.trace.confusion.tolist(), self.trace.recalls.tolist()
            facts |= {"classes": self.classes, "confusion": confusion, "recalls": recalls}
        return facts | ({"readout": self.readout} if self.readout else {})

    def curve_as_json(self) -> dict[str, object] | None:
        """Return the error after so many labels: mean and 95 % interval over the seeds."""
        if not all(len(run.labels) for run in self.curves):
            return None  # a learner that never changed has no curve on test rows
        labels, mean, low, high = (values.tolist() for values in error_band(self.curves))
        of = "test rows" if self.curves[0].tested else "stream so far"
        return {"of": of, "labels": labels, "error": mean, "low": low, "high": high}

    @property
    def many(self) -> bool:
        return len(self.learner.classes_) > 2

    @property
    def classes(self) -> list[str]:
        return [str(label) for label in self.trace.learner.classes_]

    def confusion_table(self) -> str:
        """Lay out the confusion matrix: a line for each class, with its recall."""
        counts = self.trace.confusion.tolist()
        recalls = [f"{share:.3f}" for share in self.trace.recalls]
        lines = zip(self.classes, counts, recalls, strict=True)
        if len(counts) > WIDEST_TABLE:
            rows = [(name, sum(row), recall) for name, row, recall in lines]
            return table(("class", "rows", "recall"), rows)
        head = ("class", *(f"as {name}" for name in self.classes), "recall")
        return table(head, [(name, *row, recall) for name, row, recall in lines])

    def says(self) -> list[str]:
        """Say what the table has no room for."""
        said = [f"{self.name}: {self.certificate}", self.readout or ""]
        if self.many:
            said.append(f"{self.name}, first seed:\n{self.confusion_table()}")
        return [part for part in said if part]

    @property
    def errors(self) -> list[float]:
        """The error of each seed: on the test rows if there are any, else of the stream."""
        return self.all("test_error") or [n / self.rounds for n in self.all("mistakes")]

    @property
    def label_shares(self) -> list[float]:
        """For each seed the labels asked, as a share of the rows."""
        return [n / self.rounds for n in self.all("labels")]

    @property
    def rate(self) -> float:
        return float(np.mean(self.all("labels"))) / self.rounds

    @property
    def readout(self) -> str | None:
        """What the learner of the last seed says about its own error, if its options ask for it."""
        explores = self.learner.explore is not None or self.learner.stop_when is not None
        return self.learner.readout() if explores else None

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate of the first seed; finding its comparator takes a while."""
        return self.trace.certificate()


def results_table(results: Sequence[Result]) -> str:
    return table(HEAD, [result.row() for result in results])


def headline(results: Sequence[AnyResult]) -> str:
    """Say what the results are of."""
    first = results[0]
    n_seeds = len(first.errors)
    return (
        f"{first.data}: {first.rounds:,} rows of {first.learner.n_features_in_:,} features, "
        f"{n_seeds} seed(s)"
    )


def explained(options: Namespace, results: Sequence[AnyResult]) -> list[str]:
    """Say what a row is made of, if the options ask for it."""
    return [str(results[0].learner.recipe or "rows are numbers already")] * options.explain


def spread_legend(n_seeds: int) -> list[str]:
    """Say what stands after ±, if there is one."""
    said = (
        "±: standard deviation over the seeds; bands of a plot, and curves in JSON: 95 % "
        "intervals of the mean"
    )
    return [said] * (n_seeds > 1)


def draw(results: Sequence[Result], path: str) -> None:
    """Draw the curves of learners on one data set: bands over seeds, or one run of each."""
    from selectron import evaluate

    name = results[0].data
    if len(results[0].runs) > 1:
        evaluate.plot_bands({result.name: result.curves for result in results}, path, title=name)
    else:
        evaluate.plot_curves({result.name: result.trace for result in results}, path, title=name)


def in_latex(head: Sequence[str], rows: Sequence[Sequence[object]], n_texts: int = 1) -> str:
    """Write a table for LaTeX, without any package; the first columns are texts."""
    lines = [head, *([text_of(cell) for cell in row] for row in rows)]
    first, *body = (" & ".join(map(_in_latex, line)) + r" \\" for line in lines)
    columns = "l" * n_texts + "r" * (len(head) - n_texts)
    parts = (rf"\begin{{tabular}}{{{columns}}}", r"\hline", first, r"\hline", *body, r"\hline")
    return "\n".join([*parts, r"\end{tabular}", ""])


def _in_latex(text: str) -> str:
    """Escape what LaTeX would take as a command."""
    return "".join({"\\": r"\textbackslash{}", "±": r"$\pm$", "~": r"\textasciitilde{}",
                    "^": r"\textasciicircum{}"}.get(c, f"\\{c}" if c in "&%$#_{}" else c)
                   for c in text)  # fmt: skip


def results_csv(results: Mapping[str, Sequence[Result]], seeds: Sequence[int]) -> str:
    """Write a line for each data set, learner and seed."""
    lines = [
        (data, result.name, seed, result.rounds, *run)
        for data, of_data in results.items()
        for result in of_data
        for seed, run in zip(seeds, result.runs, strict=True)
    ]
    return in_csv(("data", "learner", "seed", "rounds", *Numbers._fields), lines)


def in_csv(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    written = StringIO()
    csv.writer(written, lineterminator="\n").writerows([head, *rows])
    return written.getvalue()


class OneRun(NamedTuple):
    """A run that is to be judged."""

    learner: StreamClassifier
    stream_of: Callable[[int], Stream]
    seed: int
    curves: bool  # test after every update too
    first: bool = False  # of its learner: the trace is wanted, which holds the rows
    last: bool = False  # of its learner: what was learnt is wanted


class Judged(NamedTuple):
    """What came of a run."""

    numbers: Numbers
    curve: RunCurve
    trace: Trace | None
    learner: StreamClassifier | None
    found: list[Found]
    f1_by_block: list[float]


def judge_run(run: OneRun, tick: Callable[[int], object] = int) -> Judged:
    """Run a learner over the stream of a seed."""
    stream = run.stream_of(run.seed)
    test = stream.test if run.curves else None
    trace = progressive(run.learner, stream.X, stream.y, seed=run.seed, test=test, tick=tick)
    error = None
    if stream.test is not None:
        X_test, y_test = stream.test
        error = float(np.mean(trace.learner.predict(X_test) != np.asarray(y_test)))
    counts = trace.n_asked, trace.n_mistakes, trace.n_updates
    numbers = Numbers(*counts, trace.f1, trace.precision, trace.recall, error)
    kept = trace if run.first else None, trace.learner if run.last else None
    blocks = trace.f1_by_block(min(BLOCKS, len(trace)))  # a block has a row at least
    return Judged(numbers, RunCurve.of(trace), *kept, trace.judged(), blocks)


def judge(
    learners: Mapping[str, StreamClassifier],
    stream_of: Callable[[int], Stream],
    seeds: range,
    tick: Callable[[int], object],
    *,
    curves: bool = False,
    engine: Engine | None = None,
) -> list[Result]:
    """Run each learner once for each seed, here or on an engine; with `curves`, test on the way.

    `tick` is told how many rows were done; of an engine, how many runs.
    """
    runs = [
        OneRun(learner, stream_of, seed, curves, seed == seeds[0], seed == seeds[-1])
        for learner in learners.values()
        for seed in seeds
    ]
    if engine is None:
        found = [judge_run(run, tick) for run in runs]
    else:
        found = engine.map(judge_run, runs, lambda: tick(1))
    of_each = [found[k : k + len(seeds)] for k in range(0, len(found), len(seeds))]
    return [_result(name, own) for name, own in zip(learners, of_each, strict=True)]


def _result(name: str, runs: list[Judged]) -> Result:
    trace, learner = runs[0].trace, runs[-1].learner
    assert trace is not None
    assert learner is not None
    curves = [run.curve for run in runs]
    found, blocks = [run.found for run in runs], [run.f1_by_block for run in runs]
    return Result(name, [run.numbers for run in runs], trace, learner, curves, found, blocks)


def control_of(
    learner: SelectiveClassifier, done: StreamClassifier, rate: float
) -> SelectiveClassifier:
    """Return the learner that has `done` its run, asking for this share of labels at random."""
    rules = done.rules_
    params = learner.get_params(deep=False) | {
        "query": Uniform(rate=min(1.0, max(rate, 1e-9))),
        "update": rules.update.update if isinstance(rules.update, Weighted) else rules.update,
        "scaling": rules.scaling,
    }
    return SelectiveClassifier(**params)


def _spread(values: Sequence[float], digits: int) -> str:
    mean = f"{np.mean(values):,.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ±{np.std(values):,.{digits}f}"
