"""`selectron power`: simulate one policy, compare many."""

import json
import re

import pytest

from selectron.power import Learned, compare, named_policy, simulate, web_workload
from tests.power.traffic import needs_compiler


def test_simulate(command, tmp_path):
    plot, target = tmp_path / "x.png", tmp_path / "x.json"
    options = ["--policy", "bsd-50", "--pages", "4", "--seed", "2"]
    code, out, err = command("power", "simulate", *options, "--plot", plot, "--json", target)
    assert (code, err) == (0, "")
    run = simulate(named_policy("bsd-50"), web_workload(4, seed=2))
    facts = json.loads(target.read_text())
    assert facts["energy_j_per_page"] == run.energy_j_per_page
    assert facts["beacon_j_per_page"] == run.beacon_j_per_page
    assert facts["latency_s"] == run.latency_s
    assert facts["slowdown"] == 1.0
    assert (facts["policy"], facts["seed"], facts["pages"]) == ("bsd-50", 2, 4)
    assert re.search(rf"^energy_j_per_page +{run.energy_j_per_page:.4g}$", out, re.MULTILINE)
    assert out.endswith(f"\nplot: {plot}\n")
    assert plot.stat().st_size > 5000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.json", "x.png"]


@needs_compiler
def test_simulate_learned_by_default(command):
    _, out, _ = command("power", "simulate", "--pages", "3", "--lambda", "2", "--json", "-")
    facts = json.loads(out)
    assert facts["policy"] == "learned-2"
    assert facts["awake_s"] == simulate(Learned(2.0), web_workload(3, seed=1)).awake_s
    longer = ["--max-sleep", "24.3", "--json", "-"]
    _, out, _ = command("power", "simulate", "--pages", "3", *longer)
    assert json.loads(out)["policy"] == "learned-1-24.3s"


def test_simulate_changing_traffic(command):
    options = ["--traffic", "changing", "--regimes", "1", "--policy", "static", "--json", "-"]
    facts = json.loads(command("power", "simulate", *options)[1])
    assert facts["traffic"] == "changing"
    assert 300 / 3600 < facts["hours"] < 1000 / 3600
    assert facts["delay_s"] > 0


@needs_compiler
def test_compare(command, tmp_path):
    plot, target = tmp_path / "x.svg", tmp_path / "x.json"
    options = ["--policy", "lpsm-1/logT", "learned", "--lambda", "0.5", "2", "--pages", "5"]
    options += ["--seed", "3", "--runs", "2", "--plot", plot, "--json", target]
    code, out, err = command("power", "compare", *options)
    assert (code, err) == (0, "")
    assert out.startswith("web traffic, seeds 3, 4\n\npolicy ")
    names = ["none", "static", "lpsm-1/logT", "learned-0.5", "learned-2"]
    assert re.findall(r"^(\S+) .*\d$", out, re.MULTILINE)[1:6] == names
    assert "lpsm-1/logT: slowdown over static PSM is " in out
    assert out.endswith(f"\nplot: {plot}\n")
    assert "learned-0.5" in plot.read_text()
    found = json.loads(target.read_text())
    assert (found["traffic"], found["seeds"], found["pages"]) == ("web", [3, 4], 5)
    rows = {row["policy"]: row for row in found["policies"]}
    assert list(rows) == names
    wanted = compare([Learned(2.0)], pages=5, seed=3, runs=2).row("learned-2")
    for name in ("energy_j_per_page", "beacon_j_per_page", "latency_s", "slowdown"):
        assert rows["learned-2"][name] == getattr(wanted, name)
    assert list(rows["static"]["cost_per_hour"]) == ["0.5", "2"]
    printed = next(line.split() for line in out.splitlines() if line.startswith("static "))
    shown = ("energy_j_per_page", "beacon_j_per_page", "latency_s", "slowdown", "worst_page")
    assert printed[1:] == [*(f"{rows['static'][name]:.4g}" for name in shown), "1"]


def test_compare_changing_traffic(command):
    options = ["--traffic", "changing", "--regimes", "1", "--policy", "static"]
    code, out, _ = command("power", "compare", *options)
    assert code == 0
    head = next(line for line in out.splitlines() if line.startswith("policy"))
    assert head.split("  ")[-1].strip() == "J/h at 2"
    assert re.search(r"^static +1 +0\.\d+ ", out, re.MULTILINE)


def test_prices_need_no_learner(command):
    """In a comparison λ is also what the delays of all policies are priced at."""
    options = ["--policy", "static", "--pages", "2", "--lambda", "3", "--json", "-"]
    rows = json.loads(command("power", "compare", *options)[1])["policies"]
    assert list(rows[0]["cost_per_hour"]) == ["3"]
    options = ["--policy", "static", "--traffic", "changing", "--regimes", "1", "--lambda", "3"]
    assert "J/h at 3" in command("power", "compare", *options)[1]


@needs_compiler
def test_compare_runs_everything_by_default(command, monkeypatch):
    monkeypatch.setattr("selectron.cli.power.LAMBDAS", (1.0,))
    rows = json.loads(command("power", "compare", "--pages", "1", "--json", "-")[1])["policies"]
    assert [row["policy"] for row in rows] == [
        *("none", "static", "lpsm-1/T", "lpsm-1/logT"),
        *("bsd-100", "bsd-50", "bsd-20", "bsd-10", "learned-1"),
    ]


ERRORS = {
    "no task": (["power"], "required: simulate|compare"),
    "no such task": (["power", "sleep"], "invalid choice: 'sleep'"),
    "no such policy": (
        ["power", "compare", "--policy", "psm"],
        "--policy 'psm': choose among none",
    ),
    "two at once": (["power", "simulate", "--policy", "none", "static"], "runs one policy once"),
    "two rates": (["power", "simulate", "--lambda", "1", "2"], "power compare takes several"),
    "no pages": (["power", "compare", "--pages", "0"], "pages=0 must be a whole number"),
    "no regimes": (
        ["power", "simulate", "--traffic", "changing", "--regimes", "0"],
        "regimes=0 must be a whole number",
    ),
    "no runs": (["power", "compare", "--runs", "0"], "--runs must be at least 1, got 0"),
    "a bad seed": (["power", "compare", "--seed", "-1"], "seed=-1 must be 0 or more"),
    "a free delay": (["power", "compare", "--lambda", "0"], "--lambda 0: give Joules a second"),
    "an infinite one": (["power", "simulate", "--lambda", "inf"], "--lambda inf: give Joules"),
    "no run": (["power", "simulate", "--runs", "0"], "--runs must be at least 1, got 0"),
    "two runs": (["power", "simulate", "--runs", "2"], "power compare takes several"),
    "idle lambda": (
        ["power", "simulate", "--policy", "static", "--lambda", "2"],
        "--lambda 2 is for --policy learned, which is not among static",
    ),
    "lambda without prices": (
        ["power", "compare", "--policy", "bsd-50", "static", "--lambda", "2"],
        "--lambda 2 is for --policy learned, which is not among bsd-50, static",
    ),
    "idle max-sleep": (
        ["power", "compare", "--policy", "static", "--max-sleep", "2.4"],
        "--max-sleep 2.4 is for --policy learned",
    ),
    "idle regimes": (
        ["power", "simulate", "--regimes", "12"],
        "--regimes 12 is for --traffic changing; web has --pages",
    ),
    "idle pages": (
        ["power", "compare", "--traffic", "changing", "--pages", "100"],
        "--pages 100 is for --traffic web; changing has --regimes",
    ),
    "a policy twice": (
        ["power", "compare", "--policy", "static", "static"],
        "--policy static is there twice: give each once",
    ),
    "a lambda twice": (["power", "compare", "--lambda", "1", "1.0"], "--lambda 1 is there twice"),
    "unknown before idle": (
        ["power", "simulate", "--policy", "psm", "--lambda", "2"],
        "--policy 'psm': choose among none",
    ),
    "between beacons": (["power", "simulate", "--max-sleep", "0.25"], "not a multiple of 0.1 s"),
    "other traffic": (["power", "compare", "--traffic", "mail"], "invalid choice: 'mail'"),
    "no such folder": (["power", "compare", "--json", "gone/x.json"], "--json gone/x.json: there"),
    "a folder": (["power", "compare", "--json", "."], "--json . is a folder: name a file in it"),
    "a folder to draw": (["power", "compare", "--plot", "../"], "--plot ../ is a folder: name a"),
    "no name": (["power", "compare", "--json", ""], "--json is empty: name a file"),
    "no picture": (["power", "compare", "--plot", ""], "--plot is empty: name a file"),
    "one file twice": (
        ["power", "compare", "--plot", "x.png", "--json", "./x.png"],
        "--json and --plot are both x.png: name two files",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_is_one_line_and_exit_code_2(command, case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, message = ERRORS[case]
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("selectron: ")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())
