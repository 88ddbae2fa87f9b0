"""Count the labels of the default on streams of texts, beside logistic regression that holds all.

The goal of a problem is 1.2 times the test error of logistic regression on every label, plus .003.
The stream sees each text once, in a random order. Logistic regression holds the same texts, always
asks about the one of least margin, and is fitted anew after each answer. `choose` holds them too.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Table
from selectron.classifier import SelectiveClassifier
from selectron.evaluate import progressive
from selectron.reproduce.default import text_at_hand
from selectron.reproduce.default.text_at_hand import (
    CHOSEN_ON,
    NEWS_SHARE,
    Job,
    Texts,
    draw_problems,
    errors,
    geometric,
    logistic,
    pool_errors,
    weighed,
)
from selectron.reproduce.harness import first_passages, grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.problems import needed_data_folder
from selectron.reproduce.harness.report import Picture, lay_out

STRENGTHS = (1.0, 10.0, 100.0)
MOST_POOL, NEVER = 700, 1_000  # labels of those who hold all; what a stream counts without arrival
SAMPLE, FEATURES = "RCV1, CCAT", 47_236
HALVES = {"of the problems that constants were chosen on": True, "of the others": False}
# Who is counted, and what a run of theirs counts that never arrives.
WHO: dict[str, Callable[[Row], int]] = {
    "labels": lambda run: min(NEVER, run["rows"]),
    "choose": lambda _: NEVER,
}


def require_texts() -> None:
    """Refuse to begin where the texts are not there."""
    text_at_hand.require_texts()
    needed_data_folder("rcv1_ccat_train.svm.gz", "texts")


def jobs(seeds: int) -> list[Job]:
    """List every problem in as many orders."""
    return text_at_hand.jobs(seeds) + [Job(SAMPLE, seed) for seed in range(seeds)]


def read(job: Job) -> Texts:
    """Return the texts of a problem; those of RCV1 are weighed already, and of unit length."""
    if job.problem != SAMPLE:
        return text_at_hand.read(job)
    (rows, labels), test = _sample("train"), _sample("test")
    n = len(labels)
    hand = np.random.default_rng(job.seed).permutation(n)[: int(NEWS_SHARE * n)]
    return Texts(rows[hand], labels[hand], *test, are_counts=False)


@cache
def _sample(half: str) -> tuple[Table, NDArray[np.bool_]]:
    """Return the rows of a half of the sample, and which of them are about companies."""
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 - costs seconds

    file = f"rcv1_ccat_{half}.svm.gz"
    path = needed_data_folder(file, "texts") / file
    rows, signs = load_svmlight_file(str(path), n_features=FEATURES)
    return rows, signs > 0.0


def measure(job: Job) -> Row:
    """Return the goal, the labels to it of all learners, and all labels that the stream asked."""
    texts = read(job)
    wanted = goal(texts)
    most = min(MOST_POOL, len(texts.labels))
    pool = first_passages((p for p in pool_errors(texts, job.seed) if p[0] <= most), [wanted])[0]
    choose = first_passages(errors(texts, job.seed, most), [wanted])[0]
    learner = SelectiveClassifier()
    test = texts.test_rows, texts.test_labels
    trace = progressive(learner, texts.rows, texts.labels, seed=job.seed, test=test)
    labels = trace.labels_to_error(wanted)
    return {"goal": wanted, "pool": pool, "choose": choose, "labels": labels,
            "asked": trace.n_asked, "rows": len(trace)}  # fmt: skip


def goal(texts: Texts) -> float:
    """Return the test error to reach."""
    rows, test_rows = weighed(texts)
    errors = [
        (logistic(c).fit(rows, texts.labels).predict(test_rows) != texts.test_labels).mean()
        for c in STRENGTHS
    ]
    return 1.2 * float(min(errors)) + 0.003


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    """Return a line a problem, and for each half the geometric means and the runs that arrive."""
    lines: list[Row] = []
    for name, runs in grouped((job.problem, run) for job, run in found).items():
        numbers = {key: [run[key] for run in runs] for key in ("pool", *WHO, "asked")}
        ratios = {
            f"ratio_{who}": geometric(
                [(run[who] or most(run)) / (run["pool"] or MOST_POOL) for run in runs]
            )
            for who, most in WHO.items()
        }
        lines.append(
            {"problem": name, "chosen_on": name in CHOSEN_ON, **ratios, **numbers}
            | {"goal": float(np.mean([run["goal"] for run in runs]))}
        )
    found_in: Row = {}
    for half, which in HALVES.items():
        some = [line for line in lines if line["chosen_on"] is which]
        if some:
            found_in[half] = {
                who: geometric([line[f"ratio_{who}"] for line in some]) for who in WHO
            }
    return {"seeds": seeds, "problems": lines, **found_in}


def text(result: Row) -> str:
    """Write a line a problem."""
    rows = [["problem", "goal", "pool", "stream", "choose", "asked", "stream/pool", "choose/pool"]]
    for line in sorted(result["problems"], key=lambda line: not line["chosen_on"]):
        shown = (
            ", ".join("never" if n is None else str(n) for n in line[key])
            for key in ("pool", *WHO, "asked")
        )
        name = f"{line['problem']}{' (dev)' if line['chosen_on'] else ''}"
        ratios = (f"{line[f'ratio_{who}']:.2f}" for who in WHO)
        rows.append([name, f"{line['goal']:.2%}", *shown, *ratios])
    means = [
        f"Geometric mean {half}: stream {result[half]['labels']:.2f}, "
        f"choose {result[half]['choose']:.2f}"
        for half in HALVES
        if half in result
    ]
    arrived = []
    for who, said in (("labels", "streams"), ("choose", "choose")):
        runs = [n is not None for line in result["problems"] for n in line[who]]
        arrived.append(f"{said} {sum(runs)} of {len(runs)}")
    return "\n".join([*lay_out(rows), "", *means, f"Runs that arrive: {', '.join(arrived)}"])


def draw(result: Row) -> Picture:
    """Draw the labels of the stream over those of logistic regression, a row a problem."""
    label = "labels to the goal, of those of pool logistic regression"
    return draw_problems(result["problems"], "ratio_labels", label)
