"""The reproduction of bias and coverage, on a few seeds."""

import json

import pytest

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.default.estimate_coverage import (
    CASES,
    FLOORS,
    clopper_pearson,
    hoeffding,
)

EXPERIMENT = EXPERIMENTS["estimate-coverage"]


@pytest.fixture(scope="module")
def result():
    ticks = []
    found = EXPERIMENT.run(2, lambda: ticks.append(1))
    assert len(ticks) == EXPERIMENT.steps(2)
    return found


def test_every_case_has_its_lines(result):
    text = EXPERIMENT.text(json.loads(json.dumps(result)))
    for case in (*CASES, *FLOORS):
        assert text.count(f"\n{case.name} ") == 2
    assert "no upper end" in text


def test_the_picture_is_drawn(result, tmp_path):
    EXPERIMENT.plot(result, tmp_path / "coverage.png")
    assert (tmp_path / "coverage.png").stat().st_size > 10_000


def test_the_intervals_it_is_held_against():
    low, high = clopper_pearson(3, 100)  # tables: 0.6 to 8.5 %
    assert (round(low, 3), round(high, 3)) == (0.006, 0.085)
    assert clopper_pearson(0, 10)[0] == 0.0
    assert hoeffding(1.0, 10_000) == pytest.approx(0.0136, abs=1e-4)
    assert hoeffding(0.1, 10_000) == pytest.approx(0.136, abs=1e-3)
