"""Leases and the budget: what happens to questions that nobody answers."""

import tracemalloc
from collections import Counter

import pytest

from selectron.labelling.desk import Refused
from tests.labelling.counting import begin, truth


def take(log, annotator, n):
    """Lease n questions; the desk chooses a few ahead at a time."""
    taken = {}
    while len(taken) < n:
        before = len(taken)
        reply = log.next(annotator, min(100, len(taken) + 4))
        taken |= {question["question"]: question for question in reply["questions"]}
        log.choose()
        if len(taken) == before:
            break
    return taken


def test_a_label_that_never_comes_is_asked_of_another_once():
    log = begin(n=300, lease_seconds=60, budget=100)
    taken = take(log, "ann", 100)
    assert len(taken) == 100
    assert log.desk.status()["leased"] == 100
    assert log.next("bob", 1)["questions"] == []
    assert "budget of 100" in log.next("bob", 1)["why"]
    log.now = 59.9
    assert log.expire() == {"expired": 0}
    log.now = 61.0
    assert log.expire() == {"expired": 100}
    assert log.expire() == {"expired": 0}
    again = take(log, "bob", 100)
    assert again.keys() == taken.keys()
    kinds = Counter(event.kind for event in log.events)
    assert kinds["expired"] == 100
    assert kinds["leased"] == 200
    assert log.next("ann", 1)["questions"] == []
    for n, question in enumerate(again.values()):
        log.answer(f"b{n}", question["question"], truth(question), "bob")
    assert log.desk.status()["asked"] == 100
    assert log.next("bob", 1)["questions"] == []
    assert not log.desk.books.leased
    assert not log.desk._deadlines


def let_run_out(log, leases):
    """Lease 100 questions at a time to two annotators in turn, who answer none of them."""
    for turn in range(leases // 100):
        log.now += 61.0
        if turn % 3:
            log.expire()
        assert len(log.next(("ann", "bob")[turn % 2], 100)["questions"]) == 100
        del log.events[:-1]  # a store has them on the disk


@pytest.mark.parametrize("leases", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_labels_that_never_come_leave_nothing_in_memory(leases):
    log = begin(n=300, lease_seconds=60, budget=100)
    take(log, "ann", 100)
    tracemalloc.start()
    try:
        let_run_out(log, 5000)  # the list of who took the latest leases is full
        before, _ = tracemalloc.get_traced_memory()
        let_run_out(log, leases)
        after, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < leases  # a byte a lease; whatever is kept of one takes eight or more
    assert most - before < 1 << 20
    assert log.desk.status()["leased"] == 100
    assert log.desk.status()["asked"] == 0


def test_next_offers_what_ran_out_without_anybody_calling_expire():
    log = begin(lease_seconds=5)
    first = log.next("ann", 1)["questions"][0]["question"]
    log.now = 5.0
    assert log.next("bob", 1)["questions"][0]["question"] == first
    assert log.events[-2].kind == "expired"
    assert log.events[-2].body == {"question": first, "annotator": "ann"}


def test_an_answer_after_expiry_counts_until_another_came():
    log = begin(lease_seconds=5)
    first, second = (q["question"] for q in log.next("ann", 2)["questions"])
    log.now = 6.0
    log.expire()
    log.answer("late", first, "spam", "ann")
    assert len(log.desk.books.labels) == 1
    log.next("bob", 1)
    log.answer("b", second, "ham", "bob")
    with pytest.raises(Refused) as refused:
        log.answer("later", second, "spam", "ann")
    assert refused.value.status == 409
    assert "has its answer" in refused.value.error


def test_a_late_answer_ends_the_lease_of_the_other():
    log = begin(lease_seconds=5, budget=1)
    question = log.next("ann", 1)["questions"][0]["question"]
    log.now = 6.0
    assert log.next("bob", 1)["questions"][0]["question"] == question
    log.answer("late", question, "spam", "ann")
    assert log.desk.status()["leased"] == 0
    assert log.desk.status()["asked"] == 1
    with pytest.raises(Refused):
        log.answer("b", question, "ham", "bob")
    assert log.desk.status()["asked"] == 1


def test_no_lease_is_open_after_a_restart():
    log = begin(lease_seconds=1e6)
    question = log.next("ann", 1)["questions"][0]["question"]
    log.desk = log.replayed()
    assert log.next("bob", 1)["questions"][0]["question"] == question
    log.desk = log.replayed()
    log.answer("a", question, "spam", "ann")
    assert len(log.desk.books.labels) == 1


def test_a_skip_gives_the_budget_back():
    log = begin(budget=2)
    for n in range(6):
        question = log.next("ann", 1)["questions"][0]["question"]
        log.answer(f"s{n}", question, None, "ann", skip=True)
    assert log.desk.status()["skipped"] == 6
    for n in range(2):
        question = log.next("ann", 1)["questions"][0]
        log.answer(f"a{n}", question["question"], truth(question), "ann")
    assert log.next("ann", 1)["questions"] == []
    log.set({"budget": 3})
    assert len(log.next("ann", 5)["questions"]) == 1


def test_a_late_answer_keeps_to_the_budget():
    """Bob may not have the second look that ann's lease was for, so he gets another item."""
    log = begin(budget=2, overlap=1.0, lease_seconds=5)
    log.join("ann")
    first = log.next("bob", 1)["questions"][0]
    log.answer("b0", first["question"], truth(first), "bob")
    log.choose()
    offered = {q["reason"]["kind"]: q["question"] for q in take(log, "ann", 5).values()}
    assert len(offered) == 1
    log.now = 6.0
    log.expire()
    second = log.next("bob", 1)["questions"][0]
    late = next(q for q in log.desk.books.waiting.values() if q.kind != second["reason"]["kind"])
    with pytest.raises(Refused) as refused:
        log.answer("late", late.name, "ham", "ann")
    assert refused.value.status == 409
    log.answer("b1", second["question"], truth(second), "bob")
    assert log.desk.status()["asked"] == 2


def test_labels_found_in_review_cost_no_budget():
    log = begin(budget=1)
    for n in range(5):
        log.answer(f"f{n}", None, "ham", "ann", item=f"i{2 * n}")
    assert log.desk.status()["asked"] == 0
    assert log.desk.status()["labels"] == 5
    assert len(log.next("ann", 3)["questions"]) == 1
