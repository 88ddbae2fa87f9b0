"""Runs in shards: one digest, whatever the workers, and whoever is killed."""

import json
import os
import random
import signal
import sys
import time

import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

import selectron
from selectron.cli import main
from selectron.cli.one_pass import PassResult
from selectron.engines import sift_and_teach
from selectron.engines.sift_and_teach import FORMAT, Making, Schedule
from selectron.files import read_file, write_file
from tests.engines.files import (
    RULES,
    facts,
    facts_of,
    kill,
    kill_a_worker,
    started,
    write_csv,
)
from tests.engines.lives import BUDGET, taught
from tests.labelling.faults.nursery import Nursery

N, SMALL = 1300, 240

pytestmark = pytest.mark.plain


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("small") / "people.csv", SMALL)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("shards") / "people.csv", N)


@pytest.fixture(scope="module")
def undisturbed(table):
    return facts(table, "--engine", "local", "--workers", "1", "--budget", str(BUDGET))


def test_the_digest_does_not_depend_on_the_workers(table, undisturbed, tmp_path):
    saved, path = tmp_path / "people.selectron", tmp_path / "facts.json"
    options = "--engine", "local", "--workers", "2", "--budget", str(BUDGET), "--save", str(saved)
    printed, _ = started(table, *options, "--json", str(path)).communicate()
    assert json.loads(path.read_text())["results"] == [undisturbed]
    assert f" {undisturbed['f1'][0]:.4f} " in printed
    assert undisturbed["labels"][0] <= BUDGET
    assert undisturbed["judged"] == undisturbed["rounds"] == N
    assert undisturbed["mistakes"][0] < 0.2 * N
    learner = selectron.load(saved)
    assert learner.n_seen_ == N
    assert learner.n_asked_ == undisturbed["labels"][0]


def test_the_f_measure_counts_every_row_of_every_shard(small, monkeypatch):
    """The pairs are those of all predictions, of the opening and of the blocks of all workers."""
    named, there = [], []

    def batch(making, records, own=Making.batch):
        made = own(making, records)
        there.extend(made.labels)
        return made

    def first(*arguments, own=sift_and_teach.watched_batch):
        predicted = own(*arguments)
        named.extend(predicted)
        return predicted

    def later(*arguments, own=sift_and_teach.sift):
        sifted, predicted = own(*arguments)
        named.extend(predicted)
        return sifted, predicted

    monkeypatch.setattr(Making, "batch", batch)
    monkeypatch.setattr(sift_and_teach, "watched_batch", first)
    monkeypatch.setattr(sift_and_teach, "sift", later)
    learner = selectron.SelectiveClassifier(
        "perceptron", "margin:b=0.5", scaling="centred", random_state=0
    )
    done = taught(small, learner)
    named = ["" if name is None else name for name in named]  # no class before the first label
    [[low]] = PassResult("", done.learner, None, SMALL, done.pairs).found
    about = {"labels": ["low"], "average": "macro"}
    assert len(named) == len(there) == done.judged == SMALL
    assert done.mistakes == sum(a != b for a, b in zip(named, there, strict=True))
    assert low.f1 == pytest.approx(f1_score(there, named, **about), rel=1e-12)
    assert low.precision == pytest.approx(precision_score(there, named, **about), rel=1e-12)
    assert low.recall == pytest.approx(recall_score(there, named, **about), rel=1e-12)


def test_all_depends_on_the_seed_and_the_shards(small):
    def digest(seed, shards):
        learner = selectron.SelectiveClassifier(
            "perceptron", "margin:b=0.5", scaling="centred", random_state=seed
        )
        return taught(small, learner, shards).digest()

    assert digest(0, 3) == digest(0, 3)
    assert len({digest(0, 3), digest(1, 3), digest(0, 4)}) == 3


def test_a_driver_is_killed_ten_times(small, tmp_path):
    """Another driver goes on from the checkpoint: one digest, and never more than the budget."""
    draw, quiet, killed = random.Random(0), tmp_path / "quiet", tmp_path / "killed"
    progress, checkpoint = tmp_path / "progress", tmp_path / "checkpoint"
    life, resumed, k = {"table": str(small), "progress": str(progress)}, set(), 0
    with Nursery(module="tests.engines.lives", NUMBA_DISABLE_JIT="1") as nursery:
        nursery.run("teach", **life, checkpoint=str(tmp_path / "other"), digest=str(quiet))
        for _ in range(30):
            progress.write_text("0")
            pid = nursery.start("teach", **life, checkpoint=str(checkpoint), digest=str(killed))
            while int(progress.read_text() or 0) < SMALL * (k + draw.random()) / 11:
                time.sleep(0.0005)
            time.sleep(draw.uniform(0.0, 0.01))
            os.kill(pid, signal.SIGKILL)
            if nursery.wait(pid) == 0:  # on a busy machine it may have come to its end before
                checkpoint.unlink(missing_ok=True)
                continue
            resumed.add(checkpoint.read_bytes() if checkpoint.exists() else b"")
            k += 1
            if k == 10:
                break
        nursery.run("teach", **life, checkpoint=str(checkpoint), digest=str(killed))
    assert k == 10
    assert killed.read_text() == quiet.read_text()
    assert int(quiet.read_text().split()[1]) <= BUDGET
    assert len(resumed) > 5  # checkpoints at which drivers died


@pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_workers_are_killed(table, undisturbed, kills):
    options = "--engine", "local", "--workers", "1", "--budget", str(BUDGET), "--json", "-"
    process, draw = started(table, *options), random.Random(kills)
    killed = 0
    while killed < kills and process.poll() is None:
        killed += kill_a_worker(process, draw)
        time.sleep(draw.uniform(0.0, 1.0))
    assert facts_of(process) == undisturbed
    assert killed == kills


@pytest.mark.slow
def test_ten_drivers_with_workers_are_killed(table, undisturbed, tmp_path):
    draw = random.Random(0)
    options = "--engine", "local", "--workers", "2", "--budget", str(BUDGET), "--json", "-"
    checkpoint = tmp_path / "people.checkpoint"
    drivers = 0
    for _ in range(10):
        process = started(table, *options, "--checkpoint", str(checkpoint))
        kill_a_worker(process, draw)
        time.sleep(draw.uniform(0.0, 4.0))
        drivers += process.poll() is None
        kill(process.pid)
        process.communicate()
    assert drivers
    assert facts(table, *options[:-2], "--checkpoint", str(checkpoint)) == undisturbed


def test_a_run_that_breaks_off_at_any_label_goes_on_the_same(small, tmp_path):
    def learner():
        return selectron.SelectiveClassifier(
            "perceptron", "margin:b=0.5", scaling="centred", random_state=0
        )

    whole = taught(small, learner())
    n_asked = whole.learner.n_asked_
    checkpoint = tmp_path / "people.checkpoint"
    for last in range(5, n_asked, n_asked // 4):
        asked = 0

        def answer(row, record, label, last=last):
            nonlocal asked
            asked += 1
            if asked > last:
                raise KeyboardInterrupt
            return label

        checkpoint.unlink(missing_ok=True)
        with pytest.raises(KeyboardInterrupt):
            taught(small, learner(), answer=answer, checkpoint=checkpoint)
        again = taught(small, learner(), checkpoint=checkpoint)
        assert again.digest() == whole.digest()
        assert again.pairs == whole.pairs


@pytest.mark.slow
def test_a_program_is_asked_once_whoever_is_killed(table, tmp_path):
    log, checkpoint = tmp_path / "asked", tmp_path / "people.checkpoint"
    program = tmp_path / "ask.py"
    program.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    row = json.loads(line)\n"
        f"    open({str(log)!r}, 'a').write(line)\n"
        "    print('high' if int(row['age']) > 50 or row['town'] == 'Ulm' else 'low', flush=True)\n"
    )
    options = (
        "--engine", "local", "--workers", "1", "--oracle", f"{sys.executable} {program}",
        "--budget", "60", "--checkpoint", str(checkpoint), "--json", "-", "--target", "risk",
    )  # fmt: skip
    process = started(table, *options)
    while process.poll() is None and not (log.exists() and log.read_text().count("\n") > 10):
        time.sleep(0.01)
    kill(process.pid)
    process.communicate()
    found = facts_of(started(table, *options))
    assert log.read_text().count("\n") <= found["labels"][0] + 1  # the one under way when it died
    assert found["labels"][0] <= 60


def test_a_checkpoint_of_another_run_is_refused(small, tmp_path):
    checkpoint = tmp_path / "people.checkpoint"
    learner = selectron.SelectiveClassifier("perceptron", "margin:b=0.5", random_state=0)
    done = taught(small, learner, checkpoint=checkpoint)
    assert taught(small, learner, checkpoint=checkpoint).digest() == done.digest()
    with pytest.raises(ValueError, match="checkpoint of another run"):
        taught(small, learner, shards=4, checkpoint=checkpoint)
    other = selectron.SelectiveClassifier("perceptron", "margin:b=0.5", random_state=1)
    with pytest.raises(ValueError, match="checkpoint of another run"):
        taught(small, other, checkpoint=checkpoint)
    whole = checkpoint.read_bytes()
    older = FORMAT._replace(version=1)
    write_file(checkpoint, older, *read_file(checkpoint, FORMAT))
    with pytest.raises(selectron.DamagedFile, match="load it with the older selectron"):
        taught(small, learner, checkpoint=checkpoint)
    checkpoint.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(selectron.DamagedFile):
        taught(small, learner, checkpoint=checkpoint)


def test_rounds_grow_and_end_with_the_shards():
    schedule = Schedule(opening=100, growth=0.5, least=8, most=40)
    bounds, done, sizes = [(0, 300), (300, 310), (310, 600)], [0, 0, 0], []
    while blocks := schedule.blocks(bounds, done):
        sizes.append(sum(stop - start for _, start, stop in blocks))
        for k, start, stop in blocks:
            assert start == bounds[k][0] + done[k]
            done[k] += stop - start
    assert done == [300, 10, 290]
    assert sizes[:4] == [77, 25, 34, 45]


def test_classes_that_come_late_join(tmp_path):
    path = tmp_path / "three.jsonl"
    draw = random.Random(0)
    lines = []
    for n in range(1600):
        x, y = draw.gauss(0, 1), draw.gauss(0, 1)
        late = "c" if n % 533 > 350 and x > 1 else "a" if x > y else "b"
        lines.append(json.dumps({"left": x, "right": y, "label": late}))
    path.write_text("\n".join(lines))
    learner = selectron.SelectiveClassifier("perceptron", "uniform:rate=0.2", random_state=0)
    done = taught(path, learner)
    assert sorted(done.learner.classes_.tolist()) == ["a", "b", "c"]
    assert 200 < done.learner.n_asked_ < 500


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--shuffle"], "--shuffle and --engine"),
        (["--negative", "low", "--positive", "high"], "--negative and --engine"),
        (["--goal", "error<=0.1"], "--goal and --engine"),
        (["--shards", "0"], "a shard at least"),
    ],
)
def test_what_does_not_go_with_shards_is_refused(table, capsys, options, said):
    assert main(["run", str(table), "--engine", "local", *RULES, *options]) == 2
    assert said in capsys.readouterr().err
