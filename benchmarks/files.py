"""Files through `selectron run`: the memory and the speed of a pass.

`SELECTRON_DATA` names the folder of 20news_bydate.jsonl.gz. `python -m benchmarks.files` runs this
alone; with a number behind it, on a file of so many megabytes. Errors are compared by `selectron
reproduce files-beside-pipelines`.
"""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from benchmarks.paired import Row
from selectron import SelectiveClassifier
from selectron.classifier.progress import watched_batch
from selectron.reproduce.peers.pipelines import newsgroups
from selectron.streams import FileRows

NEEDED = "20news_bydate.jsonl.gz"
SPEED_GATE, GROWTH_GATE = 0.8, 1.2
BIG = 200  # MB of the file whose memory is measured
WARM = 5  # batches before times are taken: rules are compiled, classes have joined


def rows(megabytes: int = BIG) -> list[Row]:
    if not (Path(os.environ.get("SELECTRON_DATA", "")) / NEEDED).is_file():
        print(f"files: SELECTRON_DATA has no {NEEDED}: left out", file=sys.stderr)
        return []
    with TemporaryDirectory() as folder:
        big, n = _repeated(Path(folder) / "big.jsonl", newsgroups()[0], megabytes << 20)
        return [
            Row("text, a pass / reading and hashing", _speed(big), SPEED_GATE, True),
            Row("text, memory at the end / at a tenth", _growth(big, n), GROWTH_GATE, False),
        ]


def _selectron(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "selectron", *map(str, arguments)], check=True)


def _repeated(path: Path, records: list[dict[str, str]], size: int) -> tuple[Path, int]:
    """Write records over and over until the file is large; return it, and how many they are."""
    lines, n = [json.dumps(record) + "\n" for record in records], 0
    with path.open("w") as file:
        while file.tell() < size:
            file.writelines(lines)
            n += len(lines)
    return path, n


def _speed(path: Path) -> float:
    """Return the time of reading and hashing as a share of the time of a whole pass."""
    found = FileRows(path, "label")
    learner = SelectiveClassifier(recipe=found.recipe, random_state=0)
    reading = learning = 0.0
    before = process_time()
    for k, batch in enumerate(found):
        read = process_time()
        watched_batch(learner, batch.X, batch.labels.__getitem__)
        learnt = process_time()
        if k >= WARM:
            reading, learning = reading + read - before, learning + learnt - read
        before = learnt
    return reading / (reading + learning)


def _growth(path: Path, n: int) -> float:
    """Return the peak of memory after the whole file over that after a tenth of it."""
    peaks = []
    for limit in (n // 10, n):
        _selectron("run", path, "--target", "label", "--one-pass", "--limit", limit)
        peaks.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    return peaks[1] / peaks[0]


if __name__ == "__main__":
    for row in rows(*map(int, sys.argv[1:])):
        print(
            f"{row.name:50s} {row.ratio:.3f}  gate {row.gate:g}  {'ok' if row.passed else 'MISSED'}"
        )
