"""A small learner for tests: naive Bayes over words, with counts that are whole numbers."""

import json
from collections import Counter
from hashlib import sha256

import numpy as np

from selectron.labelling.desk import Desk, Pick


class CountingLearner:
    def __init__(self, settings):
        self.multilabel = settings["multilabel"]
        self.rows = []
        self.counts = {}
        self.taught = []

    def add_rows(self, items):
        self.rows += [(item.get("text") or item["id"]).split() for item in items]

    def add_classes(self, names):
        self.counts |= {name: Counter() for name in names}

    def teach(self, lessons):
        # The number of rows and classes known makes the order of all calls part of the state.
        for row, label in lessons:
            self.taught.append((row, label, len(self.rows), len(self.counts)))
            for name in [label] if isinstance(label, str) else label:
                self.counts[name].update(self.rows[row])

    def _chances(self, rows):
        totals = {name: 1 + counts.total() for name, counts in self.counts.items()}
        scores = np.array(
            [
                [
                    (1 + sum(counts[word] for word in words)) / totals[name]
                    for name, counts in self.counts.items()
                ]
                for words in rows
            ]
        ).reshape(len(rows), len(self.counts))
        return scores / scores.sum(axis=1, keepdims=True)

    def chances(self):
        return self._chances(self.rows)

    def chances_at(self, rows):
        return self._chances([self.rows[row] for row in rows])

    def forecast(self, items):
        return self._chances([(item.get("text") or item["id"]).split() for item in items])

    def choose(self, n, free):
        chances = self.chances()
        ordered = np.sort(chances, axis=1)
        margins = ordered[:, -1] - ordered[:, -2]
        known = sum(counts.total() > 0 for counts in self.counts.values()) > 1
        names = list(self.counts)
        best = sorted(np.flatnonzero(free).tolist(), key=lambda row: (margins[row], row))[:n]
        return [
            Pick(row, float(margins[row]), "doubt", names[int(chances[row].argmax())])
            if known
            else Pick(row, None, "first", None)
            for row in best
        ]

    def snapshot(self):
        counts = {name: counts.copy() for name, counts in self.counts.items()}
        return len(self.rows), counts, list(self.taught)

    def restore(self, snapshot):
        rows, counts, taught = snapshot
        del self.rows[rows:]
        self.counts = {name: counts.copy() for name, counts in counts.items()}
        self.taught = list(taught)

    def digest(self):
        return sha256(repr((self.counts, self.taught, len(self.rows))).encode()).hexdigest()

    def file(self):
        return self.digest().encode()

    def packing(self):
        packed = json.dumps([self.counts, self.taught]).encode()
        return lambda: packed

    def unpack(self, data, items):
        counts, taught = json.loads(data)
        self.add_rows(items)
        self.counts = {name: Counter(count) for name, count in counts.items()}
        self.taught = [tuple(lesson) for lesson in taught]


def share_of_wrong(audited, level):
    """Stand in for the interval of the audits."""
    n = len(audited.draws)
    wrong = sum(draw.wrong for draw in audited.draws)
    return {"error": wrong / n, "low": 0.0, "high": 1.0, "audits": n}


def narrow(audited, level):
    """Stand in for the interval, and trust the share of the audits."""
    n = len(audited.draws)
    error = sum(draw.wrong for draw in audited.draws) / n
    return {"error": error, "low": error, "high": error, "audits": n}


class Log:
    """A desk with its log: what a service does, without threads or a disk."""

    def __init__(self, estimate=share_of_wrong):
        self.estimate = estimate
        self.events = []
        self.desk = Desk(CountingLearner, estimate)
        self.now = 0.0

    def __getattr__(self, name):
        """Call the desk, store the events and apply them; return the reply."""
        decide = getattr(self.desk, name)

        def call(*args, **named):
            if name in ("next", "answer"):
                named |= {"now": self.now}
            if name == "expire":
                args = (self.now,)
            decision = decide(*args, at=1000.0 + len(self.events), **named)
            for event in decision.events:
                self.events.append(event)
                self.desk.apply(event, len(self.events))
            return decision.reply

        return call

    def replayed(self, events=None):
        """Return another desk that applied the same events."""
        desk = Desk(CountingLearner, self.estimate)
        for seq, event in enumerate(self.events if events is None else events, 1):
            desk.apply(event, seq)
        return desk


def begin(n=40, classes=("spam", "ham"), estimate=share_of_wrong, **settings):
    """Return a log with n items: even ones are ham, odd ones spam, as their words tell."""
    log = Log(estimate)
    words = ("meeting lunch report friday", "money win prize claim")
    log.add_items([{"id": f"i{n}", "text": f"{words[n % 2]} w{n % 7} v{n % 5}"} for n in range(n)])
    log.add_classes(list(classes))
    if settings:
        log.set(settings)
    return log


def truth(question):
    return "spam" if int(question["item"]["id"][1:]) % 2 else "ham"
