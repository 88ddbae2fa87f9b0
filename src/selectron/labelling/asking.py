"""Which items are asked about next, and why."""

from collections.abc import Iterator
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from selectron.labelling import checks
from selectron.labelling.books import Books, Question, coin
from selectron.labelling.checks import Label
from selectron.labelling.events import Body, Event, Item, Reply
from selectron.labelling.lessons import ItemLearner, Pick

LEAST_QUEUE = 4
QUEUE_PER_ANNOTATOR = 2

# No text names a class: a reason must not lead the annotator.
TEXTS = {
    "first": "Chosen before the learner knew two classes: this item stands for many others.",
    "doubt": "The learner is in doubt here, so this answer teaches it most.",
    "likely": "This answer brings the goal nearer than others would.",
    "overlap": "Two people answer this item, to see how far answers agree.",
    "stream": "The learner was unsure of this item when it came in.",
    "audit": "Drawn evenly from the items that come in, to measure the error.",
}


def queue_is_short(books: Books) -> int:
    """Return how many questions are to be chosen so that nobody has to wait.

    Who took a question of late is at work, though they may hold none at this moment. A choice
    takes as long for one question as for many, and answers wait meanwhile: so many are chosen at a
    time where many people are at work, once half of them are taken.
    """
    active = set(books.takers)
    wanted = max(LEAST_QUEUE, QUEUE_PER_ANNOTATOR * len(active))
    ready = sum(question.kind != "overlap" for question in books.waiting.values())
    if ready >= max(LEAST_QUEUE, wanted // 2):
        return 0
    return max(0, min(wanted - ready, room(books) - ready))


def room(books: Books) -> int:
    """Return how many more questions the budget allows to lease."""
    if books.settings["budget"] is None:
        return 2**62
    return int(books.settings["budget"]) - books.asked - len(books.leased)


def choose(
    books: Books,
    learner: ItemLearner,
    judged: NDArray[np.float64] | None,
    rate: float,
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
    rate
        The probability that a question is an audit.
    """
    events = list(_second_looks(books, at))
    free = books.free()
    n = min(queue_is_short(books), int(free.sum()))
    if not n:
        return events
    numbers = [books.chosen + len(events) + 1 + place for place in range(n)]
    drawn = [n for n in numbers if coin(books.settings["seed"], "audit", n) / 2**64 < rate]
    bodies = {}
    if drawn:
        bodies = _audits(books, learner, judged, free, drawn)
        for body in bodies.values():
            body["odds"] = rate / body["unlabelled"]
    rest = [number for number in numbers if number not in bodies]
    common = {"odds": 1.0 - rate, **_candidates(free)}
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


def _candidates(free: NDArray[np.bool_]) -> Body:
    digest = sha256(np.packbits(free).tobytes()).hexdigest()[:16]
    return {"unlabelled": int(free.sum()), "digest": digest}


def _audits(
    books: Books,
    learner: ItemLearner,
    judged: NDArray[np.float64] | None,
    free: NDArray[np.bool_],
    numbers: list[int],
) -> dict[int, Body]:
    """Draw an audit for each number, and take their items from those that are free."""
    bodies: dict[int, Body] = {}
    # A frozen model knows the items of its time alone.
    known = free if judged is None else free[: len(judged)]
    for number in numbers:
        rows = np.flatnonzero(known)
        if not len(rows):
            break
        row = int(rows[coin(books.settings["seed"], "draw", number) * len(rows) >> 64])
        chances = learner.chances_at([row])[0] if judged is None else judged[row]
        bodies[number] = {
            "item": books.items[row]["id"],
            "kind": "audit",
            "margin": None,
            "text": "Drawn evenly from the items without a label, to measure the error: "
            f"audit {len(books.audits) + len(bodies) + 1}.",
            "guess": guess(books, chances),
            "positives": books.balance[books.settings["positive"]] + len(books.open_on),
            **_candidates(known),
        }
        known[row] = False
    return bodies


def _picks(books: Books, learner: ItemLearner, n: int, free: NDArray[np.bool_]) -> list[Pick]:
    """Return what the learner asks: where it doubts or, for recall, what is likely positive."""
    goal, positive = books.settings["goal"], books.settings["positive"]
    looks_for = goal is not None and checks.goal(goal).measure == "recall"
    if not n or not looks_for or not books.knows_two_classes:
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


def odds(books: Books, chances: NDArray[np.float64]) -> float:
    """Return the odds of asking about a pushed item: the smaller its lead, the likelier.

    With the lead m of the best class over the second the odds are 0.1 / (0.1 + m), and never
    below the rate of audits. With several labels m is the least lead of a class over its absence.
    """
    ordered = np.sort(chances)
    lead = float(ordered[-1] - ordered[-2])
    if books.settings["multilabel"]:
        lead = float(np.abs(2.0 * chances - 1.0).min())
    return max(float(books.settings["audit_rate"]), 0.1 / (0.1 + lead))


def from_stream(
    item: Item, name: str, kind: str, likely: float, guess: Label | None, at: float
) -> Event:
    body = {
        "question": name,
        "item": item["id"],
        "kind": kind,
        "margin": None,
        "odds": likely,
        "text": TEXTS[kind],
        "guess": guess,
        "unlabelled": 1,
        "digest": "",
    }
    return Event("chosen", body, at)


def question_for(books: Books, question: Question, seconds: float) -> Reply:
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
