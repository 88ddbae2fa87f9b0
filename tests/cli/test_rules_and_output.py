"""Rules in words, tables, and JSON."""

import json

import numpy as np
import pytest

from selectron import SelectiveClassifier, queries, updates
from selectron.cli.named import learner_of
from selectron.cli.output import table, write_json
from selectron.queries import AdaptiveMargin, Halving, Margin, SecondOrderMargin
from selectron.spec import QueryRule, UpdateRule, rules_in_words
from selectron.updates import HalfStep, PassiveAggressive, PNorm, Ridge, SecondOrder, Winnow


def test_every_rule_has_a_name_in_words():
    kinds = [getattr(shelf, name) for shelf in (updates, queries) for name in shelf.__all__]
    known = rules_in_words(UpdateRule, QueryRule)
    assert {kind.__name__ for kind in kinds} <= {kind.__name__ for kind in known.values()}
    assert all(name == name.lower() for name in known)


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ("default", (None, None)),
        ("ridge", (Ridge(), None)),
        ("ridge:a=2+margin:b=0.25", (Ridge(a=2), Margin(b=0.25))),
        ("margin:b=0.25+ridge:a=2", (Ridge(a=2), Margin(b=0.25))),
        ("second-order+second-order-margin", (SecondOrder(), SecondOrderMargin())),
        ("half-step:rate=1e-1+adaptive-margin", (HalfStep(rate=0.1), AdaptiveMargin())),
        ("pnorm:p=3+margin", (PNorm(p=3), Margin())),
        ("winnow:eta=0.5,balanced=true+margin", (Winnow(eta=0.5, balanced=True), Margin())),
        (
            "passive-aggressive:squared=False+halving:patience=4,start=1/sqrt(d)",
            (PassiveAggressive(), Halving(patience=4)),
        ),
        ("Ridge:a=2+MARGIN", (Ridge(a=2), Margin())),
    ],
)
def test_rules_in_words(words, rules):
    learner = learner_of(words, fit_intercept=True)
    assert (learner.update, learner.query) == rules
    assert learner.fit_intercept
    assert isinstance(learner, SelectiveClassifier)


def test_a_table_lays_out_text_to_the_left_and_numbers_to_the_right():
    rows = [["a", 1234, 0.123456, None], ["longer", 5, 2.0, "3 %"]]
    assert table(["name", "n", "share", "x"], rows).splitlines() == [
        "name        n   share    x",
        "------  -----  ------  ---",
        "a       1,234  0.1235    -",
        "longer      5       2  3 %",
    ]


def test_json_of_numpy_and_of_anything(capsys):
    write_json({"a": np.float64(0.5), "b": np.arange(2), "c": np.int8(1), "d": Margin(b=1)}, "-")
    found = json.loads(capsys.readouterr().out)
    assert found == {"a": 0.5, "b": [0, 1], "c": 1, "d": "Margin(b=1)"}


def test_json_to_nowhere(capsys):
    write_json({"a": object()}, None)
    assert capsys.readouterr().out == ""


def test_json_that_fails_keeps_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "x.json"
    target.write_text("old")

    def interrupted(self, target):
        raise KeyboardInterrupt  # all is written, and not yet in its place

    monkeypatch.setattr("pathlib.Path.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_json({"a": 1}, str(target))
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_no_number_in_json_is_infinite():
    with pytest.raises(ValueError, match="JSON"):
        write_json({"a": float("inf")}, "-")
