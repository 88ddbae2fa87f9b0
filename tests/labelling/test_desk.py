"""The desk, call by call."""

import pytest

from selectron.labelling.desk import Refused
from tests.labelling.counting import begin, truth


def answer_all(log, n, annotator="ann", start=0):
    """Answer n questions truly; return them with their ids."""
    given = []
    while len(given) < n:
        question = log.next(annotator, 1)["questions"][0]
        name = f"{annotator}-{start + len(given)}"
        log.answer(name, question["question"], truth(question), annotator)
        given.append((name, question))
    return given


def test_a_question_has_all_that_the_page_shows():
    log = begin(question="Is it spam?")
    reply = log.next("ann", 2)
    assert reply["why"] is None
    assert len(reply["questions"]) == 2
    first = reply["questions"][0]
    assert first["question"] == "q1"
    assert first["options"] == ["spam", "ham"]
    assert first["reason"]["kind"] == "first"
    assert first["lease_seconds"] == 300
    assert first["item"]["id"].startswith("i")


def test_next_gives_the_same_questions_until_they_are_answered():
    log = begin()
    first = log.next("ann", 2)["questions"]
    before = len(log.events)
    again = log.next("ann", 2)["questions"]
    assert [q["question"] for q in again] == [q["question"] for q in first]
    assert len(log.events) == before
    log.answer("a", first[0]["question"], "ham", "ann")
    third = log.next("ann", 2)["questions"]
    assert third[0]["question"] == first[1]["question"]
    assert third[1]["question"] not in {q["question"] for q in first}


def test_the_same_id_gets_the_same_reply_and_no_event():
    log = begin()
    question = log.next("ann", 1)["questions"][0]["question"]
    reply = log.answer("a", question, "spam", "ann")
    assert reply == {"seq": len(log.events), "durable": True}
    before = len(log.events)
    assert log.answer("a", question, "ham", "ann") == reply
    assert len(log.events) == before
    assert list(log.desk.books.labels.values()) == ["spam"]


@pytest.mark.parametrize("bad", ["", "a b", "ä", "x" * 65, None, 7, "a\n"])
def test_ids_are_checked(bad):
    log = begin()
    question = log.next("ann", 1)["questions"][0]["question"]
    with pytest.raises(Refused) as refused:
        log.answer(bad, question, "spam", "ann")
    assert refused.value.status == 422


def test_replay_gives_the_same_digest():
    log = begin(overlap=0.3)
    answer_all(log, 12)
    answer_all(log, 6, "bob")
    assert log.replayed().digest() == log.desk.digest()
