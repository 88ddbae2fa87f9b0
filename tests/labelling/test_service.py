"""One writer for many threads: durable before it is answered, and stopped after an error."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event as Signal
from time import monotonic, sleep

import pytest

from selectron.labelling import service as service_module
from selectron.labelling.desk import Decision
from selectron.labelling.events import Event
from selectron.labelling.service import Full, Service, Stopped
from selectron.labelling.store import DiskFull, Unfit, open_store
from tests.labelling.tally import Tally


@pytest.fixture
def start(address):
    """Start services on one store; the last one is closed."""
    services = []

    def start(**options):
        services.append(Service(open_store(address), Tally(), **options))
        return services[-1]

    yield start
    services[-1].close()


def answer(id_, label="x"):
    return lambda desk: desk.answer(id_, label)


@contextmanager
def writer_held(service):
    """Let calls pile up behind one whose decision takes as long as this block."""
    begun, go = Signal(), Signal()
    first = service.submit(lambda desk: (begun.set(), go.wait(), desk.answer("first", "x"))[2])
    try:
        assert begun.wait(5)
        yield first
    finally:
        go.set()


def until(condition, seconds=5.0):
    end = monotonic() + seconds
    while not condition():
        assert monotonic() < end
        sleep(0.005)


def test_many_threads_are_answered_with_their_own_numbers(start):
    service = start()
    with ThreadPoolExecutor(16) as threads:
        ids = [f"a{k // 2}" for k in range(400)]  # each id twice
        replies = list(threads.map(lambda id_: service.submit(answer(id_)).result(), ids))
    seqs = {id_: reply["seq"] for id_, reply in zip(ids, replies, strict=True)}
    assert replies == [{"seq": seqs[id_], "durable": True} for id_ in ids]
    until(lambda: service.read(lambda desk: desk.chosen) == 20)
    digest = service.read(Tally.digest)
    service.close()
    again = start()
    assert again.read(lambda desk: len(desk.answers)) == 200
    assert again.read(Tally.digest) == digest


def test_what_waits_together_is_one_commit(start, monkeypatch):
    service, sizes = start(), []
    append = service._store.append
    monkeypatch.setattr(
        service._store, "append", lambda events: (sizes.append(len(events)), append(events))[1]
    )
    with writer_held(service) as first:
        others = [service.submit(answer(f"a{k}")) for k in range(50)]
    assert first.result()["seq"] == 1
    assert {other.result()["seq"] for other in others} == set(range(2, 52))
    assert sizes[:2] == [1, 50]


def test_a_command_that_raises_fails_alone(start):
    service = start()
    nan = Event("noted", {"text": float("nan")}, 0)
    with writer_held(service):
        wrong = service.submit(lambda desk: 1 / 0)
        unfit = service.submit(lambda desk: Decision([nan], {}))
        right = service.submit(answer("right"))
    assert right.result()["seq"] == 2
    with pytest.raises(ZeroDivisionError):
        wrong.result()
    with pytest.raises(Unfit):
        unfit.result()
    assert service.stopped is None


def test_too_many_calls_are_refused(start):
    service = start(room=5)
    taken = []
    with writer_held(service), pytest.raises(Full, match="5 calls wait"):
        taken.extend(service.submit(answer(f"a{k}")) for k in range(6))
    taken[-1].result()
    assert service.submit(answer("later")).result()["durable"]


def test_an_error_of_the_store_stops_everything(start, monkeypatch):
    service = start()
    service.submit(answer("kept")).result()

    def fail(events):
        raise DiskFull("no space left")

    with writer_held(service) as lost:
        monkeypatch.setattr(service._store, "append", fail)
        waiting = service.submit(answer("waiting"))
    for call in (lost.result, waiting.result, lambda: service.submit(answer("later"))):
        with pytest.raises(Stopped, match="no space left"):
            call()
    monkeypatch.undo()
    assert "no space left" in service.stopped
    assert service.read(lambda desk: "kept" in desk.answers)  # reading goes on
    service.close()
    again = start()
    assert again.read(lambda desk: list(desk.answers)) == ["kept"]
    assert again.submit(answer("first")).result()["seq"] == 2


def test_a_learner_that_fails_stops_everything(start, monkeypatch):
    service = start()
    monkeypatch.setattr(service._desk, "learn", lambda: 1 / 0)
    service.submit(answer("kept")).result()
    until(lambda: service.stopped)
    assert "division" in service.stopped
    monkeypatch.undo()
    service.close()
    assert start().read(lambda desk: list(desk.answers)) == ["kept"]


def test_what_waits_is_answered_before_the_end(start):
    service = start()
    with ThreadPoolExecutor(1) as threads:
        with writer_held(service):
            waiting = [service.submit(answer(f"a{k}")) for k in range(20)]
            closing = threads.submit(service.close)
            until(lambda: service.stopped)
            with pytest.raises(Stopped, match="closed"):
                service.submit(answer("late"))
        closing.result(5)
    assert {call.result()["seq"] for call in waiting} == set(range(2, 22))
    assert len(start().read(lambda desk: desk.answers)) == 21


def test_listeners_hear_of_commits(start):
    service, heard = start(), []

    def broken():
        raise ValueError

    service.listen(broken)
    end = service.listen(lambda: heard.append(service.read(lambda desk: desk.last)))
    service.submit(answer("a")).result()
    until(lambda: 1 in heard)
    assert set(heard) <= {0, 1}  # the learner may tell of the empty log first
    end()
    count = len(heard)
    for k in range(10):
        service.submit(answer(f"b{k}")).result()
    assert len(heard) <= count + 2  # each of the two threads may have been about to tell


def test_leases_are_looked_at_in_time(start, monkeypatch):
    looked = []
    monkeypatch.setattr(
        Tally, "expire", lambda desk, now, at: (looked.append(now), Decision([], {}))[1]
    )
    start(tick=0.01)
    until(lambda: len(looked) > 5)
    assert looked == sorted(looked)


def test_the_learner_goes_on_from_its_snapshot(start, monkeypatch):
    monkeypatch.setattr(service_module, "PACK_LESSONS", 7)
    service = start()
    for k in range(30):
        service.submit(answer(f"a{k}")).result()
    until(lambda: service.read(lambda desk: desk.chosen) == 3)
    digest = service.read(Tally.digest)
    service.close()
    lessons, restored = [], []
    learn, unpack = Tally.learn, Tally.unpack
    monkeypatch.setattr(
        Tally, "learn", lambda desk: (lessons.append(len(desk.answers) - desk.taught), learn(desk))
    )
    monkeypatch.setattr(
        Tally, "unpack", lambda desk, *packed: (restored.append(packed), unpack(desk, *packed))
    )
    again = start()
    assert restored
    assert lessons[0] <= 14  # the others were in the snapshot
    assert again.read(Tally.digest) == digest


def test_a_disk_without_room_for_the_learner_loses_no_answer(start, monkeypatch):
    service = start()
    service.submit(answer("a")).result()
    digest = service.read(Tally.digest)

    def full(*_):
        raise DiskFull("the disk is full")

    monkeypatch.setattr(service._store, "save_snapshot", full)
    service.close()
    assert start().read(Tally.digest) == digest


def test_a_disk_that_fills_up_while_a_snapshot_is_written_loses_no_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(service_module, "PACK_LESSONS", 7)
    packing = Tally.packing
    monkeypatch.setattr(
        Tally, "packing", lambda desk: (packing(desk), lambda: (bytes(1 << 20), "large"))[1]
    )
    store = open_store(tmp_path / "labels.db")
    store._db.execute("PRAGMA max_page_count = 64")  # room for answers, not for a snapshot
    service, kept = Service(store, Tally()), []

    def go_on():
        for k in range(500):
            service.submit(answer(f"a{k}")).result()
            kept.append(f"a{k}")
            sleep(0.001)  # the learner comes to its turn

    with pytest.raises(Stopped, match="full"):
        go_on()
    assert service.read(lambda desk: set(kept) <= desk.answers.keys())  # reading goes on
    service.close()
    monkeypatch.undo()
    again = Service(open_store(tmp_path / "labels.db"), Tally())
    assert len(kept) >= 7
    assert again.read(lambda desk: list(desk.answers)) == kept
    assert again.submit(answer("more")).result()["durable"]
    again.close()


def test_a_snapshot_that_does_not_match_is_left_out(start, monkeypatch):
    service = start()
    for k in range(9):
        service.submit(answer(f"a{k}")).result()
    digest = service.read(Tally.digest)
    service._store.save_snapshot(5, b'[3,"wrong"]', "right")
    service.close()
    assert start().read(Tally.digest) == digest
