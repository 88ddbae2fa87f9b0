"""Traffic whose kind changes: pages, slow servers, mail, a film, short messages."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from selectron.power.web import web_workload
from selectron.power.workload import Page, Push, Workload, check_counts

Draw = np.random.Generator
Item = Page | Push
SHORTEST_S, LONGEST_S = 300.0, 900.0
SLOW_SERVER_S = 0.25


class Regime(NamedTuple):
    """A kind of traffic, and how long it lasts."""

    kind: str
    lasts_s: float


def browse(rng: Draw, server_delay_s: float = 0.0) -> Iterator[Item]:
    """Load pages, as in `web_workload`."""
    while True:
        seed = int(rng.integers(2**62))
        yield from web_workload(20, seed, server_delay_s=server_delay_s).pages


def pushes(draw: Callable[[Draw], Push], rng: Draw) -> Iterator[Item]:
    """Let the server push again and again."""
    while True:
        yield draw(rng)


KINDS: dict[str, Callable[[Draw], Iterator[Item]]] = {
    "browse": browse,
    "slow servers": partial(browse, server_delay_s=SLOW_SERVER_S),
    # Mail, a small push every two minutes or so.
    "idle": partial(
        pushes, lambda rng: Push(float(rng.exponential(120.0)), int(rng.integers(200, 2000)))
    ),
    # A film, 60 kB every two seconds or so.
    "stream": partial(pushes, lambda rng: Push(float(rng.uniform(1.5, 2.5)), 60_000)),
    # Short messages, one every six seconds or so.
    "chat": partial(
        pushes, lambda rng: Push(float(rng.exponential(6.0)), int(rng.integers(80, 400)))
    ),
}


def draw_regimes(n: int, seed: int) -> tuple[Regime, ...]:
    """Draw kinds and lengths of 5 to 15 minutes; no kind follows itself."""
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])
    regimes: list[Regime] = []
    for _ in range(n):
        others = [kind for kind in KINDS if not regimes or kind != regimes[-1].kind]
        kind = others[int(rng.integers(len(others)))]
        regimes.append(Regime(kind, float(rng.uniform(SHORTEST_S, LONGEST_S))))
    return tuple(regimes)


def changing_workload(regimes: int = 12, seed: int = 1) -> Workload:
    """Draw traffic whose kind changes every 5 to 15 minutes.

    Parameters
    ----------
    regimes : int
        Number of regimes. A longer workload begins with the regimes of a shorter one.
    seed : int
        Seed of all draws.

    Examples
    --------
    >>> [regime.kind for regime in draw_regimes(4, seed=1)]
    ['browse', 'stream', 'idle', 'slow servers']
    >>> len(changing_workload(4, seed=1).pages)
    370
    """
    check_counts(seed, regimes=regimes)
    items: list[Item] = []
    streams = np.random.SeedSequence(seed).spawn(2)[1].spawn(regimes)
    for regime, source in zip(draw_regimes(regimes, seed), streams, strict=True):
        items += items_of(regime, np.random.default_rng(source))
    return Workload(tuple(items))


def items_of(regime: Regime, rng: Draw) -> Iterator[Item]:
    """Yield items until their pauses fill the regime; the last pause ends with the regime."""
    left = regime.lasts_s
    for item in KINDS[regime.kind](rng):
        yield item._replace(think_s=min(item.think_s, left))
        left -= item.think_s
        if left <= 0:
            return
