"""Every format gives the rows and labels that were written, or says in one line what is wrong."""

import gzip
import re

import numpy as np
import pytest

from selectron.streams import read_stream
from selectron.streams.files import SHIPPED
from tests.streams.files import (
    ROWS,
    SIGNS,
    WORDS,
    columns_of,
    csv_text,
    svmlight_text,
    write_csr,
    write_npz,
    write_parquet,
    write_svmlight,
    write_text,
)


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else X


def same(stream, labels, name="s"):
    np.testing.assert_array_equal(dense(stream.X), ROWS)
    assert stream.X.dtype == np.float64
    assert list(stream.y) == list(labels)
    assert stream.name == name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("semicolons.csv", 'a;"b;c";y\n1;2;p\n3;4;q\n'),
        ("tabs.tsv", "a\tb\ty\n1\t2\tp\n3\t4\tq\n"),
        ("tabs.csv", "a\tb\ty\r\n1\t2\tp\r\n3\t4\tq\r\n"),
        ("marked.csv", "\ufeffa,b,y\n1,2,p\n3,4,q\n"),
        ("quoted.csv", '"a","b","y"\n1,2,"p"\n"3","4","q"\n'),
    ],
)
def test_tables_as_spreadsheets_write_them(tmp_path, name, text):
    (tmp_path / name).write_text(text, "utf-8", newline="")
    stream = read_stream(tmp_path / name)
    assert stream.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert stream.y.tolist() == ["p", "q"]


def test_line_ends_in_quotes_do_not_end_a_row(tmp_path):
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write('a,y\n1,"p,\nq"\n2,r\n')
    assert read_stream(tmp_path / "t.csv.gz").y.tolist() == ["p,\nq", "r"]


@pytest.mark.parametrize(
    ("rows", "labels"),
    [("X", "y"), ("x", "y"), ("x_train", "y_train"), ("X_train", "y_train")],
)
def test_npz(tmp_path, rows, labels):
    stream = read_stream(write_npz(tmp_path / "s.npz", **{rows: ROWS, labels: SIGNS}))
    same(stream, SIGNS)
    assert stream.test is None


def test_npz_of_images_and_integers_becomes_rows_of_floats(tmp_path):
    images = np.arange(24, dtype=np.uint8).reshape(3, 2, 4)
    stream = read_stream(write_npz(tmp_path / "s.npz", X=images, y=[0, 1, 0]))
    np.testing.assert_array_equal(stream.X, np.arange(24.0).reshape(3, 8))
    assert stream.X.dtype == np.float64


@pytest.mark.parametrize("letter", ["x", "X"])
def test_npz_with_test_rows(tmp_path, letter):
    arrays = {
        f"{letter}_train": ROWS,
        "y_train": SIGNS,
        f"{letter}_test": ROWS[:2],
        "y_test": [1, 0],
    }
    stream = read_stream(write_npz(tmp_path / "s.npz", **arrays))
    same(stream, SIGNS)
    X_test, y_test = stream.test
    np.testing.assert_array_equal(X_test, ROWS[:2])
    assert list(y_test) == [1, 0]


def test_npz_test_rows_without_labels_are_left_alone(tmp_path):
    path = write_npz(tmp_path / "s.npz", x_train=ROWS, y_train=SIGNS, x_test=ROWS)
    assert read_stream(path).test is None


def test_npz_of_csr_arrays(tmp_path):
    stream = read_stream(write_csr(tmp_path / "s.npz", y=SIGNS))
    assert stream.X.format == "csr"
    same(stream, SIGNS)


def test_npz_of_csr_arrays_takes_the_first_column_of_a_table_of_labels(tmp_path):
    table = np.column_stack([SIGNS, -SIGNS])
    assert list(read_stream(write_csr(tmp_path / "s.npz", y_all=table)).y) == list(SIGNS)


def test_npz_target(tmp_path):
    path = write_npz(tmp_path / "s.npz", X=ROWS, y=np.zeros(4), spam=SIGNS)
    assert list(read_stream(path, "spam").y) == list(SIGNS)
    path = write_csr(tmp_path / "c.npz", y=np.zeros(4), spam=SIGNS)
    assert list(read_stream(path, "spam").y) == list(SIGNS)


@pytest.mark.parametrize("kind", ["svm", "svmlight", "libsvm", "dat", "svm.gz", "SVM"])
def test_svmlight(tmp_path, kind):
    stream = read_stream(write_svmlight(tmp_path / f"s.{kind}"))
    assert stream.X.format == "csr"
    same(stream, SIGNS)


@pytest.mark.parametrize("name", ["y", "label", "labels", "target", "class"])
def test_csv_finds_the_labels_by_their_name(tmp_path, name):
    text = csv_text(name=name).splitlines()
    turned = "\n".join(",".join([*line.split(",")[3:], *line.split(",")[:3]]) for line in text)
    same(read_stream(write_text(tmp_path / "s.csv", turned)), WORDS)


def test_csv_takes_the_last_column_otherwise(tmp_path):
    same(read_stream(write_text(tmp_path / "s.csv", csv_text(name="sort of mail"))), WORDS)


def test_csv_target_wins_over_the_name(tmp_path):
    text = "y,b,kind\n1,2,u\n3,4,v\n"
    stream = read_stream(write_text(tmp_path / "s.csv", text), "kind")
    np.testing.assert_array_equal(stream.X, [[1.0, 2.0], [3.0, 4.0]])
    assert list(stream.y) == ["u", "v"]


def test_csv_may_be_gzipped(tmp_path):
    path = tmp_path / "s.csv.gz"
    path.write_bytes(gzip.compress(csv_text().encode()))
    same(read_stream(path), WORDS)


def test_parquet(tmp_path):
    columns = columns_of() | {"label": WORDS}
    same(read_stream(write_parquet(tmp_path / "s.parquet", columns)), WORDS)


def test_parquet_of_other_numbers(tmp_path):
    columns = {"i": np.array([1, -2], np.int16), "f": np.array([0.5, 2], np.float32)}
    columns |= {"flag": np.array([True, False]), "y": np.array([7, 8])}
    stream = read_stream(write_parquet(tmp_path / "s.parquet", columns))
    np.testing.assert_array_equal(stream.X, [[1.0, 0.5, 1.0], [-2.0, 2.0, 0.0]])
    assert list(stream.y) == [7, 8]


def test_a_path_may_be_text_and_hold_dots(tmp_path):
    path = write_npz(tmp_path / "my.mail.npz", X=ROWS, y=SIGNS)
    same(read_stream(str(path)), SIGNS, name="my.mail")


def bad_csv(text):
    return lambda folder: write_text(folder / "s.csv", text)


def bad_bytes(name, content):
    def write(folder):
        (folder / name).write_bytes(content)
        return folder / name

    return write


def truncated(name, write):
    def cut(folder):
        path = write(folder / name)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        return path

    return cut


def npz_of_objects(folder):
    return write_npz(folder / "s.npz", X=np.array([{}, {}]), y=np.zeros(2))


def parquet_without_a_label(folder):
    return write_parquet(folder / "s.parquet", columns_of() | {"label": ["u", None, "v", None]})


def npy(folder):
    np.save(folder / "s.npy", ROWS)
    return (folder / "s.npy").rename(folder / "s.npz")


ERRORS = {
    "no file": (lambda folder: folder / "s.csv", None, "there is no such file"),
    "a folder": (lambda folder: folder, None, "there are no pictures in it"),
    "unknown kind": (bad_bytes("s.xlsx", b"PK\xff\xfe"), None, "line 1, byte 3: this is not UTF-8"),
    "no ending": (bad_bytes("s", b""), None, "it holds no rows"),
    "npz is garbage": (bad_bytes("s.npz", b"garbage"), None, "no npz archive, or a damaged one"),
    "npz is empty": (bad_bytes("s.npz", b""), None, "no npz archive, or a damaged one"),
    "npz is npy": (npy, None, "no npz archive"),
    "npz is cut": (truncated("s.npz", lambda p: write_npz(p, X=ROWS, y=SIGNS)), None, "damaged"),
    "npz of objects": (npz_of_objects, None, "save plain arrays, not pickled objects"),
    "npz without rows": (
        lambda folder: write_npz(folder / "s.npz", a=ROWS, y=SIGNS),
        None,
        "it holds a, y, but no rows X with labels y",
    ),
    "npz without labels": (
        lambda folder: write_npz(folder / "s.npz", X=ROWS),
        None,
        "it holds X, but no rows X with labels y",
    ),
    "npz without the target": (
        lambda folder: write_npz(folder / "s.npz", X=ROWS, y=SIGNS),
        "z",
        "there is no array 'z'; it has X, y",
    ),
    "csr without labels": (
        lambda folder: write_csr(folder / "s.npz"),
        None,
        "no labels among data, indices, indptr, shape; name them with --target",
    ),
    "svmlight with a word": (
        bad_bytes("s.svm", b"1 1:x\n"),
        None,
        "could not convert string to float",
    ),
    "svmlight with a target": (
        bad_bytes("s.svm", svmlight_text().encode()),
        "y",
        "svmlight rows begin with their label; leave --target y out",
    ),
    "gzip is cut": (truncated("s.svm.gz", write_svmlight), None, "ended before"),
    "gzip is none": (bad_bytes("s.svm.gz", svmlight_text().encode()), None, "gzip"),
    "csv is empty": (bad_csv(""), None, "it holds no rows"),
    "csv has a short line": (
        bad_csv("a,y\n1,2\n3\n"),
        None,
        "line 3: 1 cells, and the first line has 2",
    ),
    "csv without the target": (bad_csv("a,y\n1,2\n"), "z", "there is no column 'z'; it has a, y"),
    "csv of labels only": (
        bad_csv("y\n0\n1\n"),
        None,
        "no column says anything about a row: there are none",
    ),
    "csv of names only": (
        bad_csv("a,y\n"),
        None,
        "it holds no rows",
    ),
    "csv with two of a name": (
        bad_csv("a,a,y\n1,2,0\n"),
        None,
        "two columns are called 'a'; rename one",
    ),
    "csv without a label": (
        bad_csv("a,y\n1,u\n2,\n3,v\n"),
        None,
        "1 rows have no label in 'y'",
    ),
    "parquet without a label": (
        parquet_without_a_label,
        None,
        "2 rows have no label in 'label'",
    ),
    "parquet is none": (bad_bytes("s.parquet", b"PAR2" * 9), None, "Parquet magic bytes not found"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_cannot_be_read(tmp_path, case):
    write, target, message = ERRORS[case]
    path = write(tmp_path)
    with pytest.raises((ValueError, FileNotFoundError), match=re.escape(message)) as caught:
        read_stream(path, target)
    assert str(caught.value).startswith((str(path), path.name))


# --- data sets that come with scikit-learn


def test_a_data_set_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stream = read_stream("iris")
    assert (stream.X.shape, len(stream.y), stream.name) == ((150, 4), 150, "iris")
    (tmp_path / "iris").write_text("a,label\n1,x\n2,y\n")
    assert len(read_stream("iris").y) == 2  # a file of that name comes first
    with pytest.raises(OSError, match="irises"):
        read_stream("irises")


@pytest.mark.parametrize("name", SHIPPED)
def test_every_name_is_known_to_scikit_learn(name):
    assert len(read_stream(name).y) > 100
