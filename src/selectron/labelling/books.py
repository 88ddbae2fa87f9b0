"""The books of the desk: what the events so far add up to."""

from bisect import bisect_left, bisect_right, insort
from collections import Counter, OrderedDict, deque
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from selectron.labelling.checks import DEFAULTS, Label, Settings
from selectron.labelling.events import Body, Event, Item, canonical

FREE, ASKED, LABELLED, SKIPPED, PASSED = range(5)  # PASSED: pushed, and not asked
TAKERS_KEPT = 256  # leases whose takers count as people at work
STATES = ("unlabelled", "asked", "labelled", "skipped", "passed")

Step = tuple[int, str, Any]  # the number of its event, what the learner is to do, with what


class Note(TypedDict):
    """What an annotator wrote about an item."""

    text: str
    annotator: str
    at: float


@dataclass(slots=True)
class Question:
    number: int
    row: int
    kind: str
    margin: float | None
    odds: float
    text: str
    guess: Label | None  # what the learner predicted when the question was chosen
    unlabelled: int  # how many items could have been drawn then
    positives: int = 0  # labels of the positive class then, and open questions that may become one
    goal: str | None = None  # then, against which an audit bets
    annotator: str | None = None  # who has the lease

    @property
    def name(self) -> str:
        return f"q{self.number}"


@dataclass(slots=True)
class Answer:
    """An answer, or with `label` None a "don't know"."""

    id: str
    row: int
    label: Label | None
    own: Label | None  # what its annotator says, whatever others corrected it to
    annotator: str
    seq: int
    question: Question | None
    found: bool  # labelled in review, so that it costs no budget
    corrected: int = 0  # the number of the last correction
    undone: int = 0

    @property
    def was_asked(self) -> bool:
        return self.label is not None and not self.found


def coin(seed: int, purpose: str, number: int) -> int:
    """Return a whole number below 2^64 that depends on the arguments alone."""
    return int.from_bytes(sha256(f"{seed}:{purpose}:{number}".encode()).digest()[:8], "big")


class Books:
    """The fold over the events. `apply` takes the next event; nothing else changes the books."""

    def __init__(self) -> None:
        self.seq = 0
        self.items: list[Item] = []
        self.rows: dict[str, int] = {}
        self.classes: list[str] = []
        self.settings: Settings = dict(DEFAULTS)
        self.annotators: dict[str, Counter[str]] = {}  # live answers and skips of each
        self.chosen = 0  # questions so far, open or not
        self.waiting: OrderedDict[int, Question] = OrderedDict()  # open, with nobody's lease
        self.leased: dict[int, Question] = {}
        self.takers: deque[str] = deque(maxlen=TAKERS_KEPT)  # of the latest leases
        self.open_on: dict[int, Question] = {}  # the open question about a row
        self.to_repeat: dict[int, None] = {}  # answered rows that a second annotator is to see
        self.ids: dict[str, Answer] = {}
        self.answers: dict[int, list[Answer]] = {}  # by row, without what was undone
        self.labels: dict[int, Label] = {}  # by row
        self.balance: Counter[str] = Counter()  # labelled rows by class
        self.counts: Counter[int] = Counter()  # rows by state
        self.states = bytearray()
        self.passed: set[int] = set()
        self.taken: dict[str, set[str]] = {}  # ids of messages that brought items, by source
        self.shared: dict[int, None] = {}  # rows with answers of several annotators
        self.asked = 0  # live answers that count against the budget
        self.audits: dict[int, Question] = {}  # by row, in the order they were drawn
        self.audits_changed = 0  # grows when an audit gets another answer
        self.audits_from = 0  # audits of later questions count; each freeze begins anew
        self.frozen = False  # audits judge a frozen model, not the learner as it goes on
        self.freezes = 0
        self.notes: dict[int, list[Note]] = {}
        self.steps: list[Step] = []  # what the learner is to do, in the order of the log
        self._latest_other = 0  # the number of the last event whose step is no lesson
        self.lessons: dict[int, int] = {}  # by row: the number of the event that teaches it
        self.relearn_from: int | None = None  # the first step that changed; -1: all anew

    def apply(self, event: Event, seq: int) -> None:
        getattr(self, f"_{event.kind}")(event.body, seq, event.at)
        self.seq = seq

    def row_of(self, body: Body) -> int:
        return self.rows[body["item"]]

    def question_of(self, body: Body) -> Question:
        """Read a question from the body of its `chosen` event."""
        return Question(
            int(body["question"][1:]),
            self.row_of(body),
            body["kind"],
            body["margin"],
            body["odds"],
            body["text"],
            body["guess"],
            body["unlabelled"],
            body.get("positives", 0),
            self.settings["goal"],
        )

    def question_named(self, name: str) -> Question | None:
        """Find an open question by its name."""
        number = int(name[1:])
        return self.waiting.get(number) or self.leased.get(number)

    def may_answer(self, annotator: str, question: Question) -> bool:
        """Say whether the annotator has no answer on the item yet."""
        return all(a.annotator != annotator for a in self.answers.get(question.row, ()))

    def free(self) -> NDArray[np.bool_]:
        free: NDArray[np.bool_] = np.frombuffer(bytes(self.states), np.uint8) == FREE
        return free

    @property
    def n_unlabelled(self) -> int:
        return self.counts[FREE] + self.counts[ASKED] + self.counts[PASSED]

    @property
    def n_at_hand(self) -> int:
        """How many items without a label audits are drawn from: those that were not pushed."""
        asked = sum(self.states[r] == ASKED and r not in self.passed for r in self.open_on)
        return self.counts[FREE] + asked

    @property
    def knows_two_classes(self) -> bool:
        """Whether there is enough to predict from."""
        if self.settings["multilabel"]:
            return bool(self.labels)
        return sum(count > 0 for count in self.balance.values()) > 1

    @property
    def lessons_from(self) -> int:
        """The place among the steps from which on all are lessons."""
        return bisect_right(self.steps, self._latest_other, key=_number)

    # the events, one by one

    def _items(self, body: Body, seq: int, at: float) -> None:
        first = len(self.items)
        state = PASSED if body.get("stream") else FREE
        for item in body["items"]:
            self.rows[item["id"]] = len(self.items)
            self.items.append(item)
            self.states.append(state)
        self.counts[state] += len(body["items"])
        if state == PASSED:
            self.passed.update(range(first, len(self.items)))
        if source := body.get("source"):
            self.taken.setdefault(source["name"], set()).update(source["messages"])
        self._take_step(seq, "rows", (first, len(self.items)))

    def _classes(self, body: Body, seq: int, at: float) -> None:
        self.classes += body["names"]
        self._take_step(seq, "classes", body["names"])

    def _settings(self, body: Body, seq: int, at: float) -> None:
        self.settings.update(body)
        if {"seed", "multilabel"} & body.keys():  # the learner was made with others
            self.relearn_from = -1

    def _joined(self, body: Body, seq: int, at: float) -> None:
        self.annotators[body["annotator"]] = Counter()

    def _chosen(self, body: Body, seq: int, at: float) -> None:
        question = self.question_of(body)
        self.chosen = question.number
        self.waiting[question.number] = self.open_on[question.row] = question
        if question.kind == "audit":
            self.audits[question.row] = question
        self.to_repeat.pop(question.row, None)
        self._refresh(question.row)

    def _leased(self, body: Body, seq: int, at: float) -> None:
        question = self.waiting.pop(int(body["question"][1:]))
        question.annotator = body["annotator"]
        self.leased[question.number] = question
        self.takers.append(body["annotator"])

    def _expired(self, body: Body, seq: int, at: float) -> None:
        self._offer_first(self.leased.pop(int(body["question"][1:])))

    def _answered(self, body: Body, seq: int, at: float) -> None:
        question = self._settle(body["question"]) if body["question"] else None
        label = body.get("label")
        answer = Answer(
            body["id"],
            self.row_of(body),
            label,
            label,
            body["annotator"],
            seq,
            question,
            bool(body.get("found")),
        )
        self.ids[answer.id] = answer
        self.answers.setdefault(answer.row, []).append(answer)
        self._count(answer, 1)
        if question and label is not None and self._is_repeated(question):
            self.to_repeat[answer.row] = None

    _skipped = _answered

    def _corrected(self, body: Body, seq: int, at: float) -> None:
        answer = self.ids[body["id"]]
        answer.label, answer.corrected = body["label"], seq
        if body["annotator"] == answer.annotator:
            answer.own = body["label"]
        self._refresh(answer.row)

    def _undone(self, body: Body, seq: int, at: float) -> None:
        answer = self.ids[body["id"]]
        answer.undone = seq
        self.answers[answer.row].remove(answer)
        self._count(answer, -1)
        question = answer.question
        still_wanted = answer.row not in self.labels or (
            question is not None and question.kind == "overlap"
        )
        if question and still_wanted and answer.row not in self.open_on:
            self.open_on[answer.row] = question
            self._offer_first(question)
            self._refresh(answer.row)
        if answer.row not in self.labels:
            self.to_repeat.pop(answer.row, None)

    def _noted(self, body: Body, seq: int, at: float) -> None:
        note: Note = {"text": body["text"], "annotator": body["annotator"], "at": at}
        self.notes.setdefault(self.row_of(body), []).append(note)

    def _frozen(self, body: Body, seq: int, at: float) -> None:
        self.audits_from = self.chosen
        self.frozen = body["answers"] is not None
        self.freezes += self.frozen
        self.audits_changed += 1
        self._take_step(seq, "freeze" if self.frozen else "thaw", None)

    # what several events have in common

    def _take_step(self, seq: int, what: str, value: object) -> None:
        self.steps.append((seq, what, value))
        self._latest_other = seq

    def _offer_first(self, question: Question) -> None:
        question.annotator = None
        self.waiting[question.number] = question
        self.waiting.move_to_end(question.number, last=False)

    def _settle(self, name: str) -> Question:
        number = int(name[1:])
        question = self.waiting.pop(number, None) or self.leased.pop(number)
        question.annotator = None
        del self.open_on[question.row]
        return question

    def _is_repeated(self, question: Question) -> bool:
        """Toss the coin that sends an answered item to a second annotator."""
        share = coin(self.settings["seed"], "overlap", question.number) / 2**64
        return question.kind != "overlap" and share < self.settings["overlap"]

    def _count(self, answer: Answer, sign: int) -> None:
        tally = self.annotators[answer.annotator]
        tally["skipped" if answer.label is None else "answers"] += sign
        self.asked += sign * answer.was_asked
        self._refresh(answer.row)

    def _refresh(self, row: int) -> None:
        """Bring state, label and lesson of one row in line with its answers."""
        given = self.answers.get(row, [])
        opinions = [answer for answer in given if answer.label is not None]
        state = PASSED if row in self.passed else FREE
        if opinions:
            state = LABELLED
        elif row in self.open_on:
            state = ASKED
        elif given:
            state = SKIPPED
        self.counts[self.states[row]] -= 1
        self.counts[state] += 1
        self.states[row] = state
        if len(opinions) > 1:
            self.shared[row] = None
        else:
            self.shared.pop(row, None)
        # The last correction wins. `max` takes the first answer where nobody corrected any.
        best = max(opinions, key=lambda answer: answer.corrected, default=None)
        if best is None:
            self._set_label(row, None, None)
        else:  # a correction is taught at its own place: its class may have joined after the answer
            self._set_label(row, best.label, best.corrected or best.seq)

    def _set_label(self, row: int, label: Label | None, taught_at: int | None) -> None:
        old, before = self.labels.pop(row, None), self.lessons.pop(row, None)
        if label is not None and taught_at is not None:
            self.labels[row], self.lessons[row] = label, taught_at
        if (old, before) == (label, taught_at):
            return
        self.balance.subtract(_names(old))
        self.balance.update(_names(label))
        if row in self.audits:
            self.audits_changed += 1
        if before is not None:
            place = bisect_left(self.steps, before, key=_number)
            del self.steps[place]
            first = self.relearn_from
            self.relearn_from = place if first is None else min(place, first)
        if taught_at is not None:  # at the end, or after the lesson that it replaces
            step = (taught_at, "teach", (row, label))
            if not self.steps or self.steps[-1][0] < taught_at:
                self.steps.append(step)
            else:
                insort(self.steps, step, key=_number)

    def digest(self) -> str:
        """Hash everything the events say."""
        whole = sha256()
        for item in self.items:
            whole.update(canonical(item).encode())
        for part in (
            self.seq,
            self.classes,
            self.settings,
            self.annotators,
            self.chosen,
            [asdict(question) for question in self.waiting.values()],
            [asdict(question) for question in self.leased.values()],
            [asdict(answer) for answer in self.ids.values()],
            list(self.to_repeat),
            list(self.labels.items()),
            list(self.audits),
            [self.audits_changed, self.audits_from, self.frozen, self.freezes, self.asked],
            list(self.notes.items()),
            self.states.hex(),
            self.steps,
            {name: sorted(ids) for name, ids in self.taken.items()},
        ):
            whole.update(canonical(part).encode())
        return whole.hexdigest()


def _number(step: Step) -> int:
    return step[0]


def _names(label: Label | None) -> list[str]:
    if label is None:
        return []
    return [label] if isinstance(label, str) else label
