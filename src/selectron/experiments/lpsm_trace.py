"""LPSM on recorded traffic, in units of its loss ([Mon06], section 2.5.4, "trace-based").

The thesis has the UC Berkeley Home IP trace, which cannot be had here. Its stand-in is an hour of
one client in the log of the EPA's web server. That log has no ends of transfers, so each is given
the length its bytes take over a modem, and they are spread over it in bins of 10 ms, as there.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.experiments.traces import busy_clients, epa_requests, within_the_second
from selectron.experts import LearnAlpha
from selectron.power.policies.lpsm import DelayAndEnergy, inverse

BIN_MS = 10
MODEM_BYTES_PER_S = 3600.0  # 28.8 kbit/s
HOUR_S = 3600
SLEEPS_MS = 100.0 * np.arange(1, 11)
LOSS = DelayAndEnergy(1e-7, inverse)
HORIZON = 27_000  # as in LPSM: 45 minutes of beacons


class Transfers(NamedTuple):
    """When each begins, how long it lasts, and its bytes."""

    start_s: Vector
    length_s: Vector
    bytes: Vector


class TraceRun(NamedTuple):
    """Every wake-up: ms slept before it, losses of LPSM and of each expert, weights before it."""

    slept_ms: Vector
    loss: Vector
    expert_losses: Matrix
    weights: Matrix


def stand_in(folder: Path) -> Transfers:
    """Return the busiest hour of the client with the most requests."""
    requests = within_the_second(epa_requests(folder))
    counts = [(len(requests.of(client).time_s), -client) for client in busy_clients(requests)]
    mine = requests.of(-max(counts)[1])
    hours = (mine.time_s // HOUR_S).astype(np.int64)
    hour = int(np.bincount(hours).argmax())
    chosen = hours == hour
    sizes = mine.bytes[chosen]
    return Transfers(mine.time_s[chosen] - hour * HOUR_S, sizes / MODEM_BYTES_PER_S, sizes)


def bytes_by_bin(transfers: Transfers, duration_s: float) -> Vector:
    """Spread the bytes of each transfer evenly over the bins it spans."""
    bins = np.zeros(int(duration_s * 1000) // BIN_MS)
    for start, length, size in zip(*transfers, strict=True):
        first = int(start * 1000) // BIN_MS
        last = min(int((start + length) * 1000) // BIN_MS, len(bins) - 1)
        bins[first : last + 1] += size / (last + 1 - first)
    return bins


def run_lpsm(bins: Vector) -> TraceRun:
    """Sleep for the experts' mean time (2.32), and charge them by (2.35); ours is (2.34)."""
    arrived = np.concatenate([[0.0], np.cumsum(bins)])
    experts = LearnAlpha(len(SLEEPS_MS), horizon=HORIZON)
    rows: list[tuple[float, float, Vector, Vector]] = []
    now = 0
    while True:
        weights = experts.weights
        slept = max(1, round(experts.predict(SLEEPS_MS) / BIN_MS))
        if now + slept > len(bins):
            break
        waiting = round(float(arrived[now + slept] - arrived[now]))
        slept_ms = float(slept * BIN_MS)
        own = float(LOSS(np.array([slept_ms]), slept_ms, waiting)[0])
        losses = LOSS(SLEEPS_MS, slept_ms, waiting)
        experts.update(losses)
        rows.append((slept_ms, own, losses, weights))
        now += slept
    slept_all, own_all, losses_all, weights_all = zip(*rows, strict=True)
    return TraceRun(
        np.array(slept_all), np.array(own_all), np.array(losses_all), np.array(weights_all)
    )
