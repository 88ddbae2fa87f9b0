"""An annotator at a whole desk, on made-up texts."""

import numpy as np
import pytest

from selectron.features.columns import hashed_words
from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.default import text_at_desk, text_at_hand
from selectron.reproduce.default.text_at_hand import Job, Split
from tests.labelling import office

EXPERIMENT, JOB = EXPERIMENTS["text-at-desk"], Job("earn", 3)


@pytest.fixture
def problem(monkeypatch):
    """Put tickets in the place of the texts: 120 at hand, 80 for the test."""
    tickets, truth = office.tickets(200, classes=office.CLASSES[:2])
    documents = [{"title": None, "text": item["text"]} for item in tickets]
    labels = np.array([truth[item["id"]] == office.CLASSES[0] for item in tickets])
    rows = hashed_words([text_at_hand.whole(each) for each in documents])
    problem = Split(rows, documents, labels, np.arange(119, -1, -1), np.arange(120, 200))
    monkeypatch.setattr(text_at_hand, "split", lambda job: problem)
    monkeypatch.setattr(text_at_desk, "MOST_LABELS", 60)
    return problem


def test_the_desk_is_told_the_truth_and_audits_count(problem, monkeypatch):
    annotators = []
    take = text_at_desk.Annotator.answer
    monkeypatch.setattr(
        text_at_desk.Annotator, "answer", lambda self: (annotators.append(self), take(self))[1]
    )
    found = list(text_at_desk.answers(JOB))
    books = annotators[0].desk.books
    told = {row: label == "yes" for row, label in books.labels.items()}
    assert told == {row: problem.labels[119 - row] for row in told}
    assert len(told) == 60
    assert books.settings["seed"] == JOB.seed
    numbers, audits, errors = zip(*found, strict=True)
    assert list(numbers) == list(range(numbers[0], 61))
    assert audits[-1] == sum(row in told for row in books.audits) > 0
    assert np.mean(errors[-10:]) < 0.1 < errors[0]


def test_the_first_answer_at_the_goal_is_reported(problem, monkeypatch):
    found = list(text_at_desk.answers(JOB))
    goal = next(error for _, _, error in found if error < 0.1)
    monkeypatch.setattr(text_at_desk, "pool_error", lambda *arguments: goal)
    run = text_at_desk.measure(JOB)
    first = next(answer for answer in found if answer[2] == goal)
    assert (run["labels"], run["audits"], run["goal"]) == first
    monkeypatch.setattr(text_at_desk, "pool_error", lambda *arguments: -1.0)
    never = text_at_desk.measure(Job("acq", 3))
    result = EXPERIMENT.study.report([(JOB, run), (Job("acq", 3), never)], 1)
    assert result["worst"] == 2.0
    assert result["audits"] == run["audits"] / run["labels"]
    assert "never" in EXPERIMENT.text(result)
    assert "the worst: 2.00" in EXPERIMENT.text(result)
