"""Verdicts follow from the numbers: those that bear a claim out, and the same ones changed."""

from copy import deepcopy

import pytest

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.dkm09 import labels as dkm09
from selectron.reproduce.harness.experiment import verdict
from selectron.reproduce.mon06 import regret, sleeping, table_4_1, trace
from selectron.reproduce.ss05 import figure_3

PAPERS = ("dkm09", "mon06", "ss05", "cbgz06")


def said(verdicts):
    return [each["verdict"] for each in verdicts]


@pytest.mark.parametrize("name", [n for n in EXPERIMENTS if n.startswith(PAPERS)])
def test_every_experiment_of_a_paper_judges_its_claims(name):
    assert getattr(EXPERIMENTS[name].study, "verdicts", None)


def test_nothing_measured_is_no_verdict():
    assert verdict("c", "o", [])["verdict"] == "not measured"


def sphere(power=2.5, bent=False, rate=6.0, labels=(40, 200, 900), rows=1e6):
    def dkm(d, slope):
        straight = [10 * d + slope * d * k for k in range(5)]
        return {
            "learner": "Reflection + Halving", "d": d, "errors": [10.0**-k for k in range(1, 6)],
            "labels": [v**2 for v in straight] if bent else straight,
            "mistakes": [30.0] * 5, "rows": [rows] * 5,
            "labels_per_d_and_efold": slope, "power_of_one_over_error": 0.2,
        }  # fmt: skip

    perceptron = {
        "learner": "Perceptron + Always", "d": 10, "errors": [0.1, 0.05, 0.02],
        "labels": list(labels), "labels_per_d_and_efold": 9.0, "power_of_one_over_error": power,
    }  # fmt: skip
    return {"curves": [dkm(10, 6.0), dkm(50, rate), perceptron]}


def test_labels_on_the_sphere():
    assert said(dkm09.verdicts(sphere())) == ["holds"] * 5
    assert said(dkm09.verdicts(sphere(bent=True)))[0] == "does not hold"
    assert said(dkm09.verdicts(sphere(rate=12.0)))[1] == "holds in part (1 of 2)"
    assert said(dkm09.verdicts(sphere(rows=1e30)))[2] == "holds in part (20 of 30)"
    assert said(dkm09.verdicts(sphere(labels=(0, 0, 1))))[3] == "does not hold"
    assert said(dkm09.verdicts(sphere(power=1.6)))[4] == "does not hold"
    assert said(dkm09.verdicts({"curves": []})) == ["not measured"] * 5


def test_sleeping_times():
    runs = [
        {"policy": policy, "seed": 1, "share_of_100_ms_after_data": 0.9,
         "share_not_shorter_in_silence": 1.0, "back_off_s": back_off}
        for policy, back_off in (("lpsm-1/T", 40.0), ("lpsm-1/logT", 3.0))
    ]  # fmt: skip
    assert said(sleeping.judge_sleeps({"runs": runs})) == ["holds"] * 3
    runs[0]["back_off_s"] = None  # never
    assert said(sleeping.judge_sleeps({"runs": runs}))[2] == "holds"
    runs[0] |= {"share_of_100_ms_after_data": 0.3, "back_off_s": 5.0}
    runs[1]["share_not_shorter_in_silence"] = 0.9
    part = "holds in part (1 of 2)"
    assert said(sleeping.judge_sleeps({"runs": runs})) == [part, part, "does not hold"]


def policies():
    def row(policy, energy, beacons, over_static, slowdown):
        return {"policy": policy, "energy_vs_static": energy, "beacons_vs_static": beacons,
                "slowdown_vs_static": over_static, "slowdown": slowdown}  # fmt: skip

    first = [row("lpsm-1/T", 0.934, 0.711, 1.02, 2.1), row("lpsm-1/logT", 0.815, 0.193, 1.19, 2.4)]
    later = [row("lpsm-1/logT", 0.816, 0.181, 1.2, 2.4)]
    bounded = ("bsd-100", 0.87, 0.1, 0.5, 1.1)
    return {"rows": {"a": [*first, row(*bounded)], "b": [*later, row(*bounded)]}}


def test_energy_and_slowdown_of_pages():
    result = policies()
    assert said(sleeping.judge_energy(result)) == ["holds"] * 4
    assert said(sleeping.judge_slowdown(result)) == ["holds"] * 2
    ours, bounded = result["rows"]["a"][0], result["rows"]["a"][-1]
    ours |= {"energy_vs_static": 1.1, "beacons_vs_static": 0.4, "slowdown_vs_static": 1.4}
    bounded |= {"energy_vs_static": 0.8, "slowdown": 2.2}
    parts = [f"holds in part ({most})" for most in ("2 of 3", "2 of 3", "2 of 3", "1 of 2")]
    assert said(sleeping.judge_energy(result)) == parts
    assert said(sleeping.judge_slowdown(result)) == parts[:2]


def single_pages(short, long):
    def run(policy, ratios):
        latencies = [0.1 * (k + 1) * ratio for k, ratio in enumerate(ratios)]
        return [{"policy": policy, "duration_s": 9.0, "awake_s": 1.0, "beacons": 3,
                 "latencies_s": latencies, "diary": None}]  # fmt: skip

    slowed = [short] + [1.1] * 8 + [long]
    names = {"none": [1.0] * 10, "static": [1.0] * 10, "lpsm-1/T": slowed, "lpsm-1/logT": slowed}
    return {"trials": {"a": {name: run(name, ratios) for name, ratios in names.items()}}}


def test_slowdown_of_single_pages():
    assert said(sleeping.judge_pages(single_pages(1.15, 1.02))) == ["holds"] * 3
    assert said(sleeping.judge_pages(single_pages(1.5, 1.3))) == [
        "holds in part (1 of 2)", "does not hold", "holds",
    ]  # fmt: skip
    assert said(sleeping.judge_pages(single_pages(1.0, 1.1)))[2] == "does not hold"


def test_a_trace():
    result = {
        "wake_ups": 100,
        "losses": {"share_within_a_tenth_of_current_best": 0.8, "current_best_changes": 3,
                   "experts_beaten_in_the_first_ten": 5},
        "weights": {"first_change": 4, "heaviest_changes": 2, "least_weight": 0.01,
                    "worst_once_and_best_later_ms": [300.0]},
        "competition": {"loss": 1.5, "current_best": 1.0, "best_fixed": 2.0,
                        "ahead_of_best_fixed_from": 40},
    }  # fmt: skip
    other = {
        "wake_ups": 100,
        "losses": {"share_within_a_tenth_of_current_best": 0.1, "current_best_changes": 0,
                   "experts_beaten_in_the_first_ten": 4},
        "weights": {"first_change": None, "heaviest_changes": 0, "least_weight": 0.0,
                    "worst_once_and_best_later_ms": []},
        "competition": {"loss": 0.5, "current_best": 1.0, "best_fixed": 0.4,
                        "ahead_of_best_fixed_from": 100},
    }  # fmt: skip
    for judge in (trace.judge_losses, trace.judge_weights):
        assert said(judge(result)) == ["holds"] * 3
        assert said(judge(other)) == ["does not hold"] * 3
    assert said(trace.judge_competition(result)) == ["holds"] * 3
    assert said(trace.judge_competition(other)) == ["does not hold", "does not hold", "holds"]
    other["competition"]["loss"] = 2.5
    assert said(trace.judge_competition(other))[2] == "does not hold"


def regrets(learnt=0.5, power=1.0, at_most=1e9):
    return {"rows": [
        {"kind": kind, "T": 10**k, "learn_alpha": 2.0 + learnt * 2.302585 * k,
         "learn_alpha_at_most": 4.0 + 0.6 * 2.302585 * k,
         "fixed_share": [{"regret": 10.0 ** (power * k), "at_least": 0.0, "at_most": at_most}] * 2}
        for kind in regret.KINDS for k in (2, 3, 4)
    ]}  # fmt: skip


def test_regrets():
    assert said(regret.verdicts(regrets())) == ["holds"] * 4
    assert said(regret.verdicts(regrets(learnt=1.5)))[:2] == ["does not hold"] * 2
    assert said(regret.verdicts(regrets(at_most=5000.0)))[2] == "holds in part (8 of 12)"
    assert said(regret.verdicts(regrets(power=0.5)))[3] == "does not hold"


@pytest.fixture
def thesis():
    """The table with the thesis's own numbers as ours."""
    cells = [
        {"algorithm": name, "problem": k, "mean": mean, "sd": deviation, "ratio_to_thesis": 1.0}
        for name, row in table_4_1.TABLE.items()
        for k, (mean, deviation) in enumerate(row)
    ]
    return {"cells": cells, "comparisons": table_4_1._comparisons(cells)}


def test_the_thesis_bears_out_its_own_table(thesis):
    assert said(table_4_1.verdicts(thesis)) == ["holds"] * 6


def test_another_table_does_not(thesis):
    other = deepcopy(thesis)
    for cell in other["cells"]:
        if cell["algorithm"] == "random + Perceptron":
            cell |= {"mean": 1.0, "sd": 1.0, "ratio_to_thesis": 0.01}
    other["comparisons"] = table_4_1._comparisons(other["cells"])
    found = said(table_4_1.verdicts(other))
    assert found[0] == "holds in part (35 of 42)"
    assert found[1:5] == ["does not hold"] * 4
    assert found[5] == "holds in part (6 of 8)"
    other["cells"][0] |= {"mean": None, "sd": None, "ratio_to_thesis": None}
    assert said(table_4_1.verdicts(other))[0] == "holds in part (34 of 42)"


def test_ballseptron():
    def result(small, large, d1):
        mistakes = [100] + [small] * 4 + [large] * 7
        return {
            "sweep": [{"data": name, "mistakes": wrong} for name in figure_3.FILES
                      for wrong in mistakes],
            "bounds": [{"noise": kind, "level": level, "mistakes": 0.1, "d1": d1, "d2": 30 * level}
                       for kind, levels in figure_3.NOISES.items() for level in levels],
        }  # fmt: skip

    assert said(figure_3.verdicts(result(70, 300, 0.07))) == ["holds"] * 5
    found = said(figure_3.verdicts(result(95, 80, 9.0)))
    assert found[:2] == ["holds", "does not hold"]  # the large ones are the many here
    assert found[3:] == ["does not hold"] * 2
    assert said(figure_3.verdicts(result(95, 300, 0.07)))[0] == "does not hold"
    weak = result(70, 300, 0.01)
    for row in weak["bounds"]:
        row["d2"] /= 30
    assert said(figure_3.verdicts(weak))[2] == "does not hold"
