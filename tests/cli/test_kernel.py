"""`selectron run` and `compare` with a kernel."""

import json

import pytest

from selectron import SelectiveClassifier, load
from selectron.evaluate import progressive
from selectron.queries import Margin
from selectron.updates import Ballseptron

KERNEL = ("--kernel", "poly", "--degree", "2", "--gamma", "0.5", "--coef0", "1", "--vectors", "12")
RULES = "ballseptron:r=0.1+margin:b=0.5"
LEARNER = SelectiveClassifier(
    Ballseptron(r=0.1), Margin(b=0.5), kernel="poly", degree=2, gamma=0.5, coef0=1.0, budget=12
)


def test_run_has_the_numbers_of_the_learner_and_saves_it(command, data, rows, tmp_path):
    saved = str(tmp_path / "m.selectron")
    code, out, err = command("run", data, "--rules", RULES, *KERNEL, "--save", saved, "--json", "-")
    assert (code, err) == (0, "")
    trace = progressive(LEARNER, *rows, seed=0)
    result = json.loads(out)["results"][0]
    assert (result["labels"], result["mistakes"]) == ([trace.n_asked], [trace.n_mistakes])
    assert "no theorem here covers a learner that gives up support vectors" in result["certificate"]
    assert len(load(saved).support_vectors_) == 12
    assert command("inspect", saved)[0] == 0


def test_compare_has_its_control(command, data):
    code, out, err = command("compare", data, RULES, *KERNEL)
    assert (code, err) == (0, "")
    assert f"{RULES}, at random" in out


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("--gamma", "-1"), "gamma must be > 0, got gamma=-1.0"),
        (("--gamma", "big"), "gamma='big'"),
        (("--vectors", "0"), "budget must be a whole number >= 1, got budget=0"),
        (("--rules", "winnow"), "Winnow has no form with a kernel"),
    ],
    ids=str,
)
def test_errors_are_one_line(command, data, wrong, message):
    code, _, err = command("run", data, *KERNEL, *wrong)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_a_budget_is_for_kernels(command, data):
    code, _, err = command("run", data, "--vectors", "5")
    assert (code, "name one by --kernel" in err) == (2, True)
