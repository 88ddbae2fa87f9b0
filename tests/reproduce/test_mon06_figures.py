"""Figures 2-5 to 2-11 and the regrets of [Mon06], at small scale: facts, texts, pictures."""

import gzip
import json

import numpy as np
import pytest

from selectron.cli import main
from selectron.experts import LearnAlpha
from selectron.power import Diary, compare
from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.mon06 import regret, sleeping, trace
from selectron.reproduce.mon06.sleeping import comparison_as_data, comparison_from_data
from selectron.reproduce.mon06.trace import TraceRun, Transfers, bytes_by_bin, run_lpsm

# --- Figure 2-5


def test_behaviour_by_hand():
    rows = [  # time, sleep, bytes waiting
        (0.0, 0.1, 500), (0.1, 0.1, 0), (0.2, 0.2, 0), (0.4, 0.3, 0), (0.7, 0.5, 0),
        (1.2, 0.2, 90), (1.4, 0.3, 0), (1.7, 0.1, 60), (1.8, 0.4, 0), (2.2, 0.3, 0),
    ]  # fmt: skip
    found = sleeping.behaviour(Diary(*np.array(rows).T))
    assert found == {
        "share_of_100_ms_after_data": 2 / 3,
        "share_of_300_ms_after_data": 0.0,
        "share_not_shorter_in_silence": 6 / 7,
        "back_off_s": pytest.approx(np.median([0.4, 0.1])),
    }
    quiet = sleeping.behaviour(Diary(*np.array([(0.0, 0.1, 5), (0.1, 0.1, 0)]).T))
    assert quiet["back_off_s"] is None


def test_sleeps_evolve_as_the_thesis_says(monkeypatch, tmp_path):
    monkeypatch.setattr(sleeping, "EVOLVING_PAGES", 12)
    experiment = EXPERIMENTS["mon06-figure-2-5"]
    result = json.loads(json.dumps(experiment.run(1, lambda: None)))
    slow, fast = result["runs"]
    assert (slow["policy"], fast["policy"]) == ("lpsm-1/T", "lpsm-1/logT")
    for found in (slow, fast):
        assert found["share_of_100_ms_after_data"] > 0.7
        assert found["share_not_shorter_in_silence"] > 0.95
    assert fast["back_off_s"] < 5
    assert slow["back_off_s"] is None or slow["back_off_s"] > 3 * fast["back_off_s"]
    assert f"in silence: {fast['back_off_s']:.1f} s (median)" in experiment.text(result)
    experiment.plot(result, tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 10_000


# --- Figures 2-6 to 2-8


@pytest.fixture(scope="module")
def small_trials():
    patch = pytest.MonkeyPatch()
    patch.setattr(sleeping, "SHORT_PAGES", 8)
    patch.setattr(sleeping, "LONG_PAGES", 12)
    ticks = []
    result = EXPERIMENTS["mon06-figure-2-6"].run(2, lambda: ticks.append(1))
    patch.undo()
    assert len(ticks) == EXPERIMENTS["mon06-figure-2-6"].steps(2) == 8 * 3
    return json.loads(json.dumps(result))


def test_runs_survive_json():
    comparison = compare([], pages=4, seed=3)
    back = comparison_from_data(json.loads(json.dumps(comparison_as_data(comparison))))
    assert back.rows() == comparison.rows()


@pytest.mark.parametrize("number", ["2-6", "2-7", "2-8"])
def test_pages_have_text_and_picture(small_trials, number, tmp_path):
    experiment = EXPERIMENTS[f"mon06-figure-{number}"]
    shown = experiment.text(small_trials)
    assert f"Figure {number}" in shown
    assert "a) one trial" in shown
    assert "b) trials of 500" in shown
    experiment.plot(small_trials, tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 10_000


def test_our_figures_stand_beside_the_thesis(small_trials):
    row = next(r for r in small_trials["rows"]["a"] if r["policy"] == "lpsm-1/T")
    shown = sleeping.energy_text(small_trials)
    assert f"{row['energy_vs_static']:.3f} (0.934)" in shown
    shown = sleeping.slowdown_text(small_trials)
    assert f"{row['slowdown_vs_static']:.3f} (1.02)" in shown
    assert "Differs: lpsm-1/T: slowdown over static PSM" in shown
    assert "energy" not in shown.partition("Differs")[2]


# --- Figures 2-9 to 2-11


def test_bytes_are_spread_evenly_and_none_is_lost():
    transfers = Transfers(np.array([0.0, 0.015]), np.array([0.1, 0.0]), np.array([110.0, 7.0]))
    bins = bytes_by_bin(transfers, 0.5)
    assert len(bins) == 50
    assert bins[0] == bins[10] == 10.0
    assert bins[1] == 17.0
    assert bins[11:].sum() == 0
    late = bytes_by_bin(Transfers(np.array([0.45]), np.array([9.0]), np.array([60.0])), 0.5)
    assert late.sum() == pytest.approx(60.0)


def test_lpsm_follows_the_trace_as_its_definition_says():
    bins = np.zeros(3000)
    bins[500:900] = 36.0
    run = run_lpsm(bins)
    experts = LearnAlpha(10, horizon=27_000)
    now = 0
    for k in range(len(run.loss)):
        slept = 10 * round((experts.weights @ trace.SLEEPS_MS) / 10)
        assert run.slept_ms[k] == slept
        arrived = bins[now // 10 : (now + slept) // 10].sum()
        losses = 1e-7 * arrived * trace.SLEEPS_MS**2 / (2 * slept) + 1 / trace.SLEEPS_MS
        np.testing.assert_allclose(run.expert_losses[k], losses, rtol=1e-12)
        assert run.loss[k] == pytest.approx(1e-7 * arrived * slept / 2 + 1 / slept)
        np.testing.assert_array_equal(run.weights[k], experts.weights)
        experts.update(run.expert_losses[k])
        now += slept
    assert now + 1000 > 30_000


def test_facts_of_a_trace_by_hand():
    n = len(trace.SLEEPS_MS)
    losses = np.ones((4, n))
    losses[:2, 0] = 0.5
    losses[2:, 1] = 0.2
    weights = np.full((4, n), 0.1)
    weights[0, 1], weights[1, 0], weights[3, 1] = 0.01, 0.3, 0.4
    run = TraceRun(np.full(4, 100.0), np.array([0.5, 0.6, 0.2, 0.1]), losses, weights)
    said = trace.losses_said(run)
    assert said["share_within_a_tenth_of_current_best"] == 0.75
    assert said["share_at_or_below_current_best"] == 0.75
    assert said["current_best_changes"] == 1
    assert said["sleeps_that_were_best_ms"] == [100.0, 200.0]
    assert said["experts_beaten_in_the_first_ten"] == n
    said = trace.weights_said(run)
    assert said["worst_once_and_best_later_ms"] == [200.0]
    assert said["least_weight"] == 0.01
    assert said["heaviest_changes"] == 1  # of equals the first
    said = trace.competition(run)
    assert (said["best_fixed_ms"], said["best_fixed"]) == (200.0, pytest.approx(2.4))
    assert said["loss"] == pytest.approx(1.4)
    assert said["current_best"] == pytest.approx(1.4)
    assert said["ahead_of_best_fixed_from"] == 0


@pytest.fixture
def log_of_one_client(tmp_path, monkeypatch):
    rows = ["t,client,method,object,status,bytes"]
    rows += [f"{90 + 37 * k},5,GET,1,200,{3000 + 10 * k}" for k in range(110)]
    with gzip.open(tmp_path / "epa_http.csv.gz", "wt") as file:
        file.write("\n".join(rows))
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("number", ["2-9", "2-10", "2-11"])
def test_trace_figures_run_on_a_log(number, log_of_one_client):
    experiment = EXPERIMENTS[f"mon06-figure-{number}"]
    result = json.loads(json.dumps(experiment.run(None, lambda: None)))
    assert result["wake_ups"] > 3000
    assert f"Figure {number}" in experiment.text(result)
    assert "a stand-in for the Home IP trace" in experiment.text(result)
    experiment.plot(result, log_of_one_client / "x.png")
    assert (log_of_one_client / "x.png").stat().st_size > 10_000


def test_the_command_takes_the_folder(log_of_one_client, monkeypatch, capsys):
    monkeypatch.setenv("SELECTRON_DATA", "nowhere")  # put back afterwards
    target = log_of_one_client / "x.json"
    options = ["--data", str(log_of_one_client), "--json", str(target)]
    assert main(["reproduce", "mon06-figure-2-11", *options]) == 0
    assert "Figure 2-11" in capsys.readouterr().out
    assert json.loads(target.read_text())["competition"]["best_fixed"] > 0


def test_trace_figures_say_what_they_need(monkeypatch):
    monkeypatch.delenv("SELECTRON_DATA", raising=False)
    with pytest.raises(ValueError, match="mon06-figure-2-9 needs recorded traffic"):
        EXPERIMENTS["mon06-figure-2-9"].run(None, lambda: None)


# --- regret


def test_regrets_lie_between_their_bounds(monkeypatch, tmp_path):
    monkeypatch.setattr(regret, "LENGTHS", (100, 1000, 4000))
    experiment = EXPERIMENTS["mon06-regret"]
    result = json.loads(json.dumps(experiment.run(2, lambda: None)))
    assert len(result["rows"]) == experiment.steps(2) == 12
    for row in result["rows"]:
        assert 0 <= row["learn_alpha"] <= row["learn_alpha_at_most"]
        for found in row["fixed_share"]:
            assert found["at_least"] - 1e-6 <= found["regret"] <= found["at_most"] + 1e-6
            if row["kind"] == "forced":
                assert found["at_least"] == pytest.approx(found["at_most"], rel=1e-6)
    shown = experiment.text(result)
    assert "forced: Learn-alpha's regret grows by" in shown
    experiment.plot(result, tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 10_000


@pytest.mark.slow
def test_regret_of_a_million_steps():
    for kind in regret.KINDS:
        found = regret.measure(regret.Job(kind, 1_000_000, seed=2))
        assert found["m"] == 1571
        assert 0 <= found["learn_alpha"] <= np.log(1571) + 0.5
        assert min(share["regret"] for share in found["fixed_share"]) > 10_000
