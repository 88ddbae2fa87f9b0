"""Web pages drawn from empirical distributions: how long users think, how much they fetch.

The counts are Bruce Mah's, from packet traces at Berkeley, as distributed with ns-2 2.35
(tcl/http/data). A copy comes with the package, under the licence in ``traffic/LICENSE``. The same
numbers are read from a data directory when one is given.
"""

import gzip
import json
import os
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from selectron.arrays import Vector
from selectron.power.workload import Fetch, Page, Workload, check_counts

DATA_FILE = "ns2_web_cdfs.json.gz"
NAMES = {
    "think_s": "http/HttpThinkTime",
    "images": "http/HttpConnections",
    "request": "http/HttpRequestLength",
    "reply": "http/HttpReplyLength",
}


@dataclass(frozen=True)
class Empirical:
    """The values seen, and how often each was seen. Every draw is one of these values."""

    values: Vector
    counts: Vector

    def at_most(self, limit: float) -> "Empirical":
        """Keep the values up to ``limit``, as if larger draws were rejected."""
        keep = self.values <= limit
        if not keep.any():
            raise ValueError(f"no value is at most {limit!r}; the least is {self.values.min():g}")
        return Empirical(self.values[keep], self.counts[keep])

    def quantile(self, uniform: Vector) -> Vector:
        """Turn numbers in [0, 1) into draws, as ns-2 does, without interpolation between values."""
        cumulative = np.cumsum(self.counts)
        drawn: Vector = self.values[
            np.searchsorted(cumulative, uniform * cumulative[-1], side="right")
        ]
        return drawn

    @property
    def mean(self) -> float:
        return float(np.sum(self.values * self.counts) / np.sum(self.counts))


def web_distributions(data: str | Path | None = None) -> dict[str, Empirical]:
    """Load the distributions ``think_s``, ``images``, ``request`` and ``reply``.

    Parameters
    ----------
    data : str or Path, optional
        Directory with ``ns2_web_cdfs.json.gz``. By default the file is looked for in the directory
        that the environment variable SELECTRON_DATA names, then in the package.
    """
    directory = data if data is not None else os.environ.get("SELECTRON_DATA")
    path = Path(directory) / DATA_FILE if directory else None
    if data is not None and path is not None and not path.is_file():
        raise FileNotFoundError(
            f"{path} is not there; leave the data directory out to use the package's own copy"
        )
    if path is not None and path.is_file():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            points = json.load(file)
        tables = {name: [row[:2] for row in points[key]] for name, key in NAMES.items()}
    else:
        text = files("selectron.power").joinpath("traffic/web.json").read_text(encoding="utf-8")
        tables = json.loads(text)
    arrays = {name: np.array(tables[name], dtype=np.float64) for name in NAMES}
    return {name: Empirical(rows[:, 0], rows[:, 1]) for name, rows in arrays.items()}


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
        Number of pages. A longer workload begins with the pages of a shorter one.
    seed : int
        Seed of all draws.
    server_delay_s : float
        Seconds that the server takes for each reply; [Mon06] gives no figure.
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
    check_counts(seed, pages=pages)
    tables = web_distributions(data)
    tables["think_s"] = tables["think_s"].at_most(longest_think_s)
    # Each kind of draw has its own generator, so more pages never change the first ones.
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
