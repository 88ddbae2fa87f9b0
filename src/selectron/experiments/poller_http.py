"""The learning poller on real requests: a bursty inbox behind HTTP, in a loop and in asyncio."""

import asyncio
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from selectron.evaluate.plots import write_figure
from selectron.experiments.inbox_server import Inbox, fetch, serve
from selectron.experiments.registry import Experiment
from selectron.power.polling import AdaptivePoller, BackOff, Bill, FixedInterval, bursts

SHORTEST, LONGEST = 0.005, 0.64
PRICES = (1.0, 30.0)  # of a poll, of a second's wait
DURATION = 10.0
FIRST_SEED = 21

Rival = AdaptivePoller | BackOff


def rivals() -> dict[str, Callable[[], Rival]]:
    """Return a fresh schedule by name."""
    fixed = [SHORTEST * 2**k for k in range(8)]
    return {
        "learned": _learned,
        "learned, asyncio": _learned,
        "back-off": lambda: BackOff(SHORTEST, LONGEST),
        **{f"fixed {x * 1000:g} ms": _fixed(x) for x in fixed},
    }


def _learned() -> Rival:
    return AdaptivePoller(SHORTEST, LONGEST, *PRICES)


def _fixed(interval: float) -> Callable[[], Rival]:
    return lambda: FixedInterval(interval)


def arrivals(seed: int, duration: float) -> list[float]:
    """Draw bursts of some 15 items within a tenth of a second, one every second or so."""
    drawn = bursts(seed, gap=1.0, size=15.0, rate=150.0, duration=duration)
    times: list[float] = drawn.times.tolist()
    return times


def poll(schedule: Rival, inbox: Inbox, port: int) -> Bill:
    """Poll until every item has come."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    ages: list[float] = []
    for _ in schedule:
        found = fetch(connection)
        schedule.observe(len(found))
        ages += found
        if len(ages) >= len(inbox.times):
            break
    connection.close()
    return Bill(schedule.n_polls, len(ages), sum(ages))


async def poll_async(schedule: Rival, inbox: Inbox, port: int) -> Bill:
    """Do as `poll` in a coroutine; the request itself runs in a thread."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    ages: list[float] = []
    async for _ in schedule:
        found = await asyncio.to_thread(fetch, connection)
        schedule.observe(len(found))
        ages += found
        if len(ages) >= len(inbox.times):
            break
    connection.close()
    return Bill(schedule.n_polls, len(ages), sum(ages))


def play(name: str, times: list[float]) -> Bill:
    """Run one schedule against a server of its own."""
    schedule, inbox = rivals()[name](), Inbox(times)
    with serve(inbox) as port:
        if name.endswith("asyncio"):
            return asyncio.run(poll_async(schedule, inbox, port))
        return poll(schedule, inbox, port)


def steps(seeds: int | None) -> int:
    return (seeds or 1) * len(rivals())


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Poll in real time, one schedule after the other."""
    rows = []
    for seed in range(FIRST_SEED, FIRST_SEED + (seeds or 1)):
        times = arrivals(seed, DURATION)
        for name in rivals():
            bill = play(name, times)
            rows.append({"seed": seed, "schedule": name, "cost": bill.cost(*PRICES)})
            rows[-1] |= bill._asdict()
            tick()
    return {"experiment": "poller-http", "seeds": seeds or 1, "rows": rows}


def text(result: dict[str, Any]) -> str:
    """Print what each schedule cost."""
    lines = [
        f"Polling a bursty inbox over HTTP for {DURATION:g} s, intervals {1000 * SHORTEST:g} to "
        f"{1000 * LONGEST:g} ms; a poll costs {PRICES[0]:g}, an item's second {PRICES[1]:g}.",
        "",
        f"{'seed':>4s} {'schedule':18s}{'polls':>8s}{'items':>8s}{'wait, ms':>10s}{'cost':>10s}",
    ]
    for row in result["rows"]:
        wait = 1000 * row["waited_s"] / row["items"]
        lines.append(
            f"{row['seed']:4d} {row['schedule']:18s}{row['polls']:8d}{row['items']:8d}"
            f"{wait:10.1f}{row['cost']:10.1f}"
        )
    return "\n".join(lines)


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw the cost of each schedule."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for seed in sorted({row["seed"] for row in result["rows"]}):
        rows = [row for row in result["rows"] if row["seed"] == seed]
        axes.plot([r["cost"] for r in rows], [r["schedule"] for r in rows], "o", label=seed)
    axes.set(xscale="log", xlabel="cost")
    axes.invert_yaxis()
    axes.grid(alpha=0.3)
    axes.legend(title="seed")
    write_figure(figure, path)


POLLER_HTTP = Experiment(
    "AdaptivePoller on a real HTTP server of this machine, in a loop and in asyncio; real time",
    steps,
    run,
    text,
    plot,
)
