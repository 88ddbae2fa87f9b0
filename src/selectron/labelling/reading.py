"""What can be read at the desk: status, items for review, the report, why nothing is asked."""

from collections.abc import Hashable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from selectron.labelling import asking, checks, people
from selectron.labelling.books import FREE, PASSED, STATES, Books
from selectron.labelling.checks import Label
from selectron.labelling.events import Item, Reply
from selectron.labelling.lessons import ItemLearner
from selectron.labelling.quality import Quality

LEARNER = ""  # as a voter: no annotator has an empty name
PAGE = 50
MOST_SLIPS = 20
MOST_DISAGREEMENTS = 200


def why(books: Books, quality: Quality, annotator: str | None = None) -> str | None:
    """Say why nothing is asked, and what one may do; None where something can be asked.

    Without an annotator, a question that somebody has on the screen is something asked.
    """
    reason, remedy = _why(books, quality, annotator)
    return reason and f"Nothing to ask because {reason}. {remedy}"


def _why(books: Books, quality: Quality, annotator: str | None) -> tuple[str | None, str]:
    if not books.items:
        return "there are no items yet", "Add items."
    if len(books.classes) < 2:
        return "fewer than two classes have names", "Add classes."
    if quality.stops():
        goal = books.settings["goal"]
        return f"the goal {goal} is reached", (
            "Tighten the goal or raise the budget to go on, review the answers, or export them."
        )
    if books.leased and annotator is None:
        return None, ""
    if asking.room(books) < 1:
        remedy = "Raise the budget, review the answers, or export them."
        budget = f"the budget of {books.settings['budget']} labels is used up"
        return (f"{budget} once others have answered" if books.leased else budget), remedy
    return _why_no_item(books, annotator)


def _why_no_item(books: Books, annotator: str | None) -> tuple[str | None, str]:
    if books.counts[FREE]:
        return None, ""
    for question in books.waiting.values():
        if annotator is None or books.may_answer(annotator, question):
            return None, ""
    if books.leased:
        return "others are answering the last items", "Wait for them, or review the answers."
    if books.waiting:
        return "the last items wait for a second annotator", (
            "Let somebody else answer them, review the answers, or export them."
        )
    if books.counts[PASSED]:
        return "no item that came in is worth a question", (
            "Push more items, or label what you find in review."
        )
    return "every item has an answer", "Add items, review the answers, or export them."


def status(books: Books, quality: Quality) -> Reply:
    """Return where the work stands."""
    settings = books.settings
    goal = settings["goal"]
    recall = goal is not None and checks.goal(goal).measure == "recall"
    return {
        "seq": books.seq,
        "question": settings["question"],
        "classes": list(books.classes),
        "multilabel": settings["multilabel"],
        "positive": settings["positive"],
        "items": len(books.items),
        "labels": len(books.labels),
        "unlabelled": books.n_unlabelled,
        "skipped": books.counts[STATES.index("skipped")],
        "asked": books.asked,
        "leased": len(books.leased),
        "budget": settings["budget"],
        "goal": goal,
        "reached": quality.reached(),
        "estimate": quality.error(),
        "recall": quality.recall() if recall else None,
        "curve": quality.curve(),
        "balance": {name: books.balance[name] for name in books.classes},
        "annotators": {name: dict(_tally(books, name)) for name in books.annotators},
        "outlook": quality.outlook(),
        "why": why(books, quality),
    }


def items(
    books: Books, learner: ItemLearner, call: tuple[str | None, str | None, str, int]
) -> Reply:
    """Return a page of the items in a state that have all words searched for."""
    state, doubt, q, page = call
    checks.whole(page, "page", 1, 2**31)
    if state not in (None, "", "all", "noted", *STATES) or doubt not in (None, "", "most", "least"):
        raise checks.Refused(
            422,
            f"There is no state {checks.shown(state)} or order {checks.shown(doubt)}.",
            f"States are all, noted, {', '.join(STATES)}; the order of doubt is most or least.",
        )
    rows = [row for row in _in_state(books, state) if _has_words(books.items[row], q)]
    chances = learner.chances() if books.knows_two_classes else None
    if doubt and chances is not None:
        key = {row: _doubt(books, chances[row], row) for row in rows}
        rows.sort(key=lambda row: key[row], reverse=doubt == "most")
    shown = rows[(page - 1) * PAGE : page * PAGE]
    return {
        "items": [_for_review(books, row, chances) for row in shown],
        "total": len(rows),
        "page": page,
        "pages": -(-len(rows) // PAGE),
    }


def report(books: Books, quality: Quality, learner: ItemLearner) -> Reply:
    """Return what is known about the answers: by class from audits, by annotator, in doubt."""
    pairs = [(question.guess, label) for question, label in quality.judged()]
    agreed = people.agreement(
        (_opinions(books, row), _decision(books, row)) for row in books.shared
    )
    rows = sorted(books.answers) if books.shared else ()  # of one annotator nothing is said
    reliable = people.reliability((_votes(books, row), _decision(books, row)) for row in rows)
    return {
        "estimate": quality.error(),
        "confusion": None if books.settings["multilabel"] else _confusion(books, pairs),
        "per_class": {name: _of_class(name, pairs) for name in books.classes},
        "agreement": {
            "alpha": people.alpha(list(_opinions(books, row).values()) for row in books.shared),
            "items": len(books.shared),
        },
        "annotators": {
            name: {**_tally(books, name), **_compared(agreed.get(name), reliable.get(name))}
            for name in books.annotators
        },
        "disagreements": list(_disagreements(books))[:MOST_DISAGREEMENTS],
        "slips": _slips(books, learner),
    }


def _tally(books: Books, name: str) -> dict[str, int]:
    tally = books.annotators[name]
    return {"answers": tally["answers"], "skipped": tally["skipped"]}


def _compared(found: people.Agreement | None, reliability: float | None) -> Reply:
    """Say how often an annotator agrees with others, and is right; of nobody else nothing."""
    return {
        "compared": found.compared if found else 0,
        "agrees": found.share if found else None,
        "reliability": reliability if found else None,
    }


def _votes(books: Books, row: int) -> dict[str, Hashable]:
    """Return what each annotator says, and what the learner said before it knew an answer."""
    asked = (answer.question for answer in books.answers[row])
    guess = next((q.guess for q in asked if q is not None and q.guess is not None), None)
    votes = _opinions(books, row)
    return votes if guess is None else {LEARNER: _hashable(guess), **votes}


def _in_state(books: Books, state: str | None) -> Iterable[int]:
    if state == "noted":
        return sorted(books.notes)
    if state in (None, "", "all"):
        return range(len(books.items))
    wanted = STATES.index(str(state))
    found: list[int] = np.flatnonzero(
        np.frombuffer(bytes(books.states), np.uint8) == wanted
    ).tolist()
    return found


def _has_words(item: Item, q: str) -> bool:
    if not q:
        return True
    content = item.get("text") or item.get("fields") or item.get("image", "")
    text = f"{item['id']} {content} {item.get('meta', '')}".casefold()
    return all(word in text for word in q.casefold().split())


def _doubt(books: Books, chances: NDArray[np.float64], row: int) -> float:
    """Return how doubtful a row is: its label if it has one, otherwise its prediction."""
    label = books.labels.get(row)
    if books.settings["multilabel"]:
        against = [
            1 - chance if (chance >= 0.5 if label is None else name in label) else chance
            for name, chance in zip(books.classes, chances, strict=False)
        ]
        return float(max(against))
    if label is None:
        return float(1 - chances.max())
    return float(1 - chances[books.classes.index(str(label))])


def _for_review(books: Books, row: int, chances: NDArray[np.float64] | None) -> Reply:
    known = chances is not None and row < len(chances)
    return {
        "item": books.items[row],
        "state": STATES[books.states[row]],
        "label": books.labels.get(row),
        "answers": [
            {
                "id": answer.id,
                "label": answer.label,
                "annotator": answer.annotator,
                "corrected": bool(answer.corrected),
                "found": answer.found,
            }
            for answer in books.answers.get(row, ())
        ],
        "guess": asking.guess(books, chances[row]) if known and chances is not None else None,
        "doubt": _doubt(books, chances[row], row) if known and chances is not None else None,
        "notes": books.notes.get(row, []),
    }


def _hashable(label: Label | None) -> Hashable:
    return tuple(label) if isinstance(label, list) else label


def _opinions(books: Books, row: int) -> dict[str, Hashable]:
    """Return what each annotator says about a row, corrections by others left out."""
    given = books.answers[row]
    return {a.annotator: _hashable(a.own) for a in given if a.label is not None}


def _decision(books: Books, row: int) -> Hashable | None:
    decided = any(answer.corrected for answer in books.answers[row])
    return _hashable(books.labels[row]) if decided else None


def _disagreements(books: Books) -> Iterator[Reply]:
    for row in books.shared:
        opinions = _opinions(books, row)
        if len(set(opinions.values())) > 1:
            yield {
                "item": books.items[row],
                "answers": [
                    {"id": a.id, "annotator": a.annotator, "label": a.own}
                    for a in books.answers[row]
                    if a.label is not None
                ],
                "label": books.labels[row],
                "decided": _decision(books, row) is not None,
            }


def _confusion(books: Books, pairs: list[tuple[Label | None, Label]]) -> Reply:
    """Count audits by the answer (row) and what the learner had predicted (column)."""
    place: dict[object, int] = {name: n for n, name in enumerate(books.classes)}
    counts = [[0] * len(place) for _ in place]
    for guess, label in pairs:
        counts[place[label]][place[guess]] += 1
    return {"classes": list(books.classes), "counts": counts}


def _of_class(name: str, pairs: list[tuple[Label | None, Label]]) -> Reply:
    """Return precision and recall of one class among the audits."""
    guessed = [_has(guess, name) for guess, _ in pairs]
    labelled = [_has(label, name) for _, label in pairs]
    right = sum(a and b for a, b in zip(guessed, labelled, strict=True))
    return {
        "audits": sum(labelled),
        "precision": right / sum(guessed) if any(guessed) else None,
        "recall": right / sum(labelled) if any(labelled) else None,
    }


def _has(label: Label | None, name: str) -> bool:
    return name in label if isinstance(label, list) else name == label


def _slips(books: Books, learner: ItemLearner) -> list[Reply]:
    """Return the answers to which the learner gives less chance than to the contrary."""
    if not books.knows_two_classes:
        return []
    chances = learner.chances()
    doubts = ((_doubt(books, chances[row], row), row) for row in books.labels)
    worst = sorted((pair for pair in doubts if pair[0] > 0.5), key=lambda pair: (-pair[0], pair[1]))
    return [_for_review(books, row, chances) for _, row in worst[:MOST_SLIPS]]
