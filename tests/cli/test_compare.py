"""`selectron compare`: learners beside each other and beside chance."""

import json
import re

import pytest

from selectron import SelectiveClassifier
from selectron.cli.report import HEAD
from selectron.evaluate import progressive
from selectron.queries import Margin, Uniform
from selectron.updates import Perceptron

PLAIN = "perceptron+margin:b=0.3"
ALWAYS = "perceptron+always"


def in_json(command, *arguments):
    code, out, err = command("compare", *arguments, "--json", "-")
    assert (code, err) == (0, "")
    return {result["learner"]: result for result in json.loads(out)["results"]}


def test_each_learner_has_its_control(command, data, rows):
    found = in_json(command, data, PLAIN, ALWAYS, "--seeds", "3")
    assert list(found) == [PLAIN, f"{PLAIN}, at random", ALWAYS, f"{ALWAYS}, at random"]
    traces = [
        progressive(SelectiveClassifier(Perceptron(), Margin(b=0.3)), *rows, seed=seed)
        for seed in range(3)
    ]
    rate = sum(trace.n_asked for trace in traces) / (3 * 240)
    control = SelectiveClassifier(Perceptron(), Uniform(rate=rate))
    expected = [progressive(control, *rows, seed=seed).n_asked for seed in range(3)]
    assert found[f"{PLAIN}, at random"]["labels"] == expected
    assert found[f"{ALWAYS}, at random"]["labels"] == [240, 240, 240]


def test_the_control_keeps_update_scaling_and_intercept(command, data):
    found = in_json(command, data, "default")
    assert found["default, at random"]["certificate"].endswith(
        "Probit with Uniform on Automatic rows"
    )
    found = in_json(command, data, ALWAYS, "--intercept", "--seeds", "2")
    assert found[ALWAYS]["mistakes"] == found[f"{ALWAYS}, at random"]["mistakes"]


def test_without_control(command, data):
    assert list(in_json(command, data, PLAIN, ALWAYS, "--no-control")) == [PLAIN, ALWAYS]


def test_the_table(command, data, tmp_path):
    target = tmp_path / "x.png"
    code, out, err = command("compare", data, PLAIN, ALWAYS, "--plot", target, "--test", "0.25")
    assert (code, err) == (0, "")
    head, rule, *lines = out.split("\n\n")[1].splitlines()
    assert re.split("  +", head) == list(HEAD)
    assert set(rule) == {"-", " "}
    assert len(lines) == 4
    assert re.match(rf"{re.escape(ALWAYS)} +180 +100.00 %", lines[2])
    assert out.endswith(f"plot: {target}\n")
    assert target.stat().st_size > 5000


@pytest.mark.parametrize("name", [PLAIN, ALWAYS])
def test_the_certificate_of_each(command, data, name):
    _, out, _ = command("compare", data, PLAIN, ALWAYS)
    assert re.search(rf"\n{re.escape(name)}: mistakes \d+ <= \d+ \(\[", out)
    assert f"{PLAIN}, at random: mistakes" in out


def test_the_same_learner_twice_is_run_once(command, data):
    assert list(in_json(command, data, PLAIN, PLAIN, "--no-control")) == [PLAIN]
