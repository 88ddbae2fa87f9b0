"""The labelling desk: answers a second, the wait for the next item, starts, restarts and undo.

These are seconds and bytes of this machine, not ratios, so the load beside them says how far they
can be believed. `python -m benchmarks.labelling FOLDER N` serves N texts, for the figures of a
whole server.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep, time

import numpy as np

from benchmarks.paired import Row
from selectron.labelling.desk import Desk
from selectron.labelling.learner import PoolLearner
from selectron.labelling.server.run import Server
from selectron.labelling.service import PACK_LESSONS, Service
from selectron.labelling.store import open_store

CLASSES = ["a", "b", "c", "d"]
CONNECTIONS, SECONDS = 64, 10.0
KEYS = 500
ARGUMENTS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking"
WATCH = """
window.waits = [];
let pressed = 0;
addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
new MutationObserver(() => requestAnimationFrame(() => {
  if (pressed) window.waits.push(performance.now() - pressed);
  pressed = 0;
})).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-question"] });
"""


def texts(n):
    """Return n short texts of four topics, always the same, and the topic of each."""
    draw = np.random.default_rng(0)
    share = 1.0 / np.arange(1, 20_001) ** 1.05
    common = draw.choice(20_000, (n, 12), p=share / share.sum())
    topics, own = draw.integers(0, 4, n), draw.integers(0, 300, (n, 4))
    items = [
        {
            "id": f"i{k}",
            "text": " ".join([f"w{j}" for j in common[k]] + [f"t{topics[k]}x{j}" for j in own[k]]),
        }
        for k in range(n)
    ]
    return items, [CLASSES[topic] for topic in topics]


def row(name, figure, gate, unit, *, faster=False):
    return Row(name, figure, gate, faster, unit, round(os.getloadavg()[0], 1))


def rows():
    warm()
    return [*desks(), *restart(), *server(), *keys()]


# --- a desk by itself


class Log:
    """A desk, and the events that it decided on."""

    def __init__(self, n):
        self.items, self.truth = texts(n)
        self.desk, self.events = Desk(PoolLearner), []

    def take(self, decision):
        for event in decision.events:
            self.events.append(event)
            self.desk.apply(event, len(self.events))
        return decision.reply

    def answer(self):
        """Answer a question; return how long the lesson and the next choice take."""
        question = self.take(self.desk.next("ann", 1, 0.0, 0.0))["questions"][0]
        label = self.truth[int(question["item"]["id"][1:])]
        id_ = f"a{len(self.desk.books.ids)}"
        self.take(self.desk.answer(id_, question["question"], label, "ann", 0.0, 0.0))
        return timed(self.desk.learn), timed(lambda: self.take(self.desk.choose(0.0)))


def timed(run):
    start = perf_counter()
    run()
    return perf_counter() - start


def resident(pid="self"):
    """Return the memory of a process, in megabytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def desks():
    found = []
    for n in (20_000, 100_000):
        log, size = Log(n), f"{n:,} texts"

        def start(log=log):
            log.take(log.desk.add_items(log.items, 0.0))
            log.take(log.desk.add_classes(CLASSES, 0.0))
            log.take(log.desk.choose(0.0))

        found.append(row(f"L1 {size}: start to first question", timed(start), 10.0, "s"))
        taken = np.array([log.answer() for _ in range(1000 if n == 20_000 else 200)]) * 1e3
        found += [
            row(f"L2 {size}: lesson, median", float(np.median(taken[:, 0])), 50.0, "ms"),
            row(f"L2 {size}: next choice, median", float(np.median(taken[:, 1])), 50.0, "ms"),
            row(f"L2 {size}: next choice, p95", quantiles(taken[:, 1], n=20)[-1], 50.0, "ms"),
            row(f"L2 {size}: memory", resident(), 1500.0, "MB"),
        ]
        if n == 20_000:
            found += undos(log)
    return found


def undos(log):
    """Undo answers of a desk with 1,000; measure what its learner computes to be without them."""
    found, last = [], len(log.desk.books.ids) - 1
    for name, number in (("last", last), ("900th", 899), ("500th", 499), ("1st", 0)):
        log.take(log.desk.undo(f"a{number}", "ann", 0.0))
        start = process_time()
        log.desk.learn()
        taken = (process_time() - start) * 1e3
        name = f"L3 undo of the {name} of 1,000 answers"
        found.append(row(f"{name}: processor time of the learner", taken, 100.0, "ms"))
    return found + durable_undos(log)


def durable_undos(log):
    """Undo answers of a service; measure until each is durable, and until its model follows."""
    found = []
    with TemporaryDirectory() as folder:
        store = open_store(str(Path(folder) / "labels.db"))
        store.append(log.events)
        service = Service(store, Desk(PoolLearner))
        service.read(lambda desk: desk.choose(0.0))  # it has looked over the items
        settling = ("997th", 996)  # beside the first snapshot of the learner
        for name, number in (settling, ("998th", 997), ("499th", 498), ("2nd", 1)):
            undo = partial(Desk.undo, id=f"a{number}", annotator="ann", at=0.0)
            name = f"L3 undo of the {name} of 1,000 answers"
            start = perf_counter()
            service.submit(undo).result()
            taken = (perf_counter() - start) * 1e3
            while service.read(lambda desk: desk.lessons_left):
                sleep(0.001)
            behind = (perf_counter() - start) * 1e3
            sleep(1.0)  # in which the learner is packed, beside whatever comes next
            if number == settling[1]:
                continue
            found.append(row(f"{name}: until it is durable", taken, 100.0, "ms"))
            found.append(row(f"{name}: until the model follows", behind, 200.0, "ms"))
        service.close()
    return found


def restart():
    """Start a desk that was killed after 10,000 answers, PACK_LESSONS after its snapshot."""
    log, n, tail = Log(20_000), 10_000, PACK_LESSONS
    log.take(log.desk.add_classes(CLASSES, 0.0))
    log.take(log.desk.add_items(log.items, 0.0))
    with TemporaryDirectory() as folder:
        address = str(Path(folder) / "labels.db")
        with open_store(address) as store:
            for k in range(n):
                if k == n - tail:
                    packed = len(log.events), *log.desk.packing()()
                given = (f"a{k}", None, log.truth[k], "ann", 0.0, 0.0, False, f"i{k}")
                log.take(log.desk.answer(*given))
            store.append(log.events)
            store.save_snapshot(*packed)
        start = perf_counter()
        service = Service(open_store(address), Desk(PoolLearner))
        taken = perf_counter() - start
        same = service.read(lambda desk: desk.learn().digest()) == log.desk.learn().digest()
        service.close()
    assert same
    return [row(f"L4 restart, 10,000 answers, {tail} of them learnt anew", taken, 2.0, "s")]


# --- a whole server


@contextmanager
def house(n):
    """Start a server of n texts in a process of its own; yield it, its address and the port."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.labelling", folder, str(n)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            address = process.stdout.readline().strip()
            yield process.pid, address, int(address.split(":")[2].split("/")[0])
        finally:
            process.terminate()
            process.wait(30)
            process.stdout.close()


def warm():
    """Compile all that a desk needs, or read it from the cache."""
    log = Log(60)
    log.take(log.desk.add_items(log.items, 0.0))
    log.take(log.desk.add_classes(CLASSES, 0.0))
    for _ in range(20):
        log.answer()
    log.desk.report()


def serve(folder, n):
    warm()
    items, _ = texts(n)
    service = Service(open_store(str(Path(folder) / "labels.db")), Desk(PoolLearner))
    service.submit(lambda desk: desk.add_classes(CLASSES, time())).result()
    service.submit(lambda desk: desk.add_items(items, time())).result()
    service.read(lambda desk: desk.choose(0.0))  # it has studied the items before anybody comes
    tokens = {f"the-token-of-annotator-{k}": f"p{k}" for k in range(CONNECTIONS)}
    Server(service, tokens=tokens).run(ready=lambda address: print(address, flush=True))
    service.close()


def server():
    """Let all connections label at once: what each finds in review, then what it is asked."""
    n, found = 40_000, []
    _, truth = texts(n)
    for name, way in (("answers in review", find), ("questions leased and answered", be_asked)):
        with house(n) as (pid, _, port):
            waits, memory = asyncio.run(crowd(pid, port, truth, way))
        first, last = memory[: len(memory) // 4], memory[-len(memory) // 4 :]
        name = f"L5 {CONNECTIONS} connections, durable {name}"
        found += [
            row(f"{name} a second", len(waits) / SECONDS, 1000.0, "/s", faster=True),
            row(f"{name}, p99", quantiles(waits, n=100)[-1] * 1e3, 250.0, "ms"),
            row(f"{name}, memory, last / first quarter", median(last) / median(first), 1.15, ""),
        ]
    return found


class Caller:
    """One connection of an annotator."""

    def __init__(self, k, port, streams):
        self.k, self.port = k, port
        self.reader, self.writer = streams

    async def call(self, method, path, body=None):
        """Return the status and what was replied."""
        text = "" if body is None else json.dumps(body)
        self.writer.write(
            f"{method} /api/v1/{path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
            f"Authorization: Bearer the-token-of-annotator-{self.k}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()
        )
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r")[0])
        return int(head.split()[1]), json.loads(await self.reader.readexactly(length))

    async def answer(self, **body):
        """Answer; return how long it took to be durable, or None where it was refused."""
        start = perf_counter()
        status, reply = await self.call("POST", "answers", body)
        if status not in (200, 409):  # 409: it is open in the queue, or somebody else has it
            raise RuntimeError(f"{status} {reply}")
        return perf_counter() - start if status == 200 else None


async def find(caller, truth):
    """Label a part of the items, one after the other."""
    for item in range(caller.k, len(truth), CONNECTIONS):
        yield await caller.answer(id=f"{caller.k}-{item}", item=f"i{item}", label=truth[item])


async def be_asked(caller, truth):
    """Label what the desk asks, two questions at a time, as the page does."""
    while True:
        _, reply = await caller.call("GET", "next?n=2")
        for asked in reply["questions"]:
            id_, label = asked["question"], truth[int(asked["item"]["id"][1:])]
            yield await caller.answer(id=f"{caller.k}-{id_}", question=id_, label=label)
        if not reply["questions"]:
            yield None
            await asyncio.sleep(0.02)


async def crowd(pid, port, truth, way):
    """Answer from all connections at once; return every wait, and the memory over time."""
    waits, memory, end = [], [], perf_counter() + SECONDS

    async def annotator(k):
        caller = Caller(k, port, await asyncio.open_connection("127.0.0.1", port))
        async for wait in way(caller, truth):
            if perf_counter() > end:
                break
            if wait is not None:
                waits.append(wait)
        caller.writer.close()

    async def watch():
        while perf_counter() < end:
            memory.append(resident(pid))
            await asyncio.sleep(0.1)

    await asyncio.gather(watch(), *(annotator(k) for k in range(CONNECTIONS)))
    return waits, memory


def keys():
    """Press a key in Chromium for every item; measure until the next one is painted."""
    chromium = os.environ.get("SELECTRON_TEST_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("L6 is skipped: there is no chromium on the path", file=sys.stderr)
        return []
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not needed without Chromium

    with house(20_000) as (_, address, _), sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium, args=ARGUMENTS.split())
        page = browser.new_context().new_page()
        page.add_init_script(WATCH)
        page.goto(address)
        shown = page.locator("[data-question]")
        shown.first.wait_for()
        for k in range(KEYS):
            before = shown.first.get_attribute("data-question")
            page.keyboard.press(str(1 + k % len(CLASSES)))
            page.locator(f'[data-question]:not([data-question="{before}"])').first.wait_for()
        waits = page.evaluate("window.waits")
        browser.close()
    return [
        row(f"L6 key to next item, {KEYS} answers, p95", quantiles(waits, n=20)[-1], 50.0, "ms")
    ]


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
