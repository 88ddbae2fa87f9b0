"""Streams of arrivals to poll for, drawn from a seed."""

from typing import NamedTuple

import numpy as np

from selectron.arrays import Vector

DAY = 86_400.0


class Arrivals(NamedTuple):
    """When items arrive, and how long the stream lasts, in seconds."""

    times: Vector
    duration: float


def poisson(seed: int, *, rate: float = 1 / 30, duration: float = DAY) -> Arrivals:
    """Draw items that arrive independently of each other, `rate` a second."""
    generator = np.random.default_rng([seed, 0])
    count = generator.poisson(rate * duration)
    return Arrivals(np.sort(generator.random(count)) * duration, duration)


def bursts(
    seed: int, *, gap: float = 900.0, size: float = 30.0, rate: float = 0.5, duration: float = DAY
) -> Arrivals:
    """Draw bursts that begin at random: `size` items on average, `rate` a second."""
    generator = np.random.default_rng([seed, 1])
    begins = np.sort(generator.random(generator.poisson(duration / gap))) * duration
    sizes = generator.geometric(1 / size, len(begins))
    waits = [np.cumsum(generator.exponential(1 / rate, n)) for n in sizes]
    parts = [begin + wait for begin, wait in zip(begins, waits, strict=True)]
    times = np.concatenate([np.empty(0), *parts])
    return Arrivals(np.sort(times[times < duration]), duration)


def on_off(
    seed: int,
    *,
    on: float = 20.0,
    off: float = 120.0,
    shape: float = 1.5,
    rate: float = 0.5,
    duration: float = DAY,
) -> Arrivals:
    """Draw a source that is on and off for times with a Pareto tail, `on` and `off` at least."""
    generator = np.random.default_rng([seed, 2])
    parts, now = [np.empty(0)], 0.0
    while now < duration:
        now += off * (1 + generator.pareto(shape))
        length = on * (1 + generator.pareto(shape))
        parts.append(now + np.sort(generator.random(generator.poisson(rate * length))) * length)
        now += length
    times = np.concatenate(parts)
    return Arrivals(times[times < duration], duration)
