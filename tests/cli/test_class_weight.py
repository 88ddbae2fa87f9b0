"""`selectron run --class-weight`: the weights reach the learner, whatever labels are called."""

import csv
import json

import pytest

from selectron import SelectiveClassifier, load
from selectron.evaluate import progressive
from selectron.queries import Margin
from selectron.updates import Perceptron

PLAIN = "--rules", "perceptron+margin:b=0.3"


def facts(command, *arguments):
    code, out, err = command(*arguments, *PLAIN, "--json", "-")
    assert (code, err) == (0, "")
    return json.loads(out)["results"]


@pytest.mark.parametrize(
    ("given", "meant"), [("4=5,7=0.5", {4: 5, 7: 0.5}), ("balanced", "balanced")]
)
def test_weights_are_those_of_the_learner(command, data, rows, given, meant):
    (found,) = facts(command, "run", data, "--class-weight", given)
    learner = SelectiveClassifier(Perceptron(), Margin(b=0.3), class_weight=meant)
    trace = progressive(learner, *rows)
    assert (found["labels"], found["mistakes"]) == ([trace.n_asked], [trace.n_mistakes])
    bare = progressive(learner.set_params(class_weight=None), *rows)
    assert (trace.n_asked, trace.n_mistakes) != (bare.n_asked, bare.n_mistakes)


@pytest.fixture(params=[("spam", "ham"), (1, 0)], ids=repr)
def mail(request, tmp_path, rows):
    """A table whose labels are texts, or whole numbers that the table holds as texts."""
    X, y = rows
    rare, usual = request.param
    with (tmp_path / "mail.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*"abcde", "label"])
        writer.writerows([*x, rare if label == 4 else usual] for x, label in zip(X, y, strict=True))
    return tmp_path / "mail.csv", rare, usual


@pytest.mark.parametrize(
    "options",
    [(), ("--one-pass",), ("--one-pass", "--positive", "RARE"), ("--pool", "--budget", "3")],
    ids=" ".join,
)
def test_names_on_the_command_line_are_labels_of_the_file(command, mail, tmp_path, options):
    path, rare, usual = mail
    options = [str(rare) if word == "RARE" else word for word in options]
    names = ("True", "False") if "--positive" in options else (rare, usual)
    given = f"{names[0]}=5,{names[1]}=1"
    words = *options, "--class-weight", given, "--save", tmp_path / "model", *PLAIN
    code, _, err = command("run", path, *words)
    assert (code, err) == (0, "")
    clf = load(tmp_path / "model")
    weights = clf._run.machine.states.now.update.weighing.weights
    expected = {str(names[0]): 5.0, str(names[1]): 1.0}
    assert weights.tolist() == [expected[str(label)] for label in clf.classes_]


def test_a_comparison_weighs_its_control_too(command, data):
    words = "compare", data, "perceptron+margin:b=0.3", "ridge", "--class-weight", "balanced"
    code, out, err = command(*words, "--json", "-")
    assert (code, err) == (0, "")
    assert len(json.loads(out)["results"]) == 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("spam=5", "--class-weight names 'spam'; classes are 4, 7"),
        ("heavy", "--class-weight: 'heavy' is no weight; write balanced, or spam=5,ham=1"),
        ("4=much", "'4=much' is no weight"),
        ("4=-1", "class_weight of '4' must be finite and not negative, got -1.0"),
        ("4=nan", "must be finite"),
    ],
)
def test_weights_that_make_no_sense_are_one_line(command, data, given, said):
    code, out, err = command("run", data, "--class-weight", given, *PLAIN)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_weights_and_a_kernel_do_not_go_together(command, data):
    code, _, err = command("run", data, "--class-weight", "balanced", "--kernel", "rbf")
    assert code == 2
    assert "class_weight and a kernel do not go together" in err


def test_named_classes_hold_the_weights_to_them(command, mail):
    path, rare, usual = mail
    if isinstance(rare, int):
        pytest.skip("classes that are named are texts")
    words = "--classes", f"{rare},{usual}", *PLAIN
    assert command("run", path, "--class-weight", f"{rare}=5", *words)[0] == 0
    code, _, err = command("run", path, "--class-weight", "eggs=5", *words)
    assert code == 2
    assert "--class-weight names 'eggs'; classes are spam, ham" in err
