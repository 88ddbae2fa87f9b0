"""Pages as people browse them, drawn from the empirical distributions."""

from pathlib import Path

import numpy as np

from selectron.power.distributions import web_distributions
from selectron.power.workload import Fetch, Page, Workload


def web_workload(
    pages: int = 100,
    seed: int = 1,
    *,
    server_delay_s: float = 0.0,
    longest_think_s: float = 1000.0,
    data: str | Path | None = None,
) -> Workload:
    """Draw a user's browsing from the empirical distributions ([Mon06] section 2.5.4).

    Parameters
    ----------
    pages : int
        Web transfers. The first pages of a longer workload are those of a shorter one.
    seed : int
        Everything is drawn from it.
    server_delay_s : float
        Time the server takes for each reply; [Mon06] gives no figure.
    longest_think_s : float
        Longer pauses are drawn again; at 1000 s the mean is 52.9 s.
    data : str or Path, optional
        See `web_distributions`.

    Examples
    --------
    >>> think_s, (document, *images) = web_workload(pages=2, seed=1).pages[0]
    >>> think_s, document, len(images)
    (30.025, Fetch(request=201, reply=219, delay_s=0.0), 1)
    """
    if pages < 1 or pages != int(pages):
        raise ValueError(f"pages={pages!r} must be a whole number, at least 1")
    if seed < 0:
        raise ValueError(f"seed={seed!r} must be 0 or more")
    tables = web_distributions(data)
    tables["think_s"] = tables["think_s"].at_most(longest_think_s)
    # A stream of its own for each kind of draw: more pages never change the first ones.
    streams = np.random.SeedSequence(seed).spawn(4)
    generators = dict(zip(tables, map(np.random.default_rng, streams), strict=True))

    def draw(kind: str, n: int) -> list[float]:
        drawn: list[float] = tables[kind].quantile(generators[kind].random(n)).tolist()
        return drawn

    thinks = draw("think_s", pages)
    objects = [1 + round(images) for images in draw("images", pages)]
    sizes = iter(zip(draw("request", sum(objects)), draw("reply", sum(objects)), strict=True))
    return Workload(
        tuple(
            Page(think_s, tuple(make_fetch(*next(sizes), server_delay_s) for _ in range(n)))
            for think_s, n in zip(thinks, objects, strict=True)
        )
    )


def make_fetch(request: float, reply: float, delay_s: float) -> Fetch:
    """Read the distributions' length 0 as 1000 bytes, as ns-2's http.tcl does."""
    return Fetch(round(request) or 1000, round(reply) or 1000, delay_s)
