"""A store that consumes a stream and answers its questions, in a process that is killed."""

import os
from hashlib import sha256
from pathlib import Path
from random import Random
from time import sleep, time

import numpy as np

from selectron.labelling.desk import Desk
from selectron.labelling.intake import Intake
from selectron.labelling.learner import PoolLearner
from selectron.labelling.service import Service
from selectron.labelling.sources import source_of
from tests.labelling import office
from tests.labelling.faults.judge import reopened
from tests.labelling.faults.lives import HashingLearner, no_estimate

BATCH = 7
SLOW = 0.004  # seconds that the broker may take, so that kills hit while something is under way


class Oracle(HashingLearner):
    """A learner of three classes whose predictions depend on every bit of what it was told."""

    def forecast(self, items):
        names = [f"{self.state} {item['id']}" for item in items]
        chances = np.array([list(sha256(name.encode()).digest()[:3]) for name in names]) + 1.0
        return chances / chances.sum(axis=1, keepdims=True)


LEARNERS = {"oracle": Oracle, "pool": PoolLearner}


def prepare():
    """Compile what lives with the real learner need."""
    if os.environ.get("LEARNER") == "pool":
        from tests.labelling.faults import houses  # noqa: PLC0415 - it takes seconds

        houses.prepare()


class Hasty(Intake):
    """Settles messages before they are stored: what must not be."""

    def _bring(self, service, messages):
        source, settle = self.source, self.source.settle
        settle(messages, {})
        sleep(SLOW)
        source.settle = lambda messages, refused: None
        super()._bring(service, messages)
        source.settle = settle


def consume(url, stream, address, learner, seed=None, digest=None, control=False):
    """Take what is in the stream, answer what is asked, and write the digest of the desk.

    All questions are answered before the next batch is read, so that the log does not depend on
    when it happens.
    """
    make = Hasty if control else Intake
    intake = make(source_of(url, stream, "group", "store"), batch=BATCH)
    if seed is not None:
        slow_down(intake.source, Random(seed))
    service = Service(reopened(address), Desk(LEARNERS[learner], no_estimate))
    service.submit(lambda desk: desk.add_classes(office.CLASSES, time())).result()
    _, truth = office.tickets(1000)
    answer_all(service, truth)
    while intake.step(service):
        answer_all(service, truth)
    Path(digest).write_text(service.read(lambda desk: desk.digest()))
    service.close()


def answer_all(service, truth):
    def answer(question, item):
        return service.submit(
            lambda desk: desk.answer(f"id-{question}", question, truth[item], "me", 0.0, time())
        )

    def waiting(desk):
        books = desk.books
        return [(q.name, books.items[q.row]["id"]) for q in books.waiting.values()]

    for reply in [answer(*question) for question in service.read(waiting)]:
        reply.result()


def slow_down(source, coins):
    read, settle = source.read, source.settle

    def slow_read(most, seconds):
        messages = read(most, 0.02)
        sleep(coins.uniform(0, SLOW))
        return messages

    def slow_settle(messages, refused):
        sleep(coins.uniform(0, SLOW))
        settle(messages, refused)

    source.read, source.settle = slow_read, slow_settle
