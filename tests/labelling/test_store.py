"""What both stores promise."""

import json
from threading import Thread

import pytest

from selectron.labelling.events import Event
from selectron.labelling.store import Damaged, Held, StoreError, Unfit, open_store


def answers(first, last):
    return [
        Event("answered", {"id": f"a{k}", "label": "x", "item": str(k)}, 1e9 + k / 7)
        for k in range(first, last + 1)
    ]


def test_events_come_back_as_they_were(address):
    events = [
        Event("items", {"items": [{"id": "é", "text": "nul \0, quote ', 漢字 🙂"}]}, 0.1),
        Event("classes", {"names": ["spam", "ham"]}, 1731860000.1234567),
        Event("noted", {"item": "é", "text": "1e400", "deep": [1, 2.5, None, True, {}]}, 2),
    ]
    with open_store(address) as store:
        assert store.append(events[:2]) == 1
        assert store.append([]) == 3
        assert store.append(events[2:]) == 3
        assert list(store.events()) == list(enumerate(events, 1))
    with open_store(address) as store:
        assert list(store.events()) == list(enumerate(events, 1))
        assert list(store.events(after=2)) == [(3, events[2])]
        assert list(store.events(after=3)) == []
        assert store.append(answers(4, 4)) == 4


def test_the_last_hash_stands_for_the_log_in_either_store(address, tmp_path):
    with open_store(address) as store, open_store(tmp_path / "other.db") as other:
        for log in (store, other):
            log.append(answers(1, 2))
            log.append(answers(3, 3))
        assert store.verify().head == other.verify().head
        other.append(answers(4, 4))
        assert store.verify().head != other.verify().head


@pytest.mark.parametrize(
    "event",
    [
        Event("noted", {"text": float("nan")}, 0.0),
        Event("noted", {"text": "\ud800"}, 0.0),
        Event("noted", {"text": b"x"}, 0.0),
        Event("noted", {}, float("inf")),
        Event("noted", {"n": 10**5000}, 0.0),
        Event("answered", {"id": "a\0b"}, 0.0),
        Event("answered", {}, 0.0),
    ],
)
def test_what_is_no_json_is_refused_before_anything_is_stored(address, event):
    with open_store(address) as store:
        with pytest.raises(Unfit):
            store.append([*answers(1, 1), event])
        assert store.append(answers(1, 1)) == 1  # and the store goes on


def test_a_client_id_is_stored_once(address):
    with open_store(address) as store:
        store.append(answers(1, 3))
        with pytest.raises(StoreError):
            store.append([*answers(4, 4), *answers(2, 2)])
        with pytest.raises(StoreError, match="opened again"):
            store.append(answers(5, 5))  # fail-stop
        assert len(list(store.events())) == 3  # while reading works
    with open_store(address) as store:
        assert store.append(answers(4, 4)) == 4


def test_a_store_has_one_writer_and_many_readers(address):
    with open_store(address) as store:
        store.append(answers(1, 3))
        with pytest.raises(Held) as held:
            open_store(address)
        assert held.value.pid
        assert str(held.value.pid) in str(held.value)
        with open_store(address, readonly=True) as reader:
            assert len(list(reader.events())) == 3
            assert reader.verify().ok
            store.append(answers(4, 4))
            assert len(list(reader.events())) == 4
            with pytest.raises(StoreError, match="reading"):
                reader.append(answers(5, 5))
    with open_store(address) as store:
        assert store.append(answers(5, 5)) == 5


def test_reading_makes_no_store(address):
    with pytest.raises(StoreError):
        open_store(address, readonly=True)
    open_store(address).close()
    with open_store(address, readonly=True) as reader:
        assert reader.verify().events == 0


def test_a_snapshot_comes_back(address):
    with open_store(address) as store:
        assert store.snapshot() is None
        store.save_snapshot(0, b"nothing yet", "d0")
        store.append(answers(1, 9))
        for seq in (2, 5, 9):
            store.save_snapshot(seq, bytes([seq]) * 100_000, f"d{seq}")
        store.save_snapshot(9, b"again", "d9")
    with open_store(address) as store:
        assert store.snapshot() == (9, b"again", "d9")
        assert store.info()["snapshots"] == [5, 9]
        with pytest.raises(Damaged):
            store.save_snapshot(10, b"", "")


def test_a_backup_is_taken_while_others_write(address, tmp_path):
    with open_store(address) as store:
        store.append(answers(1, 100))
        store.save_snapshot(50, b"half", "d50")
        writing = Thread(target=lambda: [store.append(answers(k, k)) for k in range(101, 200)])
        writing.start()
        store.backup(tmp_path / "copy.db")
        writing.join()
        with pytest.raises(StoreError, match="exists"):
            store.backup(tmp_path / "copy.db")
        log = list(store.events())
    with open_store(tmp_path / "copy.db") as copy:
        assert copy.verify().ok
        kept = list(copy.events())
        assert len(kept) >= 100
        assert kept == log[: len(kept)]
        assert copy.snapshot() == (50, b"half", "d50")
    names = {path.name for path in tmp_path.iterdir() if path.name.startswith("copy")}
    assert names == {"copy.db", "copy.db.mark", "copy.db.lock"}


def test_info_says_what_there_is(address):
    with open_store(address) as store:
        store.append([*answers(1, 3), Event("joined", {"annotator": "ann"}, 0.0)])
        info = store.info()
    assert info["events"] == 4
    assert info["kinds"] == {"answered": 3, "joined": 1}
    assert info["version"] == 1
    assert info["bytes"] > 0
    assert info["fsync_ms"] > 0
    json.dumps(info)


def test_verify_finds_what_was_changed(address):
    with open_store(address) as store:
        store.append(answers(1, 9))
        report = store.verify()
        assert report.ok
        assert report.events == 9
    for number, (statement, said) in enumerate(
        [
            ("UPDATE events SET line = replace(line, '\"x\"', '\"y\"') WHERE seq = 7", "event 7"),
            ("UPDATE events SET kind = 'skipped' WHERE seq = 6", "event 6"),
            ("UPDATE events SET client = 'other' WHERE seq = 5", "event 5"),
            ("DELETE FROM events WHERE seq = 4", "event 4 is missing"),
        ]
    ):
        tamper(address, statement)
        with open_store(address, readonly=True) as store:
            report = store.verify()
            assert not report.ok
            assert said in report.problems[0]
            assert report.events == 6 - number
            with pytest.raises(Damaged):
                list(store.events())


def tamper(address, statement):
    """Change the tables behind the back of the store."""
    if address.startswith("postgresql"):
        import psycopg  # noqa: PLC0415

        with psycopg.connect(address) as db:
            db.execute(statement.replace("events", "selectron_events"))
        return
    import sqlite3  # noqa: PLC0415

    db = sqlite3.connect(address)
    with db:
        db.execute(statement)
    db.close()


def test_a_closed_store_can_be_opened_at_once(address):
    for k in range(30):
        with open_store(address) as store:
            assert store.append(answers(k, k)) == k + 1
