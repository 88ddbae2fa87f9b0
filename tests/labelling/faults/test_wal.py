"""A write-ahead log that is cut, or has a flipped bit: a prefix is left, and the loss is noticed.

SQLite takes what follows the damage for a commit that was never finished, and says nothing.
"""

import random
import shutil

import pytest

from selectron.labelling.events import Event
from selectron.labelling.store import Damaged, StoreError, open_store


@pytest.fixture
def crashed(nursery, tmp_path, acks):
    """Return the folder of a store whose process ended without closing it, and its log."""
    folder = tmp_path / "crashed"
    folder.mkdir()
    life = {"address": str(folder / "labels.db"), "acks": str(acks), "answers": 40}
    nursery.run("annotate_once", **life)
    whole = tmp_path / "whole"
    shutil.copytree(folder, whole)
    with open_store(whole / "labels.db", readonly=True) as store:
        log = list(store.events())
        assert store.verify().marked == len(log)
    assert len(log) >= 40
    return folder, log


def flipped(content, coins):
    place = coins.randrange(len(content))
    bit = 1 << coins.randrange(8)
    return content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]


@pytest.mark.parametrize("points", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_flipped_bit_in_the_file_is_noticed_or_harmless(memory, points):
    path = memory / "labels.db"
    with open_store(path) as store:
        store.append([Event("answered", {"id": f"a{k}", "label": "é"}, k / 3) for k in range(100)])
        log = list(store.events())
    whole, coins, noticed = path.read_bytes(), random.Random(1), 0
    for _ in range(points):
        path.write_bytes(flipped(whole, coins))
        try:
            with open_store(path, readonly=True) as store:
                if store.verify().ok:
                    assert list(store.events()) == log
                    continue
        except StoreError:
            pass
        noticed += 1
    assert noticed > 0.3 * points


@pytest.mark.parametrize("points", [1000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_damaged_tail_is_noticed(crashed, memory, points):
    folder, log = crashed
    wal, coins, lost = (folder / "labels.db-wal").read_bytes(), random.Random(1), 0
    path = memory / "labels.db"
    mark = (folder / "labels.db.mark").read_bytes()
    for point in range(points):
        shutil.copy(folder / "labels.db", path)
        (memory / "labels.db-shm").unlink(missing_ok=True)
        left = wal[: coins.randrange(len(wal))] if point % 2 else flipped(wal, coins)
        (memory / "labels.db-wal").write_bytes(left)
        (memory / "labels.db.mark").unlink(missing_ok=True)
        with open_store(path, readonly=True) as store:
            kept = list(store.events())
        assert kept == log[: len(kept)]
        (memory / "labels.db.mark").write_bytes(mark)
        if len(kept) == len(log):
            open_store(path, readonly=True).close()
            continue
        lost += 1
        with pytest.raises(Damaged, match="acknowledged"):
            open_store(path)
        assert (memory / "labels.db-wal").read_bytes() == left  # it may still be of use
    assert lost > 0.9 * points
