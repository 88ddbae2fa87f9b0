"""A whole labelling office for tests: tickets, a small learner, a desk, a store and a server."""

import json
import threading
from contextlib import contextmanager
from copy import copy
from hashlib import sha256
from random import Random

import numpy as np

from selectron.labelling.desk import Desk, Pick
from selectron.labelling.server.run import Server
from selectron.labelling.service import Service
from selectron.labelling.store import open_store

CLASSES = ["Billing", "Cancellation", "Technical"]
WORDS = {
    "Billing": ["invoice", "amount", "charged", "refund", "payment", "seats", "receipt", "tax"],
    "Cancellation": [
        "cancel",
        "subscription",
        "leave",
        "end",
        "contract",
        "close",
        "stop",
        "renew",
    ],
    "Technical": ["error", "login", "crash", "screen", "loading", "bug", "browser", "password"],
}
OPENINGS = ("Hello,", "Hi there,", "Good morning,", "To whom it may concern,", "Dear team,")


def tickets(n, seed=1, classes=CLASSES):
    """Return n made-up tickets, and the class of each."""
    draw, items, truth = Random(seed), [], {}
    for number in range(n):
        name = draw.choice(classes)
        own, other = WORDS.get(name, [name.lower()] * 5), WORDS[draw.choice(CLASSES)]
        words = draw.sample(own, min(4, len(own))) + draw.sample(other, 1)
        draw.shuffle(words)
        text = (
            f"{draw.choice(OPENINGS)} we have a question about the {words[0]} and the {words[1]} "
            f"of last month. Could you look at {words[2]}, {words[3]} and {words[4]}, please?"
        )
        item = {"id": f"ticket {20800 + number}", "text": text, "meta": {"language": "en"}}
        items.append(item)
        truth[item["id"]] = name
    return items, truth


class WordLearner:
    """Naive Bayes on words; what the desk needs of a learner and no more."""

    def __init__(self, settings):
        self.words, self.rows, self.classes, self.taught, self.known = {}, [], [], [], None

    def add_rows(self, items):
        self.rows += [self._words(item) for item in items]
        self.known = None

    def _words(self, item):
        words = set(json.dumps(item).lower().split())
        return [self.words.setdefault(word, len(self.words)) for word in sorted(words)]

    def add_classes(self, names):
        self.classes += names
        self.known = None

    def teach(self, lessons):
        for row, label in lessons:
            self.taught.append((row, [label] if isinstance(label, str) else list(label)))
        self.known = None

    def choose(self, n, free):
        chances = self.chances()
        rows = np.flatnonzero(free)
        lead = np.sort(chances[rows], axis=1)
        best = rows[np.argsort(lead[:, -1] - lead[:, -2], kind="stable")[:n]]
        two = len({name for _, names in self.taught for name in names}) > 1
        guess = [self.classes[int(np.argmax(chances[row]))] if two else None for row in best]
        kind = "doubt" if two else "first"
        return [Pick(int(row), 0.0, kind, name) for row, name in zip(best, guess, strict=True)]

    def chances(self):
        if self.known is None:
            self.known = self._chances(self.rows)
        return self.known

    def chances_at(self, rows):
        return self.chances()[rows]

    def forecast(self, items):
        return self._chances([self._words(item) for item in items])

    def _chances(self, rows):
        counts = np.ones((len(self.words), max(2, len(self.classes))))
        for row, names in self.taught:
            for name in names:
                counts[self.rows[row], self.classes.index(name)] += 1
        weights = np.log(counts / counts.sum(axis=0))
        scores = np.array([weights[row].sum(axis=0) for row in rows]).reshape(len(rows), -1)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
        return odds / odds.sum(axis=1, keepdims=True)

    def snapshot(self):
        return list(self.rows), list(self.classes), list(self.taught), dict(self.words)

    def restore(self, snapshot):
        self.rows, self.classes, self.taught, self.words = map(copy, snapshot)
        self.known = None

    def digest(self):
        return sha256(json.dumps([len(self.rows), self.classes, self.taught]).encode()).hexdigest()

    def file(self):
        return b"the learner"

    def packing(self):
        packed = json.dumps([self.classes, self.taught]).encode()
        return lambda: packed

    def unpack(self, data, items):
        self.add_rows(items)
        self.classes, self.taught = json.loads(data)


@contextmanager
def service(folder, items=(), classes=CLASSES, **settings):
    """A service on a store in a folder; items and settings are given to a new store."""
    running = Service(open_store(folder / "labels.db"), Desk(WordLearner))
    try:

        def setup(method, *arguments):
            running.submit(lambda desk: getattr(desk, method)(*arguments, 0.0)).result()

        setup("add_classes", list(classes))
        setup("set", settings)
        setup("add_items", list(items))
        yield running
    finally:
        running.close()


@contextmanager
def server(service, **options):
    """A server of a service, in a thread, on a port of its own."""
    house = Server(service, **options)
    ready = threading.Event()
    thread = threading.Thread(target=house.run, args=(lambda address: ready.set(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield house
    finally:
        house.stop()
        thread.join(15)
        assert not thread.is_alive()
