"""The empirical web traffic that ns-2 ships: how long users think, how much they fetch.

Bruce Mah's counts from packet traces at Berkeley, as distributed with ns-2 2.35 (tcl/http/data).
A copy comes with the package, under the licence in ``traffic/LICENSE``; the same numbers are read
from a data directory when one is given.
"""

import gzip
import json
import os
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from selectron.arrays import Vector

DATA_FILE = "ns2_web_cdfs.json.gz"
NAMES = {
    "think_s": "http/HttpThinkTime",
    "images": "http/HttpConnections",
    "request": "http/HttpRequestLength",
    "reply": "http/HttpReplyLength",
}


@dataclass(frozen=True)
class Empirical:
    """Values seen, and how often: a draw is one of them."""

    values: Vector
    counts: Vector

    def at_most(self, limit: float) -> "Empirical":
        """Condition on a value of ``limit`` or less: what rejecting the larger draws would give."""
        keep = self.values <= limit
        if not keep.any():
            raise ValueError(f"no value is at most {limit!r}; the least is {self.values.min():g}")
        return Empirical(self.values[keep], self.counts[keep])

    def quantile(self, uniform: Vector) -> Vector:
        """Turn numbers in [0, 1) into draws, as ns-2 does: no interpolation between values."""
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
        Directory with ``ns2_web_cdfs.json.gz``. Without it the directory in the environment
        variable SELECTRON_DATA is looked at, and then the copy in the package is used.
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
