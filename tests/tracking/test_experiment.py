"""`selectron reproduce tracking`: its table, its picture, and Reuters where it is at hand."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.default.tracking import (
    ASKING,
    PROTOTYPE,
    REUTERS_FILE,
    TOPICS,
    half_width,
    read_by_date,
    tasks,
)
from selectron.reproduce.harness.problems import data_file
from selectron.streams.drifting import KINDS

TRACKING = replace(EXPERIMENTS["tracking"], processes=False)


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """One seed, and a folder without Reuters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SELECTRON_DATA", str(tmp_path_factory.mktemp("empty")))
        ticks = []
        found = TRACKING.run(1, lambda: ticks.append(1))
        assert len(ticks) == TRACKING.steps(1) == len(KINDS)
    return found


def test_a_cell_for_every_stream_and_way_of_asking(result):
    cells = {(cell["stream"], cell["asking"]): cell for cell in result["cells"]}
    assert set(cells) == {(kind, asking) for kind in KINDS for asking in ASKING}
    assert {(k, a) for k, row in PROTOTYPE.items() for a in row} == set(cells)
    for (_, asking), cell in cells.items():
        assert cell["labels"] == 100.0 or asking != "all labels"
        closest = max(lead["difference"] for lead in cell["minus_each_learner"])
        assert cell["error"] - cell["best_learner_error"] == pytest.approx(closest)
    spent = [cells["flips", asking]["labels"] for asking in ("by mistakes", "random, as many")]
    assert spent[0] == pytest.approx(spent[1], rel=0.1)
    assert json.loads(json.dumps(result)) == result


def test_text_and_picture(result, tmp_path):
    shown = TRACKING.text(result)
    for word in (*KINDS, *ASKING, "SELECTRON_DATA has no reuters21578.jsonl.gz", "below 6 of 6"):
        assert word in shown
    for word in ("+-", "[", "95 %"):
        assert word not in shown, "one seed says nothing about others"
    assert "(seed 11;" in shown
    TRACKING.plot(result, tmp_path / "weights.png")
    assert (tmp_path / "weights.png").stat().st_size > 10_000


def test_text_of_several_seeds(result):
    cells = [
        cell
        | {"interval": 0.5}
        | {"minus_each_learner": [x | {"interval": 0.25} for x in cell["minus_each_learner"]]}
        for cell in result["cells"]
    ]
    shown = TRACKING.text(result | {"seeds": [11, 12], "cells": cells})
    assert "(seeds 11 to 12, +- 95 % of the mean;" in shown
    assert shown.count(" +- 0.50 (") == len(cells)
    closest = max(x["difference"] for x in cells[0]["minus_each_learner"])
    assert f"{closest:+.2f} [{closest - 0.25:+.2f}, {closest + 0.25:+.2f}]" in shown


def test_intervals():
    columns = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    np.testing.assert_allclose(half_width(columns), [4.302652729 / np.sqrt(3), 0.0])
    assert half_width(columns[:1]) == [None, None]


def test_documents_come_in_the_order_of_their_dates(tmp_path):
    documents = [
        {"date": f"1987-0{month}-01", "topics": topics, "title": "", "text": word * 3}
        for month, topics, word in [(3, ["earn"], "c "), (1, [], "a "), (2, ["acq", "x"], "b ")]
    ]
    path = tmp_path / REUTERS_FILE
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(document) + "\n" for document in documents)
    X, topics = read_by_date(path)
    assert topics == [{"acq", "x"}, {"earn"}]
    assert X.shape == (2, 300)


def test_the_topic_that_is_asked_for_changes():
    topics = [{TOPICS[k % 4]} for k in range(9000)]
    found = tasks(topics)
    assert set(found) == {*TOPICS, "switching"}
    assert (found["earn"][:8].tolist()) == [1, -1, -1, -1, 1, -1, -1, -1]
    which = np.flatnonzero(found["switching"] > 0) % 4
    turns = np.flatnonzero(np.diff(which)) * 4
    assert len(turns) >= 3
    assert np.diff(turns).min() > 900
    assert np.diff(turns).max() < 3100


@pytest.mark.slow
@pytest.mark.skipif(data_file(REUTERS_FILE) is None, reason="SELECTRON_DATA has no Reuters-21578")
def test_reuters_by_date():
    cells = TRACKING.run(1, lambda: None)["reuters"]
    for cell in cells:
        assert cell["mistakes"] <= 1.03 * cell["best_learner_mistakes"]
        if cell["task"] == "switching":
            assert cell["mistakes"] < 0.75 * cell["ridge_mistakes"]
