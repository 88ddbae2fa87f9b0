"""Count the labels of a whole desk on texts at hand: its learner, its queue and its audits.

Problems and goals are those of `text_at_hand`, which has `choose` alone. Here an annotator who is
always right answers what the desk asks, as at the page. Some questions were chosen a few answers
ago; some are audits, drawn evenly to measure the error. All of them count.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Indices, Table
from selectron.features import Features
from selectron.labelling.desk import Decision, Desk
from selectron.labelling.events import Item, Reply
from selectron.labelling.learner import NO, YES, Chances, PoolLearner
from selectron.reproduce.default import text_at_hand
from selectron.reproduce.default.text_at_hand import MOST_LABELS, Job, geometric, pool_error, whole
from selectron.reproduce.harness.experiment import Parts, Row
from selectron.reproduce.harness.problems import Document

CLASSES = (NO, YES)
AT_THE_PAGE = 2  # questions that a page holds: the one it shows and the next


class Learner(PoolLearner):
    """The learner of a desk, which forecasts rows too: texts of a test are read once."""

    def chances_of(self, rows: Table) -> Chances:
        """Return the probability of each class (column) for each row."""
        return self._of_rows(rows, rows.shape[0])


class Annotator:
    """An annotator at a desk, which applies what it decides: no store is needed."""

    def __init__(self, items: list[Item], labels: NDArray[np.bool_], seed: int) -> None:
        self.desk, self.labels, self._seq = Desk(Learner), labels, 0
        self._take(self.desk.set({"seed": seed}, 0.0))
        self._take(self.desk.add_classes(CLASSES, 0.0))
        self._take(self.desk.add_items(items, 0.0))

    def _take(self, decision: Decision) -> Reply:
        for event in decision.events:
            self._seq += 1
            self.desk.apply(event, self._seq)
        return decision.reply

    def answer(self) -> str:
        """Answer the question that the page shows; return its kind."""
        self._take(self.desk.choose(0.0))
        questions = self._take(self.desk.next("ann", AT_THE_PAGE, 0.0, 0.0))["questions"]
        name, row = questions[0]["question"], int(questions[0]["item"]["id"])
        label = CLASSES[int(self.labels[row])]
        self._take(self.desk.answer(name, name, label, "ann", 0.0, 0.0))
        return str(questions[0]["reason"]["kind"])


def answers(job: Job) -> Iterator[tuple[int, int, float]]:
    """Yield the answers so far, audits among them, and the test error, from two classes on."""
    problem = text_at_hand.split(job)
    hand, test = (_items(problem.documents, part) for part in (problem.hand, problem.test))
    rows, truth = Features(hand).rows(test), problem.labels[problem.test].astype(int)
    annotator, audits = Annotator(hand, problem.labels[problem.hand], job.seed), 0
    for n in range(1, min(MOST_LABELS, len(hand)) + 1):
        audits += annotator.answer() == "audit"
        if annotator.desk.books.knows_two_classes:
            learner = annotator.desk.learn()
            assert isinstance(learner, Learner)
            yield n, audits, float((learner.chances_of(rows).argmax(axis=1) != truth).mean())


def _items(documents: list[Document], numbers: Indices) -> list[Item]:
    return [{"id": str(k), "text": whole(documents[t])} for k, t in enumerate(numbers)]


def measure(job: Job) -> Row:
    """Return the error of logistic regression at 300 labels, and the answers of a desk to it."""
    goal = pool_error(text_at_hand.read(job), job.seed)
    found = next(((n, audits) for n, audits, error in answers(job) if error <= goal), (None, None))
    return {"problem": job.problem, "seed": job.seed, "goal": goal} | dict(
        zip(("labels", "audits"), found, strict=True)
    )


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    """Return what `text_at_hand` does, the mean and the worst of all, and the share of audits."""
    result = text_at_hand.report(found, seeds)
    shares = [line["share"] for line in result["problems"]]
    arrived = [run for _, run in found if run["labels"]]
    audits, labels = (sum(run[key] for run in arrived) for key in ("audits", "labels"))
    return result | {
        "share": geometric(shares),
        "worst": max(shares),
        "audits": audits / labels if arrived else None,
    }


def text(result: Row) -> str:
    """Write a line a problem, and how many of the answers were audits."""
    lines = [
        text_at_hand.text(result),
        f"Geometric mean of all: {result['share']:.2f}; the worst: {result['worst']:.2f}",
    ]
    if result["audits"] is not None:
        lines.append(f"Audits among the answers: {result['audits']:.0%}")
    return "\n".join(lines)


STUDY = Parts(text_at_hand.jobs, measure, report, text, text_at_hand.draw)
