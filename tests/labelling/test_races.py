"""Two people change one answer at the same moment: one wins, and the other one is told."""

from threading import Barrier, Thread

import pytest

from selectron.labelling.checks import Refused
from selectron.labelling.desk import Desk
from selectron.labelling.store import open_store
from tests.labelling.office import CLASSES, WordLearner, service, tickets

ROUNDS = 40
FIRST, SECOND, THIRD = CLASSES


def at_once(running, *commands):
    """Call the desk from a thread for each command; return replies and refusals."""
    barrier, outcomes = Barrier(len(commands)), [None] * len(commands)

    def call(place, command):
        barrier.wait()
        try:
            outcomes[place] = running.submit(command).result()
        except Refused as refusal:
            outcomes[place] = refusal

    threads = [Thread(target=call, args=pair) for pair in enumerate(commands)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def replayed(path):
    """Return the digest of a desk made of the log alone."""
    desk = Desk(WordLearner)
    with open_store(path, readonly=True) as store:
        assert store.verify().ok
        for seq, event in store.events():
            desk.apply(event, seq)
    return desk.digest()


def answered(running, item):
    """Let ann answer about an item; return the id of the answer, and how to read its label."""
    name, id_ = item["id"], f"of-{item['id'][-5:]}"
    running.submit(lambda desk: desk.answer(id_, None, FIRST, "ann", 0.0, 0.0, item=name)).result()
    return id_, lambda desk: desk.books.labels.get(desk.books.rows[name])


def undoing(id_):
    return lambda desk: desk.undo(id_, "ann", 0.0)


def correcting(id_, label, annotator):
    return lambda desk: desk.correct(id_, label, annotator, 0.0)


@pytest.mark.plain
def test_an_undo_and_a_correction_of_somebody_else(tmp_path):
    items, _ = tickets(ROUNDS)
    with service(tmp_path, items) as running:
        for item in items:
            id_, label = answered(running, item)
            undo, correct = at_once(running, undoing(id_), correcting(id_, SECOND, "bob"))
            assert isinstance(undo, Refused) != isinstance(correct, Refused)
            corrected = isinstance(undo, Refused)
            refused = undo if corrected else correct
            assert refused.status == 409
            assert ("corrected" if corrected else "undone") in refused.error
            assert running.read(label) == (SECOND if corrected else None)
    digest = running.read(Desk.digest)  # at the end: the desk chooses by itself meanwhile
    assert replayed(tmp_path / "labels.db") == digest


@pytest.mark.plain
def test_the_same_undo_twice_is_one_event(tmp_path):
    items, _ = tickets(1)
    with service(tmp_path, items) as running:
        id_, _ = answered(running, items[0])
        one, other = at_once(running, undoing(id_), undoing(id_))
        assert one == other
    digest = running.read(Desk.digest)  # at the end: the desk chooses by itself meanwhile
    with open_store(tmp_path / "labels.db", readonly=True) as store:
        assert store.info()["kinds"]["undone"] == 1
    assert replayed(tmp_path / "labels.db") == digest


@pytest.mark.plain
def test_of_two_corrections_the_last_one_stays(tmp_path):
    items, _ = tickets(ROUNDS)
    with service(tmp_path, items) as running:
        for item in items:
            id_, label = answered(running, item)
            bob, cyd = at_once(
                running, correcting(id_, SECOND, "bob"), correcting(id_, THIRD, "cyd")
            )
            assert running.read(label) == (SECOND if bob["seq"] > cyd["seq"] else THIRD)
    digest = running.read(Desk.digest)  # at the end: the desk chooses by itself meanwhile
    assert replayed(tmp_path / "labels.db") == digest
