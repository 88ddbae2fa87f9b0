"""Save at any point, load, go on as if nothing had happened; damaged files are refused."""

import json
import struct

import numpy as np
import pytest
from safetensors.numpy import save_file

from selectron import SelectiveClassifier, load
from selectron.classifier import DamagedFile
from tests.rules.catalogue import PAIRS, QUERIES, UPDATES
from tests.rules.spread import SPREAD, compiled_or_plain
from tests.rules.streams import stream

pytestmark = pytest.mark.filterwarnings("ignore:Reflection is made for rows of length one")
X, SIGNS = stream(n=80)
Y = np.where(SIGNS > 0, "b", "a")


@pytest.mark.parametrize(("update", "query"), compiled_or_plain(PAIRS, SPREAD))
def test_a_run_goes_on_exactly_where_it_stopped(update, query, tmp_path):
    make = lambda: SelectiveClassifier(UPDATES[update], QUERIES[query], random_state=11)  # noqa: E731
    whole = make().partial_fit(X, Y, classes=["a", "b"])
    for stop in (1, 37, 79):
        part = make().partial_fit(X[:stop], Y[:stop], classes=["a", "b"])
        part.save(tmp_path / "m.selectron")
        part = load(tmp_path / "m.selectron").partial_fit(X[stop:], Y[stop:])
        for ours, theirs in zip(state(part), state(whole), strict=True):
            assert ours.tobytes() == theirs.tobytes()
        assert part.n_asked_ == whole.n_asked_
        assert part.n_seen_ == whole.n_seen_ == 80


def state(clf):
    machine = clf._run.machine
    machine.settle()  # room for the row at hand is not in files
    return [machine.states.numbers, *machine.arrays()]


@pytest.mark.parametrize("classes", [["a", "b"], [0, 1], [-1.0, 1.0], [False, True]])
def test_classes_keep_their_type(classes, tmp_path):
    y = np.array(classes)[(SIGNS > 0).astype(int)]
    clf = SelectiveClassifier(random_state=0).fit(X, y)
    clf.save(tmp_path / "m")
    back = load(tmp_path / "m")
    assert back.classes_.dtype == clf.classes_.dtype
    np.testing.assert_array_equal(back.predict(X), clf.predict(X))
    assert repr(back) == repr(clf)


def test_the_default_is_saved_with_its_scaling(tmp_path):
    clf = SelectiveClassifier(random_state=3).fit(X, Y)
    clf.save(tmp_path / "m")
    np.testing.assert_array_equal(
        load(tmp_path / "m").decision_function(X), clf.decision_function(X)
    )


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m.selectron"
    SelectiveClassifier(random_state=0).fit(X, Y).save(path)
    return path


def test_every_flipped_byte_of_the_numbers_is_noticed(saved):
    content = bytearray(saved.read_bytes())
    header = struct.unpack("<Q", content[:8])[0]
    for position in range(8 + header, len(content), 97):
        damaged = bytearray(content)
        damaged[position] ^= 0x10
        saved.write_bytes(damaged)
        with pytest.raises(DamagedFile, match="SHA-256"):
            load(saved)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(DamagedFile, match="truncated or not a learner"):
        load(saved)


def test_a_changed_description_is_refused(saved):
    changed = saved.read_bytes().replace(b'\\"n_asked\\": ', b'\\"n_asked\\":1')
    assert changed != saved.read_bytes()
    saved.write_bytes(changed)
    with pytest.raises(DamagedFile, match="SHA-256"):
        load(saved)


def test_a_newer_file_is_refused_by_its_version(saved):
    content = saved.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"]["version"] = "6"
    text = json.dumps(header).encode()
    saved.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length :])
    with pytest.raises(DamagedFile, match=r"version 6.*load it with a newer"):
        load(saved)


def test_another_safetensors_file_is_refused(tmp_path):
    save_file({"x": np.zeros(3)}, tmp_path / "other")
    with pytest.raises(DamagedFile, match="not one of a selectron learner"):
        load(tmp_path / "other")


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        load(tmp_path / "none")


def test_a_failed_save_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        SelectiveClassifier(random_state=1).fit(X, Y).save(saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_an_unfitted_learner_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        SelectiveClassifier().save(tmp_path / "m")
