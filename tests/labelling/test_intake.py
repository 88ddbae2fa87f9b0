"""Entries of a real Redis stream become items once; what is no item is set aside."""

import json
from threading import Thread
from time import monotonic, sleep, time

import pytest

from selectron.labelling import intake as intake_module
from selectron.labelling.desk import Desk
from selectron.labelling.intake import Intake
from selectron.labelling.items import Columns
from selectron.labelling.service import Full, Service, Stopped
from selectron.labelling.sources import Away, source_of
from selectron.labelling.store import open_store
from tests.labelling.faults.brokers import Oracle
from tests.labelling.faults.lives import no_estimate
from tests.labelling.office import CLASSES
from tests.labelling.redis_server import new_server

pytestmark = pytest.mark.plain
redis_package = pytest.importorskip("redis", reason="redis is not installed")


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    monkeypatch.setattr(intake_module, "READ_SECONDS", 0.02)
    monkeypatch.setattr(intake_module, "PAUSE_SECONDS", 0.02)


@pytest.fixture
def store(tmp_path):
    return tmp_path / "labels.db"


@pytest.fixture
def service(store):
    service = new_service(store)
    yield service
    service.close()


def new_service(store, classes=CLASSES):
    service = Service(open_store(store), Desk(Oracle, no_estimate))
    service.submit(lambda desk: desk.add_classes(classes, time())).result()
    return service


@pytest.fixture
def client(redis_server):
    with redis_server.client() as client:
        yield client


def taking(server, stream, consumer="one", **options):
    columns = options.pop("columns", Columns())
    source = source_of(server.url, stream, "group", consumer)
    return Intake(source, columns, **options)


def items_of(service):
    return service.read(lambda desk: list(desk.books.items))


def take_all(intake, service):
    while intake.step(service):
        pass


def eventually(condition, seconds=10.0):
    end = monotonic() + seconds
    while not condition():
        assert monotonic() < end
        sleep(0.01)


def test_entries_become_items_and_questions(redis_server, client, stream, service):
    first = client.xadd(stream, {"text": "hello"})
    client.xadd(stream, {"id": "two", "text": "there", "label": "a"})
    item = {"id": "three", "text": "again", "meta": {"from": "x"}}
    client.xadd(stream, {"json": json.dumps(item)})
    intake = taking(redis_server, stream)
    assert intake.step(service) == 3
    found = items_of(service)
    assert found == [
        {"id": f"{stream}:{first}", "text": "hello"},
        {"id": "two", "text": "there"},
        item,
    ]
    questions = service.read(lambda desk: [q.kind for q in desk.books.waiting.values()])
    assert questions == ["stream"] * 3  # nobody knows a class yet, so all are asked
    assert client.xpending(stream, "group")["pending"] == 0
    assert (intake.added, intake.known, intake.dead, intake.waiting) == (3, 0, 0, 3)
    assert intake.step(service) == 0


def test_the_event_has_the_ids_of_the_entries(redis_server, client, stream, service, store):
    ids = [client.xadd(stream, {"text": f"text {k}"}) for k in range(3)]
    intake = taking(redis_server, stream)
    take_all(intake, service)
    with open_store(store, readonly=True) as opened:
        (event,) = (event for _, event in opened.events() if event.kind == "items")
    assert event.body["source"] == {"name": intake.source.name, "messages": ids}
    assert event.body["stream"]


def test_columns_are_named_as_for_files(redis_server, client, stream, service):
    client.xadd(stream, {"nr": "7", "body": "some text", "subject": "words", "more": "not shown"})
    client.xadd(stream, {"body": "it has no number", "subject": "words"})
    columns = Columns(text="body", id="nr", show=["subject"])
    take_all(taking(redis_server, stream, columns=columns), service)
    assert items_of(service) == [{"id": "7", "text": "some text", "meta": {"subject": "words"}}]
    ((_, letter),) = client.xrange(f"{stream}:dead")
    assert "there is no column 'nr'" in letter["_reason"]


def test_messages_with_the_same_text_are_two_items_with_the_same_id_one(
    redis_server, client, stream, service
):
    for fields in ({"text": "yes"}, {"text": "yes"}, {"id": "i", "text": "no"}):
        client.xadd(stream, fields)
    client.xadd(stream, {"id": "i", "text": "no"})
    client.xadd(stream, {"id": "i", "text": "something else"})
    intake = taking(redis_server, stream)
    take_all(intake, service)
    assert [item["text"] for item in items_of(service)] == ["yes", "yes", "no"]
    assert (intake.added, intake.known, intake.dead) == (3, 1, 1)


def test_what_is_no_item_is_set_aside_with_a_reason(redis_server, client, stream, service):
    bad = [
        ({"json": "{"}, "not JSON"),
        ({"json": "[1]"}, "no object"),
        ({"json": '{"id": "x", "id": "y", "text": "t"}'}, "twice"),
        ({"json": '{"vector": [1, 2]}'}, "unlike"),
        ({"json": '{"text": "t", "answers": [7]}'}, ""),
        ({"image": "cat.png"}, "no folder of pictures"),
        ({"text": b"\xff\xfe"}, "utf-8"),
        ({"text": "a\0b"}, "NUL"),
        ({"id": "a" * 600, "text": "t"}, "1 to 512"),
        ({"text": "x" * (9 << 20)}, "8 MB"),
        ({"label": "a"}, "there is no column 'text'"),
    ]
    client.xadd(stream, {"text": "good"})
    ids = [client.xadd(stream, fields) for fields, _ in bad]
    client.xadd(stream, {"text": "good too"})
    intake = taking(redis_server, stream)
    take_all(intake, service)
    assert [item["text"] for item in items_of(service)] == ["good", "good too"]
    assert (intake.added, intake.dead) == (2, len(bad))
    with redis_package.Redis.from_url(redis_server.url, protocol=2) as raw:
        letters = [letter for _, letter in raw.xrange(f"{stream}:dead")]
    assert [letter[b"_entry"].decode() for letter in letters] == ids
    for letter, (fields, reason) in zip(letters, bad, strict=True):
        assert reason in letter[b"_reason"].decode()
        for name, value in fields.items():
            assert letter[name.encode()] == (value if isinstance(value, bytes) else value.encode())
    assert client.xpending(stream, "group")["pending"] == 0


def test_a_record_that_cannot_be_learnt_is_refused_alone(redis_server, client, stream, service):
    def add(*pixels):
        client.xadd(stream, {"json": json.dumps({"fields": {"pixels": pixels}})})

    for k in range(20):
        add(k, 7 - k, 1)
    intake = taking(redis_server, stream)
    take_all(intake, service)
    for pixels in ((1, 2, 3), (1, 2), (3, 2, 1)):
        add(*pixels)
    take_all(intake, service)
    assert [item["fields"]["pixels"] for item in items_of(service)[20:]] == [[1, 2, 3], [3, 2, 1]]
    assert (intake.added, intake.dead) == (22, 1)


def test_an_entry_that_was_deleted_is_settled(redis_server, client, stream, service):
    gone = client.xadd(stream, {"text": "gone"})
    with pytest.raises(RuntimeError, match="killed"):
        killed_before(redis_server, stream).step(service)
    client.xdel(stream, gone)
    intake = taking(redis_server, stream)
    take_all(intake, service)
    assert intake.dead == 1
    assert client.xpending(stream, "group")["pending"] == 0


def killed_before(server, stream, consumer="one"):
    """Return an intake that ends after it has read and before the desk knows."""
    intake = taking(server, stream, consumer)
    intake._bring = raising("killed")
    return intake


def raising(what):
    def fail(*arguments):
        raise RuntimeError(what)

    return fail


@pytest.mark.parametrize("consumer", ["one", "another"])
def test_what_a_dead_consumer_left_is_taken(redis_server, client, stream, service, consumer):
    """By the same store at once, by another when the entries lay idle."""
    client.xadd(stream, {"text": "first"})
    with pytest.raises(RuntimeError, match="killed"):
        killed_before(redis_server, stream).step(service)
    client.xadd(stream, {"text": "second"})
    intake = taking(redis_server, stream, consumer)
    intake.source._idle_seconds = 0.05
    sleep(0.06)
    take_all(intake, service)
    assert [item["text"] for item in items_of(service)] == ["first", "second"]
    assert client.xpending(stream, "group")["pending"] == 0


def test_entries_of_a_living_consumer_are_left_to_it(redis_server, client, stream, service):
    client.xadd(stream, {"text": "first"})
    with pytest.raises(RuntimeError, match="killed"):
        killed_before(redis_server, stream).step(service)
    take_all(taking(redis_server, stream, "another"), service)
    assert items_of(service) == []


def test_an_entry_that_is_stored_is_only_acknowledged_when_it_comes_again(
    redis_server, client, stream, store
):
    """Even if it would be read as another item now: the log has the id of the entry."""
    client.xadd(stream, {"body": "one", "subject": "two"})
    service, intake = new_service(store), taking(redis_server, stream, columns=Columns(text="body"))
    intake.source.settle = raising("killed")
    with pytest.raises(RuntimeError, match="killed"):
        intake.step(service)
    service.close()
    service = new_service(store)
    intake = taking(redis_server, stream, columns=Columns(text="subject"))
    assert intake.step(service) == 1
    assert (intake.added, intake.known, intake.dead) == (0, 1, 0)
    assert [item["text"] for item in items_of(service)] == ["one"]
    assert client.xpending(stream, "group")["pending"] == 0
    service.close()


def test_an_entry_that_is_stored_may_be_deleted(redis_server, client, stream, service):
    id = client.xadd(stream, {"text": "one"})
    intake = taking(redis_server, stream)
    intake.source.settle = raising("killed")
    with pytest.raises(RuntimeError, match="killed"):
        intake.step(service)
    client.xdel(stream, id)
    intake = taking(redis_server, stream)
    take_all(intake, service)
    assert (intake.added, intake.known, intake.dead) == (0, 1, 0)
    assert not client.exists(f"{stream}:dead")


def test_an_intake_that_is_stopped_does_not_wait_for_a_full_desk(
    redis_server, client, stream, service, monkeypatch
):
    def full(command):
        intake.stop()
        raise Full("busy")

    client.xadd(stream, {"text": "a text"})
    intake = taking(redis_server, stream)
    monkeypatch.setattr(service, "submit", full)
    intake.run(service)
    assert client.xpending(stream, "group")["pending"] == 1


def test_a_batch_is_bounded(redis_server, client, stream, service):
    for k in range(25):
        client.xadd(stream, {"text": f"text {k}"})
    intake = taking(redis_server, stream, batch=10)
    assert [intake.step(service) for _ in range(4)] == [10, 10, 5, 0]


@pytest.mark.parametrize("limits", [{"batch": 0}, {"batch": 1001}, {"most_waiting": 0}])
def test_limits_have_limits(redis_server, stream, limits):
    with pytest.raises(ValueError, match="0"):
        taking(redis_server, stream, **limits)


def answer_all(service):
    def answer(desk):
        question = next(iter(desk.books.waiting.values()))
        return desk.answer(f"id-{question.name}", question.name, CLASSES[0], "me", 0.0, time())

    while service.read(lambda desk: len(desk.books.waiting)):
        service.submit(answer).result()


def test_nothing_is_read_while_too_many_questions_wait(redis_server, client, stream, service):
    for k in range(30):
        client.xadd(stream, {"text": f"text {k}"})
    intake = taking(redis_server, stream, batch=10, most_waiting=15)
    # No class is known yet, so every item becomes a question: no more are read than may wait.
    assert [intake.step(service) for _ in range(3)] == [10, 5, None]
    assert len(items_of(service)) == intake.waiting == 15
    assert client.xinfo_groups(stream)[0]["lag"] == 15  # they wait at the source
    answer_all(service)
    assert intake.step(service) == 10


def test_a_budget_that_is_used_up_does_not_stop_the_stream(redis_server, client, stream, service):
    for k in range(30):
        client.xadd(stream, {"text": f"text {k}"})
    intake = taking(redis_server, stream, batch=10, most_waiting=5)
    intake.step(service)
    service.submit(lambda desk: desk.set({"budget": 0}, time())).result()
    assert [intake.step(service), intake.step(service)] == [10, 10]
    assert service.read(lambda desk: len(desk.books.waiting)) == 5


def test_nothing_is_read_before_two_classes_have_names(redis_server, client, stream, store):
    client.xadd(stream, {"text": "a text"})
    service, intake = new_service(store, CLASSES[:1]), taking(redis_server, stream)
    assert intake.step(service) is None
    service.submit(lambda desk: desk.add_classes(CLASSES, time())).result()
    assert intake.step(service) == 1
    service.close()


def test_a_full_desk_gets_the_batch_later(redis_server, client, stream, service, monkeypatch):
    client.xadd(stream, {"text": "a text"})
    submit, refusals = service.submit, [Full("busy"), Full("busy")]

    def sometimes(command):
        if refusals:
            raise refusals.pop()
        return submit(command)

    monkeypatch.setattr(service, "submit", sometimes)
    intake = taking(redis_server, stream)
    assert intake.step(service) == 1
    assert len(items_of(service)) == 1


def test_a_store_that_failed_ends_the_intake(redis_server, client, stream, store):
    client.xadd(stream, {"text": "a text"})
    service, intake = new_service(store), taking(redis_server, stream)
    service.close()
    with pytest.raises(Stopped):
        intake.run(service)
    assert client.xpending(stream, "group")["pending"] == 1


def test_a_fault_of_ours_is_no_fault_of_the_messages(redis_server, client, stream, service):
    """Nothing is set aside: the entries wait until the fault is mended."""
    client.xadd(stream, {"text": "a text"})
    intake = taking(redis_server, stream)
    service._desk.take = raising("a fault")
    with pytest.raises(RuntimeError, match="a fault"):
        intake.run(service)
    assert client.xpending(stream, "group")["pending"] == 1
    assert not client.exists(f"{stream}:dead")


def test_a_server_that_is_killed_and_comes_back(stream, service):
    server = new_server("--appendonly", "yes", "--appendfsync", "always")
    intake, said = taking(server, stream, batch=5), []
    thread = Thread(target=intake.run, args=(service, said.append))
    thread.start()
    try:
        for life in range(3):
            with server.client() as client:
                for k in range(12):
                    client.xadd(stream, {"text": f"text {life} {k}"})
            if life == 1:  # the others die while entries are under way
                eventually(lambda: len(items_of(service)) == 24)
            server.kill()
            eventually(lambda n=2 * life + 1: len(said) == n)
            server.start()
            eventually(lambda n=2 * life + 2: len(said) == n)
        eventually(lambda: len(items_of(service)) == 36)
    finally:
        intake.stop()
        thread.join()
        server.close()
    assert all("trying again" in line for line in said[::2])
    assert all("is back" in line for line in said[1::2])
    assert len({item["text"] for item in items_of(service)}) == len(items_of(service)) == 36


def test_a_server_that_forgot_everything_begins_anew(redis_server, client, stream, service):
    client.xadd(stream, {"text": "before"})
    intake = taking(redis_server, stream)
    take_all(intake, service)
    client.delete(stream)
    client.xadd(stream, {"text": "after"})
    with pytest.raises(Away, match="NOGROUP"):
        intake.step(service)
    take_all(intake, service)
    assert [item["text"] for item in items_of(service)] == ["before", "after"]


def test_what_cannot_get_better_is_an_error(redis_server, client, stream, service):
    client.set(stream, "no stream")
    with pytest.raises(ValueError, match="WRONGTYPE"):
        taking(redis_server, stream).run(service)
    client.set(f"{stream}2:dead", "no stream")
    with pytest.raises(ValueError, match="is no stream"):
        taking(redis_server, f"{stream}2").run(service)
    with pytest.raises(ValueError, match="is no source"):
        source_of("kafka://here", stream, "group", "one")


def test_the_name_of_a_source_has_no_password():
    source = source_of("redis://me:secret@here:6379/0?health_check_interval=2", "s", "g", "c")
    assert source.name == "redis://here:6379/0/s"
