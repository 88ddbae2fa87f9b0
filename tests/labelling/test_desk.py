"""The desk, call by call."""

import json

import pytest

from selectron.labelling import checks
from selectron.labelling.audits import estimate
from selectron.labelling.books import FREE
from selectron.labelling.desk import Refused
from selectron.labelling.events import KINDS, canonical
from selectron.labelling.people import alpha
from tests.labelling.counting import CountingLearner, Log, begin, narrow, truth


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


@pytest.mark.parametrize(("people", "least"), [(1, 1), (2, 1), (20, 21)])
def test_a_crowd_is_served_by_few_choices(people, least):
    log, chosen = begin(n=400), []
    for name in range(people):
        log.next(f"p{name}", 1)
    log.choose()
    for n in range(100):
        name = f"p{n % people}"
        question = log.next(name, 1)["questions"][0]
        log.answer(f"a{n}", question["question"], truth(question), name)
        log.next(name, 1)
        assert log.desk.books.waiting
        chosen.append(log.choose()["chosen"])
    assert sum(chosen) >= 80
    assert min(filter(None, chosen)) == least


# undo and correction


@pytest.mark.parametrize("place", [0, 3, 17, 29])
def test_undo_leaves_the_learner_as_if_the_answer_never_was(place):
    log = begin(audit_rate=0.3)
    given = answer_all(log, 30)
    log.undo(given[place][0], "ann")
    without = begin()
    for n, (name, question) in enumerate(given):
        if n != place:
            without.answer(name, None, truth(question), "ann", item=question["item"]["id"])
    assert log.desk.learn().digest() == without.desk.learn().digest()


def test_an_undone_question_is_asked_again_and_first():
    log = begin(audit_rate=1.0)
    given = answer_all(log, 8)
    name, question = given[-1]
    assert question["reason"]["kind"] == "audit"
    audits = log.desk.status()["estimate"]["audits"]
    reply = log.undo(name, "ann")
    assert log.undo(name, "ann") == reply
    assert log.desk.status()["estimate"]["audits"] == audits - 1
    again = log.next("ann", 1)["questions"][0]
    assert again["question"] == question["question"]
    log.answer("again", again["question"], truth(again), "ann")
    assert log.desk.status()["estimate"]["audits"] == audits
    with pytest.raises(Refused) as refused:
        log.correct(name, "spam", "ann")
    assert refused.value.status == 409


def test_a_skip_can_be_undone():
    log = begin()
    question = log.next("ann", 1)["questions"][0]["question"]
    log.answer("s", question, None, "ann", skip=True)
    assert log.desk.status()["skipped"] == 1
    log.undo("s", "ann")
    assert log.desk.status()["skipped"] == 0
    assert log.next("ann", 1)["questions"][0]["question"] == question


def test_a_correction_may_name_a_class_that_joined_later():
    log = begin()
    given = answer_all(log, 6)
    log.add_classes(["other", "spam"])
    assert log.desk.status()["classes"] == ["spam", "ham", "other"]
    log.correct(given[0][0], "other", "bob")
    assert log.desk.status()["balance"]["other"] == 1
    assert log.desk.learn().taught[-1][1] == "other"
    assert log.replayed().digest() == log.desk.digest()


def test_going_back_learns_little_again(monkeypatch):
    log, taken = begin(n=2000), []
    snapshot = CountingLearner.snapshot
    monkeypatch.setattr(
        CountingLearner, "snapshot", lambda learner: (taken.append(1), snapshot(learner))[1]
    )
    for n in range(1000):
        log.answer(f"f{n}", None, "spam" if n % 2 else "ham", "ann", item=f"i{n}")
        learner = log.desk.learn()
    assert len(log.desk._lessons._saved) <= 20
    assert len(taken) <= 1000 / 16 + 1
    lessons = []
    teach = learner.teach
    learner.teach = lambda taught: (lessons.extend(taught), teach(taught))
    for back in (1, 2, 10, 100, 400):
        lessons.clear()
        log.undo(f"f{1000 - back}", "ann")
        log.desk.learn()
        assert len(lessons) < 4 * back + 32


def test_a_learner_that_goes_far_back_chooses_once_it_knows_as_much_again():
    log = begin(n=1000)
    for n in range(300):
        log.answer(f"f{n}", None, "spam" if n % 2 else "ham", "ann", item=f"i{n}")
    log.desk.learn()
    log.next("ann", 1)
    log.choose()
    log.next("ann", 3)
    log.undo("f0", "ann")
    while log.desk.lessons_left > 16:  # the choice itself learns the last ones
        assert log.choose()["chosen"] == 0
        log.desk.learn_some(8)
    assert log.choose()["chosen"] > 0
    log.next("ann", 5)
    log.undo("f298", "ann")
    assert log.choose()["chosen"] > 0
    log.undo("f1", "ann")
    log.next("bob", 10)
    assert log.next("cyd", 1)["questions"]  # nobody is sent away meanwhile
    assert log.desk.lessons_left > 16
    assert log.replayed().digest() == log.desk.digest()


class Counted(list):
    """A list that counts how many of its entries are read by their place."""

    reads = 0

    def __getitem__(self, place):
        self.reads += 1
        return super().__getitem__(place)


def test_a_learner_far_behind_takes_some_lessons_without_a_look_at_all_others():
    log = begin(n=2000)
    for n in range(2000):
        log.answer(f"f{n}", None, "spam" if n % 2 else "ham", "ann", item=f"i{n}")
    steps = log.desk.books.steps = Counted(log.desk.books.steps)
    before = log.desk.lessons_left
    log.desk.learn_some(8)
    assert 2 <= before - log.desk.lessons_left <= 20
    assert steps.reads < 100


# audits


def test_audits_are_drawn_by_coins_of_the_seed_alone():
    def kinds(seed):
        log = begin(n=200, seed=seed, audit_rate=0.3)
        return [q["reason"]["kind"] for _, q in answer_all(log, 100)]

    assert kinds(1) == kinds(1)
    assert kinds(1) != kinds(2)
    assert 15 <= kinds(1).count("audit") <= 45


def test_audits_are_drawn_evenly():
    """Of 20 items, one is labelled for each class; the other 18 are drawn equally often."""
    drawn = []
    for seed in range(900):
        log = begin(n=20, seed=seed, audit_rate=1.0)
        for n in range(2):
            log.answer(f"f{n}", None, "spam" if n else "ham", "ann", item=f"i{n}")
        question = log.next("ann", 1)["questions"][0]
        assert question["reason"]["odds"] == 1 / 18
        drawn.append(question["item"]["id"])
    counts = [drawn.count(f"i{n}") for n in range(20)]
    assert counts[:2] == [0, 0]
    assert sum((count - 50) ** 2 / 50 for count in counts[2:]) < 41  # chi square, 1 in 1,000


def test_an_audit_knows_its_guess_and_how_many_could_be_drawn():
    log = begin(n=30, audit_rate=1.0)
    for n in range(2):
        log.answer(f"f{n}", None, "spam" if n else "ham", "ann", item=f"i{n}")
    given = answer_all(log, 10)
    bodies = [event.body for event in log.events if event.kind == "chosen"]
    assert [body["unlabelled"] for body in bodies] == [28 - n for n in range(len(bodies))]
    seen = []
    log.desk.quality._estimate = lambda audited, level: (
        seen.append((audited, level)) or {"error": 0, "low": 0, "high": 1, "audits": 1}
    )
    log.correct(given[0][0], "ham" if bodies[0]["guess"] == "spam" else "spam", "ann")
    log.desk.quality.error()
    audited, level = seen[-1]
    records, unlabelled = [(d.wrong, d.left) for d in audited.draws], audited.left
    right = [(truth(q) != body["guess"]) for (_, q), body in zip(given, bodies, strict=False)]
    assert records == list(zip([True, *right[1:]], range(28, 18, -1), strict=True))
    assert unlabelled == 18
    assert level == 0.95


def test_labels_found_in_review_teach_and_stay_out_of_the_audits():
    log = begin(n=40)
    for n in range(10):
        log.answer(f"f{n}", None, "spam" if n % 2 else "ham", "ann", item=f"i{n}")
    assert len(log.desk.learn().taught) == 10
    assert log.desk.status()["estimate"]["audits"] == 0


def test_an_audit_stays_one_when_its_item_is_found_in_review():
    log = begin(n=40, audit_rate=1.0)
    for n in range(2):
        log.answer(f"f{n}", None, "spam" if n else "ham", "ann", item=f"i{n}")
    question = log.next("ann", 1)["questions"][0]
    with pytest.raises(Refused) as refused:
        log.answer("b", None, truth(question), "bob", item=question["item"]["id"])
    assert refused.value.status == 409
    log.answer("a", None, truth(question), "ann", item=question["item"]["id"])
    assert log.desk.status()["estimate"]["audits"] == 1
    assert log.desk.status()["leased"] == 0
    assert log.desk.status()["asked"] == 0


# goals


@pytest.mark.parametrize(
    ("text", "measure", "limit"),
    [
        ("error<=0.05", "error", 0.05),
        (" recall >= 95 % ", "recall", 0.95),
        ("error<=.1", "error", 0.1),
    ],
)
def test_goals_are_read(text, measure, limit):
    assert checks.goal(text) == (measure, pytest.approx(limit))


@pytest.mark.parametrize(
    "bad", ["error<0.05", "error<=0", "error<=1", "f1>=0.9", "recall<=.9", "", 5]
)
def test_bad_goals_are_refused(bad):
    with pytest.raises(Refused) as refused:
        begin().set({"goal": bad})
    assert refused.value.status == 422


def test_recall_needs_its_class():
    log = begin()
    with pytest.raises(Refused, match="Recall of which class"):
        log.set({"goal": "recall>=0.9"})
    with pytest.raises(Refused, match="no class"):
        log.set({"goal": "recall>=0.9", "positive": "eggs"})
    log.set({"goal": "recall>=0.9", "positive": "spam"})


def test_a_goal_that_is_reached_stops_the_desk_until_it_is_told_to_go_on():
    log = begin(n=400, goal="error<=0.05", budget=300, estimate=narrow)
    given = 0
    while log.desk.why() is None:
        answer_all(log, 1, start=given)
        given += 1
    assert given < 300
    reply = log.next("ann", 2)
    assert reply["questions"] == []
    assert "the goal error<=0.05 is reached" in reply["why"]
    assert "Tighten the goal or raise the budget" in reply["why"]
    assert log.desk.status()["reached"]
    assert log.choose() == {"chosen": 0}
    log.set({"budget": 299})
    assert log.next("ann", 1)["questions"] == []
    log.set({"budget": 350})
    assert len(log.next("ann", 1)["questions"]) == 1
    assert log.desk.status()["reached"]
    log.set({"goal": "error<=0.04"})
    assert "is reached" in log.next("ann", 1)["why"]
    assert log.replayed().digest() == log.desk.digest()


def test_the_model_is_frozen_when_audits_are_good_and_thawed_when_they_are_not():
    log = begin(n=400, goal="error<=0.1", audit_rate=0.3)
    given = 0
    while not log.desk.books.frozen:
        answer_all(log, 1, start=given)
        given += 1
    # Audits before the freeze do not count; what was answered last was drawn with it.
    assert [question.number for question, _ in log.desk.quality.judged()] == [
        log.desk.books.audits_from + 1
    ]
    assert log.desk.quality.level == 1 - 0.05 / 2
    kinds = [q["reason"]["kind"] for _, q in answer_all(log, 40, start=given)]
    assert kinds.count("audit") > 20
    frozen = log.desk._lessons.judged
    before = log.desk.digest()
    log.desk = log.replayed()
    assert log.desk.digest() == before
    assert (log.desk._lessons.judged == frozen).all()
    given += 40
    while log.desk.books.frozen:  # the truth turns over
        question = log.next("ann", 1)["questions"][0]
        wrong = "ham" if truth(question) == "spam" else "spam"
        log.answer(f"w{given}", question["question"], wrong, "ann")
        given += 1
    assert given < 250
    assert log.desk.quality.audit_rate() == 0.3
    assert log.replayed().digest() == log.desk.digest()


def test_a_goal_that_changes_leaves_the_bets_on_earlier_audits_as_they_were():
    """Otherwise the goal could be chosen after the answers, as the one that they refute best."""
    log = begin(n=400, goal="error<=0.1", audit_rate=0.3, estimate=estimate)
    given = 0
    while not log.desk.books.frozen:
        answer_all(log, 1, start=given)
        given += 1
    answer_all(log, 20, start=given)
    said, judged = log.desk.quality.error(), log.desk.quality.judged_count()
    assert judged > 10
    for goal in ("error<=0.03", "error<=0.2", None, "error<=0.1"):
        log.set({"goal": goal})
        assert log.desk.quality.error() == said
    log.set({"goal": "error<=0.03"})
    answer_all(log, 20, start=given + 20)  # bets on later audits are made against the new goal
    quality = log.desk.quality
    goals = {question.goal for question, _ in quality.judged()}
    assert goals == {"error<=0.1", "error<=0.03"}
    assert quality.error()["high"] < said["high"]
    assert log.replayed().digest() == log.desk.digest()


def test_the_numbers_of_audits_never_run_backwards():
    log = begin(n=400, goal="error<=0.1", audit_rate=0.3)
    given = 0
    while not log.desk.books.frozen:
        answer_all(log, 1, start=given)
        given += 1
    answer_all(log, 20, start=given)
    chosen = [event.body for event in log.events if event.kind == "chosen"]
    texts = [body["text"] for body in chosen if body["kind"] == "audit"]
    assert [text.split()[-1] for text in texts] == [f"{k}." for k in range(1, len(texts) + 1)]


def test_audits_judge_the_frozen_model_while_the_learner_goes_on():
    log = begin(n=400, goal="error<=0.1", audit_rate=0.3)
    given = 0
    while not log.desk.books.frozen:
        answer_all(log, 1, start=given)
        given += 1
    log.desk.learn()
    books, frozen = log.desk.books, log.desk._lessons.judged
    for row in [row for row in range(300) if books.states[row] == FREE]:
        label = "ham" if row % 2 else "spam"  # the truth turns over, so the learner does
        log.answer(f"f{row}", None, label, "ann", item=f"i{row}")
    before = books.chosen
    answer_all(log, 10, start=given)
    bodies = [event.body for event in log.events if event.kind == "chosen"]
    drawn = [b for b in bodies if b["kind"] == "audit" and int(b["question"][1:]) > before]
    rows = [books.rows[body["item"]] for body in drawn]
    assert [body["guess"] for body in drawn] == [books.classes[frozen[r].argmax()] for r in rows]
    chances = log.desk.learn().chances()
    assert any(chances[row].argmax() != frozen[row].argmax() for row in rows)


def test_the_error_of_a_moving_model_declares_no_goal():
    log = begin(n=100, audit_rate=1.0, estimate=narrow)
    answer_all(log, 20)
    log.set({"goal": "error<=0.5"})
    assert log.desk.status()["estimate"]["high"] <= 0.5
    assert not log.desk.status()["reached"]


def test_recall_is_asked_for_and_certified_by_audits():
    log = begin(n=60, goal=None, estimate=narrow)
    for n in range(4):
        log.answer(f"f{n}", None, "spam" if n % 2 else "ham", "ann", item=f"i{n}")
    log.set({"goal": "recall>=0.9", "positive": "spam"})
    given = 0
    picks = []
    while log.desk.why() is None:
        picks += [q for _, q in answer_all(log, 1, start=given)]
        given += 1
    likely = [truth(q) for q in picks if q["reason"]["kind"] == "doubt"]
    assert likely.count("spam") > 0.8 * len(likely)
    assert all("spam" not in q["reason"]["text"] for q in picks)
    recall = log.desk.status()["recall"]
    assert recall["low"] >= 0.9
    assert recall["found"] == log.desk.status()["balance"]["spam"]
    assert "recall>=0.9 is reached" in log.next("ann", 1)["why"]


# silence


def test_why_nothing_is_asked():
    log = Log()
    assert "there are no items yet. Add items." in log.next("ann", 1)["why"]
    log.add_items([{"id": f"i{n}", "text": "x"} for n in range(3)])
    assert "fewer than two classes" in log.next("ann", 1)["why"]
    log.add_classes(["spam", "ham"])
    questions = log.next("ann", 3)["questions"]
    assert len(questions) == 3
    assert "others are answering" in log.next("bob", 1)["why"]
    assert log.desk.status()["why"] is None
    for n, question in enumerate(questions):
        log.answer(f"a{n}", question["question"], "spam", "ann")
    assert "every item has an answer" in log.next("ann", 1)["why"]
    assert log.desk.status()["why"] == log.next("ann", 1)["why"]
    log.set({"overlap": 1.0})
    log.add_items([{"id": "i3", "text": "x"}])
    log.answer("a3", log.next("ann", 1)["questions"][0]["question"], "ham", "ann")
    log.choose()
    assert "wait for a second annotator" in log.next("ann", 1)["why"]
    assert log.next("bob", 1)["questions"][0]["reason"]["kind"] == "overlap"


# several annotators


def test_overlap_sends_items_to_a_second_annotator():
    log = begin(n=60, overlap=0.5)
    log.join("bob")
    first = {question["item"]["id"]: name for name, question in answer_all(log, 30)}
    second = []
    log.set({"overlap": 0.0})
    for n in range(30):
        log.choose()
        question = log.next("bob", 1)["questions"][0]
        if question["reason"]["kind"] == "overlap":
            assert question["guess"] is None
            assert question["item"]["id"] in first
            log.answer(f"b{n}", question["question"], "spam", "bob")
            second.append(question)
        else:
            log.answer(f"b{n}", question["question"], None, "bob", skip=True)
    assert 5 <= len(second) <= 25
    report = log.desk.report()
    assert report["agreement"]["items"] == len(second)
    wrong = [q for q in second if truth(q) != "spam"]
    assert len(report["disagreements"]) == len(wrong) > 0
    assert report["annotators"]["bob"]["agrees"] == 1 - len(wrong) / len(second)
    people = report["annotators"]
    assert people["ann"]["agrees"] == people["bob"]["agrees"]
    assert (
        people["ann"]["reliability"] > people["bob"]["reliability"]
    )  # the learner agrees with ann
    assert all(row["label"] == "ham" for row in report["disagreements"])
    assert len(log.desk.learn().taught) == 30
    units = [[truth(q), "spam"] for q in second]
    assert report["agreement"]["alpha"] == alpha(units)
    # a third decides for bob
    log.correct(first[wrong[0]["item"]["id"]], "spam", "cyd")
    report = log.desk.report()
    assert report["agreement"]["alpha"] == alpha(units)
    decided = [row for row in report["disagreements"] if row["decided"]]
    assert [row["label"] for row in decided] == ["spam"]
    assert report["annotators"]["ann"]["agrees"] == 1 - len(wrong) / len(second)
    assert report["annotators"]["bob"]["agrees"] == 1 - (len(wrong) - 1) / len(second)


def second_look():
    """Return a log in which ann and bob answered the same item."""
    log = begin(overlap=1.0)
    log.join("bob")
    first = log.next("ann", 1)["questions"][0]
    log.answer("a", first["question"], "spam", "ann")
    log.choose()
    repeat = next(q for q in log.desk.books.waiting.values() if q.kind == "overlap")
    log.answer("b", repeat.name, "ham", "bob")
    return log, first


def test_a_first_answer_that_is_undone_leaves_the_second():
    log, first = second_look()
    assert log.desk.report()["agreement"]["items"] == 1
    log.undo("a", "ann")
    assert list(log.desk.books.labels.values()) == ["ham"]
    assert log.desk.report()["agreement"]["items"] == 0
    assert first["question"] not in [q["question"] for q in log.next("cyd", 4)["questions"]]


def test_a_second_answer_that_is_undone_is_asked_for_again():
    log, first = second_look()
    log.undo("b", "bob")
    assert list(log.desk.books.labels.values()) == ["spam"]
    again = log.next("bob", 1)["questions"][0]
    assert again["reason"]["kind"] == "overlap"
    assert again["item"] == first["item"]


def test_one_annotator_alone_gives_no_second_looks():
    log = begin(overlap=1.0)
    answer_all(log, 10)
    log.choose()
    assert all(q.kind != "overlap" for q in log.desk.books.waiting.values())


def test_two_answers_are_enough():
    log, _ = second_look()
    log.join("cyd")
    log.choose()
    assert all(q.kind != "overlap" for q in log.desk.books.waiting.values())


def test_an_item_never_has_two_open_questions():
    log = begin(overlap=1.0)
    log.join("bob")
    question = log.next("ann", 1)["questions"][0]
    log.answer("a", question["question"], "spam", "ann")
    log.choose()  # the second look is open when the first answer goes
    log.undo("a", "ann")
    rows = [q.row for q in log.desk.books.waiting.values()]
    assert len(rows) == len(set(rows))
    assert log.desk.books.rows[question["item"]["id"]] in rows


def test_an_item_without_an_answer_gets_no_second_look():
    log = begin(overlap=1.0)
    log.join("bob")
    question = log.next("ann", 1)["questions"][0]["question"]
    log.answer("a", question, "spam", "ann")
    log.undo("a", "ann")
    log.answer("s", question, None, "ann", skip=True)
    log.choose()
    assert all(q.kind != "overlap" for q in log.desk.books.waiting.values())


def test_nobody_undoes_the_answer_of_another():
    log = begin()
    name = answer_all(log, 1)[0][0]
    with pytest.raises(Refused) as refused:
        log.undo(name, "bob")
    assert refused.value.status == 403


# review and report


def test_items_are_found_by_state_words_and_doubt():
    log = begin(n=120)
    answer_all(log, 30)
    assert log.desk.items()["total"] == 120
    assert log.desk.items()["pages"] == 3
    assert len(log.desk.items(page=3)["items"]) == 20
    assert log.desk.items(page=4)["items"] == []
    assert log.desk.items("labelled")["total"] == 30
    found = log.desk.items(q="PRIZE w1 ")["items"]
    assert found
    assert all({"prize", "w1"} <= set(row["item"]["text"].split()) for row in found)
    most = [row["doubt"] for row in log.desk.items("unlabelled", "most")["items"]]
    assert most == sorted(most, reverse=True)
    least = [row["doubt"] for row in log.desk.items("labelled", "least")["items"]]
    assert least == sorted(least)
    for bad in ({"state": "lost"}, {"doubt": "some"}, {"page": 0}):
        with pytest.raises(Refused):
            log.desk.items(**bad)


def test_notes_stay_with_their_item():
    log = begin()
    log.note("i3", "Is this one spam?", "ann")
    rows = log.desk.items("noted")["items"]
    assert [row["item"]["id"] for row in rows] == ["i3"]
    assert rows[0]["notes"][0]["text"] == "Is this one spam?"
    assert rows[0]["notes"][0]["annotator"] == "ann"
    for bad in ("", " ", "\ud800", 5, "x" * 10_001):
        with pytest.raises(Refused):
            log.note("i3", bad, "ann")


def test_the_report_counts_audits_alone():
    log = begin(n=200, audit_rate=0.5)
    given = answer_all(log, 60)
    audits = [(name, q) for name, q in given if q["reason"]["kind"] == "audit"]
    report = log.desk.report()
    counts = report["confusion"]["counts"]
    assert sum(map(sum, counts)) == len(audits)
    right = sum(q["guess"] == truth(q) for _, q in audits)
    assert counts[0][0] + counts[1][1] == right
    spam = [q for _, q in audits if truth(q) == "spam"]
    assert report["per_class"]["spam"]["audits"] == len(spam)
    found = sum(q["guess"] == "spam" for q in spam)
    assert report["per_class"]["spam"]["recall"] == found / len(spam)


def test_slips_are_the_answers_that_the_learner_doubts():
    log = begin(n=100, audit_rate=0)
    given = answer_all(log, 40)
    name, question = given[20]
    log.correct(name, "ham" if truth(question) == "spam" else "spam", "ann")
    slips = log.desk.report()["slips"]
    assert slips[0]["item"]["id"] == question["item"]["id"]
    assert all(slip["doubt"] > 0.5 for slip in slips)


def test_status_says_what_25_labels_bring_only_if_it_can():
    log = begin(n=400, audit_rate=0.5)
    answer_all(log, 10)
    assert log.desk.status()["outlook"] is None
    answer_all(log, 60, start=10)
    assert log.desk.status()["outlook"] == {"labels": 25, "low": 0.0, "high": 1.0}
    curve = log.desk.status()["curve"]
    audits = log.desk.status()["estimate"]["audits"]
    assert [point["audits"] for point in curve] == sorted({*range(2, audits + 1, 2), audits})
    labels = [point["labels"] for point in curve]
    assert labels == sorted(labels)


def test_the_curve_follows_corrections():
    log = begin(n=400, audit_rate=1.0)
    given = answer_all(log, 90)
    curve = log.desk.status()["curve"]
    assert len(curve) <= 64
    assert curve[-1]["error"] == log.desk.status()["estimate"]["error"]
    name, question = next((name, q) for name, q in given if q["guess"] == truth(q))
    log.correct(name, "ham" if truth(question) == "spam" else "spam", "ann")
    assert log.desk.status()["curve"] != curve
    assert log.desk.status()["curve"][-1]["error"] == log.desk.status()["estimate"]["error"]


# several labels an item, streams, input


def test_several_labels_an_item():
    log = begin(multilabel=True, audit_rate=0.5)
    first, second = log.next("ann", 2)["questions"]
    log.answer("a", first["question"], ["ham", "spam", "ham"], "ann")
    log.answer("b", second["question"], [], "ann")
    assert list(log.desk.books.labels.values()) == [["spam", "ham"], []]
    assert log.desk.status()["balance"] == {"spam": 1, "ham": 1}
    for n in range(12):
        question = log.next("ann", 1)["questions"][0]
        log.answer(f"c{n}", question["question"], [truth(question)], "ann")
    log.correct("b", "ham", "ann")
    report = log.desk.report()
    assert report["confusion"] is None
    assert log.desk.status()["estimate"]["audits"] > 0
    assert log.desk.items("labelled", "most")["total"] == 14
    assert log.replayed().digest() == log.desk.digest()
    with pytest.raises(Refused):
        log.set({"multilabel": False})


def test_a_stream_is_asked_as_it_comes():
    log = Log()
    log.add_classes(["spam", "ham"])
    reply = log.push([{"id": "i1", "text": "money prize"}, {"id": "i2", "text": "lunch friday"}])
    assert [row["asked"] for row in reply["items"]] == [True, True]
    assert [row["question"] for row in reply["items"]] == ["q1", "q2"]
    again = log.push([{"id": "i1", "text": "money prize"}])
    assert again["items"][0]["question"] == "q1"
    for n, question in enumerate(log.next("ann", 2)["questions"]):
        assert question["reason"]["kind"] == "stream"
        log.answer(f"a{n}", question["question"], truth(question), "ann")
    sure = [{"id": f"s{n}", "text": "money prize"} for n in range(200)]
    replies = log.push(sure)["items"]
    assert {row["label"] for row in replies} == {"spam"}
    asked = sum(row["asked"] for row in replies)
    unsure = [{"id": f"u{n}", "text": "money lunch"} for n in range(200)]
    assert sum(row["asked"] for row in log.push(unsure)["items"]) == 200
    assert 10 <= asked <= 70
    assert log.desk.items("passed")["total"] == 200 - asked
    assert log.replayed().digest() == log.desk.digest()


def test_a_stream_keeps_to_the_budget():
    log = Log()
    log.add_classes(["spam", "ham"])
    log.set({"budget": 3})
    replies = log.push([{"id": f"i{n}", "text": "x"} for n in range(9)])["items"]
    assert sum(row["asked"] for row in replies) == 3


@pytest.mark.parametrize(
    "bad",
    [
        None,
        {"text": "no id"},
        {"id": "", "text": "x"},
        {"id": "x"},
        {"id": "x", "text": "a", "image": "b"},
        {"id": "x", "text": 5},
        {"id": "x", "text": "\ud800"},
        {"id": "x", "vector": [1.0, float("nan")]},
        {"id": "x", "vector": ["1"]},
        {"id": "x", "fields": {"a": {1, 2}}},
        {"id": "x", "text": "a", "meta": "m"},
        {"id": "x", "text": "a", "label": "b"},
        {"id": "i1", "text": "another text"},
    ],
)
def test_bad_items_are_refused_whole(bad):
    log = begin()
    before = len(log.events)
    with pytest.raises(Refused) as refused:
        log.add_items([{"id": "good", "text": "x"}, bad])
    assert refused.value.status in (409, 422)
    assert len(log.events) == before


@pytest.mark.parametrize(
    "bad",
    [
        {"budget": -1},
        {"budget": True},
        {"budget": 1.5},
        {"overlap": 2},
        {"lease_seconds": 0},
        {"level": 1},
        {"seed": "x"},
        {"question": ""},
        {"colour": "red"},
        {"beyond_goal": True},
        {"multilabel": 1},
        {"question": "\ud800"},
        [],
    ],
)
def test_bad_settings_are_refused(bad):
    with pytest.raises(Refused) as refused:
        begin().set(bad)
    assert refused.value.status == 422


def test_bad_answers_are_refused():
    log = begin()
    question = log.next("ann", 1)["questions"][0]["question"]
    for label in ("eggs", None, 5, ["spam"], {"a": 1}):
        with pytest.raises(Refused, match="is not one of the classes"):
            log.answer("a", question, label, "ann")
    for name in ("q0", "q99", "17", "qx", 5, "q" + "9" * 30):
        with pytest.raises(Refused) as refused:
            log.answer("a", name, "spam", "ann")
        assert refused.value.status == 404
    with pytest.raises(Refused):
        log.answer("a", question, "spam", "ann", skip=True)
    with pytest.raises(Refused):
        log.answer("a", None, None, "ann", skip=True, item="i30")
    with pytest.raises(Refused):
        log.answer("a", None, "spam", "ann", item="nowhere")
    for annotator in ("", None, "\ud800", "x" * 201):
        with pytest.raises(Refused):
            log.answer("a", question, "spam", annotator)
    assert log.desk.status()["labels"] == 0


def test_events_are_canonical_json():
    log = begin(n=3)
    for event in log.events:
        assert event.kind in KINDS
        assert json.loads(canonical(event.body)) == event.body
    assert canonical({"b": "é\u0000", "a": 0.1}) == '{"a":0.1,"b":"é\\u0000"}'
    for bad in (float("nan"), float("inf"), "\ud800"):
        with pytest.raises(ValueError):  # noqa: PT011  (the message is Python's)
            canonical({"a": bad})


def test_a_large_desk_decides_without_looking_through_its_items():
    log = begin(n=2)
    log.add_items([{"id": f"x{n}", "text": "w"} for n in range(5_000)])
    log.next("ann", 4)
    books = log.desk.books
    books.items = Untouchable(books.items)
    books.states = Untouchable(books.states)
    for n, question in enumerate(log.next("ann", 4)["questions"]):
        log.answer(f"a{n}", question["question"], "spam", "ann")
        log.correct(f"a{n}", "ham", "ann")
        log.undo(f"a{n}", "ann")
    log.expire()
    log.desk.status()


class Untouchable:
    """A list that can be looked up, not gone through."""

    def __init__(self, inside):
        self.inside = inside

    def __getitem__(self, place):
        assert isinstance(place, int)
        return self.inside[place]

    def __setitem__(self, place, value):
        self.inside[place] = value

    def __len__(self):
        return len(self.inside)

    def __iter__(self):
        raise AssertionError("somebody goes through all items")


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ({"id": "z", "vector": [1.0]}, "unlike"),
        ({"id": "z", "fields": {"a": 1}}, "unlike"),
        ({"id": "z", "image": "z.png"}, "unlike"),
    ],
)
def test_an_item_of_another_kind_is_refused(item, said):
    log = begin(n=3)
    for call in (log.add_items, log.push):
        with pytest.raises(Refused, match=said) as refusal:
            call([item])
        assert refusal.value.status == 422


def test_vectors_have_one_length():
    log = begin(n=0)
    log.add_items([{"id": "a", "vector": [1.0, 2.0]}])
    for vector in ([1.0], [], [1.0, 1e200]):
        with pytest.raises(Refused, match="vector"):
            log.add_items([{"id": "b", "vector": vector}])


UNREADABLE = {
    "empty": [{"a": None}, {"a": ""}],
    "no fields": [{}, {}],
    "too many fields": [{str(n): n for n in range(10_001)}],
    "too many fields together": [
        {str(20 * n + k): 1 for k in range(20)}
        for n in range(600)  # a thousand records decide
    ],
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_records_that_cannot_be_learnt_are_refused_before_they_are_kept(case):
    log = Log()
    records = [{"id": f"r{n}", "fields": fields} for n, fields in enumerate(UNREADABLE[case])]
    with pytest.raises(Refused, match=r"fields|cannot be learnt"):
        log.add_items(records)
    assert not log.events


def test_a_later_record_is_read_as_the_first_ones_are():
    log = Log()
    log.add_items([{"id": "r", "fields": {"a": [1, 2]}}])
    with pytest.raises(Refused, match="'a' has 1 numbers, not 2 numbers"):
        log.push([{"id": "s", "fields": {"a": [3]}}])
    with pytest.raises(Refused, match="could not convert"):
        log.push([{"id": "s", "fields": {"a": [3, "x"]}}])
    log.push([{"id": "s", "fields": {"a": [3, 4], "b": "new"}}])
    assert len(log.desk.books.items) == 2
