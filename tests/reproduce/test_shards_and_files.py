"""Reports of sift-and-teach, nodes and files-beside-pipelines, of measurements made up."""

import numpy as np
import pytest

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.default import nodes, sift_and_teach
from selectron.reproduce.default.nodes import Costs
from selectron.reproduce.peers import pipelines

pytestmark = pytest.mark.plain
COSTS = Costs(3e-4, 2e-5, 2e-4, 0.07, 0.05, 6e-4, 0.06, 22_000_000, 0.05, 800.0)


def told(name, found, seeds):
    """Return the report of an experiment, and its text; its figure must come out as well."""
    experiment = EXPERIMENTS[name]
    result = {"experiment": name} | experiment.study.report(found, seeds)
    experiment.study.draw(result)
    return result, experiment.text(result)


def test_a_run_that_misses_the_goal_counts_with_all_its_labels():
    def run(labels, asked):
        return {"labels": labels, "asked": asked, "error": 0.01}

    jobs = sift_and_teach.jobs(2)
    pairs = [(run(100, 300), run(110, 300)), (run(100, 300), run(None, 120))] * 5
    found = [(job, {"goal": 0.02, "rows": a, "shards": b})
             for job, (a, b) in zip(jobs, pairs, strict=True)]  # fmt: skip
    result, text = told("sift-and-teach", found, 2)
    assert result["mean_ratio"] == pytest.approx(1.15)
    assert "115 -1" in text
    assert "5 of 5 are at most 1.15" in text


def test_the_goal_has_to_be_held_for_ten_labels():
    dip = [(n, 0.01 if n == 20 else 0.1) for n in range(30)]
    assert sift_and_teach._run(dip, 0.05)["labels"] is None
    fall = [(n, 0.01 if n >= 20 else 0.1) for n in range(40)]
    assert sift_and_teach._run(fall, 0.02)["labels"] == 28


def test_more_nodes_are_faster_until_the_driver_is_the_limit():
    result, _ = told("nodes", [(0, COSTS._asdict())], 1)
    for name in ("falls", "stays"):
        rates = [line[name] for line in result["lines"]]
        assert rates == sorted(rates)
        assert rates[-1] < result["lines"][-1][f"limit_{name}"]
    assert result["half"]["stays"] < result["half"]["falls"]
    alone = nodes.round_of(COSTS, 1, 1000, 0.0)
    assert alone.nodes == pytest.approx(0.05 + 1000 * 3.2e-4)
    work = 0.07 + 6e-4 + 32 * 2e-4
    rare = (alone.nodes + work + alone.network) / 20  # a checkpoint in a twentieth of the time
    assert alone.driver == pytest.approx(work + rare)
    cheap = nodes.round_of(COSTS._replace(checkpoint=0.001), 1, 1000, 0.0)
    assert cheap.driver == pytest.approx(work + 0.001)


def test_errors_within_a_tenth_are_counted():
    runs = [[0.02, 0.024], [0.0541, 0.0561], [0.05]]
    found = [(job, {"rows": 900, "labels": [90], "ours": ours, "theirs": 0.05})
             for job, ours in zip(pipelines.jobs(2), runs, strict=True)]  # fmt: skip
    result, text = told("files-beside-pipelines", found, 2)
    assert [line["ratio"] for line in result["corpora"]] == pytest.approx([0.44, 1.102, 1.0])
    assert "2 of 3 are within 1.1" in text


def test_the_pipeline_learns_texts_codes_and_numbers():
    rng = np.random.default_rng(0)
    corpus = pipelines.Corpus(lambda: ([], []), ("text",), ("code",), ("size",))

    def row():
        up = bool(rng.integers(2))
        size = "" if rng.random() < 0.2 else str(rng.normal() + 2 * up)
        return {"text": "up and away" if up else "down", "code": "ab"[up], "size": size,
                "label": ["no", "yes"][up]}  # fmt: skip

    train, test = [row() for _ in range(60)], [row() for _ in range(20)]
    assert pipelines.their_error(corpus, train, test) == 0.0
