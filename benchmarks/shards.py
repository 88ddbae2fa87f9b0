"""Runs in shards: two workers beside one on text, and what a round costs besides its rows.

It needs two cores that nobody else uses: a run with two workers has a driver beside them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.paired import Row
from selectron.reproduce.default.nodes import measure, posts

COPIES = 96  # of the posts, so that starting is little of the whole
ROUNDS = 2


def rows() -> list[Row]:
    load = round(os.getloadavg()[0], 1)
    costs = measure(0)
    a_round = 1000.0 * (costs["share"] + costs["load"])
    return [
        Row("shards, rows/s of two workers / of one", _speed_up(), 1.7, True, load=load),
        Row("shards, a round: states shared and taken over", a_round, 20.0, unit=" ms", load=load),
        Row("shards, a shard of a round", 1000.0 * costs["job"], 1.0, unit=" ms", load=load),
    ]


def _speed_up() -> float:
    """Return the least time of a run with one worker over that with two, taken in turns."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "posts.jsonl"
        path.write_text("".join(json.dumps(post) + "\n" for post in posts(0)) * COPIES)
        taken: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(ROUNDS):
            for workers, times in taken.items():
                times.append(_seconds(path, workers))
    return min(taken[1]) / min(taken[2])


def _seconds(path: Path, workers: int) -> float:
    options = ["--target", "label", "--engine", "local", "--workers", str(workers)]
    command = [sys.executable, "-m", "selectron", "run", str(path), *options]
    # Where byte code may not be written, every worker compiles its imports: seconds of each.
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(path.parent)}
    began = perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | kept)
    return perf_counter() - began
