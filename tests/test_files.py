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
from selectron.experts import StaticExpert, load_experts, save_experts
from selectron.experts.store import DamagedFile as OfExperts
from selectron.files import DamagedFile, Format, format_name, read_file, write_file
from selectron.queries import Always
from selectron.tracking import TrackingClassifier
from selectron.updates import Perceptron

KIND = Format("a format", 3, "about", file="a file of mine", owner="mine")
TENSORS = {"b": np.arange(6.0).reshape(2, 3), "a": np.array(7, np.int64)}
ROWS, LABELS = np.eye(4), [0, 1, 0, 1]


def by_hand(tensors, description, name="a format", version="3", key="about"):
    """Write the bytes from the definition: eight bytes of length, a JSON header, the numbers."""
    total = hashlib.sha256(description.encode())
    header, numbers = {}, b""
    types = {"float64": "F64", "int64": "I64"}
    for tensor in sorted(tensors):
        array, content = tensors[tensor], tensors[tensor].tobytes()
        total.update(f"{tensor} {array.dtype.name} {array.shape}".encode() + content)
        place = [len(numbers), len(numbers) + len(content)]
        kind = types[array.dtype.name]
        header[tensor] = {"dtype": kind, "shape": list(array.shape), "data_offsets": place}
        numbers += content
    header["__metadata__"] = {
        "format": name, "version": version, key: description, "sha256": total.hexdigest(),
    }  # fmt: skip
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


@pytest.mark.parametrize("version", ["1", "3"])
def test_a_file_from_the_definition_is_read(tmp_path, version):
    """So a file that was saved by any selectron before is read as well."""
    (tmp_path / "x").write_bytes(by_hand(TENSORS, "words", version=version))
    found, description = read_file(tmp_path / "x", KIND)
    assert description == "words"
    np.testing.assert_array_equal(found["b"], TENSORS["b"])


def test_a_mixture_from_the_definition_goes_on(tmp_path):
    mixture = StaticExpert(3)
    mixture.update([0.1, 0.7, 2.0])
    tensors = {name: np.asarray(value) for name, value in mixture.state().items()}
    content = by_hand(tensors, "StaticExpert", "selectron experts", "1", "kind")
    (tmp_path / "x").write_bytes(content)
    np.testing.assert_array_equal(load_experts(tmp_path / "x").weights, mixture.weights)


def test_the_checksum_has_not_changed(tmp_path):
    """Pinned: with another one, nothing saved before would load."""
    mixture = StaticExpert(2)
    mixture.update([0.5, 1.5])
    save_experts(mixture, tmp_path / "x")
    pinned = b"8728f50bbb5cebfa0ff2d0511b2ad571454fb6af52c451b0ea32ce0473d7e4bc"
    assert pinned in (tmp_path / "x").read_bytes()


def test_one_error_for_all():
    assert classifier.DamagedFile is OfExperts is DamagedFile


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
        assert format_name(path) == f"selectron {path.name}"
        for _, load in files:
            if load is not own:
                with pytest.raises(DamagedFile, match=rf"'selectron {path.name}': load it with"):
                    load(path)


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
