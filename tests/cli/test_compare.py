"""`selectron compare`: learners beside each other and beside chance."""

import csv
import json
import re

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.cli.report import HEAD, _in_latex
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


# --- for papers


def test_several_seeds_explain_their_spread(command, data):
    _, out, _ = command("compare", data, PLAIN, "--seeds", "3")
    assert "±: standard deviation over the seeds" in out
    assert "±" not in command("compare", data, PLAIN)[1]


def test_a_csv_has_a_line_for_each_run(command, data, tmp_path):
    target = tmp_path / "x.csv"
    found = in_json(command, data, PLAIN, ALWAYS, "--seeds", "2", "--seed", "5", "--csv", target)
    with target.open() as file:
        lines = list(csv.DictReader(file))
    assert [(line["learner"], line["seed"]) for line in lines] == [
        (name, seed) for name in found for seed in ("5", "6")
    ]
    assert [int(line["labels"]) for line in lines[:2]] == found[PLAIN]["labels"]
    assert lines[0]["test_error"] == ""


def test_a_table_for_latex(command, data, tmp_path):
    target = tmp_path / "x.tex"
    command("compare", data, PLAIN, ALWAYS, "--seeds", "2", "--latex", target)
    text = target.read_text()
    assert text.startswith("\\begin{tabular}{lrrrrrrr}\n\\hline\nlearner & labels & ")
    assert f"\n{ALWAYS} & 240 $\\pm$0 & 100.00 \\% & " in text
    assert text.count("\\\\\n") == 5
    assert text.endswith("\\hline\n\\end{tabular}\n")


def test_what_latex_would_take_as_a_command_is_escaped():
    assert _in_latex("a_b & 5 % \\x^2 ~") == (
        r"a\_b \& 5 \% \textbackslash{}x\textasciicircum{}2 \textasciitilde{}"
    )


def test_curves_in_json_have_their_interval(command, data, tmp_path):
    many = in_json(command, data, PLAIN, "--seeds", "4")[PLAIN]["curve"]
    assert many["of"] == "stream so far"
    assert many["labels"] == sorted(set(many["labels"]))
    low, mean, high = (np.array(many[name]) for name in ("low", "error", "high"))
    assert (low <= mean).all()
    assert (mean < high).any()
    one = in_json(command, data, PLAIN, "--plot", tmp_path / "x.png", "--test", "0.25")[PLAIN]
    assert one["curve"]["of"] == "test rows"
    assert one["curve"]["low"] == one["curve"]["error"]


def test_several_seeds_are_drawn_as_bands(command, data, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("selectron.evaluate.plot_bands", lambda *given, **_: drawn.append(given))
    command("compare", data, PLAIN, "--seeds", "3", "--plot", tmp_path / "x.png")
    ((learners, _),) = drawn
    assert [len(runs) for runs in learners.values()] == [3, 3]
