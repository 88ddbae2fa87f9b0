"""`selectron reproduce multiclass`: the streams, the counting, and the words about it."""

import gzip
import json

import numpy as np
import pytest

from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.default import multiclass
from selectron.reproduce.default.multiclass import (
    BLIND,
    DEFAULT,
    DIGITS,
    EARLIER,
    FIRST_ORDER,
    LEARNERS,
    MNIST,
    NEWS,
    NEWS_FILE,
    PEER,
    PROBLEMS,
    Job,
    LateJob,
    begin,
    draw_late,
    draw_stream,
    measure,
    report,
    text,
)
from selectron.reproduce.harness.problems import FASHION, WORDS, data_file, read_pixels
from tests.reproduce.digits import write_digits


def test_rows_that_judge_are_not_learnt():
    stream = draw_stream(DIGITS, 0)
    assert (len(stream.classes), len(stream.test_classes)) == (1297, 500)
    learnt = {row.tobytes() for row in stream.rows}
    assert not any(row.tobytes() in learnt for row in stream.test_rows)
    assert (draw_stream(DIGITS, 1).classes != stream.classes).any()


def test_a_run_of_the_default_and_one_that_asks_blindly():
    k = PROBLEMS.index(DIGITS)
    ours = measure(Job(DEFAULT, k, 0))
    assert ours == sorted(ours)
    assert ours[-1] < 200
    stream = draw_stream(DIGITS, 0)
    run, labels = begin(DEFAULT, stream, 0)
    machine = run.machine
    assert machine.n_classes == len(labels.classes) == 10
    assert type(machine.rules.update).__name__ == "Rehearsal"
    assert begin(BLIND, stream, 0)[0].machine.rules.update == machine.rules.update


def test_digits_are_read_from_the_folder(tmp_path, monkeypatch):
    write_digits(tmp_path, each=220)
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    read_pixels.cache_clear()
    stream = draw_stream(MNIST, 0)
    read_pixels.cache_clear()
    assert stream.rows.shape == (200, 36)
    assert len(stream.test_classes) == 2000


def write_posts(folder):
    groups = ["sci.space"] * 1200 + ["rec.autos"] * 1100
    said = {"sci.space": "orbit orbit moon", "rec.autos": "wheel engine"}
    with gzip.open(folder / NEWS_FILE, "wt") as file:
        for k, group in enumerate(groups):
            post = {"topics": [group], "title": f"post {k}", "text": said[group]}
            file.write(json.dumps(post) + "\n")


def test_posts_are_counts_of_words_and_never_written_out(tmp_path, monkeypatch):
    write_posts(tmp_path)
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    multiclass.newsgroups.cache_clear()
    stream = draw_stream(NEWS, 0)
    multiclass.newsgroups.cache_clear()
    assert stream.rows.shape == (300, WORDS)
    assert len(stream.test_classes) == 2000
    assert stream.rows.max() == 2.0  # orbit
    assert set(stream.classes.tolist()) == {0, 1}
    three = stream._replace(classes=np.arange(300) % 3)
    for name in (DEFAULT, FIRST_ORDER):
        rules = begin(name, three, 0)[0].machine.rules
        assert not rules.scaling.WRITTEN_OUT or name == DEFAULT
        assert type(rules.update).__name__ == ("DualProbit" if name == DEFAULT else "ClassRidge")


def test_a_folder_without_posts(tmp_path, monkeypatch):
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    multiclass.newsgroups.cache_clear()
    assert data_file(NEWS_FILE) is None
    with pytest.raises(ValueError, match=r"20news_bydate\.jsonl\.gz is not in SELECTRON_DATA"):
        draw_stream(NEWS, 0)
    n_without = EXPERIMENTS["multiclass"].steps(1)
    write_posts(tmp_path)
    assert EXPERIMENTS["multiclass"].steps(1) == n_without + len(LEARNERS)


@pytest.mark.skipif(not FASHION.exists(), reason="fashion-MNIST is not installed")
def test_late_classes_stay_away_for_five_thousand_rounds():
    stream, late = draw_late(3)
    assert len(set(late)) == 2
    assert not np.isin(stream.classes[:5000], late).any()
    assert np.isin(stream.classes[5000:5100], late).sum() > 5


def test_the_text_has_ours_beside_the_earlier_figures():
    names = [*LEARNERS]
    found = [
        (Job(name, k, seed), [100 * (i + 1) for i, _ in enumerate(problem.errors)])
        for name in names
        for k, problem in enumerate(PROBLEMS)
        for seed in range(2)
    ]
    found[1] = found[1][0], [200, 200, None]
    result = report([*found, (LateJob(0), [10, None])], 2)
    shown = text(result)
    row = next(line for line in shown.splitlines() if line.startswith("default "))
    assert row.split() == ["default", "150±50", "200±0", "300±0(1)", "144", "281", "681"]
    assert f"{PEER}: not run, for it is not there" in shown
    assert (
        "mean 10 (standard error 0), median 10, most 10, 1 of 2 within 60; 1 never (earlier"
        in shown
    )
    pairs = {(problem.name, name) for problem in PROBLEMS for name in [*names, PEER]}
    assert {(problem, name) for problem, row in EARLIER.items() for name in row} == pairs - {
        (NEWS.name, PEER)
    }
    without = [(job, done) for job, done in found if PROBLEMS[job.problem] is not NEWS]
    shown = text(report([*without, (LateJob(0), [10])], 2))
    assert "20news: not run, for it is not there" in shown
    assert "161 275 390 562" not in shown


def test_it_can_be_had_by_name():
    assert EXPERIMENTS["multiclass"].steps(2) % 2 == 0
