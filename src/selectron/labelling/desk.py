"""The desk: what follows from each call, as events to append and a reply to give.

A decision looks at the books and changes nothing. The caller stores the events and applies them;
the log is the truth, and a desk that applies the same events is the same desk.
"""

import logging
import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import chain, islice
from typing import NamedTuple

from selectron import __version__
from selectron.features import Features
from selectron.labelling import asking, checks, reading
from selectron.labelling.audits import estimate
from selectron.labelling.books import LABELLED, Answer, Books, Question, coin
from selectron.labelling.checks import Label, Refused, Settings
from selectron.labelling.events import Event, Item, Reply
from selectron.labelling.lessons import ItemLearner, Lessons, Pick, joined, parted
from selectron.labelling.quality import Estimate, Quality

__all__ = ["Decision", "Desk", "Event", "ItemLearner", "Pick", "Refused"]

ITEMS_AN_EVENT = 1000
MOST_QUESTIONS = 100  # in one call of `next`
MOST_WAITING = 1000  # a stream asks no more while so many questions wait
LESSONS_BEFORE_CHOICE = 16
PACK_LEVEL = 1  # of zlib: the learner of 300 texts, mostly zeros, shrinks from 30 MB to 0.7 MB
logger = logging.getLogger(__name__)


class Decision(NamedTuple):
    """What follows from a call.

    Attributes
    ----------
    events : list of Event
        To be appended in this order. None for a call that came before: it gets its first reply.
    reply : dict
        What the caller is told once the events are durable.
    """

    events: list[Event]
    reply: Reply


class Predicted(NamedTuple):
    """What the learner says of an item of a stream."""

    guess: Label | None
    probability: float | None
    odds: float  # of asking about it


class Desk:
    """Questions for annotators about items.

    Parameters
    ----------
    learner : callable
        Makes a new learner from the settings.
    estimate : callable
        From what was audited and a level to a dict of error, low, high and audits.
    """

    def __init__(
        self, learner: Callable[[Settings], ItemLearner], estimate: Estimate = estimate
    ) -> None:
        self.books = Books()
        self._lessons = Lessons(learner)
        self.quality = Quality(self.books, estimate)
        self._now: float | None = None  # of the last call that gave it
        self._deadlines: dict[int, float] = {}  # by question; a lease without one has run out
        self._features: Features | None = None  # how the learner reads records

    def apply(self, event: Event, seq: int) -> None:
        """Take the next event of the log into the books."""
        self.books.apply(event, seq)
        if event.kind == "leased" and self._now is not None:
            lasts = float(self.books.settings["lease_seconds"])
            self._deadlines[int(event.body["question"][1:])] = self._now + lasts
        elif event.kind in ("answered", "skipped", "expired") and event.body["question"]:
            self._deadlines.pop(int(event.body["question"][1:]), None)

    def learn(self) -> ItemLearner:
        """Let the learner catch up with the books; return it."""
        return self._lessons.follow(self.books)

    def learn_some(self, lessons: int) -> bool:
        """Let the learner take so many lessons; tell whether it has caught up."""
        self._lessons.follow(self.books, lessons)
        return self._lessons.has_caught_up(self.books)

    @property
    def lessons_left(self) -> int:
        """How many lessons, or other steps, the learner is behind the books."""
        return self._lessons.left(self.books)

    def warm(self) -> None:
        """Have the learner compiled before anybody waits for it; nothing is learnt."""
        self._lessons.warm(self.books)

    def packing(self) -> Callable[[], tuple[bytes, str]]:
        """Let the learner catch up, and copy it; return what makes bytes of it, and their SHA-256.

        To copy takes some 20 ms, to make bytes of the copy ten times as long: the desk goes on.
        """
        lessons = self._lessons.packing(self.books)

        def pack() -> tuple[bytes, str]:
            data = zlib.compress(joined({"version": __version__}, lessons()), PACK_LEVEL)
            return data, sha256(data).hexdigest()

        return pack

    @property
    def unpacked(self) -> int:
        """How many lessons there are since the learner was packed."""
        return self._lessons.unpacked

    def unpack(self, data: bytes, digest: str) -> None:
        """Take the learner from bytes of `packing`, when the books are where they were then.

        Bytes that are damaged, or of another version, are left: the learner learns anew.
        """
        try:
            if sha256(data).hexdigest() != digest:
                raise ValueError("its snapshot is damaged")
            says, (lessons,) = parted(zlib.decompress(data))
            if says["version"] != __version__:
                raise ValueError(f"its snapshot is of version {says['version']}")
            self._lessons.unpack(lessons, self.books)
        except (ValueError, zlib.error) as error:
            logger.warning("the learner learns anew: %s", error)

    # what the owner of the desk decides

    def add_items(self, items: Sequence[Item], at: float) -> Decision:
        new = self._new_items(items)
        return Decision(_items(new, at), {"added": len(new), "known": len(items) - len(new)})

    def add_classes(self, names: Sequence[str], at: float) -> Decision:
        new = [name for name in checks.class_names(names) if name not in self.books.classes]
        events = [Event("classes", {"names": new}, at)] if new else []
        return Decision(events, {"classes": self.books.classes + new})

    def set(self, changes: Settings, at: float) -> Decision:
        """Change settings. A raised budget lets a desk go on that has reached its goal."""
        now = self.books.settings
        body = {key: v for key, v in checks.settings(changes).items() if v != now[key]}
        self._check_settings(body)
        if "goal" in body:
            body["beyond_goal"] = False
        elif "budget" in body and self.quality.reached():
            raised = body["budget"] is None or (now["budget"] or 0) < body["budget"]
            body["beyond_goal"] = bool(raised)
        return Decision([Event("settings", body, at)] if body else [], {**now, **body})

    def join(self, annotator: str, at: float) -> Decision:
        return Decision(self._joining(annotator, at), {"annotator": annotator})

    # what annotators do

    def next(self, annotator: str, n: int, now: float, at: float) -> Decision:
        """Lease up to n questions to an annotator, those counted that they have already."""
        self._now = now
        checks.whole(n, "number of questions", 1, MOST_QUESTIONS)
        events = self._joining(annotator, at)
        ran_out = self._ran_out(now)
        events += [_expired(question, at) for question in ran_out]
        if self.quality.stops():
            return Decision(events, {"questions": [], "why": self.why(annotator)})
        books = self.books
        mine = [q for q in books.leased.values() if q.annotator == annotator and q not in ran_out]
        mine = mine[:n]
        wanted = max(0, min(n - len(mine), asking.room(books) + len(ran_out)))
        taken = self._first_for(annotator, chain(ran_out, books.waiting.values()), wanted)
        if not mine and not taken:  # nobody chose ahead: choose now, rather than send them away
            chosen = self._choices(at, urgent=True)
            events += chosen
            offers = (books.question_of(event.body) for event in chosen if event.kind == "chosen")
            taken = self._first_for(annotator, offers, wanted)
        events += [_leased(question, annotator, at) for question in taken]
        lasts = float(books.settings["lease_seconds"])
        shown = [
            asking.question_for(books, question, self._deadlines[question.number] - now)
            for question in mine
        ] + [asking.question_for(books, question, lasts) for question in taken]
        return Decision(events, {"questions": shown, "why": None if shown else self.why(annotator)})

    def answer(  # noqa: PLR0913  (the fields of the call, by name)
        self,
        id: str,
        question: str | None,
        label: object,
        annotator: str,
        now: float,
        at: float,
        skip: bool = False,
        item: str | None = None,
    ) -> Decision:
        """Take an answer or a "don't know"; without a question, a label found in review.

        The id is the client's own: the same id again changes nothing and gets the first reply.
        """
        self._now = now
        known = self.books.ids.get(checks.client_id(id))
        if known:
            return self._done(known.seq)
        events = self._joining(annotator, at)
        asked = self._open(question, annotator, now) if question else None
        row = asked.row if asked else self._row(item)
        body = {"id": id, "item": self.books.items[row]["id"], "annotator": annotator}
        if asked is None:
            asked = self._found(row, annotator, now)
            body["found"] = True
        body["question"] = asked and asked.name
        if skip:
            if not asked or label is not None:
                raise Refused(422, "Only a question can be skipped.", "Send no label with it.")
            return self._done(Event("skipped", body, at), events)
        body["label"] = self._label(label)
        return self._done(Event("answered", body, at), events)

    def correct(self, id: str, label: object, annotator: str, at: float) -> Decision:
        """Give an answer another label; the learner forgets the old one and learns this one now."""
        answer = self._answer(id)
        if answer.undone or answer.label is None:
            raise Refused(
                409, "That answer was undone or skipped.", "Find the item in review and label it."
            )
        label = self._label(label)
        if label == answer.label:
            return self._done(answer.corrected or answer.seq)
        events = self._joining(annotator, at)
        body = {"id": id, "label": label, "annotator": annotator}
        return self._done(Event("corrected", body, at), events)

    def undo(self, id: str, annotator: str, at: float) -> Decision:
        """Take an answer or a skip back; its question is asked again, and first."""
        answer = self._answer(id)
        if answer.undone:
            return self._done(answer.undone)
        if answer.annotator != annotator:
            raise Refused(
                403, "That answer is somebody else's.", "Correct it in review if it is wrong."
            )
        if answer.label != answer.own:  # undoing it would undo the correction too
            raise Refused(
                409, "Somebody else corrected that answer.", "Correct it in review if it is wrong."
            )
        return self._done(Event("undone", {"id": id, "annotator": annotator}, at), [])

    def note(self, item: str, text: str, annotator: str, at: float) -> Decision:
        row = self._row(item)
        checks.words(text, "note", 10_000)
        events = self._joining(annotator, at)
        body = {"item": self.books.items[row]["id"], "text": text, "annotator": annotator}
        return self._done(Event("noted", body, at), events)

    # what happens by itself

    def expire(self, now: float, at: float) -> Decision:
        """End the leases that ran out. Their questions are offered again, and first."""
        self._now = now
        ran_out = self._ran_out(now)
        return Decision([_expired(question, at) for question in ran_out], {"expired": len(ran_out)})

    def choose(self, at: float) -> Decision:
        """Choose questions ahead, so that nobody has to wait for one.

        While the learner learns again what came after an answer that was taken back, it knows
        less than its answers say: those who label have the questions that wait already.
        """
        events = self._choices(at, urgent=not self.books.waiting)
        return Decision(events, {"chosen": len(events)})

    def _choices(self, at: float, urgent: bool) -> list[Event]:
        events: list[Event] = []
        classes_named = len(self.books.classes) > 1
        if classes_named and self.books.items and not self.quality.stops():
            change = self.quality.phase_change()
            # Answers may come faster than lessons; then a learner that trails them chooses.
            lessons = LESSONS_BEFORE_CHOICE if asking.queue_is_short(self.books) else 0
            learner = self._lessons.follow(self.books, None if change else lessons)
            if self._lessons.learns_again(self.books) and not urgent:
                return events
            judged = self._lessons.judged
            if change:
                frozen = len(self.books.labels) if change == "freeze" else None
                events.append(Event("frozen", {"answers": frozen}, at))
                judged = None  # the model of this moment is the learner
            rate = self.quality.audit_rate(change)
            events += asking.choose(self.books, learner, judged, rate, at)
        return events

    def push(self, items: Sequence[Item], at: float) -> Decision:
        """Take items of a stream: predict each, and ask where the learner's odds say so."""
        new = self._new_items(items)
        predicted = self._predict(list(items))
        asked = self._asked_of_stream(new, predicted, at)
        rows = [self.books.rows.get(item["id"], -1) for item in items]
        open_on = {row: self.books.open_on[row] for row in rows if row in self.books.open_on}
        names = {self.books.items[row]["id"]: question.name for row, question in open_on.items()}
        names |= {event.body["item"]: event.body["question"] for event in asked}
        replies = [
            {
                "id": item["id"],
                "label": predicted[item["id"]].guess,
                "probability": predicted[item["id"]].probability,
                "asked": item["id"] in names,
                "question": names.get(item["id"]),
            }
            for item in items
        ]
        return Decision(_items(new, at, stream=True) + asked, {"items": replies})

    def take(self, source: str, messages: Sequence[tuple[str, Item]], at: float) -> Decision:
        """Push the items of up to 1,000 messages of a source, each message once.

        The event that adds the items has the ids of their messages: a message that is delivered
        again is known by its id. What is no item is refused alone, by the id of its message.
        """
        taken = self.books.taken.get(source, set())
        new: dict[str, Item] = {}
        bringing: list[str] = []
        refused: dict[str, str] = {}
        for id, item in messages:
            try:
                if id not in taken and self._is_new(item, new):
                    bringing.append(id)
            except Refused as refusal:
                refused[id] = str(refusal)
        items = list(new.values())
        self._check_rows(items)
        asked = self._asked_of_stream(items, self._predict(items), at)
        reply = {
            "added": len(items),
            "known": len(messages) - len(items) - len(refused),
            "refused": refused,
            "waiting": len(self.books.waiting) + len(asked),
        }
        origin = {"name": source, "messages": bringing}
        return Decision(_items(items, at, stream=True, source=origin) + asked, reply)

    # what can be read

    def why(self, annotator: str | None = None) -> str | None:
        """Say why nothing is asked, and what one may do; None where there is a question."""
        return reading.why(self.books, self.quality, annotator)

    def status(self) -> Reply:
        return reading.status(self.books, self.quality)

    def items(
        self, state: str | None = None, doubt: str | None = None, q: str = "", page: int = 1
    ) -> Reply:
        """Return a page of items for review."""
        return reading.items(self.books, self.learn(), (state, doubt, q, page))

    def report(self) -> Reply:
        return reading.report(self.books, self.quality, self.learn())

    def digest(self) -> str:
        """Hash books and learner. The log alone decides it."""
        both = self.books.digest() + self.learn().digest()
        return sha256(both.encode()).hexdigest()

    # what decisions share

    def _done(self, what: Event | int, before: list[Event] | None = None) -> Decision:
        """Reply with the number of the event, of a new one or of one long stored."""
        if isinstance(what, int):
            return Decision([], {"seq": what, "durable": True})
        events = [*(before or []), what]
        return Decision(events, {"seq": self.books.seq + len(events), "durable": True})

    def _joining(self, annotator: str, at: float) -> list[Event]:
        checks.words(annotator, "annotator", 200)
        if annotator in self.books.annotators:
            return []
        return [Event("joined", {"annotator": annotator}, at)]

    def _new_items(self, items: object) -> list[Item]:
        if isinstance(items, str | dict) or not isinstance(items, Sequence):
            raise Refused(422, "The items are not a list.", 'Send {"items": [...]}.')
        new: dict[str, Item] = {}
        for item in items:
            self._is_new(item, new)
        self._check_rows(list(new.values()))
        return list(new.values())

    def check_new(self, item: Item, new: dict[str, Item]) -> None:
        """Refuse an item that `push` would refuse beside those that are new with it."""
        if self._is_new(item, new):
            self._check_rows([item])

    def _is_new(self, item: Item, new: dict[str, Item]) -> bool:
        """Add an item to those that are new, unless it is known; refuse what cannot be one."""
        checks.item(item)
        first = next(chain(self.books.items[:1], new.values()), item)
        checks.alike(item, first)
        row = self.books.rows.get(item["id"])
        known = new.get(item["id"]) if row is None else self.books.items[row]
        if known is not None and known != item:
            raise Refused(
                409,
                f"There is another item {checks.shown(item['id'])} already.",
                "Give every item an id of its own.",
            )
        if known is None:
            new[item["id"]] = item
        return known is None

    def _check_rows(self, new: list[Item]) -> None:
        """Refuse records of which the learner can make no rows: in the log they would stop it."""
        if not new or "fields" not in new[0]:
            return
        known = (value[1] for _, what, value in self.books.steps if what == "rows")
        n_first = next(known, 0)  # items of the first event decide how the learner reads all others
        try:
            first = self.books.items[:n_first] or new[:ITEMS_AN_EVENT]
            if not n_first:
                checks.fields_together(first)
            features = self._features or Features(first)
            features.rows(new)
        except (ValueError, TypeError, OverflowError) as error:
            raise Refused(
                422, f"These records cannot be learnt from: {error}.", "Change or drop that column."
            ) from None
        if n_first:
            self._features = features

    def _check_settings(self, body: Settings) -> None:
        after = {**self.books.settings, **body}
        if (body.keys() & {"multilabel", "seed"}) and (self.books.ids or self.books.chosen):
            raise Refused(
                409,
                "Neither multilabel nor the seed can change once there are questions.",
                "Begin another store.",
            )
        positive = after["positive"]
        if positive is not None and positive not in self.books.classes:
            raise Refused(
                422, f"The positive class {checks.shown(positive)} is no class.", "Add it first."
            )
        if after["goal"] and checks.goal(after["goal"]).measure == "recall" and positive is None:
            raise Refused(422, "Recall of which class?", 'Set "positive" to one of the classes.')

    def _ran_out(self, now: float) -> list[Question]:
        return [
            question
            for number, question in self.books.leased.items()
            if self._deadlines.get(number, now) <= now
        ]

    def _first_for(self, annotator: str, offers: Iterable[Question], n: int) -> list[Question]:
        may = (question for question in offers if self.books.may_answer(annotator, question))
        return list(islice(may, n))

    def _open(self, name: object, annotator: str, now: float) -> Question:
        """Find an open question that the annotator may answer."""
        if not isinstance(name, str) or not re.fullmatch("q[1-9][0-9]{0,17}", name):
            raise Refused(404, f"There is no question {checks.shown(name)}.", "Ask for the next.")
        question = self.books.question_named(name)
        if question is None:
            if int(name[1:]) > self.books.chosen:
                raise Refused(404, f"There is no question {name}.", "Ask for the next.")
            raise Refused(409, f"Question {name} has its answer.", "Ask for the next.")
        if not self.books.may_answer(annotator, question):
            raise Refused(409, "You have answered about this item.", "Correct that answer.")
        has_lease = question.number in self.books.leased and question not in self._ran_out(now)
        if not has_lease and asking.room(self.books) + len(self._ran_out(now)) < 1:
            raise Refused(
                409, "The budget is used up, and the lease ran out.", "Raise the budget first."
            )
        return question

    def _found(self, row: int, annotator: str, now: float) -> Question | None:
        """Return the open question about an item that was found in review, if there is one.

        The answer settles that question, so that an audit stays one whoever answers it.
        """
        if self.books.states[row] == LABELLED:
            raise Refused(409, "This item has its label.", "Correct that answer instead.")
        question = self.books.open_on.get(row)
        elsewhere = question and question.annotator not in (None, annotator)
        if question and elsewhere and question not in self._ran_out(now):
            raise Refused(
                409, "Somebody is answering this item now.", "Take another, or wait for theirs."
            )
        return question

    def _row(self, item: object) -> int:
        row = self.books.rows.get(item) if isinstance(item, str) else None
        if row is None:
            raise Refused(404, f"There is no item {checks.shown(item)}.", "Look at the items.")
        return row

    def _answer(self, id: str) -> Answer:
        answer = self.books.ids.get(checks.client_id(id))
        if answer is None:
            raise Refused(404, f"There is no answer {id}.", "Use the id it was sent with.")
        return answer

    def _label(self, label: object) -> Label:
        return checks.label(label, self.books.classes, self.books.settings["multilabel"])

    def _predict(self, items: list[Item]) -> dict[str, Predicted]:
        """Predict items of a stream by their ids, before they are in the books."""
        books = self.books
        if not items or not books.knows_two_classes:
            return {item["id"]: Predicted(None, None, 1.0) for item in items}
        return {
            item["id"]: Predicted(
                asking.guess(books, chances), float(chances.max()), asking.odds(books, chances)
            )
            for item, chances in zip(items, self.learn().forecast(items), strict=True)
        }

    def _asked_of_stream(
        self, new: list[Item], predicted: dict[str, Predicted], at: float
    ) -> list[Event]:
        """Toss a coin for each new item, while the budget and the people keep up.

        A coin below the rate of audits asks whatever the learner says: those items are drawn evenly
        from all that come, so their answers say how often it errs.
        """
        books = self.books
        if len(books.classes) < 2 or self.quality.stops():
            return []
        rate = float(books.settings["audit_rate"]) if books.knows_two_classes else 0.0
        most = min(asking.room(books), MOST_WAITING) - len(books.waiting)
        asked: list[Event] = []
        for row, item in enumerate(new, len(books.items)):
            guess, _, odds = predicted[item["id"]]
            toss = coin(books.settings["seed"], "stream", row) / 2**64
            if len(asked) < most and toss < odds:
                name = f"q{books.chosen + len(asked) + 1}"
                kind, likely = ("audit", rate) if toss < rate else ("stream", odds)
                asked.append(asking.from_stream(item, name, kind, likely, guess, at))
        return asked


def _items(new: list[Item], at: float, **more: object) -> list[Event]:
    return [
        Event("items", {"items": new[start : start + ITEMS_AN_EVENT], **more}, at)
        for start in range(0, len(new), ITEMS_AN_EVENT)
    ]


def _leased(question: Question, annotator: str, at: float) -> Event:
    return Event("leased", {"question": question.name, "annotator": annotator}, at)


def _expired(question: Question, at: float) -> Event:
    return Event("expired", {"question": question.name, "annotator": question.annotator}, at)
