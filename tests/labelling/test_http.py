"""The calls of version 1, on a real server with a real store."""

import gc
import json
import threading
import time

import httpx
import pytest

from selectron.labelling.server import stream
from selectron.labelling.service import Service, Stopped
from selectron.labelling.store import DiskFull
from tests.labelling import office

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360"
    "606060000000050001a5f645400000000049454e44ae426082"
)


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    items, _ = office.tickets(200)
    folder = tmp_path_factory.mktemp("house")
    with office.service(folder, items, question="What is it about?") as service:
        options = {"tokens": {"ann-token": "ann", "bob-token": "bob"}}
        with office.server(service, **options) as server:
            yield server


@pytest.fixture
def http(house):
    """The owner's program."""
    headers = {"Authorization": f"Bearer {house.token}"}
    with httpx.Client(base_url=house.url, headers=headers) as client:
        yield client


@pytest.fixture
def ann(house):
    headers = {"Authorization": "Bearer ann-token"}
    with httpx.Client(base_url=house.url, headers=headers) as client:
        yield client


def ask(http, n=1):
    return http.get("/api/v1/next", params={"n": n}).json()["questions"]


def answer(http, id, label="Billing", **more):
    question = ask(http)[0]
    body = {"id": id, "question": question["question"], "label": label, **more}
    return question, http.post("/api/v1/answers", json=body)


def test_next_has_what_the_contract_names(http):
    reply = http.get("/api/v1/next", params={"n": 2}).json()
    assert reply["why"] is None
    assert len(reply["questions"]) == 2
    for question in reply["questions"]:
        assert set(question) == {
            "question",
            "item",
            "options",
            "guess",
            "reason",
            "lease_seconds",
        }
        assert set(question["reason"]) == {"kind", "margin", "odds", "text"}
        assert question["options"] == office.CLASSES
        assert not any(name in question["reason"]["text"] for name in office.CLASSES)


def test_two_people_never_get_the_same_question(http, ann):
    mine, hers = ({one["item"]["id"] for one in ask(who, 3)} for who in (http, ann))
    assert len(mine | hers) == 6


def test_an_answer_is_durable_and_the_same_id_counts_once(http):
    labels = http.get("/api/v1/status").json()["labels"]
    question, reply = answer(http, "once")
    assert reply.json() == {"seq": reply.json()["seq"], "durable": True}
    body = {"id": "once", "question": question["question"], "label": "Technical"}
    again = http.post("/api/v1/answers", json=body)
    assert (again.status_code, again.json()) == (200, reply.json())
    assert http.get("/api/v1/status").json()["labels"] == labels + 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"label": "Billing", "question": "q999999"}, 404),
        ({"label": "Billing"}, 422),
        ({"question": "q1", "label": "Nonsense"}, 422),
        ({"question": "q1", "label": False}, 422),
        ({"question": "q1", "label": 1}, 422),
        ({"question": "q1", "label": None}, 422),
        ({"question": "q1", "label": "Billing", "skip": True}, 422),
        ({"question": "q1", "skip": False}, 422),
        ({"question": "q1", "skip": 1}, 422),
        ({"question": "q1", "label": "Billing", "annotator": "eve"}, 422),
        ({"question": "../q1", "label": "Billing"}, 422),
        ({"question": "q1", "label": "Billing", "id": "a b"}, 422),
        ({"question": "q1", "label": "Billing", "id": "a\x00b"}, 422),
        ({"item": "nowhere", "label": "Billing"}, 404),
    ],
)
def test_a_wrong_answer_is_refused_with_a_remedy(http, body, status):
    if body.get("question") == "q1":
        body = body | {"question": ask(http)[0]["question"]}
    seq = http.get("/api/v1/status").json()["seq"]
    reply = http.post("/api/v1/answers", json={"id": "wrong"} | body)
    assert reply.status_code == status
    assert set(reply.json()) == {"error", "remedy"}
    assert http.get("/api/v1/status").json()["seq"] == seq


def test_an_answer_for_another_item_is_refused(http):
    question = ask(http)[0]["question"]
    body = {"id": "elsewhere", "question": question, "item": "another", "label": "Billing"}
    assert http.post("/api/v1/answers", json=body).status_code == 409


def test_skip_correct_and_undo(http):
    question, reply = answer(http, "first")
    assert http.put("/api/v1/answers/first", json={"label": "Technical"}).status_code == 200
    row = find(http, question)
    assert (row["label"], row["answers"][0]["corrected"]) == ("Technical", True)
    undone = http.delete("/api/v1/answers/first").json()
    assert undone["seq"] > reply.json()["seq"]
    assert http.delete("/api/v1/answers/first").json() == undone
    assert find(http, question)["label"] is None
    body = {"id": "second", "question": question["question"], "skip": True}
    assert http.post("/api/v1/answers", json=body).status_code == 200
    assert find(http, question)["state"] == "skipped"
    assert http.put("/api/v1/answers/none", json={"label": "Billing"}).status_code == 404


def find(http, question):
    reply = http.get("/api/v1/items", params={"q": question["item"]["id"]}).json()
    return reply["items"][0]


def test_nobody_undoes_the_answer_of_somebody_else(http, ann):
    answer(ann, "hers")
    assert http.delete("/api/v1/answers/hers").status_code == 403


def test_review_finds_by_words_and_labels_what_it_finds(http):
    page = http.get("/api/v1/items", params={"state": "unlabelled", "q": "invoice"}).json()
    assert page["items"]
    item = page["items"][-1]["item"]
    assert "invoice" in item["text"]
    body = {"id": "found", "item": item["id"], "label": "Billing"}
    assert http.post("/api/v1/answers", json=body).status_code == 200
    assert http.post("/api/v1/notes", json={"item": item["id"], "text": "odd"}).status_code == 200
    noted = http.get("/api/v1/items", params={"state": "noted"}).json()["items"]
    assert [row["notes"][0]["text"] for row in noted] == ["odd"]
    for query in (
        {"state": "secret"},
        {"doubt": "1"},
        {"sort": "id"},
        {"page": 0},
        {"q": "x" * 201},
    ):
        assert http.get("/api/v1/items", params=query).status_code == 422


def test_status_and_report(http):
    status = http.get("/api/v1/status").json()
    names = ("labels", "items", "budget", "goal", "estimate", "curve", "balance", "annotators")
    assert set(names) <= set(status)
    assert status["you"] == {"name": "program", "role": "owner", "team": False}
    report = http.get("/api/v1/report").json()
    assert {"confusion", "per_class", "agreement", "slips"} <= set(report)


def test_settings_and_classes_are_the_owners(http, ann):
    assert ann.put("/api/v1/settings", json={"budget": 10}).status_code == 403
    assert ann.post("/api/v1/classes", json={"names": ["Other"]}).status_code == 403
    assert ann.get("/api/v1/export").status_code == 403
    assert ann.post("/api/v1/items", json={"items": [{"id": "x", "text": "x"}]}).status_code == 403
    assert http.put("/api/v1/settings", json={"goal": "error<=0.1"}).json()["goal"] == "error<=0.1"
    assert http.put("/api/v1/settings", json={"goal": None}).json()["goal"] is None
    assert http.put("/api/v1/settings", json={"goal": "better"}).status_code == 422
    assert http.put("/api/v1/settings", json={"budget": True}).status_code == 422


def test_pushed_items_are_predicted_and_perhaps_asked(http):
    items = [{"id": f"pushed {n}", "text": "an invoice for two seats"} for n in range(3)]
    rows = http.post("/api/v1/items", json={"items": items}).json()["items"]
    assert [set(row) for row in rows] == [
        {"id", "label", "probability", "asked", "question"} for _ in items
    ]
    twice = http.post("/api/v1/items", json={"items": [{"id": "pushed 1", "text": "other"}]})
    assert twice.status_code == 409
    assert http.post("/api/v1/items", json={"items": [{"id": "bare"}]}).status_code == 422


def test_export_and_model_are_files(http):
    reply = http.get("/api/v1/export", params={"format": "jsonl"})
    assert reply.headers["content-disposition"] == 'attachment; filename="labels.jsonl"'
    assert all({"id", "label"} <= set(json.loads(line)) for line in reply.text.splitlines())
    assert http.get("/api/v1/model").content == b"the learner"
    assert http.get("/api/v1/export", params={"format": "exe"}).status_code == 422


def test_events_send_the_status_as_it_changes(house, http, monkeypatch):
    monkeypatch.setattr(stream, "HEARTBEAT", 0.1)
    with http.stream("GET", "/api/v1/events") as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        lines = reply.iter_lines()
        before = read_status(lines)
        _, replied = answer(http, "heard")
        assert replied.status_code == 200
        while (after := read_status(lines))["labels"] == before["labels"]:
            pass
        assert after["labels"] == before["labels"] + 1
        assert ": still here" in lines


def read_status(lines):
    return json.loads(next(line[6:] for line in lines if line.startswith("data: ")))


def test_health_and_metrics_need_no_token(house):
    with httpx.Client(base_url=house.url) as anybody:
        assert anybody.get("/healthz").json() == {"status": "ok"}
        text = anybody.get("/metrics").text
        assert 'selectron_requests_total{method="GET",route="/healthz",status="200"}' in text
        assert "selectron_labels " in text
        far = anybody.get("/metrics", headers={"X-Forwarded-For": "8.8.8.8"})
        assert far.status_code == 403


def test_pictures_come_by_item_from_one_folder(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.png").write_bytes(PNG)
    (folder / "script.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    data = "data:image/png;base64,iVBORw0KGgo="
    names = ["a.png", data, "../secret.png", "link.png", str(tmp_path / "secret.png"), "script.svg"]
    names += ["missing.png", "data:text/html,<script>"]
    items = [{"id": f"i{n}", "image": name} for n, name in enumerate(names)]
    with office.service(tmp_path, items) as service, office.server(service, images=folder) as house:
        http = httpx.Client(base_url=house.url, headers={"Authorization": f"Bearer {house.token}"})
        shown = ask(http)[0]["item"]["image"]
        assert shown == "/api/v1/image?item=i0"
        good = http.get(shown)
        assert (good.content, good.headers["content-type"]) == (PNG, "image/png")
        assert good.headers["x-content-type-options"] == "nosniff"
        codes = [http.get("/api/v1/image", params={"item": f"i{n}"}).status_code for n in range(8)]
        assert codes == [200, 200, 404, 404, 404, 404, 404, 404]
        assert http.get("/api/v1/image", params={"item": "../a.png"}).status_code == 404
        http.close()


def test_a_full_service_and_a_stopped_one_say_when_to_come_again(tmp_path):
    items, _ = office.tickets(3)
    with office.service(tmp_path, items) as service, office.server(service) as house:
        http = httpx.Client(base_url=house.url, headers={"Authorization": f"Bearer {house.token}"})
        room, service._room = service._room, 0
        full = http.get("/api/v1/next")
        service._room = room
        assert (full.status_code, full.headers["retry-after"]) == (503, "1")
        assert http.get("/api/v1/next").status_code == 200
        service.close()
        stopped = http.get("/api/v1/next")
        assert (stopped.status_code, stopped.headers["retry-after"]) == (503, "5")
        assert http.get("/healthz").status_code == 503
        http.close()


def test_a_full_disk_is_named_with_the_remedy_and_all_can_be_read(tmp_path, caplog):
    def append(events):
        raise DiskFull(f"{tmp_path}: database or disk is full")

    items, _ = office.tickets(3)
    with office.service(tmp_path, items) as service, office.server(service) as house:
        http = httpx.Client(base_url=house.url, headers={"Authorization": f"Bearer {house.token}"})
        (question,) = ask(http)
        service._store.append = append
        body = {"id": "a", "question": question["question"], "label": "Billing"}
        for refused in (http.post("/api/v1/answers", json=body), http.get("/healthz")):
            assert refused.status_code == 503
            assert refused.json() == {
                "error": "The service has stopped: the disk of its store is full.",
                "remedy": "Its keeper makes room there and starts it again; "
                "what is kept can be read.",
            }
        for call in ("status", "items", "export", "report"):
            assert http.get(f"/api/v1/{call}").status_code == 200
        http.close()
    (line,) = caplog.messages
    assert "disk is full; make room on its disk, and start it again" in line
    assert not caplog.records[0].exc_info  # no traceback


def test_answers_come_between_the_lessons_that_a_reader_waits_for(tmp_path, monkeypatch):
    items, truth = office.tickets(120)
    with office.service(tmp_path, items) as service, office.server(service) as house:
        headers = {"Authorization": f"Bearer {house.token}"}
        with httpx.Client(base_url=house.url, headers=headers) as http:

            def find(n):
                body = {"id": f"f{n}", "item": items[n]["id"], "label": truth[items[n]["id"]]}
                assert http.post("/api/v1/answers", json=body).status_code == 200

            for n in range(100):
                find(n)
            http.get("/api/v1/report")
            teach = office.WordLearner.teach
            monkeypatch.setattr(
                office.WordLearner,
                "teach",
                lambda learner, lessons: (time.sleep(0.01 * len(lessons)), teach(learner, lessons)),
            )
            http.delete("/api/v1/answers/f0")
            ask = {"url": f"{house.url}/api/v1/report", "headers": headers}
            reader = threading.Thread(target=httpx.get, kwargs=ask)
            reader.start()
            time.sleep(0.1)
            began = time.monotonic()
            find(110)
            assert time.monotonic() - began < 0.5
            assert reader.is_alive()
            reader.join()


def test_no_call_waits_while_garbage_is_looked_for_among_what_stays(tmp_path):
    with office.service(tmp_path) as service:
        with office.server(service):
            assert gc.get_freeze_count() > 100_000
        assert gc.get_freeze_count() == 0


def test_stopping_ends_streams_and_finishes_answers(tmp_path):
    items, _ = office.tickets(40)
    with office.service(tmp_path, items) as service:
        kept, ended = [], threading.Event()
        with office.server(service, tokens={"ann-token": "ann"}) as house:
            headers = {"Authorization": "Bearer ann-token"}
            http = httpx.Client(base_url=house.url, headers=headers)

            def listen():
                with httpx.stream("GET", f"{house.url}/api/v1/events", headers=headers) as reply:
                    for _ in reply.iter_lines():
                        pass
                ended.set()

            threading.Thread(target=listen, daemon=True).start()
            for n in range(20):
                question, _ = answer(http, f"a{n}")
                kept.append(question["item"]["id"])
            http.close()
            began = time.monotonic()
        assert time.monotonic() - began < 5
        assert ended.wait(5)
        found = service.read(lambda desk: set(desk.books.labels))
        assert {items[row]["id"] for row in found} == set(kept)
    with pytest.raises(Stopped):
        Service.submit(service, lambda desk: None)


def test_label_studio_predicts_and_teaches(house, http):
    config = '<View><Text name="t" value="$text"/><Choices name="kind" toName="t"/></View>'
    auth = httpx.BasicAuth("label-studio", house.token)
    with httpx.Client(base_url=house.url, auth=auth) as studio:
        assert studio.get("/health").json()["status"] == "UP"
        assert (
            "model_version" in studio.post("/setup", json={"project": "1", "schema": config}).json()
        )
        tasks = [{"id": n, "data": {"text": "my invoice and a refund"}} for n in (1, 2)]
        body = {"tasks": tasks, "label_config": config, "project": "1", "params": {}}
        results = studio.post("/predict", json=body).json()["results"]
        assert len(results) == 2
        for result in results[0]["result"]:
            assert (result["from_name"], result["to_name"], result["type"]) == (
                "kind",
                "t",
                "choices",
            )
        region = {"type": "choices", "value": {"choices": ["Billing"]}, "from_name": "kind"}
        event = {"action": "ANNOTATION_CREATED", "task": tasks[0]}
        event["annotation"] = {"id": 7, "result": [region]}
        assert studio.post("/webhook", json=event).json() == {"status": "ok"}
        region["value"]["choices"] = ["Technical"]
        assert studio.post("/webhook", json=event | {"action": "ANNOTATION_UPDATED"}).is_success
        row = http.get("/api/v1/items", params={"q": "ls-1"}).json()["items"][0]
        assert (row["label"], row["answers"][0]["annotator"]) == ("Technical", "label-studio")
        assert studio.post("/webhook", json=event | {"action": "ANNOTATION_DELETED"}).is_success
        assert studio.post("/webhook", json={"action": "PROJECT_UPDATED"}).json() == {
            "status": "ignored"
        }
    assert httpx.get(f"{house.url}/health").status_code == 401
