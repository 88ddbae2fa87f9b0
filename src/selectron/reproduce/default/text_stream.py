"""Count the labels of the default on streams of texts, beside logistic regression that holds all.

The goal of a problem is 1.2 times the test error of logistic regression on every label, plus .003.
The stream sees each text once, in a random order. Logistic regression holds the same texts, always
asks about the one of least margin, and is fitted anew after each answer.
"""

import numpy as np

from selectron.classifier import SelectiveClassifier
from selectron.evaluate import progressive
from selectron.reproduce.default.text_at_hand import (
    CHOSEN_ON,
    Job,
    Texts,
    draw_problems,
    geometric,
    jobs,
    logistic,
    pool_errors,
    read,
    weighed,
)
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.measure import first_passages, grouped
from selectron.reproduce.harness.report import Picture, lay_out

STRENGTHS = (1.0, 10.0, 100.0)
MOST_POOL, NEVER = 700, 1_000  # labels of logistic regression; what a run that never arrives counts

__all__ = ["draw", "jobs", "measure", "report", "text"]


def measure(job: Job) -> Row:
    """Return the goal, the labels to it of both learners, and all labels that the stream asked."""
    texts = read(job)
    wanted = goal(texts)
    most = min(MOST_POOL, len(texts.labels))
    pool = first_passages((p for p in pool_errors(texts, job.seed) if p[0] <= most), [wanted])[0]
    learner = SelectiveClassifier()
    test = texts.test_rows, texts.test_labels
    trace = progressive(learner, texts.rows, texts.labels, seed=job.seed, test=test)
    labels = trace.labels_to_error(wanted)
    return {"goal": wanted, "pool": pool, "labels": labels, "asked": trace.n_asked,
            "rows": len(trace)}  # fmt: skip


def goal(texts: Texts) -> float:
    """Return the test error to reach."""
    rows, test_rows = weighed(texts)
    errors = [
        (logistic(c).fit(rows, texts.labels).predict(test_rows) != texts.test_labels).mean()
        for c in STRENGTHS
    ]
    return 1.2 * float(min(errors)) + 0.003


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    """Return a line a problem, and for each half the geometric mean and the runs that arrive."""
    lines: list[Row] = []
    for name, runs in grouped((job.problem, run) for job, run in found).items():
        ratios = [(run["labels"] or min(NEVER, run["rows"])) / (run["pool"] or MOST_POOL)
                  for run in runs]  # fmt: skip
        numbers = {key: [run[key] for run in runs] for key in ("pool", "labels", "asked")}
        lines.append(
            {"problem": name, "chosen_on": name in CHOSEN_ON, "ratio": geometric(ratios), **numbers}
            | {"goal": float(np.mean([run["goal"] for run in runs]))}
        )
    return {"seeds": seeds, "problems": lines} | {
        half: geometric([line["ratio"] for line in lines if line["chosen_on"] is which])
        for half, which in (("ratio_chosen_on", True), ("ratio_others", False))
        if any(line["chosen_on"] is which for line in lines)
    }


def text(result: Row) -> str:
    """Write a line a problem."""
    rows = [["problem", "goal", "pool", "stream", "asked", "ratio"]]
    for line in sorted(result["problems"], key=lambda line: not line["chosen_on"]):
        shown = (
            ", ".join("never" if n is None else str(n) for n in line[key])
            for key in ("pool", "labels", "asked")
        )
        name = f"{line['problem']}{' (dev)' if line['chosen_on'] else ''}"
        rows.append([name, f"{line['goal']:.2%}", *shown, f"{line['ratio']:.2f}"])
    halves = {"ratio_chosen_on": "of the problems that constants were chosen on",
              "ratio_others": "of the others"}  # fmt: skip
    means = [f"Geometric mean {said}: {result[h]:.2f}" for h, said in halves.items() if h in result]
    arrived = [n is not None for line in result["problems"] for n in line["labels"]]
    return "\n".join([*lay_out(rows), "", *means, f"{sum(arrived)} of {len(arrived)} runs arrive"])


def draw(result: Row) -> Picture:
    """Draw the labels of the stream over those of logistic regression, a row a problem."""
    label = "labels to the goal, of those of pool logistic regression"
    return draw_problems(result["problems"], "ratio", label)
