"""`selectron reproduce cbgz06-figure-5` to `8`, on a few stories of known topics."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.cbgz06 import fixed_rates, stories, sweep
from selectron.reproduce.harness.verdict import verdict

TOPICS = ("grain", "gold")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write stories whose words follow from their topics, out of order of time."""
    folder, rng = tmp_path_factory.mktemp("stories"), np.random.default_rng(0)
    lines = []
    for t in rng.permutation(100).tolist():
        topics = [topic for topic in TOPICS if rng.random() < 0.3]
        words = [f"{topic}{rng.integers(6)}" for topic in topics for _ in range(4)]
        words += [f"word{rng.integers(40)}" for _ in range(8)]
        date = f"1987-02-{1 + t // 60:02}T00:{t % 60:02}"
        story = {"title": f"story {t}", "text": " ".join(words), "topics": topics, "date": date}
        lines.append(json.dumps(story))
    (folder / stories.FILE).write_bytes(gzip.compress("\n".join(lines).encode()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SELECTRON_DATA", str(folder))
        patch.setattr(stories, "POINTS", 2)
        stories.stories.cache_clear()
        yield folder
    stories.stories.cache_clear()


def test_stories_come_in_order_of_time_with_frequent_topics(folder):
    found = stories.stories()
    assert set(found.categories) == set(TOPICS)
    counts = [flags.sum() for flags in found.categories.values()]
    assert counts == sorted(counts, reverse=True)
    assert np.asarray(found.rows.multiply(found.rows).sum(axis=1)).ravel() == pytest.approx(1.0)
    assert "stand-in" in found.name


def test_all_labels_at_rate_one(folder):
    outcome = stories.play_at_rate("SEL-P", 1.0, 0)
    assert outcome.rate == 1.0
    assert outcome.block_rates == [1.0] * stories.BLOCKS
    assert outcome.f1 > 0.4
    assert np.mean(outcome.block_f1[5:]) > np.mean(outcome.block_f1[:2])


def test_b_is_tuned_to_the_rate(folder):
    b = stories.parameter_for("SEL-P", 0.4)
    assert stories.play("SEL-P", b, 0).rate == pytest.approx(0.4, rel=0.03)


@pytest.mark.plain
@pytest.mark.parametrize("name", [f"cbgz06-figure-{k}" for k in (5, 6, 7, 8)])
def test_text_and_plot(folder, name, tmp_path, monkeypatch):
    given = {"rate": [0.3, 0.6], "SEL-P": [0.1, 0.5], "SEL-2ND": [0.1, 0.5]}
    monkeypatch.setattr(fixed_rates, "published", lambda _: given)
    experiment = replace(EXPERIMENTS[name], processes=False)
    result = experiment.run(1, lambda: None)
    assert len(result["points"]) == {5: 4, 6: 4, 7: 12, 8: 6}[int(name[-1])]
    assert all(each["verdict"] for each in result["verdicts"])
    text = experiment.text(json.loads(json.dumps(result)))
    assert "The paper: " in text
    experiment.plot(result, tmp_path / "figure.png")


def test_a_rate_between_two_points():
    rows = [{"rate": 0.2, "f1": 0.4}, {"rate": 0.4, "f1": 0.6}]
    assert sweep.f1_at(rows, 0.3) == pytest.approx(0.5)
    assert sweep.f1_at(rows, 0.5) is None


def test_verdicts_follow_from_the_numbers():
    assert verdict("c", "o", [True, True])["verdict"] == "holds"
    assert verdict("c", "o", [True, False])["verdict"] == "holds in part (1 of 2)"
    assert verdict("c", "o", False)["verdict"] == "does not hold"


def test_without_stories_the_folder_is_asked_for(monkeypatch):
    monkeypatch.delenv("SELECTRON_DATA", raising=False)
    with pytest.raises(ValueError, match="SELECTRON_DATA"):
        stories.require_stories()
