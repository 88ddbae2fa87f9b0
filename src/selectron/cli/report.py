"""Runs of a learner over seeds, as numbers for a table, JSON and a plot."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from selectron import SelectiveClassifier
from selectron.evaluate import Trace, progressive
from selectron.queries import Uniform
from selectron.streams import Stream

HEAD = ("learner", "labels", "of the rows", "mistakes", "stream error", "test error", "updates")


@dataclass(frozen=True)
class Result:
    """One learner on one stream, with several seeds."""

    name: str
    traces: list[Trace]
    final_errors: list[float]

    def row(self) -> list[Any]:
        asked = [trace.n_asked for trace in self.traces]
        errors = [trace.error for trace in self.traces]
        return [
            self.name,
            _spread(asked, 0),
            f"{100 * np.mean(asked) / len(self.traces[0]):.2f} %",
            _spread([trace.n_mistakes for trace in self.traces], 0),
            _spread(errors, 4),
            _spread(self.final_errors, 4) if self.final_errors else None,
            _spread([trace.n_updates for trace in self.traces], 0),
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "learner": self.name,
            "rounds": len(self.traces[0]),
            "labels": [trace.n_asked for trace in self.traces],
            "mistakes": [trace.n_mistakes for trace in self.traces],
            "updates": [trace.n_updates for trace in self.traces],
            "test_error": self.final_errors or None,
            "certificate": str(self.traces[0].certificate()),
        }

    @property
    def rate(self) -> float:
        return float(np.mean([trace.asked.mean() for trace in self.traces]))


def judge(
    name: str,
    learner: SelectiveClassifier,
    stream: Stream,
    seeds: range,
    tick: Callable[[], Any],
    *,
    curves: bool = False,
) -> Result:
    """Run the learner once a seed; the test error is taken at the end, or along the way."""
    traces, errors = [], []
    for seed in seeds:
        test = stream.test if curves else None
        trace = progressive(learner, stream.X, stream.y, seed=seed, test=test)
        traces.append(trace)
        if stream.test is not None:
            X_test, y_test = stream.test
            errors.append(float(np.mean(trace.learner.predict(X_test) != np.asarray(y_test))))
        tick()
    return Result(name, traces, errors)


def control_of(result: Result, learner: SelectiveClassifier) -> SelectiveClassifier:
    """Return the same learner asking for the same share of labels at random."""
    rules = result.traces[0].learner.rules_
    params = learner.get_params() | {
        "query": Uniform(rate=min(1.0, max(result.rate, 1e-9))),
        "update": rules.update,
        "scaling": rules.scaling,
    }
    return SelectiveClassifier(**params)


def _spread(values: list[Any], digits: int) -> str:
    mean = f"{np.mean(values):,.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ±{np.std(values):,.{digits}f}"
