"""Save experts, load them, go on bit for bit; damaged files are refused."""

import json
import struct

import numpy as np
import pytest
from safetensors.numpy import save_file

from selectron.experts import AdaHedge, DamagedFile, LearnAlpha, load_experts, save_experts
from tests.experts.twins import one_of_each

LOSSES = np.random.default_rng(0).exponential(size=(90, 3))
RATES = {"fixed": {"eta": 0.7}, "tuned": {"eta": AdaHedge(3.0, cap=50.0)}}


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("kind", one_of_each(3))
def test_a_run_goes_on_exactly_where_it_stopped(kind, rate, tmp_path):
    whole = one_of_each(3, prior=[0.2, 0.3, 0.5], **RATES[rate])[kind]
    part = one_of_each(3, prior=[0.2, 0.3, 0.5], **RATES[rate])[kind]
    expected = whole.run(LOSSES)
    found = [part.run(LOSSES[:40])]
    save_experts(part, tmp_path / "x")
    back = load_experts(tmp_path / "x")
    assert type(back) is type(part)
    found.append(back.run(LOSSES[40:]))
    assert np.concatenate(found).tobytes() == expected.tobytes()
    assert back.weights.tobytes() == whole.weights.tobytes()
    assert back.predict([1.0, 2.0, 3.0]) == whole.predict([1.0, 2.0, 3.0])


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m.experts"
    experts = LearnAlpha(3, horizon=20)
    experts.run(LOSSES)
    save_experts(experts, path)
    return path


def test_every_flipped_byte_of_the_numbers_is_noticed(saved):
    content = saved.read_bytes()
    header = struct.unpack("<Q", content[:8])[0]
    for position in range(8 + header, len(content), 7):
        damaged = bytearray(content)
        damaged[position] ^= 0x10
        saved.write_bytes(damaged)
        with pytest.raises(DamagedFile, match="SHA-256"):
            load_experts(saved)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(DamagedFile, match="truncated or not a file of experts"):
        load_experts(saved)


def with_metadata(path, **changes):
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"] |= changes
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length :])


def test_a_newer_file_is_refused_by_its_version(saved):
    with_metadata(saved, version="3")
    with pytest.raises(DamagedFile, match=r"version 3.*load it with a newer"):
        load_experts(saved)


@pytest.mark.parametrize("kind", ["StaticExpert", "Mixture", "os.system"])
def test_a_changed_kind_is_refused(saved, kind):
    with_metadata(saved, kind=kind)
    with pytest.raises(DamagedFile, match="SHA-256"):
        load_experts(saved)


def test_other_files_are_refused(tmp_path):
    save_file({"x": np.zeros(3)}, tmp_path / "other")
    with pytest.raises(DamagedFile, match="not one of selectron's experts"):
        load_experts(tmp_path / "other")
    with pytest.raises(FileNotFoundError, match="no such file"):
        load_experts(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"no folder .*: make it first"):
        save_experts(LearnAlpha(2, horizon=5), tmp_path / "none" / "x")


def test_a_kind_of_your_own_is_refused(tmp_path):
    class Mine(LearnAlpha):
        pass

    with pytest.raises(TypeError, match="cannot save a Mine; known are StaticExpert"):
        save_experts(Mine(2, horizon=5), tmp_path / "x")


def test_a_failed_save_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        save_experts(LearnAlpha(2, horizon=5), saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.parametrize("changed", [b'"versiom"', b'"version":"0"', b'"version":"x"'])
def test_a_file_without_its_version_is_damaged(tmp_path, changed):
    path = tmp_path / "experts"
    save_experts(LearnAlpha(3, horizon=50), path)
    whole = path.read_bytes()
    kept = b'"version"' if changed == b'"versiom"' else b'"version":"2"'
    assert whole.count(kept) == 1
    path.write_bytes(whole.replace(kept, changed))
    with pytest.raises(ValueError, match="damaged: it has no version"):
        load_experts(path)
