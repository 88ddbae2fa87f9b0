"""The desk takes messages of any source once each, and the intake keeps to the protocol."""

from time import time

import pytest

from selectron.labelling.desk import Desk
from selectron.labelling.intake import Intake
from selectron.labelling.service import Service
from selectron.labelling.sources import Away, Message
from selectron.labelling.store import open_store
from tests.labelling.faults.brokers import Oracle
from tests.labelling.faults.lives import no_estimate
from tests.labelling.office import CLASSES

pytestmark = pytest.mark.plain


@pytest.fixture
def desk():
    desk = Desk(Oracle, no_estimate)
    follow(desk, desk.add_classes(CLASSES, 0.0))
    return desk


def follow(desk, decision):
    for event in decision.events:
        desk.apply(event, desk.books.seq + 1)
    return decision.reply


def text(id, words="some words"):
    return {"id": id, "text": words}


def test_a_message_is_known_by_its_id_whatever_it_says_now(desk):
    first = follow(desk, desk.take("here", [("1", text("a")), ("2", text("b"))], 0.0))
    assert first == {"added": 2, "known": 0, "refused": {}, "waiting": 2}
    again = desk.take("here", [("2", text("b", "other words")), ("1", text("c"))], 0.0)
    assert again.events == []
    assert again.reply == {"added": 0, "known": 2, "refused": {}, "waiting": 2}


def test_an_item_that_is_known_is_not_added_again(desk):
    follow(desk, desk.take("here", [("1", text("a"))], 0.0))
    decision = desk.take("here", [("2", text("a")), ("3", text("b"))], 0.0)
    assert decision.reply["added"] == decision.reply["known"] == 1
    assert decision.events[0].body["items"] == [text("b")]
    assert decision.events[0].body["source"]["messages"] == ["3"]


def test_messages_of_two_sources_may_have_the_same_id(desk):
    follow(desk, desk.take("here", [("1", text("a"))], 0.0))
    assert follow(desk, desk.take("there", [("1", text("b"))], 0.0))["added"] == 1
    assert desk.books.taken == {"here": {"1"}, "there": {"1"}}


def test_what_is_refused_leaves_the_others(desk):
    messages = [("1", text("a")), ("2", {"id": "b"}), ("3", text("a", "other")), ("4", text("c"))]
    decision = desk.take("here", messages, 0.0)
    assert decision.events[0].body["source"] == {"name": "here", "messages": ["1", "4"]}
    assert list(decision.reply["refused"]) == ["2", "3"]
    assert [event.body["item"] for event in decision.events[1:]] == ["a", "c"]


def test_a_desk_made_anew_from_the_log_knows_the_messages(desk):
    other = Desk(Oracle, no_estimate)
    follow(other, other.add_classes(CLASSES, 0.0))
    decision = desk.take("here", [("1", text("a"))], 0.0)
    follow(desk, decision)
    follow(other, decision)
    assert other.digest() == desk.digest()
    assert other.take("here", [("1", text("a"))], 0.0).events == []


class Shelf:
    """The smallest source: messages in a list, handed out until they are settled."""

    name = "shelf"

    def __init__(self, *values):
        self.messages = [Message(str(k), f"shelf:{k}", each) for k, each in enumerate(values)]
        self.dead = {}
        self.breaks = False

    def read(self, most, seconds):
        return self.messages[:most]

    def settle(self, messages, refused):
        if self.breaks:
            self.breaks = False
            raise Away("the shelf broke")
        self.dead |= refused
        self.messages = [message for message in self.messages if message not in messages]

    def close(self):
        pass


def test_any_source_will_do(tmp_path):
    shelf = Shelf({"text": "one"}, {"nothing": None}, {"text": "two"})
    service = Service(open_store(tmp_path / "labels.db"), Desk(Oracle, no_estimate))
    service.submit(lambda desk: desk.add_classes(CLASSES, time())).result()
    intake = Intake(shelf, batch=2)
    shelf.breaks = True
    with pytest.raises(Away):
        intake.step(service)
    while intake.step(service):
        pass
    texts = service.read(lambda desk: [item["text"] for item in desk.books.items])
    service.close()
    assert texts == ["one", "two"]
    assert list(shelf.dead) == ["1"]
    assert (intake.added, intake.known, intake.dead) == (2, 1, 1)
