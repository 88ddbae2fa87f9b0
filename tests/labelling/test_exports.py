"""The labels as files: what each format holds, and that reading one gives the same labels."""

import csv
import io
import json
import warnings
from hashlib import sha256

import pyarrow.parquet as pq
import pytest

from selectron.features import Recipe
from selectron.labelling.desk import Decision, Desk, Event
from selectron.labelling.exports import export, label_studio_config
from selectron.labelling.items import load, read_items
from selectron.labelling.service import Service
from selectron.labelling.store import open_store
from tests.labelling.office import WordLearner

ITEMS = [
    {"id": "1", "text": 'ünï "quoted"\nnext line', "meta": {"from": "Ann", "n": 2}},
    {"id": "2", "text": "=HYPERLINK(1)"},
    {"id": "a/b c", "text": "   three"},
    {"id": "4", "text": "nobody labels this"},
]
RECORDS = [
    {"id": "1", "fields": {"name": "Ann", "age": 7, "label": "own"}},
    {"id": "2", "fields": {"name": None, "age": -1.5}},
]
VECTORS = [{"id": "1", "vector": [1, 0.25]}, {"id": "2", "vector": [-3.5, 1e-9]}]
PICTURES = [{"id": "1", "image": "a.png"}, {"id": "2", "image": "data:image/png;base64,AAAA"}]
ENDINGS = {"jsonl": "jsonl", "prodigy": "jsonl", "label-studio": "json"}


class Office:
    """A desk on a store, with whatever answers a test gives."""

    def __init__(self, path, items=(), classes=(), **settings):
        self.service = Service(open_store(path), Desk(WordLearner))
        self.do("set", settings)
        self.do("add_classes", list(classes))
        self.do("add_items", list(items))

    def do(self, method, *arguments):
        self.service.submit(lambda desk: getattr(desk, method)(*arguments, 0.0)).result()

    def answer(self, item, label, annotator="ann"):
        self.service.submit(
            lambda desk: desk.answer(
                sha256(f"{annotator} {item}".encode()).hexdigest(),
                None,
                label,
                annotator,
                now=0.0,
                at=0.0,
                item=item,
            )
        ).result()

    def export(self, format, everything=False):
        return self.service.read(
            lambda desk: export(desk.books, format, desk.learn() if everything else None)
        )


@pytest.fixture
def office(tmp_path):
    offices = []

    def make(*arguments, **settings):
        path = tmp_path / f"{len(offices)}.db"
        offices.append(Office(path, *arguments, **settings))
        return offices[-1]

    yield make
    for made in offices:
        made.service.close()


@pytest.fixture
def labelled(office):
    """Three texts with labels; one of two people, of whom the second was right."""
    made = office(ITEMS, ["spam", "ham", "=1+1"])
    made.answer("1", "ham")
    made.answer("2", "=1+1")
    made.answer("a/b c", "spam", "bob")
    second = {"id": "x", "question": None, "item": "1", "label": "spam", "annotator": "bob"}
    event = Event("answered", second | {"found": True}, 0.0)
    made.service.submit(lambda desk: Decision([event], {})).result()
    made.do("correct", "x", "=1+1", "eve")
    made.do("note", "2", "odd one", "ann")
    return made


@pytest.mark.parametrize("format", ENDINGS)
def test_an_export_makes_a_store_that_gives_the_same_export(tmp_path, office, labelled, format):
    first = labelled.export(format).content
    path = tmp_path / f"labels.{ENDINGS[format]}"
    path.write_bytes(first)
    other = office()
    load(other.service, read_items(str(path)))
    assert other.export(format).content == first
    assert len(other.service.read(lambda desk: desk.books.labels)) == 3


@pytest.mark.parametrize("items", [RECORDS, VECTORS, PICTURES], ids=["fields", "vector", "image"])
@pytest.mark.parametrize("format", ENDINGS)
def test_every_kind_of_item_and_several_labels_come_back(tmp_path, office, items, format):
    first = office(classes=["b", "a", "c"], multilabel=True)
    first.service.submit(lambda desk: desk.add_items(items, 0.0)).result()
    first.answer("1", ["c", "a"])
    first.answer("2", ["b", "c", "a"])
    content = first.export(format).content
    path = tmp_path / f"labels.{ENDINGS[format]}"
    path.write_bytes(content)
    other = office(multilabel=True)
    load(other.service, read_items(str(path), multilabel=True))
    assert other.service.read(lambda desk: desk.books.items) == items
    assert other.export(format).content == content


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("content", [{"text": "a letter"}, {"fields": {"age": "7", "town": "Ulm"}}])
def test_meta_comes_back_with_its_order_and_its_types(tmp_path, office, format, content):
    meta = {"z": 1, "=cmd()": "@x\r\n", "b": [None, True, {"ünï": 0.1}], "a": "'quoted', \"so\""}
    items = [{"id": "a", **content, "meta": meta}, {"id": "b", **content}]
    made = office(items, ["x", "y"])
    for item in items:
        made.answer(item["id"], "x")
    path = tmp_path / f"labels.{format}"
    path.write_bytes(made.export(format).content)
    read = [entry.item for entry in read_items(str(path))]
    assert read == items
    assert json.dumps(read[0]["meta"]) == json.dumps(meta)
    if format == "csv":
        assert all(
            cell[:1] not in ("=", "+", "-", "@", "\t", "\r")
            for row in csv.reader(io.StringIO(path.read_bytes().decode(), newline=""))
            for cell in row
        )


def test_a_column_called_meta_that_is_no_object_is_left_out(tmp_path):
    for cell in ("seen", "[1]", '{"a": NaN}', '{"a": 1, "a": 2}', ""):
        path = tmp_path / "rows.tsv"
        path.write_text(f"text\tmeta\nred\t{cell}\n")
        (entry,) = read_items(str(path))
        assert "meta" not in entry.item


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_a_restart_keeps_the_order_of_keys(tmp_path, office, format):
    """It is that of columns too, for people and for the rows that the learner makes of records."""
    records = [{"id": "1", "meta": {"z": 1, "b": 2}, "fields": {"name": "Ann", "age": 7, "b": 1}}]
    made = office(records, ["y", "n"])
    made.answer("1", "y")
    before = made.export(format).content
    assert before.index(b"name") < before.index(b"age")
    made.service.close()
    again = made.service = Service(open_store(tmp_path / "0.db"), Desk(WordLearner))
    assert made.export(format).content == before
    (item,) = again.read(lambda desk: desk.books.items)
    assert list(item) == ["id", "meta", "fields"]
    assert Recipe.choose([item["fields"]]) == Recipe.choose([records[0]["fields"]])


def test_json_lines(labelled):
    first, second, third = map(json.loads, labelled.export("jsonl").content.splitlines())
    assert first == ITEMS[0] | {
        "label": "=1+1",
        "annotator": "bob",
        "answers": [
            {"label": "=1+1", "annotator": "bob"},
            {"label": "ham", "annotator": "ann"},
        ],
    }
    assert second["label"] == "=1+1"
    assert second["notes"] == [{"text": "odd one", "annotator": "ann"}]
    assert third == ITEMS[2] | {"label": "spam", "annotator": "bob"}


def test_everything_has_what_the_learner_says_of_the_rest(labelled):
    *_, last = map(json.loads, labelled.export("jsonl", everything=True).content.splitlines())
    assert last["id"] == "4"
    assert last["label"] is None
    assert last["guess"] in ("spam", "ham", "=1+1")
    assert 0 < last["probability"] <= 1


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_a_csv_file_is_a_formula(office, start):
    text, name = f"{start}cmd|' /C calc'!A0", f"{start}1"
    made = office([{"id": text, "fields": {name: text, "n": -2}}], [f"{start}x", "y"])
    made.answer(text, f"{start}x")
    file = made.export("csv")
    head, row = csv.reader(io.StringIO(file.content.decode(), newline=""))
    assert head == ["id", f"'{name}", "n", "label", "annotator"]
    assert row == [f"'{text}", f"'{text}", "-2", f"'{start}x", "ann"]
    assert file.note.startswith("4 cells that began with = + - @")
    (line,) = map(json.loads, made.export("jsonl").content.splitlines())
    assert (line["id"], line["label"]) == (text, f"{start}x")


def test_csv_without_formulas_has_no_note(office):
    made = office([{"id": "1", "text": "a,b"}], ["x", "y"])
    made.answer("1", "x")
    file = made.export("csv")
    assert file.content == b'id,text,label,annotator\r\n1,"a,b",x,ann\r\n'
    assert file.note is None


def test_parquet(office):
    made = office(RECORDS, ["x", "y"])
    made.answer("1", "x")
    made.answer("2", "y")
    table = pq.read_table(io.BytesIO(made.export("parquet").content)).to_pylist()
    assert [row["label"] for row in table] == ["x", "y"]
    assert [row["age"] for row in table] == [7.0, -1.5]
    assert table[0]["fields.label"] == "own"


def test_the_fields_of_prodigy(labelled):
    tasks = [json.loads(line) for line in labelled.export("prodigy").content.splitlines()]
    assert [task["accept"] for task in tasks] == [["=1+1"], ["ham"], ["=1+1"], ["spam"]]
    assert {task["answer"] for task in tasks} == {"accept"}
    assert [task["_session_id"] for task in tasks] == ["bob", "ann", "ann", "bob"]
    for name in ("_input_hash", "_task_hash"):
        hashes = [task[name] for task in tasks]
        assert all(-(2**31) <= value < 2**31 for value in hashes)
        assert hashes[0] == hashes[1]  # one input, two sessions
        assert len(set(hashes)) == 3
    for task in tasks:
        assert set(task["accept"]) <= {option["id"] for option in task["options"]}
        assert task["config"] == {"choice_style": "single"}


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("items", [ITEMS[:3], RECORDS, VECTORS, PICTURES[:1]])
def test_label_studio_accepts_its_tasks(office, items, multilabel):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from label_studio_sdk.label_interface import LabelInterface  # noqa: PLC0415 - a second

    made = office(items, ["a & b", 'the "c"'], multilabel=multilabel)
    for n, item in enumerate(items[:2]):
        label = ["a & b", 'the "c"'][n]
        made.answer(item["id"], [label] if multilabel else label)
    interface = LabelInterface(made.service.read(lambda desk: label_studio_config(desk.books)))
    interface.validate()
    tasks = json.loads(made.export("label-studio", everything=True).content)
    assert len(tasks) == len(items)
    for task in tasks:
        annotations, predictions = task.pop("annotations"), task.pop("predictions")
        assert interface.validate_task(task)
        assert all(map(interface.validate_annotation, annotations))
        for prediction in predictions:
            assert interface.validate_prediction(prediction, return_errors=True) == []
        assert bool(annotations) != bool(predictions)


def test_an_unknown_format(labelled):
    with pytest.raises(ValueError, match="the formats are jsonl, csv"):
        labelled.export("exe")
