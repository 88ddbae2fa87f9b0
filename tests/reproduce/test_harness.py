"""What all experiments share: first passages, groups, tables."""

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.harness import Reach, first_passages, grouped
from selectron.reproduce.harness.report import lay_out, show_labels, table


def test_every_experiment_is_listed_under_its_name():
    assert all(name == experiment.name for name, experiment in EXPERIMENTS.items())


def test_the_labels_when_errors_were_first_low_enough():
    errors = iter([(1, 90), (2, 30), (3, 31), (4, 5), (5, 1)])
    assert first_passages(errors, (50, 30, 20, 5)) == [2, 2, 4, 4]
    assert next(errors) == (5, 1)  # no more was learnt than had to be
    assert first_passages(iter([(1, 90), (2, 30)]), (30, 20)) == [2, None]


def test_means_are_of_the_runs_that_reach():
    assert Reach.of([8, 4, None]) == (6.0, 2.0, 2 / 3)
    assert Reach.of([None]) == (None, None, 0.0)


def test_groups_keep_the_order():
    assert grouped([("b", 1), ("a", 2), ("b", 3)]) == {"b": [1, 3], "a": [2]}


def test_a_head_is_as_wide_as_its_column():
    columns = {"name": "{name:<6}", "share": "{share:8.1f}"}
    rows = [{"name": "one", "share": 1.0}, {"name": "two", "share": 20.55}]
    assert table(columns, rows) == ["name     share", "one        1.0", "two       20.6"]
    assert lay_out([["a", "bb"], ["ccc", "d"]]) == ["a    bb", "ccc  d"]


def test_labels_are_shown_with_their_share_where_some_runs_miss():
    cell = {"mean": 6.0, "sd": 2.0, "reach": 2 / 3}
    assert show_labels(cell, 2.0) == "6.0±2.0 x2.00 (0.67)"
    assert show_labels(cell | {"reach": 1.0}, None) == "6.0±2.0"
    assert show_labels({"mean": None, "sd": None, "reach": 0.0}, None) == "-"
