"""What is particular to a store in a file: its lock, its mark, its version."""

import os
import shutil
import socket
import sqlite3
from contextlib import closing

import pytest

from selectron.labelling.store import Damaged, Held, StoreError, open_store, sqlite
from selectron.labelling.store.mark import SLOT, Mark, read_mark
from tests.labelling.test_store import answers, tamper


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "labels.db"
    with open_store(path) as store:
        store.append(answers(1, 5))
        store.append(answers(6, 9))
    return path


def beside(path, suffix):
    return path.with_name(path.name + suffix)


def test_the_holder_is_named(path):
    with open_store(path), pytest.raises(Held) as held:
        open_store(path)
    assert (held.value.pid, held.value.host) == (os.getpid(), socket.gethostname())


def test_a_closed_store_is_one_file_beside_its_lock_and_mark(path):
    names = {found.name for found in path.parent.iterdir()}
    assert names == {"labels.db", "labels.db.lock", "labels.db.mark"}


@pytest.mark.parametrize("statement", ["DELETE FROM events WHERE seq > 8", "DELETE FROM events"])
def test_a_lost_end_is_noticed(path, statement):
    tamper(str(path), statement)
    with pytest.raises(Damaged, match="event 9 was acknowledged"):
        open_store(path)
    with pytest.raises(Damaged, match="event 9 was acknowledged"):
        open_store(path, readonly=True)


def test_a_lost_file_is_noticed(path):
    path.unlink()
    with pytest.raises(Damaged, match="event 9 was acknowledged"):
        open_store(path)


def test_another_log_is_noticed(path, tmp_path):
    with open_store(tmp_path / "other.db") as other:
        other.append(answers(11, 22))
    shutil.copy(tmp_path / "other.db", path)
    with pytest.raises(Damaged, match="another"):
        open_store(path)


def test_a_loss_may_be_accepted(path, caplog):
    tamper(str(path), "DELETE FROM events WHERE seq > 4")
    beside(path, ".mark").unlink()
    with open_store(path) as store:
        assert "no mark" in caplog.text
        assert store.append(answers(5, 5)) == 5
        assert store.verify().ok


def test_a_snapshot_of_another_history_is_left_out(path):
    with open_store(path) as store:
        store.save_snapshot(3, b"three", "d3")
        store.save_snapshot(8, b"eight", "d8")
    tamper(str(path), "DELETE FROM events WHERE seq > 4")
    beside(path, ".mark").unlink()
    with open_store(path) as store:
        assert store.snapshot() == (3, b"three", "d3")
        store.append(answers(11, 20))
        assert store.snapshot() == (3, b"three", "d3")
    tamper(str(path), "UPDATE snapshots SET data = x'00'")
    with open_store(path) as store:
        assert store.snapshot() is None


def test_a_torn_mark_leaves_the_one_before(tmp_path):
    path = tmp_path / "mark"
    with closing(Mark(path)) as mark:
        assert read_mark(path) == (0, bytes(32))
        for seq in range(1, 6):
            before = path.read_bytes()
            mark.write(seq, bytes([seq]) * 32)
            whole = path.read_bytes()
            assert read_mark(path) == (seq, bytes([seq]) * 32)
            for place in range(len(whole)):
                if whole[place] != before[place]:
                    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
                    assert read_mark(path).seq == seq - 1
            path.write_bytes(whole)
    with closing(Mark(path)) as mark:  # opened again, the slot of the newest is not written first
        newest = path.read_bytes()
        mark.write(6, bytes(32))
        assert (path.read_bytes()[:64] == newest[:64]) != (
            path.read_bytes()[SLOT:] == newest[SLOT:]
        )
        path.write_bytes(b"!" * 100)
        with pytest.raises(Damaged, match="delete"):
            read_mark(path)


def test_the_mark_may_be_behind(path):
    """A crash between the commit and the mark: the events are there, and nobody was told."""
    behind = beside(path, ".mark").read_bytes()
    with open_store(path) as store:
        store.append(answers(10, 12))
    beside(path, ".mark").write_bytes(behind)
    with open_store(path, readonly=True) as reader:
        assert reader.verify().marked == 9
        assert reader.verify().ok
    with open_store(path) as store:
        assert store.verify().marked == 12


def test_a_newer_version_is_refused(path):
    tamper(str(path), "PRAGMA user_version = 2")
    with pytest.raises(StoreError, match="version 2"):
        open_store(path)


def test_an_older_version_is_brought_up_to_date(path, monkeypatch):
    step = "ALTER TABLE snapshots ADD COLUMN note TEXT;"
    monkeypatch.setattr(sqlite, "MIGRATIONS", [*sqlite.MIGRATIONS, step])
    with open_store(path) as store:
        assert store.info()["version"] == 2
        assert store.verify().events == 9
        assert store.append(answers(10, 10)) == 10
    with closing(sqlite3.connect(path)) as db:
        db.execute("SELECT note FROM snapshots")


def test_a_store_that_was_only_begun_is_begun_again(tmp_path):
    path = tmp_path / "labels.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(StoreError, match="version 0"):
        open_store(path, readonly=True)
    with open_store(path) as store:
        assert store.append(answers(1, 1)) == 1


def test_the_mark_of_a_backup_that_is_gone_does_no_harm(path, tmp_path):
    copy = tmp_path / "copy.db"
    with open_store(path) as store:
        store.backup(copy)
    copy.unlink()
    with open_store(tmp_path / "other.db") as store:
        store.append(answers(1, 3))
        store.backup(copy)
    with open_store(copy) as store:
        assert store.verify().marked == 3


def test_a_failed_migration_changes_nothing(path, monkeypatch):
    monkeypatch.setattr(sqlite, "MIGRATIONS", [*sqlite.MIGRATIONS, "CREATE TABLE x (y); wrong;"])
    with pytest.raises(StoreError, match="wrong"):
        open_store(path)
    monkeypatch.undo()
    with open_store(path) as store:
        assert store.info()["version"] == 1


def test_a_file_of_another_program_is_refused(tmp_path):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE events (x)")
    with pytest.raises(StoreError, match="another program"):
        open_store(path)
    text = tmp_path / "text.db"
    text.write_text("no database at all, but long enough to look like a file with a header " * 20)
    with pytest.raises(Damaged, match="is no store, or its beginning is damaged: name another"):
        open_store(text)
    with pytest.raises(StoreError, match="is a folder, not a store: name a file"):
        open_store(tmp_path)
    assert not list(tmp_path.glob("text.db.*"))
    with pytest.raises(StoreError, match=r"there is no folder .*nowhere: make it"):
        open_store(tmp_path / "nowhere" / "labels.db")
