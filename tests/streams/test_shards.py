"""Shards: every row in one of them, read from the middle as from the start."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from selectron.streams import read_records
from selectron.streams.shards import Shards


def rows(n):
    return [{"nr": str(k), "text": 'a "quoted"\nline; ' * (k % 3)} for k in range(n)]


def write(folder, kind, n):
    path = folder / f"rows{kind}"
    if kind == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows(n)), path, row_group_size=97)
    elif kind == ".csv":
        quoted = (f'{r["nr"]},"{r["text"].replace(chr(34), chr(34) * 2)}"' for r in rows(n))
        path.write_text("\ufeffnr,text\n" + "\n\n".join(quoted))
    else:
        path.write_text("\n\n".join(map(json.dumps, rows(n))) + "\n")
    return path


@pytest.mark.parametrize("kind", [".parquet", ".csv", ".jsonl"])
@pytest.mark.parametrize("n", [1, 999, 2500])
def test_stretches_are_parts_of_the_whole(tmp_path, kind, n):
    path = write(tmp_path, kind, n)
    whole = [record.values for record in read_records(str(path))]
    assert whole == rows(n)
    shards = Shards(str(path), 3)
    assert shards.n_rows == n
    assert [row for bounds in shards.bounds for row in range(*bounds)] == list(range(n))
    for start, stop in [(0, n), (n // 2, n), (n // 3, n // 2), *shards.bounds]:
        assert [record.values for record in shards.read(start, stop)] == whole[start:stop]


def test_the_files_of_a_folder_are_shards(tmp_path):
    for name, n in (("b", 5), ("a", 7), ("c", 0)):
        table = pa.table({"x": pa.array([f"{name}{k}" for k in range(n)], pa.string())})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    shards = Shards(str(tmp_path))
    assert shards.bounds == [(0, 7), (7, 12)]
    assert [record.values["x"] for record in shards.read(5, 9)] == ["a5", "a6", "b0", "b1"]
    assert Shards(str(tmp_path), 3).bounds == [(0, 4), (4, 8), (8, 12)]
    assert Shards(str(tmp_path), limit=9).bounds == [(0, 7), (7, 9)]
    other = shards.fingerprint
    assert Shards(str(tmp_path)).fingerprint == other
    assert Shards(str(tmp_path), 3).fingerprint != other


def test_what_cannot_be_read_from_the_middle_is_refused(tmp_path):
    (tmp_path / "rows.csv.gz").write_bytes(b"")
    (tmp_path / "rows.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="cannot be read from the middle"):
        Shards(str(tmp_path / "rows.csv.gz"))
    with pytest.raises(ValueError, match="holds no rows"):
        Shards(str(tmp_path / "rows.csv"))
    with pytest.raises(ValueError, match="shards are of Parquet files"):
        Shards(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        Shards(str(tmp_path / "nothing.csv"))
