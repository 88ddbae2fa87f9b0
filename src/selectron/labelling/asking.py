"""Which items are asked about next, and why."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selectron.labelling import checks
from selectron.labelling.books import Books, Question, coin
from selectron.labelling.checks import Label
from selectron.labelling.events import Event
from selectron.labelling.lessons import ItemLearner, Pick

LEAST_QUEUE = 4
QUEUE_PER_ANNOTATOR = 2
FROZEN_RATE = 0.8  # audits among the questions while a frozen model is judged

# No text names a class: a reason must not lead the annotator.
TEXTS = {
    "first": "The learner does not know two classes yet; this item stands for many others.",
    "doubt": "The learner is in doubt here, so this answer teaches it most.",
    "likely": "This answer brings the goal nearer than others would.",
    "overlap": "Two people answer this item, to see how far answers agree.",
    "stream": "The learner was unsure of this item when it came in.",
}


def queue_is_short(books: Books) -> int:
    """Return how many questions are to be chosen so that nobody has to wait."""
    active = {question.annotator for question in books.leased.values()}
    wanted = max(LEAST_QUEUE, QUEUE_PER_ANNOTATOR * len(active))
    ready = sum(question.kind != "overlap" for question in books.waiting.values())
    return max(0, min(wanted - ready, room(books) - ready))


def room(books: Books) -> int:
    """Return how many more questions the budget allows to lease."""
    if books.settings["budget"] is None:
        return 2**62
    return int(books.settings["budget"]) - books.asked - len(books.leased)


def two_classes_known(books: Books) -> bool:
    if books.settings["multilabel"]:
        return bool(books.labels)
    return sum(count > 0 for count in books.balance.values()) > 1


def is_judged(books: Books) -> bool:
    """Say whether audits judge a frozen model."""
    return books.audits_from > 0


def audit_rate(books: Books) -> float:
    """Return the share of audits among the questions; before there are guesses, there are none."""
    if not two_classes_known(books):
        return 0.0
    rate = float(books.settings["audit_rate"])
    return max(rate, FROZEN_RATE) if rate and is_judged(books) else rate


def choose(
    books: Books,
    learner: ItemLearner,
    judged: NDArray[np.float64] | None,
    at: float,
) -> list[Event]:
    """Choose questions ahead: audits by coins, the others by the learner.

    The audits of a batch are drawn before the learner picks, so each is drawn evenly from all
    items that have neither label nor question.

    Parameters
    ----------
    judged
        The chances of the frozen model, which audits then judge; None where they judge the
        learner as it is.
    """
    events = list(_second_looks(books, at))
    free = books.free()
    n = min(queue_is_short(books), int(free.sum()))
    if not n:
        return events
    numbers = [books.chosen + len(events) + 1 + place for place in range(n)]
    bodies = _audits(books, learner.chances() if judged is None else judged, free, numbers)
    rest = [number for number in numbers if number not in bodies]
    common = {"odds": 1.0 - audit_rate(books), **_candidates(free)}
    for number, pick in zip(rest, _picks(books, learner, len(rest), free), strict=False):
        bodies[number] = {
            "item": books.items[pick.row]["id"],
            "kind": "first" if pick.kind == "first" else "doubt",
            "margin": pick.margin,
            "text": TEXTS[pick.kind],
            "guess": pick.guess,
            **common,
        }
    return events + [
        Event("chosen", {"question": f"q{number}", **bodies[number]}, at)
        for number in sorted(bodies)
    ]


def _candidates(free: NDArray[np.bool_]) -> dict[str, Any]:
    digest = sha256(np.packbits(free).tobytes()).hexdigest()[:16]
    return {"unlabelled": int(free.sum()), "digest": digest}


def _audits(
    books: Books,
    chances: NDArray[np.float64],
    free: NDArray[np.bool_],
    numbers: list[int],
) -> dict[int, dict[str, Any]]:
    """Draw the audits among the numbered choices, and take their items from those free."""
    bodies: dict[int, dict[str, Any]] = {}
    rate, seed = audit_rate(books), books.settings["seed"]
    known = free[: len(chances)]  # a frozen model knows the items of its time alone
    for number in numbers:
        rows = np.flatnonzero(known)
        if coin(seed, "audit", number) / 2**64 >= rate or not len(rows):
            continue
        row = int(rows[coin(seed, "draw", number) * len(rows) >> 64])
        bodies[number] = {
            "item": books.items[row]["id"],
            "kind": "audit",
            "margin": None,
            "odds": rate / len(rows),
            "text": "Drawn evenly from the items without a label, to measure the error: "
            f"audit {len(books.audits) + len(bodies) + 1}.",
            "guess": guess(books, chances[row]),
            **_candidates(known),
        }
        known[row] = False
    return bodies


def _picks(books: Books, learner: ItemLearner, n: int, free: NDArray[np.bool_]) -> list[Pick]:
    """Return what the learner asks: where it doubts or, for recall, what is likely positive."""
    goal, positive = books.settings["goal"], books.settings["positive"]
    looks_for = goal is not None and checks.goal(goal).measure == "recall"
    if not n or not looks_for or not two_classes_known(books):
        return learner.choose(n, free) if n else []
    chances = learner.chances()
    chance = np.where(free, chances[:, books.classes.index(positive)], -1.0)
    best = np.argsort(-chance, kind="stable")[: min(n, int(free.sum()))]
    return [Pick(int(row), None, "likely", _one_guess(books, chances[row])) for row in best]


def _second_looks(books: Books, at: float) -> Iterator[Event]:
    """Send answered items to a second annotator, a few at a time, if there is a second one."""
    if len(books.annotators) < 2:
        return
    waiting = sum(question.kind == "overlap" for question in books.waiting.values())
    rows = [row for row in books.to_repeat if row not in books.open_on]
    for place, row in enumerate(rows[: max(0, LEAST_QUEUE - waiting)], 1):
        body = {
            "question": f"q{books.chosen + place}",
            "item": books.items[row]["id"],
            "kind": "overlap",
            "margin": None,
            "odds": books.settings["overlap"],
            "text": TEXTS["overlap"],
            "guess": None,
            "unlabelled": books.n_unlabelled,
            "digest": "",
        }
        yield Event("chosen", body, at)


def guess(books: Books, chances: NDArray[np.float64]) -> Label | None:
    """Return the class of the greatest chance; with several labels all that are likely."""
    if books.settings["multilabel"]:
        return [name for name, chance in zip(books.classes, chances, strict=False) if chance >= 0.5]
    return _one_guess(books, chances)


def _one_guess(books: Books, chances: NDArray[np.float64]) -> str | None:
    return books.classes[int(np.argmax(chances))] if len(chances) else None


def stream_odds(chances: NDArray[np.float64], floor: float) -> float:
    """Return the odds of asking about a pushed item: the smaller its lead, the likelier.

    With the lead m of the best class over the second the odds are 0.1 / (0.1 + m), and never
    below the floor.
    """
    second, best = np.sort(chances)[-2:]
    return max(floor, 0.1 / (0.1 + float(best - second)))


def from_stream(
    item: dict[str, Any], name: str, odds: float, guess: Label | None, at: float
) -> Event:
    body = {
        "question": name,
        "item": item["id"],
        "kind": "stream",
        "margin": None,
        "odds": odds,
        "text": TEXTS["stream"],
        "guess": guess,
        "unlabelled": 1,
        "digest": "",
    }
    return Event("chosen", body, at)


def question_for(books: Books, question: Question, seconds: float) -> dict[str, Any]:
    """Return a question as the page gets it."""
    return {
        "question": question.name,
        "item": books.items[question.row],
        "options": list(books.classes),
        "guess": question.guess,
        "reason": {
            "kind": question.kind,
            "margin": question.margin,
            "odds": question.odds,
            "text": question.text,
        },
        "lease_seconds": seconds,
    }
