"""kill -9 of a whole server while people answer over HTTP: nothing lost, nothing doubled."""

import random
import socket
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from time import monotonic, sleep

import httpx
import pytest

from selectron.client import CallRefused, Client
from selectron.labelling.store import open_store
from tests.labelling import office
from tests.labelling.conftest import SLOW_POSTGRES
from tests.labelling.faults import houses
from tests.labelling.faults.judge import check_digests, judge, reopened
from tests.labelling.faults.nursery import Nursery


@pytest.fixture(scope="module")
def nursery():
    with Nursery(module="houses", OPENBLAS_NUM_THREADS="1") as nursery:
        yield nursery


class Annotator(Thread):
    """Answers over HTTP, now and then twice; takes some answers back; keeps what it was told."""

    def __init__(self, name, port, acks, truth):
        super().__init__(daemon=True)
        self.called, self.acks, self.truth = str(name), acks, truth
        self.client = Client(f"http://127.0.0.1:{port}", houses.token_of(name), retries=2)
        self.coins = random.Random(name)
        self.done = Event()
        self.number = 0
        self.refused = set()

    def run(self):
        while not self.done.is_set():
            try:
                questions = self.client.next(n=2)["questions"]
                for question in questions:
                    sleep(self.coins.uniform(0, 0.3))
                    self.answer(question["question"], self.truth[question["item"]["id"]])
                sleep(0.0 if questions else 0.1)
            except CallRefused as refused:
                self.refused.add(refused.status)
            except httpx.TransportError:
                pass  # the house is down for longer than the client tries
        self.client.close()

    def answer(self, question, label):
        self.number += 1
        id_ = f"{self.called}-{self.number}"
        for _ in range(1 + (self.coins.random() < 0.05)):
            reply = self.client.answer(question, label, id=id_)
            self.note(self.called, id_, reply)
        if self.coins.random() < 0.05:
            self.note("undone", id_, self.client.undo(id_))

    def note(self, name, id_, reply):
        with (self.acks / name).open("a") as file:
            file.write(f"{id_} {reply['seq']}\n")


@contextmanager
def people(n, port, acks, truth):
    """Let n people annotate for as long as this block takes."""
    crew = [Annotator(name, port, acks, truth) for name in range(n)]
    for person in crew:
        person.start()
    try:
        yield crew
    finally:
        for person in crew:
            person.done.set()
    # A house must be up meanwhile, so that everybody hears of their last answer.
    for person in crew:
        person.join(60)
        assert not person.is_alive()


def heard(acks):
    return sum(len(path.read_text().split("\n")) - 1 for path in acks.glob("[0-9]*"))


def a_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


def kill_houses(nursery, acks, kills, seed, enough=lambda: False, **life):
    """End houses at random: most after some answers, some while they recover; one stays.

    A house begins within seconds, on a busy machine or with many items within half a minute.
    """
    coins = random.Random(seed)
    for _ in range(kills):
        if enough():
            break
        pid = nursery.start("serve", **life)
        wanted = heard(acks) + coins.randrange(1, 12) * (coins.random() < 0.8)
        end = monotonic() + 30
        while heard(acks) < wanted and monotonic() < end:
            sleep(0.01)
        sleep(coins.uniform(0, 0.1))
        nursery.kill(pid)
    return nursery.start("serve", **life)


def undone_but_not_kept(address, acks):
    """Return what people were told was undone, and is not in the log."""
    with reopened(address) as store:
        undone = {(e.body["id"], seq) for seq, e in store.events() if e.kind == "undone"}
    path = acks / "undone"
    told = [line.split() for line in path.read_text().split("\n") if line] if path.exists() else []
    return {(id_, int(seq)) for id_, seq in told} - undone


@pytest.mark.parametrize(
    ("kills", "annotators"), [(20, 8), pytest.param(500, 32, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("new_address", ["sqlite", "postgres"], indirect=True)
def test_no_answer_is_lost(nursery, address, acks, kills, annotators):
    items, truth = office.tickets(20 * kills)
    houses.begin(address, items)
    life = {"address": address, "port": a_port(), "annotators": annotators}
    with people(annotators, life["port"], acks, truth) as crew:
        last = kill_houses(nursery, acks, kills, 1, **life)
    nursery.kill(last)
    # 409: after a restart the question went to somebody else, who has answered it.
    assert set().union(*(person.refused for person in crew)) <= {409}
    check_digests(address, "pool")
    verdict = judge(address, acks)
    assert verdict.flaws == 0, verdict
    assert verdict.acknowledged > 4 * kills
    assert not undone_but_not_kept(address, acks)
    with open_store(address, readonly=True) as store:
        assert store.snapshot()  # or the digests have proved less


@pytest.mark.parametrize("new_address", ["sqlite", SLOW_POSTGRES], indirect=True)
def test_the_test_can_fail(nursery, address, acks):
    """Control: a service that answers before the commit."""
    items, truth = office.tickets(400)
    houses.begin(address, items)
    life = {"address": address, "port": a_port(), "annotators": 8, "control": True}
    with people(8, life["port"], acks, truth):
        lost = partial(has_lost, address, acks)
        last = kill_houses(nursery, acks, 10, 1, lost, **life)
    nursery.kill(last)
    assert judge(address, acks).lost


def has_lost(address, acks):
    """Tell whether somebody was told of an answer that is not in the log; no house runs."""
    return bool(heard(acks)) and judge(address, acks).lost > 0
