"""`selectron compare`: learners beside each other and beside chance."""

import csv
import json
import re

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.cli import main
from selectron.cli.compare import sources_and_rules
from selectron.cli.report import HEAD, _in_latex
from selectron.evaluate import average_ranks, paired_differences, progressive
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
    assert [(line["data"], line["learner"], line["seed"]) for line in lines] == [
        ("two", name, seed) for name in found for seed in ("5", "6")
    ]
    assert [int(line["labels"]) for line in lines[:2]] == found[PLAIN]["labels"]
    assert lines[0]["test_error"] == ""


def test_a_table_for_latex(command, data, tmp_path):
    target = tmp_path / "x.tex"
    command("compare", data, PLAIN, ALWAYS, "--seeds", "2", "--latex", target)
    text = target.read_text()
    legend, begun, text = text.partition("\\begin")
    assert legend.startswith("% ±: standard deviation over the seeds")
    assert f"{begun}{text}".startswith("\\begin{tabular}{lrrrrrrr}\n\\hline\nlearner & labels & ")
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
    drawn = in_json(command, data, PLAIN, "--plot", tmp_path / "x.png", "--test", "0.25")[PLAIN]
    one = in_json(command, data, PLAIN, "--test", "0.25")[PLAIN]
    assert one == drawn
    assert one["curve"]["of"] == "test rows"
    assert one["curve"]["low"] == one["curve"]["error"]


def test_several_seeds_are_drawn_as_bands(command, data, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("selectron.evaluate.plot_bands", lambda *given, **_: drawn.append(given))
    command("compare", data, PLAIN, "--seeds", "3", "--plot", tmp_path / "x.png")
    ((learners, _),) = drawn
    assert [len(runs) for runs in learners.values()] == [3, 3]


# --- several data sets


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Two more files of rows, each in a folder of its own."""
    rng = np.random.default_rng(1)
    paths = []
    for name in ("two", "noisy"):
        X = rng.standard_normal((80, 5))
        y = np.where(X[:, 0] + 0.5 * rng.standard_normal(80) > 0, 4, 7)
        paths.append(tmp_path_factory.mktemp("more") / f"{name}.npz")
        np.savez(paths[-1], X=X, y=y)
    return paths


THIRD = "perceptron+margin:b=0.05"
STUDY = PLAIN, ALWAYS, THIRD, "--shuffle", "--seeds", "6", "--limit", "40"


@pytest.fixture(scope="module")
def written(data, others, tmp_path_factory):
    """Everything that a comparison on three data sets writes."""
    folder = tmp_path_factory.mktemp("study")
    names = {"json": "x.json", "csv": "x.csv", "differences": "d.csv", "latex": "x.tex",
             "plot": "x.svg", "ranks": "r.svg"}  # fmt: skip
    outputs = [f"--{option}={folder / name}" for option, name in names.items()]
    with pytest.MonkeyPatch.context() as patch, (folder / "printed").open("w") as printed:
        patch.setattr("sys.stdout", printed)
        assert main(["compare", *map(str, (data, *others)), *STUDY, *outputs]) == 0
    return folder


def test_a_row_a_data_set_and_learner(written, others):
    text = (written / "printed").read_text()
    assert "two: 40 rows of 5 features, 6 seed(s)\n" in text
    head, _, *lines = text.split("\n\n")[1].splitlines()
    assert re.split("  +", head) == ["data", *HEAD]
    assert len(lines) == 3 * 6
    found = json.loads((written / "x.json").read_text())
    sets = ["two", str(others[0]), "noisy"]  # two files are called two: the second by its path
    assert [each["data"] for each in found["data_sets"]] == sets
    assert [each["data"] for each in found["results"]] == [name for name in sets for _ in range(6)]
    assert "rows" not in found


def test_each_data_set_has_the_numbers_of_its_own_comparison(command, written, others):
    found = json.loads((written / "x.json").read_text())["results"]
    alone = in_json(command, others[1], *STUDY)
    for each in found:
        if each["data"] == "noisy":
            assert each == alone[each["learner"]]


def test_f_is_averaged_over_runs(written):
    found = json.loads((written / "x.json").read_text())
    for each in found["f1_averages"]:
        own = [r for r in found["results"] if r["learner"] == each["learner"]]
        runs = [f1 for result in own for f1 in result["f1"]]
        assert each["runs"] == len(runs) == 18
        assert each["macro"] == pytest.approx(np.mean(runs))
        assert min(runs) <= each["micro"] <= max(runs)
        line = rf"{re.escape(each['learner'])} +{each['micro']:.4f} +{each['macro']:.4f}\n"
        assert re.search(line, (written / "printed").read_text())


def numbers(found, what):
    """The shares of all rows by learner, data set and seed."""
    runs = {}
    for each in found["results"]:
        if not each["learner"].endswith("at random"):
            runs.setdefault(each["learner"], []).append([n / 40 for n in each[what]])
    return runs


def test_the_paired_tests_in_json_and_csv(written):
    found = json.loads((written / "x.json").read_text())
    labels = [each for each in found["differences"] if each["number"] == "labels"]
    wanted = paired_differences(numbers(found, "labels"))
    assert [each["p_holm"] for each in labels] == [each.p_holm for each in wanted]
    assert [each["sure"] for each in labels] == [each.sure for each in wanted]
    errors = [each for each in found["differences"] if each["number"] == "error"]
    assert [(each["first"], each["second"]) for each in errors[3:]] == [
        (name, f"{name}, at random") for name in (PLAIN, ALWAYS, THIRD)
    ]
    with (written / "d.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [float(line["p_holm"]) for line in lines] == [
        each["p_holm"] for each in found["differences"]
    ]


def test_what_is_sure_is_said_in_words(written):
    text = (written / "printed").read_text()
    assert "sure differences\n\nlearner " in text
    pair = re.compile(rf"{re.escape(ALWAYS)} +{re.escape(THIRD)} ")
    line = next(line for line in text.splitlines() if pair.match(line))
    assert line.endswith("more labels")
    assert "over up to 18 pairs of runs" in text
    assert "seeds change orders and coins" in text


def test_ranks_in_json_and_text(written):
    found = json.loads((written / "x.json").read_text())
    means = {
        name: [np.mean(seeds) for seeds in runs]
        for name, runs in numbers(found, "mistakes").items()
    }
    wanted = average_ranks(means)
    error, labels = found["ranks"]
    assert (error["names"], error["average"]) == (wanted.names, wanted.average)
    assert labels["names"][-1] == ALWAYS
    text = (written / "printed").read_text()
    assert f"error: Friedman's chi-square {wanted.chi_square:.2f}, p {wanted.p:.2g} over 3 " in text
    assert "Nemenyi's critical difference 1.91" in text


def test_latex_has_three_tables(written):
    text = (written / "x.tex").read_text()
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == 3
    assert "{llrrrrrrr}\n\\hline\ndata & learner & labels" in text
    assert f"\nnoisy & {ALWAYS} & 40 $\\pm$0 & " in text
    assert all(line.startswith(("%", "\\")) or "&" in line for line in text.splitlines() if line)


def test_csv_and_pictures_of_three_data_sets(written):
    with (written / "x.csv").open() as file:
        assert sum(1 for _ in csv.DictReader(file)) == 3 * 6 * 6
    assert (written / "x.svg").stat().st_size > 5000
    assert (written / "r.svg").stat().st_size > 5000


@pytest.mark.plain
def test_seeds_that_change_nothing_make_nothing_sure(command, data):
    words = data, ALWAYS, "pnorm+always", "--seeds", "20", "--no-control", "--limit", "60"
    code, out, _ = command("compare", *words, "--json", "-")
    assert code == 0
    assert [each["sure"] for each in json.loads(out)["differences"]] == [False, False]
    assert "coins only, for want of --shuffle" in command("compare", *words)[1]


def test_too_few_runs_are_not_tested(command, data, tmp_path):
    assert "from 6 pairs of runs on" in command("compare", data, PLAIN, "--seeds", "3")[1]
    assert "pairs of runs" not in command("compare", data, PLAIN)[1]
    alone = data, PLAIN, "--no-control", "--seeds", "6", "--limit", "40"
    assert "differences" not in command("compare", *alone)[1]
    for option, said in {
        "--differences": "6 pairs of runs or more",
        "--ranks": "3 data sets and 3 learners or more",
    }.items():
        code, _, err = command("compare", data, PLAIN, option, tmp_path / "x.png")
        assert (code, said in err) == (2, True)


def test_data_sets_come_before_learners(data, others):
    a, b, _ = map(str, (data, *others))
    assert sources_and_rules([a, b, "digits", b, PLAIN, ALWAYS]) == (
        [a, b, "digits"],
        [PLAIN, ALWAYS],
    )
    for words, said in {
        (a, b): "name learners after the data",
        (a, "b.csv", PLAIN): "b.csv: there is no such file; unknown rule 'b.csv'",
        (a, "perceptrn", PLAIN): "did you mean perceptron",
        (a, PLAIN, b): "name all data sets first",
        (a, PLAIN, "iris"): "iris comes after a learner: name all data sets first",
    }.items():
        with pytest.raises(ValueError, match=re.escape(said)):
            sources_and_rules(words)


def test_a_file_with_the_name_of_a_rule_needs_its_folder(tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "default").write_bytes(data.read_bytes())
    assert sources_and_rules(["a", "default", "ridge"]) == (["a"], ["default", "ridge"])
    assert sources_and_rules(["a", "./default", "ridge"]) == (["a", "./default"], ["ridge"])


@pytest.mark.plain
def test_data_sets_that_ship_along(command):
    found = in_json(command, "iris", PLAIN, "--limit", "50", "--shuffle")
    assert found[PLAIN]["rounds"] == 50
