"""Simulate a run in shards on up to a thousand nodes, from costs measured on this machine.

One process measures what every part of a round costs, on posts that are made up: reading a row and
making its features, sifting it, sharing the learner's states and taking them over, handing out a
job, teaching a row that was handed on, writing a checkpoint. A round then lasts as long as the
driver needs, plus as long as the slowest node needs; nodes have a core each, a shard each, and are
as fast as this one.
"""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import NamedTuple, TypeVar

import numpy as np

from selectron.classifier import SelectiveClassifier
from selectron.classifier.progress import watched_batch
from selectron.classifier.sifting import SAMPLE, from_bytes, sift, states_of, teach, to_bytes
from selectron.engines import Local
from selectron.engines.sift_and_teach import BETWEEN, Copies, Schedule, learner_of
from selectron.files import write_whole
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.report import Picture, finish, new_figure, table
from selectron.streams import FileRows
from selectron.streams.rows import RowBatch

POSTS, BLOCK, WORDS, VOCABULARY = 6_000, 1_000, 80, 20_000
CLASSES = ["no", "yes"]
NODES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
BANDWIDTH = 1.25e9  # bytes a second out of the driver: 10 Gbit/s, assumed and not measured
REPEATS = 5
SCHEDULE = Schedule()
ROUND_JOBS = 32


Found = TypeVar("Found")
Clock = Callable[[], float]


class Costs(NamedTuple):
    """Seconds of a processor, bytes and shares."""

    read: float  # a row: reading, parsing, features
    sift: float  # a row
    teach: float  # a row that was handed on
    share: float  # the states of the learner, once a round
    load: float  # these states, once a node and round
    job: float  # handing out a job and taking its result
    checkpoint: float  # in no more than a twentieth of the time
    states: int  # bytes
    handed_on: float  # share of the rows
    row_bytes: float  # of a row that was handed on


def jobs(seeds: int) -> list[int]:
    """Measure once; nothing is drawn but the posts."""
    return [0]


def measure(seed: int) -> Row:
    """Measure all costs on posts that are made up."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "posts.jsonl"
        path.write_text("".join(json.dumps(post) + "\n" for post in posts(seed)))
        return _costs(path, seed)._asdict()


def posts(seed: int) -> list[dict[str, str]]:
    """Make posts up: words by Zipf's law, two hundred of them more common in one of two groups."""
    rng = np.random.default_rng(seed)
    odds, leaning = 1.0 / np.arange(1, VOCABULARY + 1), np.zeros(VOCABULARY)
    leaning[20:220] = rng.choice([-1.0, 1.0], 200)
    made = []
    for label in rng.integers(2, size=POSTS).tolist():
        likely = odds * np.exp((2 * label - 1) * leaning)
        words = rng.choice(VOCABULARY, WORDS, p=likely / likely.sum())
        made.append({"text": " ".join(f"w{word}" for word in words), "label": CLASSES[label]})
    return made


def _costs(path: Path, seed: int) -> Costs:
    next(iter(FileRows(path, "label")))  # imports what features are made with
    read, (rows, (*batches, last)) = _timed(lambda: _read(path))
    learner = SelectiveClassifier(recipe=rows.recipe, random_state=seed)
    for batch in batches:
        watched_batch(learner, batch.X, batch.labels.__getitem__, CLASSES)
    file = to_bytes(learner)
    sift(from_bytes(file), last.X, POSTS)  # compiles
    copy = from_bytes(file)
    sifting, (sifted, _) = _timed(lambda: sift(copy, last.X, POSTS))
    label_of = last.labels.__getitem__
    teach(from_bytes(file), sifted, label_of)  # compiles
    pupil = from_bytes(file)
    teaching, _ = _timed(lambda: teach(pupil, sifted, label_of))
    n = len(sifted.positions)
    with Local(1) as engine:
        engine.map(abs, range(ROUND_JOBS))
        handing, _ = _timed(lambda: engine.map(abs, range(ROUND_JOBS)), perf_counter)
        copies = Copies(engine)
        shared = copies.of(learner)
        loading = _least(lambda: learner_of(shared))
        sharing = _least(lambda: copies.of(learner))
    checkpoint = path.with_name("checkpoint")
    writing, _ = _timed(lambda: write_whole(checkpoint, to_bytes(learner)), perf_counter)
    return Costs(
        read / POSTS, sifting / BLOCK, teaching / n, sharing, loading, handing / ROUND_JOBS,
        writing, len(pickle.dumps(states_of(learner))), float(sifted.asked.sum()) / BLOCK,
        len(pickle.dumps(sifted)) / n,
    )  # fmt: skip


def _read(path: Path) -> tuple[FileRows, list[RowBatch]]:
    rows = FileRows(path, "label")
    return rows, [*rows]


def _timed(work: Callable[[], Found], clock: Clock = process_time) -> tuple[float, Found]:
    began = clock()
    found = work()
    return clock() - began, found


def _least(work: Callable[[], object]) -> float:
    """Return the least of several times: whatever else runs here only adds to it."""
    return min(_timed(work)[0] for _ in range(REPEATS))


class Round(NamedTuple):
    """Seconds that a round takes."""

    nodes: float  # all sift at once
    driver: float  # packs, teaches, hands jobs out, writes
    network: float


def round_of(costs: Costs, nodes: int, rows: float, handed_on: float) -> Round:
    """Return how long a round takes on so many nodes, that hand on a share of its rows."""
    share = rows / nodes
    sampled = min(share, SAMPLE) * nodes
    taught = sampled + handed_on * max(rows - sampled, 0.0)
    sifting = costs.load + share * (costs.read + costs.sift)
    driver = costs.share + nodes * costs.job + taught * costs.teach
    network = (nodes * costs.states + taught * costs.row_bytes) / BANDWIDTH
    checkpoint = min(costs.checkpoint, (sifting + driver + network) / BETWEEN)
    return Round(sifting, driver + checkpoint, network)


def simulated(costs: Costs, nodes: int) -> Row:
    """Return rows a second in rounds of full size, if the share of questions stays and if it falls.

    The default asks about one row in so many that have gone by: once its mistakes are few, the
    share falls as the stream grows.
    """
    rows = SCHEDULE.most * nodes
    seen = rows / SCHEDULE.growth  # from here on rounds are of full size
    falling = min(costs.handed_on, costs.handed_on * POSTS / seen)
    found: Row = {"nodes": nodes}
    for name, share in (("stays", costs.handed_on), ("falls", falling)):
        whole = round_of(costs, nodes, rows, share)
        found[name] = rows / sum(whole)
        found |= {f"{part}_{name}": took / sum(whole) for part, took in whole._asdict().items()}
        found[f"limit_{name}"] = rows / (whole.driver + whole.network)
    return found


def report(found: list[tuple[int, Row]], seeds: int) -> Row:
    """Return the costs, a line for each number of nodes, and where half of the work is lost."""
    costs = Costs(**found[0][1])
    lines = [simulated(costs, n) for n in NODES]
    half: Row = {}
    for name in ("stays", "falls"):
        for line in lines:
            line[f"efficiency_{name}"] = line[name] / (line["nodes"] * lines[0][name])
        lost = (line["nodes"] for line in lines if line[f"efficiency_{name}"] < 0.5)
        half[name] = next(lost, None)
    return {"costs": costs._asdict(), "lines": lines, "half": half}


COSTS = {
    "read": "{:8.1f} us  read a row and make its features",
    "sift": "{:8.1f} us  sift a row",
    "teach": "{:8.1f} us  play a row that was handed on (the driver)",
    "job": "{:8.1f} us  hand out a job (the driver, a shard)",
    "share": "{:8.1f} us  share the learner's states (the driver, a round)",
    "load": "{:8.1f} us  take them over (a node, a round)",
    "checkpoint": "{:8.1f} us  write a checkpoint (the driver, in a twentieth of the time at most)",
}
COLUMNS = {
    "nodes": "{nodes:>6}",
    "rows/s (falls)": "{falls:>16,.0f}",
    "of one x nodes": "{efficiency_falls:>16.0%}",
    "driver": "{driver_falls:>8.0%}",
    "network": "{network_falls:>9.0%}",
    "rows/s (stays)": "{stays:>16,.0f}",
    "of that x nodes": "{efficiency_stays:>17.0%}",
    "the driver": "{driver_stays:>12.0%}",
}


def text(result: Row) -> str:
    """Write the costs, then a line for each number of nodes."""
    costs = result["costs"]
    said = [line.format(1e6 * costs[name]) for name, line in COSTS.items()]
    said.append(f"{costs['states'] / 1e6:8.1f} MB  the learner's states")
    said.append(f"{costs['handed_on']:8.1%}     of the rows are handed on, after {POSTS:,} rows")
    said.append(f"{costs['row_bytes']:8,.0f} bytes  a row that is handed on")
    last = result["lines"][-1]
    limits = [
        f"If the share {name}, the driver allows {last[f'limit_{name}']:,.0f} rows/s; "
        + (f"half of the nodes' work is lost from {half} nodes on." if half else
           "less than half of the nodes' work is lost.")
        for name, half in result["half"].items()
    ]  # fmt: skip
    return "\n".join([*said, "", *table(COLUMNS, result["lines"]), "", *limits])


def draw(result: Row) -> Picture:
    """Draw rows a second over nodes, beside what there would be without waiting."""
    figure, axes = new_figure(6.0, 4.0)
    lines = result["lines"]
    nodes = [line["nodes"] for line in lines]
    for name in ("falls", "stays"):
        rates = [line[name] for line in lines]
        axes.plot(nodes, rates, "o-", label=f"the share handed on {name}")
    axes.plot(nodes, [lines[0]["falls"] * n for n in nodes], "--", color="grey", label="no waiting")
    finish(axes, 9, xscale="log", yscale="log", xlabel="nodes", ylabel="rows/s")
    return figure
