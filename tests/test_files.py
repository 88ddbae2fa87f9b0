"""One format for all files: what was saved loads, what was not is refused, and stays so."""

import hashlib
import json
import os
import struct
from stat import S_ISFIFO
from threading import Thread

import numpy as np
import pytest

import selectron
from selectron import SelectiveClassifier, classifier, tracking
from selectron.experts import DamagedFile as OfExperts
from selectron.experts import StaticExpert, load_experts, save_experts
from selectron.files import DamagedFile, Format, format_name, read_file, write_file
from selectron.queries import Always
from selectron.tracking import TrackingClassifier
from selectron.updates import Perceptron

KIND = Format("a format", 3, "about", file="a file of mine", owner="mine")
TENSORS = {"b": np.arange(6.0).reshape(2, 3), "a": np.array(7, np.int64)}
ROWS, LABELS = np.eye(4), [0, 1, 0, 1]


def by_hand(tensors, description, name="a format", version="3", key="about"):
    """Write the bytes from the definition: eight bytes of length, a JSON header, the numbers."""
    metadata = {"format": name, "version": version, key: description}
    total = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    header, numbers = {}, b""
    types = {"float64": "F64", "int64": "I64"}
    for tensor in sorted(tensors):
        array, content = tensors[tensor], tensors[tensor].tobytes()
        total.update(f"{tensor} {array.dtype.name} {array.shape}".encode() + content)
        place = [len(numbers), len(numbers) + len(content)]
        kind = types[array.dtype.name]
        header[tensor] = {"dtype": kind, "shape": list(array.shape), "data_offsets": place}
        numbers += content
    header["__metadata__"] = metadata | {"sha256": total.hexdigest()}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + numbers


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "x"
    write_file(path, KIND, TENSORS, "words")
    found, description = read_file(path, KIND)
    assert description == "words"
    assert sorted(found) == ["a", "b"]
    for name, array in TENSORS.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
    assert format_name(path) == "a format"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_from_the_definition_is_read(tmp_path):
    (tmp_path / "x").write_bytes(by_hand(TENSORS, "words"))
    found, description = read_file(tmp_path / "x", KIND)
    assert description == "words"
    np.testing.assert_array_equal(found["b"], TENSORS["b"])


@pytest.mark.parametrize(("version", "other"), [("1", "the older"), ("4", "a newer")])
def test_another_version_is_refused_with_the_remedy(tmp_path, version, other):
    (tmp_path / "x").write_bytes(by_hand(TENSORS, "words", version=version))
    with pytest.raises(DamagedFile, match=f"version {version}, .* load it with {other}"):
        read_file(tmp_path / "x", KIND)


@pytest.mark.parametrize("field", ["format", "version", "about"])
def test_the_checksum_covers_all_metadata(tmp_path, field):
    content = by_hand(TENSORS, "words")
    changed = {"format": b"a format", "version": b'"3"', "about": b"words"}[field]
    kind = KIND._replace(name="b format") if field == "format" else KIND
    other = kind._replace(version=4) if field == "version" else kind
    new = {"format": b"b format", "version": b'"4"', "about": b"sword"}[field]
    (tmp_path / "x").write_bytes(content.replace(changed, new))
    with pytest.raises(DamagedFile, match="SHA-256"):
        read_file(tmp_path / "x", other)


def test_a_mixture_from_the_definition_goes_on(tmp_path):
    mixture = StaticExpert(3)
    mixture.update([0.1, 0.7, 2.0])
    tensors = {name: np.asarray(value) for name, value in mixture.state().items()}
    content = by_hand(tensors, "StaticExpert", "selectron experts", "2", "kind")
    (tmp_path / "x").write_bytes(content)
    np.testing.assert_array_equal(load_experts(tmp_path / "x").weights, mixture.weights)


def test_the_checksum_has_not_changed(tmp_path):
    """Pinned: with another one, nothing saved before would load."""
    mixture = StaticExpert(2)
    mixture.update([0.5, 1.5])
    save_experts(mixture, tmp_path / "x")
    pinned = b"872a7b164ead211b384ca911502225ad8b1c0276f9c18393e477bac2ca39db61"
    assert pinned in (tmp_path / "x").read_bytes()


def test_one_error_for_all():
    assert selectron.DamagedFile is classifier.DamagedFile is OfExperts is DamagedFile


def saved_files(folder):
    """Save one of each kind; return its path with the function that loads it."""
    SelectiveClassifier(Perceptron(), Always()).fit(ROWS, LABELS).save(folder / "learner")
    TrackingClassifier([Perceptron()]).fit(ROWS, LABELS).save(folder / "tracker")
    save_experts(StaticExpert(2), folder / "experts")
    loads = (selectron.load, tracking.load, load_experts)
    return list(
        zip([folder / name for name in ("learner", "tracker", "experts")], loads, strict=True)
    )


def test_each_load_refuses_the_files_of_the_others_by_name(tmp_path):
    files = saved_files(tmp_path)
    for path, own in files:
        own(path)
    (learner, _), (tracker, _), (experts, _) = files
    assert format_name(learner) == format_name(tracker) == "selectron learner"
    assert type(selectron.load(tracker)) is TrackingClassifier
    with pytest.raises(DamagedFile, match="a 'SelectiveClassifier', not a TrackingClassifier"):
        tracking.load(learner)
    for path in (learner, tracker):
        with pytest.raises(DamagedFile, match="'selectron learner': load it with"):
            load_experts(path)
    with pytest.raises(DamagedFile, match="'selectron experts': load it with"):
        selectron.load(experts)


def test_none_of_them_saves_into_a_folder_or_beside_one(tmp_path):
    tracker = TrackingClassifier([Perceptron()]).fit(ROWS, LABELS)
    learner = SelectiveClassifier(Perceptron(), Always()).fit(ROWS, LABELS)
    for save in (tracker.save, learner.save, lambda path: save_experts(StaticExpert(2), path)):
        with pytest.raises(IsADirectoryError, match="is a folder: name a file in it"):
            save(tmp_path)
        with pytest.raises(FileNotFoundError, match=r"no folder .*: make it first"):
            save(tmp_path / "none" / "x")


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = Thread(target=lambda: heard.append(pipe.read_bytes()), daemon=True)
    reader.start()
    save_experts(StaticExpert(2), pipe)
    assert S_ISFIFO(pipe.stat().st_mode)
    reader.join()
    save_experts(StaticExpert(2), tmp_path / "x")
    assert len(heard[0]) == (tmp_path / "x").stat().st_size


@pytest.mark.parametrize("content", [b"", b"no such header", b"\0" * 100])
def test_what_is_no_safetensors_file_has_no_format(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    assert format_name(tmp_path / "x") == ""
    with pytest.raises(DamagedFile, match="truncated or not a file of mine"):
        read_file(tmp_path / "x", KIND)
    with pytest.raises(FileNotFoundError, match="no such file"):
        format_name(tmp_path / "none")
