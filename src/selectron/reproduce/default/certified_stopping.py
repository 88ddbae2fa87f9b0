"""Measure the labels after which a goal is certified, and how often a wager is wrong.

Real streams: the default learner with `stop_when`, in fresh orders. Made-up streams: the same bets
against mistakes of seven kinds, 10,000 runs each, looked at in every round.
"""

from collections.abc import Callable
from functools import cache
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron import SelectiveClassifier
from selectron.arrays import Flags, Matrix, Vector
from selectron.estimate.profile import GUESS, RANKS, STEEP, STRENGTH
from selectron.estimate.wager import LEVEL, SHARES_OF_FLOOR, WEIGHTS, Wager
from selectron.evaluate import Trace, progressive
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.problems import (
    count_words,
    needed_data_folder,
    read_documents,
    read_pixels,
    require_file,
)
from selectron.reproduce.harness.report import Picture, finish, lay_out, new_figure
from selectron.streams import drifting

FIRST_SEED = 2000  # constants were chosen with seeds below 1,100
AFTER = 500  # rounds after the stop in which the error is looked at
DIRECTIONS = 100  # of the articles
LENGTHS = {0.1: 4_000, 0.05: 4_000, 0.03: 6_000, 0.015: 12_000}  # rows by goal


# --- real streams


class Stream(NamedTuple):
    name: str
    goals: tuple[float, ...]
    rows: Callable[[], tuple[Matrix, Flags]]
    times: int = 1  # as many seeds


@cache
def digits(file: str, negative: int | None, positive: int) -> tuple[Matrix, Flags]:
    """Return two digits of MNIST or USPS, or one against the rest."""
    pixels, classes = read_pixels(file)
    kept = (
        np.full(len(classes), True) if negative is None else np.isin(classes, (negative, positive))
    )
    return pixels[kept].astype(float), classes[kept] == positive


@cache
def made_up() -> tuple[Matrix, Flags]:
    """Return one stream of a fixed concept, long enough for many orders."""
    stream = drifting("stationary", seed=0, n=20_000, noise=0.0)
    return stream.X, stream.y > 0


@cache
def earnings() -> tuple[Matrix, Flags]:
    """Return articles in their hundred leading directions, those about earnings against others."""
    from sklearn.decomposition import TruncatedSVD  # noqa: PLC0415 - costs a second
    from sklearn.feature_extraction.text import TfidfTransformer  # noqa: PLC0415

    folder = needed_data_folder("certified-stopping", "Reuters-21578")
    documents = [d for d in read_documents(folder / "reuters21578.jsonl.gz")
                 if d["modapte"] in ("train", "test")]  # fmt: skip
    words = TfidfTransformer(sublinear_tf=True).fit_transform(count_words(documents))
    rows = TruncatedSVD(DIRECTIONS, random_state=0).fit_transform(words)
    return rows, np.array(["earn" in document["topics"] for document in documents])


STREAMS = {
    stream.name: stream
    for stream in (
        Stream("MNIST 4 v 7", (0.05, 0.03), lambda: digits("mnist.npz", 4, 7), times=4),
        Stream("MNIST 0 v 1", (0.05, 0.03), lambda: digits("mnist.npz", 0, 1)),
        Stream("USPS 0 v rest", (0.05, 0.03), lambda: digits("usps.npz", None, 0)),
        Stream("made up, no noise", (0.05, 0.03), made_up),
        Stream("Reuters earn", (0.05,), earnings),
        Stream("MNIST 3 v 5", (0.1,), lambda: digits("mnist.npz", 3, 5)),
    )
}


def require_streams() -> None:
    """Refuse to begin where a data set is missing."""
    folder = needed_data_folder("certified-stopping", "MNIST, USPS and Reuters-21578")
    for file in ("mnist.npz", "usps.npz", "reuters21578.jsonl.gz"):
        require_file(folder / file)


class Job(NamedTuple):
    """A run of the learner on a stream, or all runs of a simulated case."""

    name: str
    goal: float
    measure: str
    seed: int


def jobs(seeds: int) -> list[Job]:
    runs = [
        Job(stream.name, goal, measure, FIRST_SEED + k)
        for stream in STREAMS.values()
        for goal in stream.goals
        for measure, n in (("error", stream.times * seeds), ("risk", seeds))
        for k in range(n)
    ]
    cases = [Job(name, EPSILON, "", CASE_SEED + k) for k, name in enumerate(CASES)]
    return [*runs, *cases]


def measure(job: Job) -> Row:
    if job.name in CASES:
        return simulate(CASES[job.name], RUNS, ROUNDS, seed=job.seed)
    return stop(job)


def stop(job: Job) -> Row:
    """Run a stream in a fresh order; return when it stopped, and what was true by then."""
    X, y = STREAMS[job.name].rows()
    order = np.random.default_rng(job.seed).permutation(len(y))[: LENGTHS[job.goal]]
    learner = SelectiveClassifier(stop_when=f"{job.measure}<={job.goal}")
    trace = progressive(learner, X[order], y[order], seed=job.seed)
    at = trace.learner.stopped_at_
    if at is None:
        return job._asdict() | {"round": None, "labels": trace.n_asked}
    wager: Wager = trace.learner._started().ledger.certifying.wager  # type: ignore[union-attr]
    after = trace.mistakes[at : at + AFTER]
    return job._asdict() | {
        "round": at,
        "labels": trace.n_asked,
        "before": int(trace.asked[: wager.starts[0].opened].sum()),
        "share": max(share_since(trace, start.opened, at, wager.floor) for start in wager.won()),
        "after": float(after.mean()) if len(after) else 0.0,
    }


def share_since(trace: Trace, start: int, stop: int, floor: float) -> float:
    """Return the share of mistakes among the rounds that count."""
    counted = trace.probabilities[start:stop] >= floor
    return float(trace.mistakes[start:stop][counted].mean())


# --- made-up mistakes, all runs at once

RUNS, ROUNDS = 10_000, 4_000
EPSILON, FLOOR = 0.05, 0.2
CASE_SEED = 100  # each case has its own draws
RULE = 0.02  # share of the rows that the learner's own rule asks


class Past(NamedTuple):
    """What a case may look at: everything before the row, and how unsure the row is."""

    t: int
    mistakes: Vector  # in each run so far
    unseen: Flags  # whether the last mistake was not asked
    rank: Vector  # of this row's certainty, in [0, 1)


Case = Callable[[Past], tuple[Vector, Vector]]  # odds of a mistake given the row, and before it


def _by_bin(q: Vector) -> Case:
    sizes = np.diff([0.0, *RANKS, 1.0])

    def case(past: Past) -> tuple[Vector, Vector]:
        k = np.searchsorted(RANKS, past.rank, side="right")
        return q[k], np.full(len(k), float(sizes @ q))

    return case


def _scaled(q: Vector) -> Vector:
    """Scale errors by bin so that their mean is the goal."""
    sizes = np.diff([0.0, *RANKS, 1.0])
    scaled: Vector = np.minimum(q * EPSILON / float(sizes @ q), 1.0)
    return scaled


def _drift(past: Past) -> tuple[Vector, Vector]:
    q = np.full(len(past.rank), EPSILON * (1.0 + 0.9 * np.sin(past.t / 200.0)))
    return q, q


def _holding(least_rank: float) -> Case:
    """Be wrong on rows from a rank on whenever the share of mistakes is below the goal."""

    def case(past: Past) -> tuple[Vector, Vector]:
        behind = past.mistakes < EPSILON * (past.t + 1)
        wrong = behind & (past.rank >= least_rank)
        return wrong.astype(float), behind * (1.0 - least_rank)

    return case


def _feedback(past: Past) -> tuple[Vector, Vector]:
    """Be wrong more often after a mistake that nobody saw."""
    q = np.where(past.unseen, 2.0 * EPSILON, 0.5 * EPSILON)
    return q, q


CASES: dict[str, Case] = {
    "calibrated": _by_bin(_scaled(GUESS)),
    "reversed": _by_bin(_scaled(GUESS[::-1].copy())),
    "flat noise": _by_bin(_scaled(np.ones(len(GUESS)))),
    "drift": _drift,
    "held at the goal": _holding(0.0),
    "held on sure rows": _holding(0.5),
    "feedback on coins": _feedback,
}


def simulate(
    case: Case, runs: int, rounds: int, *, seed: int = 0, share: float = 1.0 - LEVEL
) -> Row:
    """Return the share of runs in which the upper end is ever below the truth: error, and risk.

    The upper end lies below the truth where the bets at the true total reach 1/share.
    """
    rng = np.random.default_rng(seed)
    rates = FLOOR * np.array(SHARES_OF_FLOOR)
    weights, gains = np.log(WEIGHTS), -np.log1p(-rates)
    labels, wrong = np.zeros((runs, len(GUESS))), np.zeros((runs, len(GUESS)))
    mistakes, risk, sums = np.zeros(runs), np.zeros(runs), np.zeros((runs, len(rates)))
    unseen, each = np.zeros(runs, bool), np.arange(runs)
    off = np.zeros((2, runs), bool)
    for t in range(rounds):
        rank = rng.random(runs)
        odds_of_mistake, before = case(Past(t, mistakes, unseen, rank))
        bin_: NDArray[np.int64] = np.searchsorted(RANKS, rank, side="right")
        q = (wrong[each, bin_] + (GUESS * STRENGTH)[bin_]) / (labels[each, bin_] + STRENGTH[bin_])
        odds = np.minimum(FLOOR * np.sqrt(1.0 + STEEP * q * (1.0 - q) / EPSILON), 1.0)
        odds[rank < RULE] = 1.0
        missed = rng.random(runs) < odds_of_mistake
        asked = rng.random(runs) < odds
        labels[each[asked], bin_[asked]] += 1.0
        seen = asked & missed
        wrong[each[seen], bin_[seen]] += 1.0
        sums[seen] += np.log1p(-rates / odds[seen, np.newaxis])
        unseen = np.where(missed, ~asked, unseen)
        mistakes, risk = mistakes + missed, risk + before
        for k, (total, gain) in enumerate(((mistakes, gains), (risk, rates))):
            bets = np.logaddexp.reduce(weights + gain * total[:, np.newaxis] + sums, axis=1)
            off[k] |= bets >= -log(share)
    return {"error": float(off[0].mean()), "risk": float(off[1].mean()), "runs": runs}


# --- the report


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    return {
        "runs": [row for job, row in found if job.name not in CASES],
        "coverage": [{"case": job.name} | row for job, row in found if job.name in CASES],
    }


def text(result: Row) -> str:
    """Write a line a stream and goal, then a line a simulated case."""
    rows = [["stream", "goal", "runs", "certified", "labels (10-50-90 %)", "before the start",
             "wrong", "later above"]]  # fmt: skip
    for (name, goal), runs in _groups(result).items():
        stopped = [run for run in runs if run["round"] is not None]
        bound = runs[0]["goal"]
        rows.append([
            name, goal, str(len(runs)), str(len(stopped)), _middle(_labels(runs)),
            f"{np.median([run['before'] for run in stopped]):.0f}" if stopped else "-",
            str(sum(run["share"] > bound for run in stopped)),
            str(sum(run["after"] > bound for run in stopped)),
        ])  # fmt: skip
    lines = lay_out(rows)
    if result["coverage"]:
        cover = [["mistakes", "runs", "error, %", "risk, %"]]
        cover += [[c["case"], f"{c['runs']:,}", f"{100 * c['error']:.1f}", f"{100 * c['risk']:.1f}"]
                  for c in result["coverage"]]  # fmt: skip
        lines += ["", "Runs whose upper end was ever below the truth (5 % allowed):", "",
                  *lay_out(cover)]  # fmt: skip
    return "\n".join(lines)


def _groups(result: Row) -> dict[tuple[str, str], list[Row]]:
    return grouped(
        ((run["name"], f"{run['measure']}<={run['goal']:g}"), run) for run in result["runs"]
    )


def _labels(runs: list[Row]) -> list[float]:
    return [run["labels"] if run["round"] is not None else np.inf for run in runs]


def _middle(labels: list[float]) -> str:
    found = np.quantile(labels, (0.1, 0.5, 0.9), method="nearest")
    return " - ".join("never" if np.isinf(n) else f"{n:,.0f}" for n in found)


def draw(result: Row) -> Picture:
    """Draw how the share of certified runs rises with the labels."""
    figure, (left, right) = new_figure(10, 4, 1, 2)
    for axes, measure_ in ((left, "error"), (right, "risk")):
        for (name, goal), runs in _groups(result).items():
            if goal.startswith(measure_):
                labels = np.sort(_labels(runs))
                share = np.arange(1, len(labels) + 1) / len(labels)
                axes.step(labels, 100 * share, where="post", label=f"{name}, {goal}")
        finish(axes, legend=6, xscale="log", xlabel="labels asked", ylabel="certified runs, %",
               title=f"goal for the {measure_}")  # fmt: skip
    return figure
