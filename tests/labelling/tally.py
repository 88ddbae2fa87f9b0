"""The smallest desk: it counts answers, and its learner is a hash over them in their order."""

import json
from hashlib import sha256
from itertools import islice

from selectron.labelling.desk import Decision
from selectron.labelling.events import Event, canonical


class Tally:
    """Stands in for a `Desk` where the store and the service are tested, not the books."""

    def __init__(self):
        self.answers = {}  # id -> (number of the event, label)
        self.learnt = ""
        self.taught = self.packed = self.last = self.chosen = 0

    def apply(self, event, seq):
        assert seq == self.last + 1
        self.last = seq
        if event.kind == "answered":
            self.answers[event.body["id"]] = (seq, event.body["label"])
        elif event.kind == "chosen":
            self.chosen += 1

    def learn(self):
        for id_, (seq, label) in islice(self.answers.items(), self.taught, None):
            lesson = canonical([self.learnt, id_, seq, label])
            self.learnt = sha256(lesson.encode()).hexdigest()
            self.taught += 1

    def learn_some(self, lessons):
        self.learn()
        return True

    def answer(self, id, label, at=0.0):
        if id in self.answers:
            return Decision([], {"seq": self.answers[id][0], "durable": True})
        event = Event("answered", {"id": id, "label": label}, at)
        return Decision([event], {"seq": self.last + 1, "durable": True})

    def expire(self, now, at):
        return Decision([], {})

    def choose(self, at):
        """Choose one question for every ten answers."""
        if self.chosen >= self.taught // 10:
            return Decision([], {})
        return Decision([Event("chosen", {"question": f"q{self.chosen + 1}"}, at)], {})

    def digest(self):
        self.learn()
        return sha256(canonical([self.answers, self.learnt]).encode()).hexdigest()

    def packing(self):
        packed = canonical([self.taught, self.learnt]).encode(), self.learnt
        self.packed = self.taught
        return lambda: packed

    @property
    def unpacked(self):
        return self.taught - self.packed

    def unpack(self, data, digest):
        taught, learnt = json.loads(data)
        if learnt == digest:
            self.taught = self.packed = taught
            self.learnt = learnt
