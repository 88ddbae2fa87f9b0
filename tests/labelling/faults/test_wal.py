"""A write-ahead log that is cut, or has a flipped bit: a prefix is left, and the loss is noticed.

SQLite takes what follows the damage for a commit that was never finished, and says nothing.
"""

import random
import shutil

import pytest

from selectron.labelling.store import Damaged, open_store


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


def damaged(wal, point, coins):
    """Cut the file at even points, and flip a bit of it at odd ones."""
    place = coins.randrange(len(wal))
    if point % 2 == 0:
        return wal[:place]
    return wal[:place] + bytes([wal[place] ^ 1 << coins.randrange(8)]) + wal[place + 1 :]


@pytest.mark.parametrize("points", [1000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_damaged_tail_is_noticed(crashed, memory, points):
    folder, log = crashed
    wal, coins, lost = (folder / "labels.db-wal").read_bytes(), random.Random(1), 0
    path = memory / "labels.db"
    mark = (folder / "labels.db.mark").read_bytes()
    for point in range(points):
        shutil.copy(folder / "labels.db", path)
        (memory / "labels.db-shm").unlink(missing_ok=True)
        left = damaged(wal, point, coins)
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
