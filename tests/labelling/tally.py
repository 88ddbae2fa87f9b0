"""The smallest desk: it counts answers, and its learner is a hash over them in their order."""

from hashlib import sha256

from selectron.labelling.desk import Decision
from selectron.labelling.events import Event, canonical


class Tally:
    """Stands in for a `Desk` where the store and the service are tested, not the books."""

    def __init__(self):
        self.answers = {}  # id -> (number of the event, label)
        self.learnt = sha256()
        self.taught = self.last = self.chosen = 0

    def apply(self, event, seq):
        assert seq == self.last + 1
        self.last = seq
        if event.kind == "answered":
            self.answers[event.body["id"]] = (seq, event.body["label"])
        elif event.kind == "chosen":
            self.chosen += 1

    def learn(self):
        for id_, (seq, label) in list(self.answers.items())[self.taught :]:
            self.learnt.update(canonical([id_, seq, label]).encode())
            self.taught += 1

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
        return sha256(canonical([self.answers, self.learnt.hexdigest()]).encode()).hexdigest()
