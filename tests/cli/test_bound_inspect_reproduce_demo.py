"""`bound`, `inspect`, `reproduce` and `demo`."""

import json
import re

import numpy as np
import pytest

from selectron import SelectiveClassifier, bounds
from selectron.cli.bound import theorems
from selectron.engines import Here
from selectron.queries import Halving, Margin
from selectron.reproduce.dkm09 import Curve
from selectron.reproduce.dkm09 import labels as dkm09_labels
from selectron.reproduce.harness import experiment
from selectron.updates import Perceptron, Reflection

# --- bound


def test_every_theorem_is_listed_with_its_arguments_and_its_sentence(command):
    code, out, err = command("bound", "--list")
    assert (code, err) == (0, "")
    for name, function in theorems().items():
        assert f"\n{name}(" in f"\n{out}"
        assert function.__doc__.partition("\n")[0] in out
    assert {name.partition(".")[0] for name in theorems()} == set(bounds.__all__)
    assert command("bound") == (0, out, "")


def test_the_list_in_json(command, tmp_path):
    _, out, _ = command("bound", "--list", "--json", "-")
    assert json.loads(out)["ng.novikoff"] == ["max_norm", "margin"]
    command("bound", "--list", "--json", tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text()) == json.loads(out)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["ng.novikoff", "max_norm=1", "margin=0.1"], "100"),
        (["cbgz06.log_volume_of", "eigenvalues=3,0"], "1.38629"),
        (["cbgz06.log_volume_of", "eigenvalues=3", "a=3"], "0.693147"),
        (["cbgz06.winnow_parameters", "alpha=.5", "target_margin=.2", "max_norm=1"], "0.2, 0.1"),
        (["dkm09.active_labels", "d=10", "error=0.01", "delta=.05", "c=.01"], "3.36823e+06"),
    ],
)
def test_a_theorem_as_a_number(command, arguments, value):
    code, out, err = command("bound", *arguments)
    assert (code, err) == (0, "")
    sentence = theorems()[arguments[0]].__doc__.partition("\n")[0]
    assert out == f"{sentence}\n{arguments[0]} = {value}\n"


def test_a_theorem_in_json(command, tmp_path):
    arguments = ["ng.novikoff", "max_norm=2", "margin=0.5"]
    wanted = {"theorem": "ng.novikoff", "arguments": {"max_norm": 2, "margin": 0.5}, "value": 16.0}
    _, out, _ = command("bound", *arguments, "--json", "-")
    assert json.loads(out) == wanted
    _, out, _ = command("bound", *arguments, "--json", tmp_path / "x.json")
    assert out.endswith("ng.novikoff = 16\n")
    assert json.loads((tmp_path / "x.json").read_text()) == wanted


# --- inspect


@pytest.fixture
def saved(tmp_path, rows):
    X, y = rows
    learner = SelectiveClassifier(Perceptron(), Margin(b=0.3), random_state=9)
    learner.partial_fit(X[:100], y[:100], classes=[4, 7])
    learner.ask(X[100:120])
    path = tmp_path / "m.selectron"
    learner.save(path)
    return path, learner


def test_inspect_tells_what_a_learner_is(command, saved):
    path, learner = saved
    code, out, err = command("inspect", path)
    assert (code, err) == (0, "")
    facts = dict(re.split(r"  +", line, maxsplit=1) for line in out.splitlines())
    assert facts["file"] == "m.selectron"
    assert facts["update"] == "Perceptron(eta=1.0, literal_ties=False)"
    assert facts["query"] == "Margin(b=0.3)"
    assert facts["scaling"] == "Raw()"
    assert facts["classes"] == "[4, 7]"
    assert facts["features"] == "5"
    assert facts["seed"] == "9"
    assert facts["rounds seen"] == "120"
    assert facts["labels asked"] == str(learner.n_asked_)
    assert facts["updates"] == str(learner.n_updates_)
    assert int(facts["questions waiting"]) > 0
    assert facts["sha256"] == "matches"


def test_inspect_in_json(command, saved, tmp_path):
    path, learner = saved
    _, out, _ = command("inspect", path, "--json", "-")
    facts = json.loads(out)
    assert facts["labels asked"] == learner.n_asked_
    assert facts["bytes"] == path.stat().st_size
    assert facts["query state"] == {"b": 0.3}
    command("inspect", path, "--json", tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text()) == facts


def test_inspect_refuses_a_damaged_file(command, saved):
    path, _ = saved
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)
    code, out, err = command("inspect", path)
    assert (code, out) == (2, "")
    assert "SHA-256 does not match" in err


# --- reproduce


def test_the_experiments_are_listed(command):
    code, out, err = command("reproduce", "--list")
    assert (code, err) == (0, "")
    assert out.startswith("dkm09-labels: labels on the sphere, [DKM09]")
    assert command("reproduce") == (0, out, "")
    _, listed, _ = command("reproduce", "--list", "--json", "-")
    assert json.loads(listed)["dkm09-labels"].startswith("labels on the sphere")


@pytest.fixture
def small_experiment(monkeypatch):
    """The experiment itself, on fewer and smaller runs."""
    errors = np.array([0.1, 0.01, 0.001])

    def sample(d, seed):
        rules = Reflection(), Halving(9)
        return dkm09_labels.tallies_inside_the_band(*rules, d, errors, seed, 400 * d)

    small = {"Reflection + Halving": Curve(errors, sample, (10,), "-")}
    monkeypatch.setattr(dkm09_labels, "CURVES", small)
    monkeypatch.setattr(experiment, "Local", Here)  # another process would not see it


def test_reproduce(command, small_experiment, tmp_path):
    plot, target = tmp_path / "x.png", tmp_path / "x.json"
    options = ["--seeds", "2", "--plot", plot, "--json", target]
    code, out, err = command("reproduce", "dkm09-labels", *options)
    assert (code, err) == (0, "")
    assert "mean of 2 seeds" in out
    assert "Reflection + Halving, d = 10" in out
    assert re.search(r"growth: [\d.]+ d ln\(1/eps\)", out)
    assert out.endswith(f"\nplot: {plot}\n")
    assert plot.stat().st_size > 5000
    found = json.loads(target.read_text())
    assert (found["experiment"], found["seeds"]) == ("dkm09-labels", 2)
    assert found["curves"][0]["reached"] == [1.0, 1.0, 1.0]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.json", "x.png"]


def test_reproduce_in_json_alone(command, small_experiment):
    code, out, err = command("reproduce", "dkm09-labels", "--seeds", "1", "--json", "-")
    assert (code, err) == (0, "")
    assert json.loads(out)["seeds"] == 1


# --- demo


def test_demo(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("selectron.cli.demo.SEEDS", range(2))
    code, out, err = command("demo", "--json", "demo.json")
    assert (code, err) == (0, "")
    assert out.startswith("scikit-learn's digits, {1, 4, 7} v the rest: 1,297 rows of 64 features")
    assert re.search(r"perceptron\+margin:b=0.1: mistakes \d+ <= \d+ \(\[CBGZ06\] Theorem 1", out)
    assert out.endswith(
        "plot: selectron-demo.png\n\nLabel something yourself: selectron label demo\n"
    )
    assert (tmp_path / "selectron-demo.png").stat().st_size > 5000
    results = {r["learner"]: r for r in json.loads((tmp_path / "demo.json").read_text())["results"]}
    ours, always = results["default"], results["perceptron+always"]
    assert max(ours["labels"]) < min(always["labels"]) / 5
    assert np.mean(ours["test_error"]) < np.mean(results["perceptron+margin:b=0.1"]["test_error"])
    assert len(set(ours["labels"])) == 2  # each seed has an order of its own


def test_demo_in_json_alone(command, tmp_path, monkeypatch):
    monkeypatch.setattr("selectron.cli.demo.SEEDS", range(1))
    code, out, err = command("demo", "--json", "-", "--plot", tmp_path / "x.svg")
    assert (code, err) == (0, "")
    assert len(json.loads(out)["results"]) == 4
    assert (tmp_path / "x.svg").exists()
