"""Items from the files that people have: what is read, what is refused, and how often."""

import base64
import gzip
import io
import json
import struct
import sys
import tracemalloc
import zlib
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from selectron.features import Features
from selectron.labelling.desk import Desk
from selectron.labelling.items import Columns, Given, load, read_items
from selectron.labelling.service import Service
from selectron.labelling.store import open_store
from selectron.streams import opening
from selectron.streams.records import images_of
from tests.labelling.office import WordLearner

TABLES = {
    "comma.csv": "id,text,label\n1,a b,spam\n2,c d,\n",
    "semicolon.csv": "id;text;label\n1;a b;spam\n2;c d;\n",
    "bar.csv": "id|text|label\n1|a b|spam\n2|c d|\n",
    "bom.csv": "\ufeffid,text,label\r\n1,a b,spam\r\n2,c d,\r\n",
    "tabs.tsv": "id\ttext\tlabel\n1\ta b\tspam\n2\tc d\t\n",
    "lines.jsonl": '{"id": 1, "text": "a b", "label": "spam"}\n\n{"id": 2, "text": "c d"}\n',
    "array.json": '[{"id": 1, "text": "a b", "label": "spam"},\n {"id": "2", "text": "c d"}]',
}


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def texts(source, *arguments, **options):
    return [entry.item["text"] for entry in read_items(source, *arguments, **options)]


@pytest.mark.parametrize("name", TABLES)
def test_every_kind_of_table_gives_the_same_items(tmp_path, name):
    first, second = read_items(written(tmp_path / name, TABLES[name]))
    assert first.item == {"id": "1", "text": "a b"}
    assert first.answers == [Given("spam", "file")]
    assert (second.item, second.answers) == ({"id": "2", "text": "c d"}, [])


def test_parquet_one_file_and_a_folder(tmp_path):
    table = pa.table({"key": [1.0, 2.0], "text": ["a b", "c d"], "y": ["spam", None]})
    pq.write_table(table, tmp_path / "one.parquet")
    pq.write_table(table, tmp_path / "two.parquet")
    columns = Columns(id="key")
    found = list(read_items(str(tmp_path / "one.parquet"), columns))
    assert [entry.item["id"] for entry in found] == ["1", "2"]
    assert [entry.answers for entry in found] == [[Given("spam")], []]
    assert len(texts(str(tmp_path), columns)) == 4


@pytest.mark.parametrize("name", ["lines.jsonl", "array.json", "semicolon.csv"])
def test_standard_input_is_known_by_its_first_character(monkeypatch, name):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TABLES[name].encode())))
    assert texts("-") == ["a b", "c d"]


def test_compressed_files(tmp_path):
    written(tmp_path / "a.csv.gz", gzip.compress(TABLES["comma.csv"].encode()))
    with pa.CompressedOutputStream(str(tmp_path / "a.csv.zst"), "zstd") as file:
        file.write(TABLES["comma.csv"].encode())
    assert texts(str(tmp_path / "a.csv.gz")) == texts(str(tmp_path / "a.csv.zst")) == ["a b", "c d"]


def test_a_quoted_cell_may_hold_lines_and_delimiters(tmp_path):
    source = written(tmp_path / "a.csv", 'text,label\n"one,\n""two""\n",x\nthree,y\n')
    assert texts(source) == ['one,\n"two"\n', "three"]


def test_columns_by_name(tmp_path):
    source = written(tmp_path / "a.csv", "nr,body,from,kind\n7,hello,Ann,x\n")
    columns = Columns(text="body", id="nr", label="kind", show=["from"])
    (entry,) = read_items(source, columns)
    assert entry.item == {"id": "7", "text": "hello", "meta": {"from": "Ann"}}
    assert entry.answers == [Given("x")]
    (entry,) = read_items(source)
    assert entry.item["fields"] == {"nr": "7", "body": "hello", "from": "Ann", "kind": "x"}


def test_one_text_a_line(tmp_path):
    assert texts(written(tmp_path / "a.txt", "one\r\n\ntwo\n")) == ["one", "two"]


def test_ids_come_from_the_content(tmp_path):
    first = [e.item["id"] for e in read_items(written(tmp_path / "a.txt", "one\ntwo\n"))]
    again = [e.item["id"] for e in read_items(written(tmp_path / "b.txt", "two\none\n"))]
    assert first == again[::-1]
    assert len(set(first)) == 2


def test_several_labels(tmp_path):
    source = written(tmp_path / "a.jsonl", '{"text": "a", "label": ["x", "y"]}\n')
    (entry,) = read_items(source, multilabel=True)
    assert entry.answers == [Given(["x", "y"])]
    with pytest.raises(ValueError, match=r"line 1: 2 labels; with --multilabel"):
        list(read_items(source))


def test_tasks_of_prodigy(tmp_path):
    tasks = [
        {"text": "a", "accept": ["x"], "answer": "accept", "_session_id": "set-ann"},
        {"text": "b", "label": "x", "answer": "accept", "meta": {"n": 1}},
        {"text": "c", "label": "x", "answer": "reject"},
        {"text": "d", "accept": [], "answer": "ignore"},
    ]
    lines = [json.dumps(task | {"_input_hash": 1, "_task_hash": 2}) for task in tasks]
    found = list(read_items(written(tmp_path / "a.jsonl", "\n".join(lines))))
    assert [e.answers for e in found] == [[Given("x", "set-ann")], [Given("x")], [], []]
    assert found[1].item["meta"] == {"n": 1}


def test_tasks_of_label_studio(tmp_path):
    def choice(name, **more):
        return {"result": [{"type": "choices", "value": {"choices": [name]}}], **more}

    tasks = [
        {"id": 5, "data": {"text": "a"}, "annotations": [choice("x", completed_by=3)]},
        {"id": 6, "data": {"text": "b"}, "annotations": [choice("x", was_cancelled=True)]},
        {"id": 7, "data": {"text": "c"}},
    ]
    found = list(read_items(written(tmp_path / "a.json", json.dumps(tasks, indent=1))))
    assert [e.item["id"] for e in found] == ["ls-5", "ls-6", "ls-7"]
    assert [e.answers for e in found] == [[Given("x", "3")], [], []]


def picture(path, size=(8, 8)):
    path.parent.mkdir(exist_ok=True)
    Image.new("L", size, 7).save(path)


def test_a_folder_of_pictures(tmp_path):
    picture(tmp_path / "b.png")
    picture(tmp_path / "cats" / "a.JPG")
    (tmp_path / "notes.md").write_text("no picture")
    found = list(read_items(str(tmp_path)))
    assert [e.item for e in found] == [
        {"id": name, "image": name} for name in ("b.png", "cats/a.JPG")
    ]
    assert images_of(str(tmp_path)) == tmp_path


# what is refused

WRONG = {
    "not UTF-8": ("a.csv", b"text\nok\ncaf\xe9\n", "a.csv, line 3, byte 4: this is not UTF-8"),
    "not JSON": ("a.jsonl", '{"text": "a"}\n{"text": \n', "a.jsonl, line 2: this is not JSON"),
    "no object": ("a.jsonl", "3\n", "a.jsonl, line 1: not an object"),
    "brackets": ("a.jsonl", "[" * 200_000, "a.jsonl, line 1: this is not JSON"),
    "cells": ("a.csv", "text,label\na,b\na,b,c\n", "a.csv, line 3: 3 cells, and the first line"),
    "open quote": ("a.csv", 'text\n"a\n', "a.csv, line 2: unexpected end of data"),
    "twice": ("a.csv", "text,text\na,b\n", "a.csv, line 1: two columns are called 'text'"),
    "not finite": ("a.jsonl", '{"vector": [1, NaN]}', "a.jsonl, line 1: The item holds nan"),
    "surrogate": ("a.jsonl", '{"id": 1, "text": "\\ud800"}', "a.jsonl, line 1: The item"),
    "array": ("a.json", '[{"text": "a"}, {"text"]', "a.json, element 2: not JSON"),
    "zip": ("a.zip", b"PK", "a.zip: unpack it first"),
    "gzip": ("a.csv.gz", b"text\n", "a.csv.gz is damaged"),
    "parquet": ("a.parquet", b"text\n", "a.parquet: "),
    "nothing to show": ("a.jsonl", '{"label": "x"}', "line 1: there is no column 'text'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path, case):
    name, content, said = WRONG[case]
    source = written(tmp_path / name, content)
    with pytest.raises(ValueError, match=r"\w") as refusal:
        list(read_items(source))
    assert said in str(refusal.value)


@pytest.mark.parametrize("option", ["text", "image", "id", "label", "show"])
def test_a_column_that_is_missing(tmp_path, option):
    source = written(tmp_path / "a.csv", "text,kind\na,b\n")
    value = ["nope"] if option == "show" else "nope"
    with pytest.raises(ValueError, match=r"no column 'nope'; the columns are 'text', 'kind'"):
        list(read_items(source, Columns(**{option: value})))


def test_a_line_without_end_is_refused_and_never_held(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "LONGEST", 1 << 20)
    source = tmp_path / "a.jsonl"
    with source.open("wb") as file:
        file.truncate(10 << 30)  # 10 GB of zeros that take no room
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"line 1: longer than 1 MB"):
        list(read_items(str(source)))
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_bombs(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(opening, "HARMLESS", 1 << 20)
    zeros = (b"a" * 9999 + b"\n") * 400
    path = tmp_path / f"a.txt.{kind}"
    if kind == "gz":
        path.write_bytes(gzip.compress(zeros * 4))
    else:
        with pa.CompressedOutputStream(str(path), "zstd") as file:
            file.write(zeros * 4)
    with pytest.raises(ValueError, match="grows to more than 300 times its size"):
        for _ in read_items(str(path)):
            pass


def test_memory_stays_flat(tmp_path):
    source = tmp_path / "a.csv"
    with source.open("w") as file:
        file.write("text,label\n")
        file.writelines(f"{'word ' * 200}{n},x\n" for n in range(3000))  # 3 MB
    tracemalloc.start()
    assert sum(1 for _ in read_items(str(source))) == 3000
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    picture(tmp_path / "outside.png")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.png").symlink_to("../outside.png")
    with pytest.raises(ValueError, match=r"a.png: this link leads out of the folder"):
        list(read_items(str(tmp_path / "in")))


# what comes to the desk


@pytest.fixture
def service(tmp_path):
    service = Service(open_store(tmp_path / "labels.db"), Desk(WordLearner))
    yield service
    service.close()


def test_loading_twice_adds_nothing(tmp_path, service):
    source = written(tmp_path / "a.csv", "text,label\none,x\ntwo,y\nthree,\nthree,\n")
    assert load(service, read_items(source)) == (3, 1, 2)
    assert load(service, read_items(source)) == (0, 4, 0)
    status = service.read(Desk.status)
    assert (status["items"], status["labels"], status["asked"]) == (3, 2, 0)
    assert status["classes"] == ["x", "y"]


def test_the_log_wins_over_the_file(tmp_path, service):
    source = written(tmp_path / "a.jsonl", '{"id": "1", "text": "one"}\n{"id": "2", "text": "b"}')
    load(service, read_items(source), ["x", "y"])
    service.submit(lambda d: d.answer("me", None, "x", "ann", 0.0, 0.0, item="1")).result()
    source = written(tmp_path / "a.jsonl", '{"id": "1", "text": "one", "label": "y"}')
    assert load(service, read_items(source), ["x", "y"]).answers == 0
    assert service.read(lambda desk: desk.books.labels) == {0: "x"}


def test_an_open_question_is_settled_by_the_file(tmp_path, service):
    lines = [json.dumps({"id": str(n), "text": f"word{n}"}) for n in range(4)]
    load(service, read_items(written(tmp_path / "a.jsonl", "\n".join(lines))), ["x", "y"])
    service.submit(lambda desk: desk.choose(0.0)).result()
    assert len(service.read(lambda desk: desk.books.open_on)) == 4
    labelled = [json.dumps(json.loads(line) | {"label": "x"}) for line in lines]
    source = written(tmp_path / "a.jsonl", "\n".join(labelled))
    assert load(service, read_items(source)).answers == 4
    assert not service.read(lambda desk: desk.books.open_on)


def test_labels_that_are_no_classes_and_ids_of_two_items(tmp_path, service):
    source = written(tmp_path / "a.csv", "text,label\none,x\ntwo,z\n")
    with pytest.raises(ValueError, match=r"a.csv, line 3: the label 'z' is none of the classes"):
        load(service, read_items(source), ["x", "y"])
    source = written(tmp_path / "b.csv", "id,text\n1,one\n1,two\n")
    with pytest.raises(ValueError, match=r"b.csv, line 2 to b.csv, line 3: There is another item"):
        load(service, read_items(source))


def bomb(side):
    """Return a PNG of a few bytes that says it has side x side pixels."""
    chunks = {b"IHDR": struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0), b"IDAT": b""}
    parts = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks.items()
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_a_picture_that_cannot_be_read_does_not_stop_a_learner():
    address = "data:image/png;base64," + base64.b64encode(bomb(40_000)).decode()
    items = [{"id": "1", "image": address}]
    assert not Features(items).rows(items).any()


PICTURES = {
    "../a.png": "lies outside its folder",
    "/etc/hostname": "lies outside its folder",
    "gone.png": "No such file",
    "broken.png": "cannot be read: it is no PNG",
    "bomb.png": "cannot be read: Image size",
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_looked_at_before_they_are_stored(tmp_path, service, name):
    picture(tmp_path / "a.png")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    (tmp_path / "in" / "bomb.png").write_bytes(bomb(40_000))
    source = written(tmp_path / "in" / "a.csv", f"file\n{name}\n")
    with pytest.raises(ValueError, match=rf"a.csv, line 2: .*{PICTURES[name]}"):
        load(service, read_items(source, Columns(image="file")), images=images_of(source))
    assert service.read(lambda desk: desk.books.items) == []


def test_a_long_file_comes_in_batches(tmp_path, service):
    source = written(tmp_path / "a.txt", "\n".join(f"text {n}" for n in range(2500)))
    ticks = []
    load(service, read_items(source), tick=ticks.append)
    assert ticks == [1000, 1000, 500]
    assert len(list(islice(read_items(source), 3))) == 3
