"""A desk that goes on from a packed learner: the same bits as one that never stopped."""

import numpy as np
import pytest

from selectron.labelling.desk import Desk
from selectron.labelling.events import Event
from selectron.labelling.learner import PoolLearner
from tests.labelling.counting import CountingLearner, Log

WORDS = ("meeting lunch report friday", "money win prize claim", "match team goal season")


def vectors(n, first=0):
    rows = np.random.default_rng(0).standard_normal((first + n, 3)).round(2).tolist()
    return [{"id": f"i{k}", "vector": rows[k]} for k in range(first, first + n)]


def texts(n, first=0):
    return [
        {"id": f"i{k}", "text": f"{WORDS[k % 3]} w{k % 7} v{k % 5}"}
        for k in range(first, first + n)
    ]


def label(item, several):
    names = ("a", "b", "c")
    number = int(item["id"][1:])
    return [names[number % 3]] if several else names[number % 3]


def test_a_packed_learner_of_texts_is_small():
    log = Office(PoolLearner)
    log.add_items(texts(30))
    log.add_classes(["a", "b", "c"])
    log.answer("a1", None, "a", "ann", item="i0")
    data, _ = log.desk.packing()()
    assert len(data) < 2_000_000


class Office(Log):
    """A log of a desk whose learner is given."""

    def __init__(self, learner):
        super().__init__()
        self.make = learner
        self.desk = Desk(learner)

    def replayed(self, events=None, packed=None, at=0):
        desk = Desk(self.make)
        for seq, event in enumerate(self.events if events is None else events, 1):
            desk.apply(event, seq)
            if seq == at:
                desk.unpack(*packed)
        desk.learn()
        return desk

    def answer_next(self, several):
        self.choose()
        question = self.next("ann", 1)["questions"][0]
        id = f"a{len(self.desk.books.ids)}"
        self.answer(id, question["question"], label(question["item"], several), "ann")
        return id


def day(office, items, several):
    """Work for a day, with all that can happen; yield after everything that did."""
    office.add_items(items(12))
    office.add_classes(["a", "b"])
    office.set({"seed": 7, "multilabel": several, "audit_rate": 0.3})
    for _ in range(4):
        if len(office.desk.books.classes) == 2:
            office.add_classes(["c"])
        last = office.answer_next(several)
        yield
    office.undo(last, "ann")
    yield
    office.add_items(items(14, 12))  # more than twice as many as before: the learner begins anew
    yield
    first = office.answer_next(several)
    for _ in range(3):
        office.answer_next(several)
        yield
    office.correct(first, ["c"] if several else "c", "ann")
    yield
    office.events.append(Event("frozen", {"answers": 7}, 0.0))
    office.desk.apply(office.events[-1], len(office.events))
    for _ in range(3):
        office.answer_next(several)
        yield


@pytest.mark.parametrize(
    ("learner", "items", "several"),
    [
        (PoolLearner, texts, False),
        pytest.param(PoolLearner, vectors, False, marks=pytest.mark.plain),
        pytest.param(PoolLearner, texts, True, marks=pytest.mark.slow),
        (CountingLearner, texts, False),
    ],
)
def test_going_on_is_the_same_at_every_step(learner, items, several):
    office, packs = Office(learner), {}
    for _ in day(office, items, several):
        office.desk.learn()
        packs[len(office.events)] = office.desk.packing()()
    digest, asked = office.desk.digest(), office.desk.choose(0.0)
    assert office.replayed().digest() == digest
    every = 3 if learner is PoolLearner and items is texts else 1  # packs of 30 MB take their time
    for at, packed in [*packs.items()][::every]:
        desk = office.replayed(packed=packed, at=at)
        assert desk.digest() == digest
        assert desk.packing()() == packs[len(office.events)]  # what was frozen included
        assert desk.choose(0.0) == asked


def test_an_answer_before_the_stop_can_be_undone():
    office = Office(PoolLearner)
    for _ in day(office, texts, False):
        pass
    office.desk.learn()
    at, packed = len(office.events), office.desk.packing()()
    for id in ("a0", "a6"):
        stopped = office.replayed(packed=packed, at=at)
        (event,) = stopped.undo(id, "ann", 0.0).events
        straight = office.replayed([*office.events, event])
        stopped.apply(event, at + 1)
        assert stopped.digest() == straight.digest()
        assert stopped.choose(0.0) == straight.choose(0.0)


@pytest.mark.parametrize("wrong", ["damaged", "other place", "other version"])
def test_what_does_not_fit_is_left(wrong, caplog, monkeypatch):
    office = Office(CountingLearner)
    for _ in day(office, texts, False):
        pass
    data, digest = office.desk.packing()()
    at = len(office.events)
    if wrong == "damaged":
        data = data[:-1] + b"?"
    elif wrong == "other place":
        at -= 2
    else:
        monkeypatch.setattr("selectron.labelling.desk.__version__", "another")
    assert office.replayed(packed=(data, digest), at=at).digest() == office.desk.digest()
    assert "learns anew" in caplog.text


@pytest.mark.parametrize("several", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_warm_learner_has_learnt_nothing(several):
    office, straight = Office(PoolLearner), Office(PoolLearner)
    office.desk.warm()  # there are no items
    for _ in zip(day(office, texts, several), day(straight, texts, several), strict=True):
        office.desk.warm()
    assert office.events == straight.events
    assert office.desk.digest() == straight.desk.digest()
    assert office.desk.choose(0.0) == straight.desk.choose(0.0)
