"""`selectron reproduce multiclass`: the streams, the counting, and the words about it."""

import gzip
import json

import numpy as np
import pytest

from selectron.experiments import EXPERIMENTS, newsgroups, ocr_problems
from selectron.experiments.default_families_images import FASHION
from selectron.experiments.multiclass import summary
from selectron.experiments.multiclass_problems import (
    DIGITS,
    MNIST,
    NEWS,
    PROBLEMS,
    draw,
    draw_late,
)
from selectron.experiments.multiclass_runs import (
    BLIND,
    DEFAULT,
    FIRST_ORDER,
    LEARNERS,
    PEER,
    Job,
    LateJob,
    begin,
    first_labels,
    work,
)
from selectron.experiments.multiclass_text import EARLIER, text
from tests.experiments.digits import write_digits


def test_the_labels_when_errors_were_first_low_enough():
    errors = iter([(1, 90), (2, 30), (3, 31), (4, 5), (5, 1)])
    assert first_labels(errors, (0.5, 0.3, 0.2, 0.05), 100) == [2, 2, 4, 4]
    assert next(errors) == (5, 1)  # no more was learnt than had to be
    assert first_labels(iter([(1, 90), (2, 30)]), (0.3, 0.2), 100) == [2, None]


def test_rows_that_judge_are_not_learnt():
    stream = draw(DIGITS, 0)
    assert (len(stream.classes), len(stream.test_classes)) == (1297, 500)
    learnt = {row.tobytes() for row in stream.rows}
    assert not any(row.tobytes() in learnt for row in stream.test_rows)
    assert (draw(DIGITS, 1).classes != stream.classes).any()


def test_a_run_of_the_default_and_one_that_asks_blindly():
    k = PROBLEMS.index(DIGITS)
    ours = work(Job(DEFAULT, k, 0))
    assert ours == sorted(ours)
    assert ours[-1] < 200
    stream = draw(DIGITS, 0)
    machine, labels = begin(DEFAULT, stream, 0)
    assert machine.n_classes == len(labels.classes) == 10
    assert type(machine.rules.update).__name__ == "Rehearsal"
    assert begin(BLIND, stream, 0)[0].rules.update == machine.rules.update


def test_digits_are_read_from_the_folder(tmp_path, monkeypatch):
    write_digits(tmp_path, each=220)
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    ocr_problems.read_pixels.cache_clear()
    stream = draw(MNIST, 0)
    ocr_problems.read_pixels.cache_clear()
    assert stream.rows.shape == (200, 36)
    assert len(stream.test_classes) == 2000


def write_posts(folder):
    groups = ["sci.space"] * 1200 + ["rec.autos"] * 1100
    said = {"sci.space": "orbit orbit moon", "rec.autos": "wheel engine"}
    with gzip.open(folder / newsgroups.FILE, "wt") as file:
        for k, group in enumerate(groups):
            post = {"topics": [group], "title": f"post {k}", "text": said[group]}
            file.write(json.dumps(post) + "\n")


def test_posts_are_counts_of_words_and_never_written_out(tmp_path, monkeypatch):
    write_posts(tmp_path)
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    newsgroups.newsgroups.cache_clear()
    stream = draw(NEWS, 0)
    newsgroups.newsgroups.cache_clear()
    assert stream.rows.shape == (300, newsgroups.WORDS)
    assert len(stream.test_classes) == 2000
    assert stream.rows.max() == 2.0  # orbit
    assert set(stream.classes.tolist()) == {0, 1}
    three = stream._replace(classes=np.arange(300) % 3)
    for name in (DEFAULT, FIRST_ORDER):
        rules = begin(name, three, 0)[0].rules
        assert type(rules.scaling).__name__ == "Text"
        assert type(rules.update).__name__ == "ClassRidge"


def test_a_folder_without_posts(tmp_path, monkeypatch):
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    newsgroups.newsgroups.cache_clear()
    assert newsgroups.news_file() is None
    with pytest.raises(ValueError, match=r"20news_bydate\.jsonl\.gz is not in SELECTRON_DATA"):
        draw(NEWS, 0)
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
    result = summary([*found, (LateJob(0), [10, None])])
    shown = text(result)
    row = next(line for line in shown.splitlines() if line.startswith("default "))
    assert row.split() == ["default", "150±50", "200±0", "300±0(1)", "144", "281", "681"]
    assert f"{PEER}: not run, for it is not there" in shown
    assert (
        "mean 10 (standard error 0), median 10, most 10, 1 of 2 within 60; 1 never (earlier"
        in shown
    )
    pairs = {(problem.name, name) for problem in PROBLEMS for name in [*names, PEER]}
    assert set(EARLIER) == pairs - {(NEWS.name, PEER)}
    without = [(job, done) for job, done in found if PROBLEMS[job.problem] is not NEWS]
    shown = text(summary([*without, (LateJob(0), [10])]))
    assert "20news: not run, for it is not there" in shown
    assert "161 275 390 562" not in shown


def test_it_can_be_had_by_name():
    assert EXPERIMENTS["multiclass"].steps(2) % 2 == 0
