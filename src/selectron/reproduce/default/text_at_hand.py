"""Count the labels of `choose` on texts at hand, beside logistic regression that holds them too.

The measure of a problem is the error that logistic regression has after 300 labels, always asking
about the text of least margin and fitted anew after each answer. How many labels does the default
take to the same error?
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Indices, Table
from selectron.classifier import SelectiveClassifier
from selectron.features.columns import hashed_words
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.problems import Document, needed_data_folder, read_documents
from selectron.reproduce.harness.report import Picture, lay_out, new_figure
from selectron.tracking.adapters import Foreign

LABELS, MOST_LABELS, NEVER = 300, 400, 600  # a run that never arrives counts as 600
POOL, NEWS_SHARE = 4_000, 0.9
STRENGTH = 100.0  # C of logistic regression
TOPICS = (
    "earn", "money-fx", "crude", "interest", "ship",
    "acq", "grain", "trade", "wheat", "corn",
)  # fmt: skip
PAIRS = (
    ("rec.sport.hockey", "sci.space"),
    ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    ("comp.os.ms-windows.misc", "comp.windows.x"),
    ("talk.politics.mideast", "sci.med"),
    ("rec.autos", "comp.graphics"),
    ("alt.atheism", "talk.religion.misc"),
)
# The constants of TextDirections and DualProbit were chosen on these, and on no others.
CHOSEN_ON = (*TOPICS[:5], *(" / ".join(pair) for pair in PAIRS[:3]))


class Job(NamedTuple):
    """One problem in one order."""

    problem: str
    seed: int


class Texts(NamedTuple):
    """Words and labels, at hand and for the test."""

    rows: Table
    labels: NDArray[np.bool_]
    test_rows: Table
    test_labels: NDArray[np.bool_]
    are_counts: bool = True  # of words; otherwise they are weighed and of unit length already


def require_texts() -> None:
    """Refuse to begin where the texts are not there."""
    needed_data_folder("reuters21578.jsonl.gz", "texts")
    needed_data_folder("20news_bydate.jsonl.gz", "texts")


@cache
def corpus(file: str) -> tuple[Table, list[Document]]:
    """Return the counts of words of every document of a file, and the documents."""
    documents = read_documents(needed_data_folder(file, "texts") / file)
    return hashed_words([whole(each) for each in documents]), documents


def whole(document: Document) -> str:
    """Return the title and the text of a document."""
    return f"{document['title'] or ''}\n{document['text']}"


class Split(NamedTuple):
    """The documents of a file, and which of them are at hand and which for the test."""

    rows: Table  # of all documents
    documents: list[Document]
    labels: NDArray[np.bool_]  # of all documents
    hand: Indices
    test: Indices


def split(job: Job) -> Split:
    """Split the documents of a problem: those at hand drawn by the seed, the test as published."""
    if job.problem in TOPICS:
        rows, documents = corpus("reuters21578.jsonl.gz")
        kept = [t for t, each in enumerate(documents) if each["topics"] and each["text"]]
        parts = ([t for t in kept if documents[t]["modapte"] == p] for p in ("train", "test"))
        share = 1.0
    else:
        rows, documents = corpus("20news_bydate.jsonl.gz")
        pair = job.problem.split(" / ")
        kept = [t for t, each in enumerate(documents) if each["topics"][0] in pair]
        parts = ([t for t in kept if documents[t]["split"] == p] for p in ("train", "test"))
        share = NEWS_SHARE
    wanted = job.problem.split(" / ")[0]
    train, test = (np.array(part) for part in parts)
    n = min(int(share * len(train)), POOL)
    hand = train[np.random.default_rng(job.seed).permutation(len(train))[:n]]
    known = np.array([wanted in each["topics"] for each in documents])
    return Split(rows, documents, known, hand, test)


def read(job: Job) -> Texts:
    """Return the words and labels of a problem."""
    rows, _, labels, hand, test = split(job)
    return Texts(rows[hand], labels[hand], rows[test], labels[test])


def jobs(seeds: int) -> list[Job]:
    """List every problem in as many orders."""
    names = [*TOPICS, *(" / ".join(pair) for pair in PAIRS)]
    return [Job(name, seed) for name in names for seed in range(seeds)]


def measure(job: Job) -> Row:
    """Return the error of logistic regression at 300 labels, and the labels of `choose` to it."""
    texts = read(job)
    goal = pool_error(texts, job.seed)
    labels = next((n for n, error in errors(texts, job.seed) if error <= goal), None)
    return {"problem": job.problem, "seed": job.seed, "goal": goal, "labels": labels}


def errors(texts: Texts, seed: int, most: int = MOST_LABELS) -> Iterator[tuple[int, float]]:
    """Yield the test error after each label that `choose` asked for, from two classes on."""
    clf = SelectiveClassifier(random_state=seed)
    for n in range(1, min(most, len(texts.labels)) + 1):
        choice = clf.choose(texts.rows)
        clf.tell(choice.tickets, texts.labels[choice.rows])
        if len(clf.classes_) > 1:
            yield n, float((clf.predict(texts.test_rows) != texts.test_labels).mean())


def pool_error(texts: Texts, seed: int) -> float:
    """Return the test error of logistic regression after 300 labels of least margin."""
    rows, test_rows = weighed(texts)
    model = next(model for n, model in pool_models(texts, rows, seed) if n == LABELS)
    return tested(model, test_rows, texts)


def pool_errors(texts: Texts, seed: int) -> Iterator[tuple[int, float]]:
    """Yield the test error of logistic regression after each label of least margin."""
    rows, test_rows = weighed(texts)
    for n, model in pool_models(texts, rows, seed):
        yield n, tested(model, test_rows, texts)


def tested(model: Foreign, test_rows: Table, texts: Texts) -> float:
    """Return the error of a model on the test."""
    return float((model.predict(test_rows) != texts.test_labels).mean())


def pool_models(texts: Texts, rows: Table, seed: int) -> Iterator[tuple[int, Foreign]]:
    """Yield logistic regression after each label of least margin, from two classes on."""
    rng, model = np.random.default_rng(seed), logistic(STRENGTH)
    asked: list[int] = []
    left = np.ones(len(texts.labels), bool)
    while left.any():
        if len(set(texts.labels[asked].tolist())) < 2:
            chosen = int(rng.choice(np.flatnonzero(left)))
        else:
            margins = np.abs(model.decision_function(rows))
            chosen = int(np.where(left, margins, np.inf).argmin())
        asked.append(chosen)
        left[chosen] = False
        if len(set(texts.labels[asked].tolist())) > 1:
            yield len(asked), model.fit(rows[asked], texts.labels[asked])


def weighed(texts: Texts) -> tuple[Table, Table]:
    """Return the rows at hand and those of the test as tf-idf of unit length."""
    from sklearn.feature_extraction.text import TfidfTransformer  # noqa: PLC0415 - costs seconds

    if not texts.are_counts:
        return texts.rows, texts.test_rows
    weigh = TfidfTransformer(sublinear_tf=True).fit(texts.rows)
    return weigh.transform(texts.rows), weigh.transform(texts.test_rows)


def logistic(strength: float) -> Foreign:
    """Return logistic regression with this C."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - costs seconds

    return LogisticRegression(C=strength, solver="liblinear", tol=1e-3, random_state=0)


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    """Return a line a problem, and the geometric means of both halves."""
    lines: list[Row] = []
    for name, runs in grouped((job.problem, run) for job, run in found).items():
        counted = [run["labels"] or NEVER for run in runs]
        lines.append(
            {
                "problem": name,
                "chosen_on": name in CHOSEN_ON,
                "goal": float(np.mean([run["goal"] for run in runs])),
                "labels": [run["labels"] for run in runs],
                "share": geometric(counted) / LABELS,
            }
        )
    return {"seeds": seeds, "problems": lines} | {
        half: geometric([line["share"] for line in lines if line["chosen_on"] is which])
        for half, which in (("share_chosen_on", True), ("share_others", False))
        if any(line["chosen_on"] is which for line in lines)
    }


def geometric(numbers: list[float]) -> float:
    return float(np.exp(np.mean(np.log(numbers))))


def text(result: Row) -> str:
    """Write a line a problem."""
    rows = [["problem", "error", "labels", "of 300"]]
    for line in sorted(result["problems"], key=lambda line: not line["chosen_on"]):
        labels = ", ".join("never" if n is None else str(n) for n in line["labels"])
        name = f"{line['problem']}{' (dev)' if line['chosen_on'] else ''}"
        rows.append([name, f"{line['goal']:.2%}", labels, f"{line['share']:.2f}"])
    halves = {"share_chosen_on": "of the problems that constants were chosen on",
              "share_others": "of the others"}  # fmt: skip
    means = [f"Geometric mean {said}: {result[h]:.2f}" for h, said in halves.items() if h in result]
    return "\n".join([*lay_out(rows), "", *means])


def draw(result: Row) -> Picture:
    """Draw the share of 300 labels, a row a problem."""
    label = "labels to the error of pool logistic regression at 300, of 300"
    return draw_problems(result["problems"], "share", label)


def draw_problems(lines: list[Row], number: str, label: str) -> Picture:
    """Draw a number of every problem, a row a problem; stars were kept from all choices."""
    figure, axes = new_figure(8, 0.32 * len(lines) + 1.2)
    for k, line in enumerate(lines):
        axes.plot(line[number], k, "o" if line["chosen_on"] else "*", color="black")
    axes.set_yticks(range(len(lines)), [line["problem"] for line in lines])
    axes.invert_yaxis()
    axes.axvline(1.0, color="C3", linewidth=1)
    axes.set(xscale="log", xlabel=label)
    return figure
