"""Files that are far too large, or that break in the middle: one line, its place, little memory.

`--checkpoint` keeps what was learnt before. All files go through commands in one process, whose
peak of memory is measured. Lines of 10 GB are sparse files, which take no room on the disk.
"""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.other_process import environment

GB = 1 << 30
MOST = 500 << 10  # kB that a process may hold
RULES = "--rules", "perceptron+margin:b=0.5", "--one-pass"
IN_SHARDS = "--rules", "perceptron+margin:b=0.5", "--engine", "local", "--workers", "1"
PROGRAM = """
import io, json, sys
from pathlib import Path
from contextlib import redirect_stderr, redirect_stdout
from selectron.cli import main
said = []
for arguments in json.load(sys.stdin):
    with redirect_stderr(io.StringIO()) as line, redirect_stdout(io.StringIO()):
        code = main(arguments)
    said.append([code, line.getvalue()])
# The peak of this program alone: `ru_maxrss` begins with that of the process it was forked from.
peak = next(line for line in Path("/proc/self/status").open() if line.startswith("VmHWM"))
print(json.dumps([said, int(peak.split()[1])]))
"""


def told(folder, *commands, **variables):
    """Run commands in one process; return their exit codes and errors, and the peak of memory."""
    process = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        process, input=json.dumps(commands), capture_output=True, text=True, cwd=folder,
        env=environment(**variables),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def one_line(folder, name, start):
    """Write a line of 10 GB behind a good beginning."""
    with (folder / name).open("wb") as file:
        file.write(start)
        file.truncate(10 * GB)


def bomb(folder, size):
    """Write a file that grows to so many bytes, most of them blanks."""
    with pa.CompressedOutputStream(str(folder / "bomb.jsonl.zst"), "zstd") as file:
        file.write(b'{"size": 1, "label": "a"}\n{"size": 2, "label": "b"}\n')
        piece = b" " * (8 << 20) + b"\n"
        for _ in range(size // len(piece)):
            file.write(piece)


def broken(folder, n):
    """Write files that break when nine tenths of their rows are read."""
    lines = [json.dumps({"size": k % 7, "label": "ab"[k % 2]}) for k in range(n)]
    bad = n * 9 // 10
    (folder / "utf8.jsonl").write_bytes(
        "\n".join([*lines[:bad], ""]).encode() + b'{"size": "\xff", "label": "a"}\n'
    )
    other = json.dumps({"weight": 1, "label": "a"})
    (folder / "columns.jsonl").write_text("\n".join([*lines[:bad], other, *lines[bad:]]))
    (folder / "cells.csv").write_text("size,label\n" + "1,a\n2,b\n" * (bad // 2) + "1,2,a\n")
    table = pa.table({"size": np.arange(n) % 7, "label": ["ab"[k % 2] for k in range(n)]})
    pq.write_table(table, folder / "whole.parquet", row_group_size=n // 10, compression="none")
    whole = (folder / "whole.parquet").read_bytes()
    (folder / "short.parquet").write_bytes(whole[: len(whole) * 2 // 3])


@pytest.mark.parametrize(
    ("n", "size", "jit"),
    [(2000, 200 << 20, "1"), pytest.param(200_000, 10 * GB, "0", marks=pytest.mark.slow)],
)
def test_hostile_files_are_refused_with_their_place_and_little_memory(tmp_path, n, size, jit):
    """The larger files go through compiled rules."""
    one_line(tmp_path, "line.csv", b"size,label\n1,a\n2,b\n")
    one_line(tmp_path, "line.jsonl", b'{"size": 1, "label": "a"}\n{"size": 2, "label": "b"}\n')
    bomb(tmp_path, size)
    broken(tmp_path, n)
    bad = n * 9 // 10
    wanted = {
        ("line.csv", *RULES): "line.csv, line 4: longer than 16 MB",
        ("line.jsonl", *RULES): "line.jsonl, line 3: longer than 16 MB",
        ("line.csv", *IN_SHARDS): "line.csv, line 4: longer than 16 MB",
        ("line.jsonl", *IN_SHARDS): "line.jsonl, line 3: longer than 16 MB",
        ("bomb.jsonl.zst", *RULES): "bomb.jsonl.zst grows to more than 300 times its size",
        ("utf8.jsonl", *RULES): f"utf8.jsonl, line {bad + 1}, byte 11: this is not UTF-8",
        ("columns.jsonl", *RULES): f"columns.jsonl, line {bad + 1}: it has none of the columns",
        ("cells.csv", *RULES): f"cells.csv, line {bad + 2}: 3 cells, and the first line has 2",
        ("short.parquet", *RULES): "short.parquet: ",
    }
    commands = [["run", name, "--target", "label", *options] for name, *options in wanted]
    said, peak = told(tmp_path, *commands, NUMBA_DISABLE_JIT=jit)
    for (code, line), start in zip(said, wanted.values(), strict=True):
        assert (code, line.count("\n")) == (2, 1)
        assert line.startswith(f"selectron: {start}"), line
    assert peak < MOST


def test_a_checkpoint_keeps_what_was_learnt_before(tmp_path):
    """A run in shards breaks off at a bad row; once that is mended, it goes on."""
    row = '{"size": %d, "label": "%s"}\n'
    lines = [row % (k % 7, "ab"[k % 7 > 3]) for k in range(1400)]
    rows = tmp_path / "rows.jsonl"
    options = ["--target", "label", *IN_SHARDS, "--shards", "1", "--checkpoint", "checkpoint"]
    run = ["run", "rows.jsonl", *options]
    rows.write_text("".join([*lines[:1300], "{" + lines[1300][:-2] + "\n", *lines[1301:]]))
    ((code, line),), _ = told(tmp_path, run, NUMBA_DISABLE_JIT="1")
    assert (code, line.count("\n")) == (2, 1)
    assert line.startswith("selectron: rows.jsonl, row 1301: this is not JSON")
    assert b"selectron checkpoint" in (tmp_path / "checkpoint").read_bytes()
    rows.write_text("".join(lines))
    whole = ["run", "rows.jsonl", *options[:-2], "--json", "whole.json"]
    said, _ = told(tmp_path, [*run, "--json", "mended.json"], whole, NUMBA_DISABLE_JIT="1")
    assert [code for code, _ in said] == [0, 0]
    mended, whole = (json.loads((tmp_path / f"{n}.json").read_text()) for n in ("mended", "whole"))
    assert mended["results"] == whole["results"]
