"""Are the estimates unbiased, and do the intervals hold? Thousands of runs with known labels."""

from collections.abc import Callable
from math import log, sqrt
from typing import Any

import numpy as np

from selectron.estimate import Estimate, Evidence
from selectron.experiments.estimate_coverage_report import plot, text
from selectron.experiments.estimate_runs import (
    CONSTRUCTIONS,
    LEVEL,
    Case,
    gather,
    judge,
    play,
)
from selectron.experiments.registry import Experiment
from selectron.queries import AdaptiveMargin, Auto, Balanced, Margin, Uniform
from selectron.updates import Perceptron, Ridge

FIRST_SEED = 10_000  # knobs and floors were settled on seeds below 400
RUNS, FLOOR_RUNS = 2000, 200
ROUNDS = 10_000
CASES = (
    Case("Perceptron + Margin(0.5)", Perceptron(), Margin(b=0.5), 0.02),
    Case("Perceptron + AdaptiveMargin(0.1)", Perceptron(), AdaptiveMargin(beta=0.1), 0.09),
    Case("Ridge + Margin(0.05)", Ridge(), Margin(b=0.05), 0.03),
    Case("Ridge + Uniform(0.05)", Ridge(), Uniform(rate=0.05), 0.05),
    Case("default, explore 0.02", None, Auto(explore=0.02), 0.02),
    Case("Perceptron + Margin(0.5), drift", Perceptron(), Margin(b=0.5), 0.02, "new concepts"),
    Case("Ridge + Uniform(0.05), drift", Ridge(), Uniform(rate=0.05), 0.05, "new concepts", 0.3),
    Case("default, explore 0.02, drift", None, Auto(explore=0.02), 0.02, "new concepts", 0.3),
)
FLOORS = tuple(
    Case(f"default, explore {f:g}", None, Auto(explore=f), f) for f in (0.005, 0.01, 0.05, 0.1)
)
HARD = Case("Ridge + Balanced()", Ridge(), Balanced(), 0.0)


def steps(seeds: int | None) -> int:
    return len(CASES) * (seeds or RUNS) + len(FLOORS) * (seeds or FLOOR_RUNS)


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Judge every case on its runs."""
    lines = []
    for cases, runs in ((CASES, RUNS), (FLOORS, FLOOR_RUNS)):
        for case in cases:
            found = []
            for k in range(seeds or runs):
                found.append(judge(case, FIRST_SEED + k, ROUNDS))
                tick()
            lines.append({"case": case.name, "floor": case.explore, **_summary(case, found)})
    hard = gather(HARD, play(HARD, FIRST_SEED, ROUNDS)).estimate()
    return {
        "experiment": "estimate-coverage",
        "rounds": ROUNDS,
        "level": LEVEL,
        "cases": lines,
        "hard": f"{HARD.name}: {hard}",
        "curve": _curve(CASES[4]),
    }


def _summary(case: Case, found: list[dict[str, Any]]) -> dict[str, Any]:
    def mean(name: str) -> Any:
        return np.mean([run[name] for run in found], axis=0).tolist()

    off = np.array([run["error"] - run["truth"] for run in found])
    guessed = np.array([run["guessed"] - run["truth"] for run in found])
    spread = float(off.std(ddof=1)) if len(found) > 1 else float("nan")
    labels, truth = mean("labels"), mean("truth")
    return {
        "runs": len(found),
        "labels": labels,
        "outside": mean("outside"),
        "truth": truth,
        "bias": float(off.mean()),
        "z": float(off.mean()) / (spread / sqrt(len(found))),
        "sd": spread,
        "sd_guessed": float(guessed.std(ddof=1)) if len(found) > 1 else float("nan"),
        "normal_off": mean("normal off"),
        "ratios_off": mean("ratios off"),
        "hoeffding": hoeffding(case.explore, ROUNDS - mean("outside")),
        "clopper_pearson": clopper_pearson(round(truth * labels), round(labels)),
        **{name: mean(name) for name in CONSTRUCTIONS},
        **{f"{name}_off": mean(f"{name} off") for name in CONSTRUCTIONS},
        **{f"{name}_windows_off": mean(f"{name} windows off") for name in CONSTRUCTIONS},
    }


def hoeffding(explore: float, rounds: float) -> float:
    """Return the half-width of Hoeffding's interval at one moment: a weight is up to 1/floor."""
    return sqrt(log(2.0 / (1.0 - LEVEL)) / (2.0 * rounds)) / explore


def clopper_pearson(wrong: int, labels: int) -> list[float]:
    """Return the exact interval from a random sample of as many labels, looked at once."""
    from scipy.stats import beta  # noqa: PLC0415 - half a second

    half = (1.0 - LEVEL) / 2.0
    low = float(beta.ppf(half, wrong, labels - wrong + 1)) if wrong else 0.0
    return [low, float(beta.ppf(1.0 - half, wrong + 1, labels - wrong))]


def _curve(case: Case) -> dict[str, list[float]]:
    """Return estimate, ends and truth over one run."""
    played = play(case, FIRST_SEED, ROUNDS)
    evidence = Evidence(case.explore)
    wrong = played.predicted != played.labels
    rounds: list[int] = []
    shown: dict[str, list[Estimate]] = {name: [] for name in CONSTRUCTIONS}
    truth, done = [], 0
    for k in range(100, ROUNDS + 1, 100):
        inside = int(np.searchsorted(played.rounds, k))
        told = done + np.flatnonzero(played.asked[done:inside])
        evidence.reach(k, outside=k - inside)
        evidence.add(
            played.rounds[told], played.odds[told], played.predicted[told], played.labels[told]
        )
        done = inside
        rounds.append(k)
        truth.append(float(wrong[:inside].mean()) if inside else 0.0)
        for name, construction in CONSTRUCTIONS.items():
            shown[name].append(evidence.estimate(LEVEL, construction=construction))
    curve: dict[str, Any] = {"rounds": rounds, "truth": truth}
    curve["estimate"] = [e.error for e in shown["thinning"]]
    for name, estimates in shown.items():
        curve[f"{name} low"] = [e.low for e in estimates]
        curve[f"{name} high"] = [e.high for e in estimates]
    return curve


ESTIMATE_COVERAGE = Experiment(
    "honest numbers: bias and coverage of the estimated error over 2,000 runs a learner",
    steps,
    run,
    text,
    plot,
)
