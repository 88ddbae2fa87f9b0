"""What happens in the processes that are killed, cut off or starved."""

import json
import os
import resource
from hashlib import sha256
from pathlib import Path
from threading import Thread
from time import monotonic, sleep, time

import numpy as np

from selectron.labelling import service as service_module
from selectron.labelling.desk import Decision, Desk, Pick
from selectron.labelling.events import Event
from selectron.labelling.learner import PoolLearner
from selectron.labelling.service import Service, Stopped
from selectron.labelling.store import StoreError, open_store, postgres, sqlite
from tests.labelling.tally import Tally

ITEMS = 2000


class HashingLearner:
    """A learner whose state is a hash over all it was told, in order."""

    def __init__(self, settings):
        self.state, self.rows = sha256(b"").hexdigest(), 0

    def _take(self, *what):
        self.state = sha256(repr((self.state, what)).encode()).hexdigest()

    def add_rows(self, items):
        self.rows += len(items)
        self._take(items)

    def add_classes(self, names):
        self._take(names)

    def teach(self, lessons):
        for row, label in lessons:
            self._take(row, label)

    def chances(self):
        return np.full((self.rows, 2), 0.5)

    def chances_at(self, rows):
        return self.chances()[rows]

    def choose(self, n, free):
        return [Pick(int(row), None, "first", None) for row in np.flatnonzero(free)[:n]]

    def snapshot(self):
        return self.state, self.rows

    def restore(self, snapshot):
        self.state, self.rows = snapshot

    def digest(self):
        return self.state

    def packing(self):
        packed = f"{self.state} {self.rows}".encode()
        return lambda: packed

    def unpack(self, data, items):
        state, rows = data.decode().split()
        assert int(rows) == len(items)
        self.state, self.rows = state, int(rows)


def no_estimate(records, unlabelled, level):
    return {"error": 0.5, "low": 0.0, "high": 1.0, "audits": len(records)}


def new_desk(name):
    if name == "pool":
        return Desk(PoolLearner)
    return Tally() if name == "tally" else Desk(HashingLearner, no_estimate)


def begin(address, desk):
    """Make a store with what the desk needs before anybody can answer."""
    service = Service(open_store(address), new_desk(desk))
    if desk == "desk":
        items = [{"id": f"i{k}", "text": "some text"} for k in range(ITEMS)]
        service.submit(lambda desk: desk.add_items(items, time())).result()
        service.submit(lambda desk: desk.add_classes(["a", "b"], time())).result()
    service.close()


class Client:
    """One annotator: what they were told is on a file of their own, which no fault touches."""

    def __init__(self, service, folder, name):
        self.service, self.name = service, str(name)
        path = Path(folder, self.name)
        told = path.read_text().split("\n") if path.exists() else []
        self.number = len({line.split()[0] for line in told if line})  # the first one not told
        self.file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def answer(self):
        """Answer one question; the same one again if the last life did not hear of it."""
        self._send(self.number)
        if self.number % 20 == 7:
            self._send(self.number - 3)  # a client that sends twice
        self.number += 1

    def _send(self, number):
        id_ = f"{self.name}-{number}"
        if isinstance(self.service._desk, Tally):
            reply = self.service.submit(lambda desk: desk.answer(id_, "ab"[number % 2])).result()
        else:
            reply = self._answer_question(id_, "ab"[number % 2])
        os.write(self.file, f"{id_} {reply['seq']}\n".encode())

    def _answer_question(self, id_, label):
        def ask(desk):
            return desk.next(self.name, 1, monotonic(), time())

        while not (questions := self.service.submit(ask).result()["questions"]):
            sleep(0.005)
        question = questions[0]["question"]
        return self.service.submit(
            lambda desk: desk.answer(id_, question, label, self.name, monotonic(), time())
        ).result()


class HastyService(Service):
    """Answers before the commit: what must not be."""

    haste = 0.002  # seconds between the answer and the commit

    def _commit(self, calls):
        events = []
        with self._busy:
            for call in calls:
                reply = self._decide(call.command, events)
                if isinstance(reply, Exception):
                    call.future.set_exception(reply)
                else:
                    call.future.set_result(reply)
            sleep(self.haste)
            self._store.append(events)


class ForgetfulTally(Tally):
    """Does not look whether an id was there before."""

    def answer(self, id, label):
        event = Event("answered", {"id": id, "label": label}, 0.0)
        return Decision([event], {"seq": self.last + 1, "durable": True})


def annotate(address, acks, threads, desk="tally", control=None):
    """Answer as fast as possible, until the end."""
    service_module.PACK_LESSONS = 16
    make = HastyService if control == "hasty" else Service
    if control == "doubled":
        for store in (sqlite, postgres):
            store.MIGRATIONS[0] = store.MIGRATIONS[0].replace(" UNIQUE", "")
    books = ForgetfulTally() if control == "doubled" else new_desk(desk)
    while True:
        try:
            service = make(open_store(address), books)
            break
        except StoreError:  # the server has not noticed yet that the last life ended
            sleep(0.01)
    clients = [Client(service, acks, name) for name in range(threads)]

    def work(client):
        while True:
            client.answer()

    running = [Thread(target=work, args=(client,)) for client in clients]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def annotate_until_stopped(address, acks, limit=None, most=60, fault=None):
    """Answer until the service stops, if it does; after that nothing more may be taken."""
    os.environ.update(fault or {})
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        service = Service(open_store(address), Tally())
    except (StoreError, OSError) as error:
        Path(acks, "refused").write_text(f"{type(error).__name__}: {error}")
        return
    client = Client(service, acks, 0)
    try:
        for _ in range(most):
            client.answer()
    except Stopped as stopped:
        Path(acks, "stopped").write_text(str(stopped))
        for number in range(100, 110):
            try:
                service.submit(lambda desk, id_=f"x{number}": desk.answer(id_, "a"))
            except Stopped:
                continue
            raise AssertionError("a stopped service took a call") from None
        assert service.read(lambda desk: len(desk.answers)) >= client.number
        assert len(list(service._store.events())) >= client.number
    service.close()


def annotate_once(address, acks, answers, synchronous="FULL", checkpoint=1000):
    """Answer so many times, with snapshots and checkpoints on the way."""
    service_module.PACK_LESSONS = 13
    sqlite.PRAGMAS |= {"synchronous": synchronous, "wal_autocheckpoint": str(checkpoint)}
    store = open_store(address)
    client = Client(Service(store, Tally()), acks, 0)
    while client.number < answers:
        client.answer()
    with store._lock:  # an event of the service's own has its mark too
        os._exit(0)  # without a checkpoint at the end


def hold(address, ready):
    """Hold the store until killed."""
    with open_store(address):
        Path(ready).touch()
        sleep(60)


def annotate_by_the_clock(address, acks, jumps, seen):
    """Set the clock, answer, and let a lease run out, in turn; tell how long the leases took."""
    begin(address, "desk")
    service = Service(open_store(address), new_desk("desk"), tick=0.05)
    short = Event("settings", {"lease_seconds": 0.3}, time())
    service.submit(lambda desk: Decision([short], {})).result()
    client, leases = Client(service, acks, 0), []
    for jump in jumps:
        os.environ["CLOCK_JUMP"] = jump
        for _ in range(10):
            client.answer()
        ask = service.submit(lambda desk: desk.next("idle", 1, monotonic(), time()))
        number = int(ask.result()["questions"][0]["question"][1:])
        start = monotonic()
        while service.read(lambda desk, number=number: number in desk.books.leased):
            sleep(0.005)
        leases.append(monotonic() - start)
    service.close()
    digest = service.read(lambda desk: desk.digest())
    Path(seen).write_text(json.dumps({"leases": leases, "digest": digest}))
