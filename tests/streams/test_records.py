"""Every kind of file as records with their places; what is hostile is refused in one line."""

import gzip
import json
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from selectron.streams import FileRows, opening, read_batches, read_records
from selectron.streams.records import size_of

VALUES = [{"size": "3", "label": "yes"}, {"size": "5", "label": ""}]
TEXTS = {
    "a.csv": "size,label\n3,yes\n5,\n",
    "a.csv.gz": "size;label\n3;yes\n5;\n",
    "a.csv.zst": "\ufeffsize|label\r\n3|yes\r\n5|\r\n",
    "a.tsv": "size\tlabel\n3\tyes\n\n5\t\n",
    "a.jsonl": "".join(json.dumps(values) + "\n" for values in VALUES),
    "a.json": json.dumps(VALUES),
    "a.jsonl.zst": "".join(json.dumps(values) + "\n" for values in VALUES),
    "no_ending": json.dumps(VALUES),
}


def written(path, content):
    content = content if isinstance(content, bytes) else content.encode()
    if path.suffix == ".gz":
        content = gzip.compress(content)
    if path.suffix == ".zst":
        with pa.CompressedOutputStream(str(path), "zstd") as file:
            file.write(content)
    else:
        path.write_bytes(content)
    return str(path)


def values_of(source):
    return [record.values for record in read_records(source)]


@pytest.mark.parametrize("name", TEXTS)
def test_every_kind_of_text_gives_the_same_records(tmp_path, name):
    source = written(tmp_path / name, TEXTS[name])
    assert values_of(source) == VALUES
    assert all(record.place.startswith(name) for record in read_records(source))


def test_the_place_is_where_a_record_ends(tmp_path):
    source = written(tmp_path / "a.csv", 'text\n"one\ntwo"\nthree\n')
    assert [record.place for record in read_records(source)] == ["a.csv, line 3", "a.csv, line 4"]


def test_svmlight(tmp_path):
    source = written(tmp_path / "a.svm.gz", "+1 qid:4 3:0.5 7:2 # comment\n-1\n2.5 1:1\n")
    assert values_of(source) == [
        {"label": 1, "fields": {"3": 0.5, "7": 2.0}},
        {"label": -1, "fields": {}},
        {"label": 2.5, "fields": {"1": 1.0}},
    ]


VW = {
    "1 |f a b:2": {"label": "1", "fields": {"f^a": 1.0, "f^b": 2.0}},
    "|f a": {"fields": {"f^a": 1.0}},
    "| a a": {"fields": {"a": 2.0}},
    "-1 0.5 'tag|f:3 a:2|g b": {"label": "-1", "id": "tag", "fields": {"f^a": 6.0, "g^b": 1.0}},
    "1 tag|f a": {"label": "1", "id": "tag", "fields": {"f^a": 1.0}},
    "spam |f http://x:2": {"label": "spam", "fields": {"f^http://x": 2.0}},
}


@pytest.mark.parametrize("line", VW)
def test_vowpal_wabbit(tmp_path, line):
    assert values_of(written(tmp_path / "a.vw", line + "\n")) == [VW[line]]


def test_npz_row_by_row(tmp_path):
    X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "a"])
    np.savez_compressed(tmp_path / "a.npz", X=X, y=y)
    found = values_of(str(tmp_path / "a.npz"))
    assert found == [{"vector": x, "label": c} for x, c in zip(X.tolist(), y, strict=True)]
    np.savez(tmp_path / "b.npz", X=X.astype(np.uint8))
    assert values_of(str(tmp_path / "b.npz"))[2] == {"vector": [4.0, 5.0]}


def test_parquet_comes_in_row_groups_and_folders(tmp_path):
    table = pa.table({"n": list(range(300)), "text": ["a"] * 300})
    pq.write_table(table, tmp_path / "b.parquet", row_group_size=70)
    pq.write_table(pa.table({"n": [300]}), tmp_path / "c.parquet")
    found = list(read_records(str(tmp_path)))
    assert [record.values["n"] for record in found] == list(range(301))
    assert (found[299].place, found[300].place) == ("b.parquet, row 300", "c.parquet, row 1")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl.gz", "b.parquet"])
def test_ticks_add_up_to_the_size(tmp_path, name):
    if name == "b.parquet":
        pq.write_table(pa.table({"n": list(range(640))}), tmp_path / name)
    else:
        written(tmp_path / name, "n\n" * 3 if name == "a.csv" else '{"n": 1}\n' * 9)
    read = []
    assert list(read_records(str(tmp_path / name), read.append))
    assert sum(read) == pytest.approx(size_of(str(tmp_path / name)), rel=0.01)


def test_batches_are_short_of_long_records(tmp_path):
    source = written(tmp_path / "a.txt", ("x" * (1 << 20) + "\n") * 20)
    assert [len(batch) for batch in read_batches(source)] == [8, 8, 4]
    source = written(tmp_path / "b.txt", "x\n" * 2500)
    assert [len(batch) for batch in read_batches(source)] == [1000, 1000, 500]


# --- hostile files


def cut(path, write):
    write(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    return str(path)


def write_parquet(path):
    pq.write_table(pa.table({"n": list(range(10_000))}), path)


def write_npz(path):
    np.savez(path, X=np.zeros((99, 9)), y=np.zeros(99))


def write_zst(path):
    written(path, "n\n" + "\n".join(str(n * 7919 % 10_007) for n in range(100_000)))


HOSTILE = {
    "svm value": ("a.svm", "1 2:x\n", "a.svm, line 1: 'x' is not a number"),
    "svm name": ("a.svm", "1 2:1\n1 2\n", "a.svm, line 2: '2' is not index:value"),
    "svm label": ("a.svm", "nan 2:1\n", "a.svm, line 1: 'nan' is not a number"),
    "vw bar": ("a.vw", "1 a b\n", "a.vw, line 1: there is no | before the features"),
    "vw value": ("a.vw", "1 |f a:b\n", "a.vw, line 1: 'b' is not a number"),
    "utf-8": ("a.vw", b"1 |f \xff\n", "a.vw, line 1, byte 6: this is not UTF-8"),
    "npz": ("a.npz", b"PK", "a.npz: it is no npz archive"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_wrong_is_said_with_its_place(tmp_path, case):
    name, content, said = HOSTILE[case]
    with pytest.raises(ValueError, match=r"\w") as refusal:
        values_of(written(tmp_path / name, content))
    assert str(refusal.value).startswith(said)


@pytest.mark.parametrize(
    ("name", "write"),
    [("a.parquet", write_parquet), ("a.npz", write_npz), ("a.csv.zst", write_zst)],
)
def test_a_file_that_is_cut_short(tmp_path, name, write):
    with pytest.raises(ValueError, match=rf"^{name}") as refusal:
        values_of(cut(tmp_path / name, write))
    assert "\n" not in str(refusal.value)


def peak_of(source, said):
    tracemalloc.start()
    with pytest.raises(ValueError, match=said):
        for _ in read_records(source):
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_a_row_of_endless_quoted_cells_is_never_held(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "LONGEST", 1 << 20)
    source = written(tmp_path / "a.csv", "a,b\n" + '"x\n",' * (1 << 20))
    assert peak_of(source, r"line \d+: a row is longer than 1 MB") < 64 << 20


def test_npz_that_grows_is_read_in_pieces(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((2000, 1000)))  # 16 MB of zeros
    tracemalloc.start()
    assert sum(1 for _ in read_records(str(tmp_path / "a.npz"))) == 2000
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_parquet_whose_cells_are_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "LONGEST", 1 << 10)
    pq.write_table(pa.table({"text": ["x" * 5000]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet: row 1: longer than"):
        values_of(str(tmp_path / "a.parquet"))


def test_columns_that_change(tmp_path):
    lines = [{"a": 1.5, "y": 0}, {"a": 2.5, "b": 3, "y": 1}, {"y": 0, "a": None}, {"c": 1, "y": 1}]
    text = [json.dumps(line) + "\n" for line in lines]
    recipe = FileRows(written(tmp_path / "first.jsonl", "".join(text[:2]))).recipe
    source = written(tmp_path / "a.jsonl", "".join(text))
    with pytest.raises(ValueError, match=r"a\.jsonl, line 4: it has none of the columns 'a', 'b'"):
        list(FileRows(source, recipe=recipe))


def test_a_vector_of_another_length_is_refused_with_its_place(tmp_path):
    source = written(tmp_path / "a.jsonl", '{"vector": [1, 2]}\n' * 3 + '{"vector": [1]}\n')
    rows = FileRows(
        source, recipe=FileRows(written(tmp_path / "b.jsonl", '{"vector": [1, 2]}\n')).recipe
    )
    with pytest.raises(ValueError, match=r"line 4: 'vector' has 1 numbers, not 2 numbers"):
        list(rows)
