"""A project of Label Studio that is connected to a desk, with the bodies that Label Studio sends.

`label_studio/ml/api_connector.py` makes the calls of a backend, `label_studio/webhooks/models.py`
names the events and says what each one brings.
"""

import json

import httpx
import pytest

from selectron.labelling.exports import export
from tests.labelling import office

CONFIG = (
    "<View><Header value='What is it?'/><Text name='letter' value='$text'/>"
    "<Choices toName='letter' name=\"kind\">"
    "<Choice value='Billing'/><Choice value='Cancellation'/><Choice value='Technical'/>"
    "</Choices></View>"
)
MULTIPLE = CONFIG.replace("toName", "choice='multiple' toName")
WORDS = {"Billing": "invoice refund", "Technical": "crash of the browser"}


@pytest.fixture
def desk(tmp_path):
    with office.service(tmp_path) as service:
        yield service


@pytest.fixture
def studio(desk):
    with connected(desk) as client:
        yield client


def connected(service):
    """Return Label Studio as a client: it sends the token as a password."""
    return Project(service)


class Project:
    def __init__(self, service):
        self.service, self.server = service, office.server(service)

    def __enter__(self):
        house = self.server.__enter__()
        auth = httpx.BasicAuth("label-studio", house.token)
        self.client = httpx.Client(base_url=house.url, auth=auth)
        return self

    def __exit__(self, *error):
        self.client.close()
        self.server.__exit__(*error)

    def post(self, path, **body):
        return self.client.post(path, json=body)

    def predict(self, *tasks, config=CONFIG):
        reply = self.post("/predict", tasks=list(tasks), label_config=config, project="1.17")
        assert reply.status_code == 200, reply.text
        return reply.json()["results"]

    def hook(self, action, *, config=CONFIG, **payload):
        project = {"id": 1, "label_config": config, "title": "Letters"}
        return self.post("/webhook", action=action, project=project, **payload)

    def labels(self):
        return self.service.read(
            lambda desk: {
                desk.books.items[row]["id"]: label for row, label in desk.books.labels.items()
            }
        )

    def taught(self):
        return self.service.read(lambda desk: [names for _, names in desk.learn().taught])


def task(number, text="my invoice and a refund", **more):
    return {"id": number, "data": {"text": text, **more}, "meta": {}, "project": 1}


def annotation(id, *choices, task=1, **more):
    region = {
        "id": "x7",
        "from_name": "kind",
        "to_name": "letter",
        "type": "choices",
        "value": {"choices": list(choices)},
    }
    result = [region] if choices else []
    return {"id": id, "task": task, "result": result, "was_cancelled": False, **more}


def teach(studio):
    """Give each class an answer, so that the desk predicts."""
    for id, (name, words) in enumerate(WORDS.items(), 101):
        event = {"task": task(id, words), "annotation": annotation(id, name, task=id)}
        assert studio.hook("ANNOTATION_CREATED", **event).json() == {"status": "ok"}


def test_an_annotation_teaches_is_corrected_and_unteaches(studio):
    created = {"task": task(1), "annotation": annotation(7, "Billing")}
    assert studio.hook("ANNOTATION_CREATED", **created).json() == {"status": "ok"}
    assert studio.labels() == {"ls-1": "Billing"}
    updated = created | {"annotation": annotation(7, "Technical")}
    assert studio.hook("ANNOTATION_UPDATED", **updated).json() == {"status": "ok"}
    assert studio.taught() == [["Technical"]]
    deleted = studio.hook("ANNOTATIONS_DELETED", annotations=[{"id": 7}])
    assert deleted.json() == {"status": "ok"}
    assert (studio.labels(), studio.taught()) == ({}, [])


def test_the_singular_name_of_a_deletion_is_known_too(studio):
    studio.hook("ANNOTATION_CREATED", task=task(1), annotation=annotation(7, "Billing"))
    assert studio.hook("ANNOTATION_DELETED", annotation={"id": 7}).json() == {"status": "ok"}
    assert studio.labels() == {}


def test_several_annotations_come_at_once(studio):
    made = [annotation(7, "Billing", task=1), annotation(8, "Technical", task=2)]
    tasks = [task(2, "crash"), task(1)]  # a task belongs to the annotation that names it
    reply = studio.hook("ANNOTATIONS_CREATED", annotation=made, task=tasks)
    assert reply.json() == {"status": "ok"}
    assert studio.labels() == {"ls-1": "Billing", "ls-2": "Technical"}
    studio.hook("ANNOTATIONS_DELETED", annotations=[{"id": 7}, {"id": 8}])
    assert studio.labels() == {}


def test_one_refused_annotation_keeps_none_of_the_others_out(studio):
    made = [annotation(7, "Fax", task=1), annotation(8, "Technical", task=2)]
    reply = studio.hook("ANNOTATIONS_CREATED", annotations=made, task=[task(1), task(2, "crash")])
    assert reply.status_code == 422
    assert "'Fax' is not one of the classes" in reply.json()["error"]
    assert studio.labels() == {"ls-2": "Technical"}


def test_an_annotation_without_a_choice_is_no_answer(studio):
    skipped = {"task": task(1), "annotation": annotation(7, was_cancelled=True)}
    assert studio.hook("ANNOTATION_CREATED", **skipped).json() == {"status": "ignored"}
    assert studio.hook("ANNOTATIONS_DELETED", annotations=[{"id": 7}]).json() == {
        "status": "ignored"
    }
    assert studio.labels() == {}


def test_an_annotation_that_is_emptied_unteaches_until_it_is_filled_again(studio):
    studio.hook("ANNOTATION_CREATED", task=task(1), annotation=annotation(7, "Billing"))
    cancelled = annotation(7, "Billing", was_cancelled=True)
    assert studio.hook("ANNOTATION_UPDATED", task=task(1), annotation=cancelled).is_success
    assert studio.labels() == {}
    for name in ("Technical", "Billing"):
        event = {"task": task(1), "annotation": annotation(7, name)}
        assert studio.hook("ANNOTATION_UPDATED", **event).json() == {"status": "ok"}
        assert studio.labels() == {"ls-1": name}
    assert studio.hook("ANNOTATIONS_DELETED", annotations=[{"id": 7}]).is_success
    assert studio.labels() == {}


def test_an_update_of_an_annotation_that_was_never_seen_is_an_answer(studio):
    event = {"task": task(1), "annotation": annotation(7, "Technical")}
    assert studio.hook("ANNOTATION_UPDATED", **event).json() == {"status": "ok"}
    assert studio.labels() == {"ls-1": "Technical"}


@pytest.mark.parametrize(
    "body",
    [
        {"action": "PROJECT_UPDATED", "project": {"id": 1, "label_config": "<View"}},
        {"action": "TASKS_DELETED", "tasks": [{"id": 1}]},
        {"action": "START_TRAINING", "project": {"id": 1, "title": "x"}},
        {"action": "ANNOTATION_CREATED"},  # a webhook that sends no payload
    ],
)
def test_other_events_are_ignored(studio, body):
    assert studio.post("/webhook", **body).json() == {"status": "ignored"}


def test_further_fields_of_a_task_are_left_out(studio):
    teach(studio)
    results = studio.predict(
        task(1, id="ticket 1", author="Ann", pages=[1, 2]), task(2, "the crash", url="https://x")
    )
    assert [len(result["result"]) for result in results] == [1, 1]
    items = studio.service.read(lambda desk: desk.books.items[-2:])
    assert items == [
        {"id": "ls-1", "text": "my invoice and a refund"},
        {"id": "ls-2", "text": "the crash"},
    ]


def test_the_interface_names_the_column(studio):
    config = CONFIG.replace("$text", "$body")
    studio.predict({"id": 5, "data": {"text": "a title", "body": "the letter"}}, config=config)
    assert studio.service.read(lambda desk: desk.books.items) == [
        {"id": "ls-5", "text": "the letter"}
    ]


def test_one_task_that_is_refused_keeps_none_of_the_others_out(studio):
    teach(studio)
    results = studio.predict(task(1), {"id": 2, "data": {"sound": ["?"]}}, task(101, "another"))
    assert [len(each["result"]) for each in results] == [1, 0, 0]
    assert results[1]["score"] == 0.0
    reply = studio.post(
        "/predict", tasks=[{"id": 2, "data": {"sound": ["?"]}}], label_config=CONFIG
    )
    assert reply.status_code == 422  # nothing is lost by saying why


def test_tasks_of_an_export_are_the_items_that_were_exported(tmp_path):
    items, truth = office.tickets(3)
    with office.service(tmp_path, items) as service, connected(service) as studio:
        teach(studio)
        file = service.read(lambda desk: export(desk.books, "label-studio", desk.learn()))
        tasks = json.loads(file.content)
        assert tasks[0]["data"]["id"] == items[0]["id"]
        ids = [{"id": 1000 + n, "data": each["data"]} for n, each in enumerate(tasks)]
        assert len(studio.predict(*ids)) == len(tasks)
        made = annotation(7, truth[items[0]["id"]], task=1000)
        assert studio.hook("ANNOTATION_CREATED", task=ids[0], annotation=made).is_success
        assert studio.labels()[items[0]["id"]] == truth[items[0]["id"]]
        assert len(service.read(lambda desk: desk.books.items)) == 5


def test_records_keep_their_fields(tmp_path):
    rows = [{"id": str(n), "fields": {"age": n, "town": "Bonn"}} for n in range(3)]
    config = CONFIG.replace("$text", "$town")
    with office.service(tmp_path, rows) as service, connected(service) as studio:
        data = [{"age": 7, "town": "Ulm", "id": "r"}, {"fields": {"age": 8, "town": "Ulm"}}]
        studio.predict({"id": 1, "data": data[0]}, {"id": 2, "data": data[1]}, config=config)
        assert service.read(lambda desk: desk.books.items[3:]) == [
            {"id": "ls-1", "fields": {"age": 7, "town": "Ulm"}},
            {"id": "ls-2", "fields": {"age": 8, "town": "Ulm"}},
        ]


def test_names_are_read_from_either_quotes(studio):
    teach(studio)
    (result,) = studio.predict(task(1))[0]["result"]
    assert (result["from_name"], result["to_name"]) == ("kind", "letter")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("<View><Choices name='a'", "is not XML"),
        ("<View>" + " " * 100_000 + "</View>", "characters"),
        (
            '<!DOCTYPE v [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><View><Text name="&b;"/></View>',
            "document type",
        ),
    ],
)
def test_an_interface_that_is_no_plain_xml_is_refused(studio, config, said):
    reply = studio.post("/predict", tasks=[task(1)], label_config=config)
    assert reply.status_code == 422
    assert said in reply.json()["error"]


def test_several_classes_are_one_flat_list(tmp_path):
    with office.service(tmp_path, multilabel=True) as service, connected(service) as studio:
        for id, names in ((1, ["Billing", "Cancellation"]), (2, ["Technical"])):
            event = {"task": task(id, f"text {id}"), "annotation": annotation(id, *names, task=id)}
            assert studio.hook("ANNOTATION_CREATED", config=MULTIPLE, **event).is_success
        assert studio.labels() == {"ls-1": ["Billing", "Cancellation"], "ls-2": ["Technical"]}
        results = studio.predict(task(3, "text 1"), task(2, "text 2"), config=MULTIPLE)
        for result in results:
            for region in result["result"]:
                assert all(isinstance(name, str) for name in region["value"]["choices"])
        assert any(result["result"] for result in results)


def test_several_choices_on_a_desk_of_one_class_are_refused(studio):
    event = {"task": task(1), "annotation": annotation(7, "Billing", "Technical")}
    assert studio.hook("ANNOTATION_CREATED", **event).status_code == 422
    assert studio.labels() == {}


def test_choices_of_another_question_are_no_label(studio):
    other = {"from_name": "mood", "type": "choices", "value": {"choices": ["Angry"]}}
    made = annotation(7, "Billing")
    made["result"].insert(0, other)
    assert studio.hook("ANNOTATION_CREATED", task=task(1), annotation=made).is_success
    assert studio.labels() == {"ls-1": "Billing"}


PICTURES = "<View><Image name='p' value='$image'/><Choices name='kind' toName='p'/></View>"
DOT = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNg"
    "YGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="
)


@pytest.mark.parametrize("config", [PICTURES, CONFIG.replace("$text'", "$image' valueType='url'")])
@pytest.mark.parametrize("address", ["https://host/dot.png", "/data/upload/1/dot.png"])
def test_what_lies_elsewhere_is_not_read_and_not_taken_for_content(studio, config, address):
    far = {"id": 1, "data": {"image": address}}
    reply = studio.post("/predict", tasks=[far], label_config=config)
    assert reply.status_code == 422
    assert "nothing is read there" in reply.json()["error"]
    event = {"task": far, "annotation": annotation(7, "Billing")}
    assert studio.hook("ANNOTATION_CREATED", config=config, **event).status_code == 422
    assert studio.service.read(lambda desk: desk.books.items) == []


def test_a_picture_in_its_task_is_a_picture(studio):
    near = {"id": 1, "data": {"image": DOT, "file": "dot.png"}}
    assert studio.predict(near, config=PICTURES) == [
        {"result": [], "score": 0.0, "model_version": "selectron"}
    ]
    assert studio.service.read(lambda desk: desk.books.items) == [{"id": "ls-1", "image": DOT}]


def test_setup_keeps_the_names_for_calls_without_an_interface(studio):
    teach(studio)
    body = {"project": "1.17", "schema": CONFIG, "hostname": "http://ls", "access_token": "x"}
    assert studio.post("/setup", **body).json() == {"model_version": "selectron"}
    (result,) = studio.predict(task(1), config="")[0]["result"]
    assert (result["from_name"], result["to_name"]) == ("kind", "letter")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (CONFIG.replace("Technical", "Fax"), "'Fax'"),
        (CONFIG.replace("<Choice value='Technical'/>", ""), "'Technical'"),
        (MULTIPLE, "several"),
        ("<View><Text name='t' value='$text'/></View>", "no Choices"),
    ],
)
def test_setup_refuses_an_interface_that_does_not_fit_the_desk(studio, config, said):
    reply = studio.post("/setup", project="1.17", schema=config)
    assert reply.status_code == 422
    assert said in reply.json()["error"]
    assert "\n" not in reply.json()["error"]


def test_setup_takes_an_alias_for_the_class_and_leaves_a_taxonomy_alone(studio):
    config = CONFIG.replace("value='Billing'", "value='A bill' alias='Billing'")
    config = config.replace("</View>", "<Taxonomy name='t'><Choice value='x'/></Taxonomy></View>")
    assert studio.post("/setup", project="1.17", schema=config).is_success
