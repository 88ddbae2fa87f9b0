"""Compare the learning poller with its rivals on real HTTP requests, in a loop and in asyncio.

A server on this machine has an inbox. It fills by the clock in bursts, and a poll empties it.
"""

import asyncio
import json
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import NamedTuple

from selectron.power.polling import AdaptivePoller, BackOff, Bill, FixedInterval, bursts
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.report import Picture, finish, new_figure, table

SHORTEST, LONGEST = 0.005, 0.64
PRICES = (1.0, 30.0)  # of a poll, of a second's wait
DURATION = 10.0
FIRST_SEED = 21

Rival = AdaptivePoller | BackOff


class Inbox:
    """Items that arrive at given seconds from the start; each is handed out once."""

    def __init__(self, times: list[float]) -> None:
        self.times = times
        self.taken = 0
        self.lock = Lock()
        self.began = time.monotonic()

    def take(self) -> list[float]:
        """Hand out the items that have arrived: the seconds that each has waited."""
        with self.lock:
            now = time.monotonic() - self.began
            arrived = bisect_right(self.times, now)
            ages = [now - when for when in self.times[self.taken : arrived]]
            self.taken = arrived
        return ages


@contextmanager
def serve(inbox: Inbox) -> Iterator[int]:
    """Serve the inbox on a free port of the loopback device, and give the port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65_536  # head and body in one packet: no waiting for a delayed ACK

        def do_GET(self) -> None:
            body = json.dumps(inbox.take()).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a request is no event here."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


LEARNED = partial(AdaptivePoller, SHORTEST, LONGEST, *PRICES)
FIXED = [SHORTEST * 2**k for k in range(8)]
# Functions that make a fresh schedule, by name.
RIVALS: dict[str, Callable[[], Rival]] = {
    "learned": LEARNED,
    "learned, asyncio": LEARNED,
    "back-off": partial(BackOff, SHORTEST, LONGEST),
    **{f"fixed {x * 1000:g} ms": partial(FixedInterval, x) for x in FIXED},
}


def arrivals(seed: int, duration: float) -> list[float]:
    """Draw bursts of some 15 items within a tenth of a second, one every second or so."""
    drawn = bursts(seed, gap=1.0, size=15.0, rate=150.0, duration=duration)
    times: list[float] = drawn.times.tolist()
    return times


class Client:
    """Polls an inbox until every item has come, and adds up what that costs."""

    def __init__(self, schedule: Rival, inbox: Inbox, port: int) -> None:
        self.schedule, self.inbox = schedule, inbox
        self.connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self.ages: list[float] = []

    def fetch(self) -> list[float]:
        """Poll once; return the ages of the items found."""
        self.connection.request("GET", "/")
        ages: list[float] = json.loads(self.connection.getresponse().read())
        return ages

    def observe(self, found: list[float]) -> bool:
        """Tell the schedule how many items were found; return whether all items have come."""
        self.schedule.observe(len(found))
        self.ages += found
        return len(self.ages) >= len(self.inbox.times)

    def bill(self) -> Bill:
        return Bill(self.schedule.n_polls, len(self.ages), sum(self.ages))


def poll(schedule: Rival, inbox: Inbox, port: int) -> Bill:
    """Poll until every item has come."""
    client = Client(schedule, inbox, port)
    with closing(client.connection):
        for _ in schedule:
            if client.observe(client.fetch()):
                break
    return client.bill()


async def poll_async(schedule: Rival, inbox: Inbox, port: int) -> Bill:
    """Do as `poll` in a coroutine; the request itself runs in a thread."""
    client = Client(schedule, inbox, port)
    with closing(client.connection):
        async for _ in schedule:
            if client.observe(await asyncio.to_thread(client.fetch)):
                break
    return client.bill()


def play(name: str, times: list[float]) -> Bill:
    """Run one schedule against a server of its own."""
    schedule, inbox = RIVALS[name](), Inbox(times)
    with serve(inbox) as port:
        if name.endswith("asyncio"):
            return asyncio.run(poll_async(schedule, inbox, port))
        return poll(schedule, inbox, port)


class Job(NamedTuple):
    """One schedule on the arrivals of one seed, in real time."""

    seed: int
    schedule: str


def jobs(seeds: int) -> list[Job]:
    return [Job(FIRST_SEED + k, name) for k in range(seeds) for name in RIVALS]


def measure(job: Job) -> Bill:
    return play(job.schedule, arrivals(job.seed, DURATION))


def report(found: list[tuple[Job, Bill]], seeds: int) -> Row:
    rows = [job._asdict() | {"cost": bill.cost(*PRICES)} | bill._asdict() for job, bill in found]
    return {"seeds": seeds, "rows": rows}


def text(result: Row) -> str:
    """Write what each schedule cost."""
    rows = [row | {"wait": 1000 * row["waited_s"] / row["items"]} for row in result["rows"]]
    columns = {
        "seed": "{seed:4d}", " schedule": " {schedule:<18s}", "polls": "{polls:8d}",
        "items": "{items:8d}", "wait, ms": "{wait:10.1f}", "cost": "{cost:10.1f}",
    }  # fmt: skip
    return "\n".join([
        f"Polling a bursty inbox over HTTP for {DURATION:g} s, intervals {1000 * SHORTEST:g} to "
        f"{1000 * LONGEST:g} ms; a poll costs {PRICES[0]:g}, an item's second {PRICES[1]:g}.",
        "",
        *table(columns, rows),
    ])  # fmt: skip


def draw(result: Row) -> Picture:
    """Draw the cost of each schedule."""
    figure, axes = new_figure(8, 4)
    for seed, rows in sorted(grouped((row["seed"], row) for row in result["rows"]).items()):
        axes.plot([r["cost"] for r in rows], [r["schedule"] for r in rows], "o", label=seed)
    finish(axes, xscale="log", xlabel="cost")
    axes.invert_yaxis()
    axes.legend(title="seed")
    return figure
