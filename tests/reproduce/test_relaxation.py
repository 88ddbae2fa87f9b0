"""The relaxation alpha of the modified Perceptron, by dimension ([DKM09], section 5)."""

import numpy as np
import pytest

from selectron.queries import Always
from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.dkm09 import World, relaxation
from selectron.reproduce.dkm09.relaxation import ALL, BAND, efold, least, verdicts
from selectron.updates import Reflection


@pytest.mark.parametrize("d", [3, 5, 10, 100])
def test_reflecting_and_projecting_are_equally_good_and_between_them_is_better(d):
    assert efold(d, 1.0) == pytest.approx(efold(d, 2.0), rel=1e-4)
    assert efold(d, 1.5) < efold(d, 1.25) < efold(d, 1.0) < efold(d, 0.5)


def test_in_many_dimensions_the_mean_of_a_step_is_all_that_counts():
    for alpha in (0.5, 1.0, 1.5, 2.0):
        assert efold(10**5, alpha) / 10**5 == pytest.approx(1 / (alpha - alpha**2 / 3), rel=1e-3)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 2.0])
def test_the_rule_itself_makes_the_mistakes_that_are_computed(alpha):
    d, counts = 5, []
    for seed in range(40):
        passed = []
        for tally, error in World(Reflection(alpha), Always(), d, seed).by_rows(20_000):
            passed.append((tally.mistakes, np.log(error)))
        (first, high), (last, low) = passed[3], passed[-1]
        counts.append([last - first, high - low])
    mistakes, efolds = np.sum(counts, axis=0)
    assert mistakes / efolds == pytest.approx(efold(d, alpha), rel=0.1)


def cell(query, d, alpha, mean, error=0.1, reach=1.0, raised=0):
    return {"query": query, "d": d, "alpha": alpha, "mean": mean, "error": error, "reach": reach,
            "updates": 10, "raised": raised, "efold": efold(d, alpha)}  # fmt: skip


def result(best=(1.5, 1.5), raised=0, reach=1.0):
    """Return cells in which these alphas are best at d = 5 and d = 10, by 1 an alpha."""
    cells = [
        cell(query, d, alpha, 10.0 + abs(alpha - wanted), raised=raised,
             reach=reach if alpha == 1.0 else 1.0)
        for query in (ALL, BAND) for d, wanted in zip((5, 10), best, strict=True)
        for alpha in relaxation.ALPHAS
    ]  # fmt: skip
    found = [{"query": query, "d": d}
             | least([c for c in cells if (c["query"], c["d"]) == (query, d)])
             for query in (ALL, BAND) for d in (5, 10)]  # fmt: skip
    return {"finest": 0.01, "cells": cells, "best": found}


def said(of):
    return [each["verdict"] for each in verdicts(of)]


def test_verdicts():
    held, refuted = "holds", "does not hold"
    assert said(result()) == [held, held, refuted, refuted, held]
    assert said(result(best=(1.0, 2.0))) == [held, held, held, held, refuted]
    assert said(result(best=(1.5, 2.0)))[4] == "holds in part (1 of 2)"
    assert said(result(raised=1))[0] == refuted
    assert said(result(reach=0.5))[1] == refuted
    asked = [each["claim"].startswith("question: ") for each in verdicts(result())]
    assert asked == [False, False, True, True, True]


def test_means_within_two_standard_errors_are_not_told_apart():
    some = [cell(ALL, 5, 1.0, 10.0), cell(ALL, 5, 1.5, 10.2), cell(ALL, 5, 2.0, 10.3)]
    assert least(some) == {"alpha": 1.0, "close": [1.0, 1.5]}
    assert least([cell(ALL, 5, 1.0, 10.0, reach=0.5)]) == {"alpha": None, "close": []}


def test_the_experiment_on_a_small_grid(monkeypatch, tmp_path):
    monkeypatch.setattr(relaxation, "DIMENSIONS", (5,))
    monkeypatch.setattr(relaxation, "ALPHAS", (1.0, 2.0))
    experiment = EXPERIMENTS["dkm09-relaxation"]
    found = experiment.run(2, lambda: None)
    runs = [relaxation.measure(relaxation.Job(ALL, 5, 2.0, seed)) for seed in range(2)]
    mean = np.mean([run.tallies[-1].mistakes for run in runs])
    assert next(c for c in found["cells"] if (c["query"], c["alpha"]) == (ALL, 2.0))["mean"] == mean
    shown = experiment.text(found)
    for words in ("mistakes / d, every label", "labels / d, inside the band", f"{mean / 5:.2f}",
                  "computed, a factor e of the error", "question: the best alpha"):  # fmt: skip
        assert words in shown
    experiment.plot(found, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
