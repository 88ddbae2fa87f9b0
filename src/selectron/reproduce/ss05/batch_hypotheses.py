"""Measure the batch hypotheses of online runs on MNIST: last, averaged, longest survivor."""

from typing import NamedTuple

import numpy as np

from selectron import SelectiveClassifier, updates
from selectron.evaluate import batch_hypotheses
from selectron.queries import Always
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.report import Picture, finish, new_figure, table
from selectron.reproduce.ss05.figure_3 import digits

N_ROWS, N_NEW, DELTA = 20_000, 10_000, 0.05
RULES = ("Perceptron", "Ballseptron", "PassiveAggressive", "HalfStep", "SecondOrder")
KINDS = ("last", "averaged", "longest")
COLUMNS = {
    "rule": "{rule:<18s}", "online": "{online:8.2%}", "last": "{last:8.2%}",
    "averaged": "{averaged:10.2%}", "longest": "{longest:9.2%}", "survived": "{survived:10.0f}",
    "longest at most": "{longest_bound:17.2%}", "mean at most": "{mean_bound:14.2%}",
}  # fmt: skip


class Job(NamedTuple):
    """One rule with its defaults on one order of the digits."""

    rule: str
    seed: int


def jobs(seeds: int) -> list[Job]:
    return [Job(rule, seed) for rule in reversed(RULES) for seed in range(1, 1 + seeds)]


def measure(job: Job) -> Row:
    """Run over the first rows of a random order, every label told; judge by the rows after them."""
    X, y = digits("MNIST")
    order = np.random.default_rng([job.seed, 4]).permutation(len(y))
    seen, new = order[:N_ROWS], order[N_ROWS : N_ROWS + N_NEW]
    learner = SelectiveClassifier(getattr(updates, job.rule)(), Always())
    found = batch_hypotheses(learner, X[seen], y[seen])
    errors = {kind: getattr(found, kind).error(X[new], y[new]) for kind in KINDS}
    bounds = {"longest_bound": found.longest_bound(DELTA), "mean_bound": found.mean_bound(DELTA)}
    online = {"online": found.trace.error, "survived": found.survived}
    return job._asdict() | errors | bounds | online


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    return {"seeds": seeds, "runs": [row for _, row in found]}


def text(result: Row) -> str:
    """Write the means of every rule, which hypothesis was best, and whether its bound held."""
    runs = result["runs"]
    best = sum(run["averaged"] == min(run[kind] for kind in KINDS) for run in runs)
    held = sum(run["longest"] <= run["longest_bound"] for run in runs)
    return "\n".join([
        f"MNIST, {N_ROWS:,} rows in a random order, errors on {N_NEW:,} others, "
        f"means over {result['seeds']} orders; bounds at delta {DELTA:g}",
        *table(COLUMNS, _means(result)),
        f"the averaged hypothesis is the best of the three in {best} of {len(runs)} runs",
        f"the longest survivor errs no more than its bound in {held} of {len(runs)} runs",
    ])  # fmt: skip


def _means(result: Row) -> list[Row]:
    names = ("online", *KINDS, "survived", "longest_bound", "mean_bound")
    by_rule = grouped((run["rule"], run) for run in result["runs"])
    return [
        {"rule": rule}
        | {name: sum(run[name] for run in by_rule[rule]) / len(by_rule[rule]) for name in names}
        for rule in RULES
        if rule in by_rule
    ]


def draw(result: Row) -> Picture:
    """Draw the errors of the three hypotheses, rule by rule."""
    figure, axes = new_figure(9, 4.2)
    means = _means(result)
    for k, kind in enumerate(KINDS):
        places = [place + 0.27 * (k - 1) for place in range(len(means))]
        axes.bar(places, [mean[kind] for mean in means], 0.25, label=kind)
    axes.set_xticks(range(len(means)), [mean["rule"] for mean in means], fontsize=8)
    finish(axes, ylabel="error on new rows", legend=9)
    return figure
