"""The desk against a plain model: any calls in any order, again, late, corrected, undone."""

from collections import Counter

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from selectron.labelling.desk import Refused
from tests.labelling.counting import CountingLearner, Log

PEOPLE = st.sampled_from(["ann", "bob", "cyd"])
LEASE = 10.0
WORDS = ("red", "green", "blue", "dark", "light")


class Call:
    """One answer as the model keeps it."""

    def __init__(self, item, label, annotator, asked, reply):
        self.item, self.label, self.annotator = item, label, annotator
        self.asked, self.reply = asked, reply
        self.corrections = 0
        self.own = label  # what its annotator says
        self.undone = None


class DeskModel(RuleBasedStateMachine):
    @initialize(
        budget=st.one_of(st.none(), st.integers(1, 12)),
        overlap=st.sampled_from([0.0, 0.5, 1.0]),
        audit_rate=st.sampled_from([0.0, 0.3, 1.0]),
        seed=st.integers(0, 99),
    )
    def begin(self, budget, overlap, audit_rate, seed):
        self.log = Log()
        self.history = []  # what a learner has to follow, in order
        self.calls = {}  # by client id
        self.order = 0
        self.leases = {}  # by question: annotator, deadline
        self.seen = {}  # every question ever offered, with its item
        self.budget = budget
        self.items = 0
        self.classes = []
        self.log.set(
            {
                "budget": budget,
                "overlap": overlap,
                "audit_rate": audit_rate,
                "seed": seed,
                "lease_seconds": LEASE,
            }
        )
        self.more_items(6)
        self.more_classes()
        self.more_classes()

    # what the model says

    def live(self, item):
        return [c for c in self.calls.values() if c.item == item and c.undone is None]

    def label_of(self, item):
        return self.deciding(item).label if self.deciding(item) else None

    def deciding(self, item):
        """Return the answer that decides: the one corrected last, otherwise the first."""
        opinions = [call for call in self.live(item) if call.label is not None]
        last = sorted(opinions, key=lambda call: call.corrections)[-1:]
        return last[0] if last and last[0].corrections else next(iter(opinions), None)

    def n_asked(self):
        given = self.calls.values()
        return sum(c.undone is None and c.asked and c.label is not None for c in given)

    def open_leases(self):
        return {q for q, (_, until) in self.leases.items() if until > self.log.now}

    def status_or_reply(self, call, *args, **named):
        try:
            return getattr(self.log, call)(*args, **named)
        except Refused as refused:
            return refused.status

    # calls

    @rule(n=st.integers(1, 3))
    def more_items(self, n):
        new = [
            {"id": f"i{k}", "text": f"{WORDS[k % 3]} {WORDS[k % 5]}"}
            for k in range(self.items, self.items + n)
        ]
        assert self.log.add_items(new) == {"added": n, "known": 0}
        assert self.log.add_items(new) == {"added": 0, "known": n}
        self.items += n
        self.history.append(("add_rows", new))

    @precondition(lambda self: len(self.classes) < 4)
    @rule()
    def more_classes(self):
        name = f"c{len(self.classes)}"
        self.classes.append(name)
        assert self.log.add_classes([name])["classes"] == self.classes
        self.history.append(("add_classes", [name]))

    @rule()
    def choose(self):
        self.log.choose()

    @rule(annotator=PEOPLE, n=st.integers(1, 4))
    def next(self, annotator, n):
        held = {q for q in self.open_leases() if self.leases[q][0] == annotator}
        reply = self.log.next(annotator, n)
        names = [question["question"] for question in reply["questions"]]
        assert len(names) == len(set(names)) <= n
        assert (reply["why"] is None) == bool(names)
        assert held <= set(names) or len(names) == n
        for question in reply["questions"]:
            name, item = question["question"], question["item"]["id"]
            assert all(call.annotator != annotator for call in self.live(item))
            assert self.seen.setdefault(name, item) == item
            assert not any(c in question["reason"]["text"].split() for c in self.classes)
            if name in held:
                until = self.leases[name][1]
                assert question["lease_seconds"] == until - self.log.now
            else:
                assert name not in self.open_leases()
                self.leases[name] = (annotator, self.log.now + LEASE)
        items = [self.seen[q] for q in self.open_leases()]
        assert len(items) == len(set(items))
        if self.budget is not None and len(names) > len(held):
            assert self.n_asked() + len(self.open_leases()) <= self.budget

    @rule(seconds=st.sampled_from([1.0, 4.0, 11.0]), expire=st.booleans())
    def wait(self, seconds, expire):
        self.log.now += seconds
        if expire:
            self.log.expire()

    def settle(self, question, annotator, label):
        """Answer a question, in time or not; the desk takes the answer if the question is open."""
        item, name = self.seen[question], f"id-{len(self.calls)}"
        is_open = self.log.desk.books.question_named(question) is not None
        has_room = (
            self.budget is None
            or question in self.open_leases()
            or self.n_asked() + len(self.open_leases()) < self.budget
        )
        taken = is_open and has_room and all(c.annotator != annotator for c in self.live(item))
        before = len(self.log.events)
        skip = label is None
        reply = self.status_or_reply("answer", name, question, label, annotator, skip=skip)
        if not taken:
            assert reply == 409
            assert len(self.log.events) == before
            return
        self.leases.pop(question, None)
        self.enter(name, Call(item, label, annotator, True, reply))

    def enter(self, name, call):
        self.calls[name] = call
        self.history.append(("teach", (name, 0)))

    @precondition(lambda self: self.seen)
    @rule(data=st.data(), annotator=PEOPLE)
    def answer_any(self, data, annotator):
        question = data.draw(st.sampled_from(sorted(self.seen)))
        self.settle(question, annotator, data.draw(st.sampled_from([None, *self.classes])))

    @precondition(lambda self: self.open_leases())
    @rule(data=st.data())
    def answer_in_time(self, data):
        question = data.draw(st.sampled_from(sorted(self.open_leases())))
        annotator = self.leases[question][0]
        self.settle(question, annotator, data.draw(st.sampled_from(self.classes)))

    @precondition(lambda self: self.classes)
    @rule(data=st.data(), annotator=PEOPLE)
    def work(self, data, annotator):
        """Take a question and answer it, as people mostly do."""
        self.choose()
        self.next(annotator, 1)
        mine = [q for q in sorted(self.open_leases()) if self.leases[q][0] == annotator]
        for question in mine[:1]:
            self.settle(question, annotator, data.draw(st.sampled_from(self.classes)))

    @rule(data=st.data(), annotator=PEOPLE)
    def find(self, data, annotator):
        """Label an item in review."""
        item = f"i{data.draw(st.integers(0, self.items - 1))}"
        label, name = data.draw(st.sampled_from(self.classes)), f"id-{len(self.calls)}"
        elsewhere = any(
            self.seen[q] == item and self.leases[q][0] != annotator for q in self.open_leases()
        )
        question = self.log.desk.books.open_on.get(self.log.desk.books.rows[item])
        reply = self.status_or_reply("answer", name, None, label, annotator, item=item)
        if elsewhere or self.label_of(item) is not None:
            assert reply == 409
            return
        if question:
            self.leases.pop(question.name, None)
        self.enter(name, Call(item, label, annotator, False, reply))

    @precondition(lambda self: self.calls)
    @rule(data=st.data(), times=st.integers(1, 10), annotator=PEOPLE)
    def send_again(self, data, times, annotator):
        before = len(self.log.events)
        names = data.draw(st.lists(st.sampled_from(sorted(self.calls)), min_size=1, max_size=4))
        for name in names * times:
            question = data.draw(st.sampled_from([*sorted(self.seen), "q999"]))
            reply = self.log.answer(name, question, "anything", annotator)
            assert reply == self.calls[name].reply
        assert len(self.log.events) == before

    @precondition(lambda self: self.calls)
    @rule(data=st.data(), annotator=PEOPLE)
    def correct(self, data, annotator):
        name = data.draw(st.sampled_from(sorted(self.calls)))
        call, label = self.calls[name], data.draw(st.sampled_from(self.classes))
        reply = self.status_or_reply("correct", name, label, annotator)
        if call.undone is not None or call.label is None:
            assert reply == 409
            return
        if label != call.label:
            self.order += 1
            call.label, call.corrections = label, self.order
            call.own = label if annotator == call.annotator else call.own
            self.history.append(("teach", (name, self.order)))
        before = len(self.log.events)
        assert self.log.correct(name, label, annotator) == reply
        assert len(self.log.events) == before

    @precondition(lambda self: self.calls)
    @rule(data=st.data(), annotator=PEOPLE)
    def undo(self, data, annotator):
        name = data.draw(st.sampled_from(sorted(self.calls)))
        call = self.calls[name]
        reply = self.status_or_reply("undo", name, annotator)
        if call.undone is None and call.annotator != annotator:
            assert reply == 403
            return
        if call.undone is None and call.label != call.own:
            assert reply == 409
            return
        assert call.undone in (None, reply)
        call.undone = reply

    @rule(budget=st.one_of(st.none(), st.integers(0, 12)))
    def set_budget(self, budget):
        self.budget = budget
        assert self.log.set({"budget": budget})["budget"] == budget

    @rule()
    def restart(self):
        again = self.log.replayed()
        assert again.digest() == self.log.desk.digest()
        self.log.desk = again
        self.leases = {}

    # what always holds

    @invariant()
    def labels_are_those_of_the_model(self):
        if not hasattr(self, "log"):
            return
        books = self.log.desk.books
        labels = {f"i{k}": self.label_of(f"i{k}") for k in range(self.items)}
        labels = {item: label for item, label in labels.items() if label is not None}
        assert {books.items[row]["id"]: label for row, label in books.labels.items()} == labels
        assert +books.balance == Counter(labels.values())
        assert books.asked == self.n_asked()
        assert sum(books.counts.values()) == self.items == len(books.states)
        assert books.counts == Counter(books.states)

    @invariant()
    def nobody_is_asked_a_third_time(self):
        asked = Counter(
            call.item
            for call in getattr(self, "calls", {}).values()
            if call.undone is None and call.asked and call.label is not None
        )
        assert max(asked.values(), default=0) <= 2

    @invariant()
    def the_learner_never_had_what_was_undone(self):
        if not hasattr(self, "log"):
            return
        fresh = CountingLearner(self.log.desk.books.settings)
        for what, value in self.history:
            if what != "teach":
                getattr(fresh, what)(value)
                continue
            name, correction = value
            call = self.calls[name]
            if self.deciding(call.item) is call and call.corrections == correction:
                fresh.teach([(int(call.item[1:]), call.label)])
        assert self.log.desk.learn().digest() == fresh.digest()


TestDeskModel = DeskModel.TestCase
TestDeskModel.settings = settings(max_examples=200, stateful_step_count=30, deadline=None)
