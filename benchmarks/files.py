"""Files through `selectron run`: errors beside scikit-learn's, the memory and the speed of a pass.

`SELECTRON_DATA` names the folder of reuters21578.jsonl.gz, 20news_bydate.jsonl.gz and
epa_http.csv.gz. A learner that asks for a tenth of the labels is compared with a pipeline of
scikit-learn (TF-IDF, one-hot codes, scaled numbers, logistic regression) that has them all.
`python -m benchmarks.files` runs this alone.
"""

import csv
import gzip
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from benchmarks.paired import Row
from selectron import SelectiveClassifier, load
from selectron.classifier.progress import watched_batch
from selectron.streams import FileRows

NEEDED = ("reuters21578.jsonl.gz", "20news_bydate.jsonl.gz", "epa_http.csv.gz")
SHARE = 10  # one label in so many
ERROR_GATE, SPEED_GATE, GROWTH_GATE = 1.1, 0.8, 1.2
BIG = 200 << 20  # bytes of the file whose memory is measured
WARM = 5  # batches before times are taken: rules are compiled, classes have joined


def rows() -> list[Row]:
    data = Path(os.environ.get("SELECTRON_DATA", ""))
    if not all((data / name).is_file() for name in NEEDED):
        print(
            f"files: SELECTRON_DATA has not all of {', '.join(NEEDED)}: left out", file=sys.stderr
        )
        return []
    found = []
    with TemporaryDirectory() as folder:
        for name, prepare in CORPORA.items():
            train, test, target = prepare(data, Path(folder))
            ours, theirs = _our_error(train, test, target), PIPELINES[name](train, test, target)
            print(f"{name}: error {ours:.4f}, scikit-learn with all labels {theirs:.4f}")
            found.append(Row(f"{name}, a tenth of the labels", ours / theirs, ERROR_GATE, False))
        big = _repeated(Path(folder) / "big.jsonl", Path(folder) / "comp_train.jsonl")
        found.append(Row("text, a pass / reading and hashing", _speed(big), SPEED_GATE, True))
        found.append(Row("text, memory at the end / at a tenth", _growth(big), GROWTH_GATE, False))
    return found


# --- corpora as files: rows to learn from, rows to test on, the column of the labels


def reuters(data: Path, folder: Path) -> tuple[Path, Path, str]:
    """Is it about acquisitions? ModApte's split, by date, five columns of four kinds."""
    with gzip.open(data / "reuters21578.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = sorted(map(json.loads, file), key=lambda document: document["date"])
    columns = ("date", "places", "title", "dateline", "text")
    parts = {"train": [], "test": []}
    for document in documents:
        if document["modapte"] in parts:
            label = "acq" if "acq" in document["topics"] else "other"
            record = {name: document[name] for name in columns} | {"label": label}
            parts[document["modapte"]].append(record)
    return *_json_lines(folder, "acq", parts), "label"


def newsgroups(data: Path, folder: Path) -> tuple[Path, Path, str]:
    """Is it about computers? 20 Newsgroups by date, in random order within each part."""
    with gzip.open(data / "20news_bydate.jsonl.gz", "rt", encoding="utf-8") as file:
        posts = [json.loads(line) for line in file]
    parts = {"train": [], "test": []}
    for k in np.random.default_rng(0).permutation(len(posts)):
        post = posts[k]
        label = "comp" if post["topics"][0].startswith("comp.") else "other"
        record = {"title": post["title"], "text": post["text"], "label": label}
        parts[post["split"]].append(record)
    return *_json_lines(folder, "comp", parts), "label"


def requests(data: Path, folder: Path) -> tuple[Path, Path, str]:
    """The status of a request to a web server: eight classes, the last quarter of a day to test."""
    with gzip.open(data / "epa_http.csv.gz", "rt") as file:
        head, *lines = csv.reader(file)
    cut = len(lines) * 3 // 4
    paths = []
    for name, part in (("train", lines[:cut]), ("test", lines[cut:])):
        paths.append(folder / f"requests_{name}.csv")
        with paths[-1].open("w", newline="") as file:
            csv.writer(file).writerows([head, *part])
    return *paths, "status"


def _json_lines(folder: Path, name: str, parts: dict[str, list]) -> list[Path]:
    paths = []
    for part, records in parts.items():
        paths.append(folder / f"{name}_{part}.jsonl")
        paths[-1].write_text("".join(json.dumps(record) + "\n" for record in records))
    return paths


CORPORA = {
    "Reuters acq": reuters,
    "20 Newsgroups comp": newsgroups,
    "EPA requests": requests,
}


# --- ours and theirs


def _our_error(train: Path, test: Path, target: str) -> float:
    model = train.with_suffix(".selectron")
    n = sum(len(batch.labels) for batch in FileRows(train, target))
    _selectron("run", train, "--target", target, "--budget", n // SHARE, "--save", model)
    learner = load(model)
    wrong = total = 0
    for batch in FileRows(test, target, learner.recipe):
        wrong += np.sum(learner.predict(batch.X) != np.array(batch.labels))
        total += len(batch.labels)
    assert learner.n_asked_ <= n // SHARE
    return wrong / total


def _selectron(*arguments: object) -> None:
    command = "import sys; from selectron.cli import main; sys.exit(main())"
    subprocess.run([sys.executable, "-c", command, *map(str, arguments)], check=True)


def _error_of(columns, read, train: Path, test: Path, target: str) -> float:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415

    frame, apart = read(train), read(test)
    model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(frame, frame[target])
    return 1.0 - model.score(apart, apart[target])


def reuters_pipeline(train: Path, test: Path, target: str) -> float:
    import pandas as pd  # noqa: PLC0415
    from sklearn.compose import make_column_transformer  # noqa: PLC0415
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: PLC0415

    def read(path):
        frame = pd.read_json(path, lines=True, convert_dates=False)
        month = pd.to_datetime(frame["date"], format="ISO8601").dt.month
        return frame.assign(places=frame["places"].map(" ".join), month=month.astype(float))

    columns = make_column_transformer(
        (TfidfVectorizer(), "text"),
        (TfidfVectorizer(), "title"),
        (OneHotEncoder(handle_unknown="ignore"), ["places", "dateline"]),
        (StandardScaler(), ["month"]),
    )
    return _error_of(columns, read, train, test, target)


def newsgroups_pipeline(train: Path, test: Path, target: str) -> float:
    import pandas as pd  # noqa: PLC0415
    from sklearn.compose import make_column_transformer  # noqa: PLC0415
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

    columns = make_column_transformer((TfidfVectorizer(), "text"), (TfidfVectorizer(), "title"))
    return _error_of(columns, lambda path: pd.read_json(path, lines=True), train, test, target)


def requests_pipeline(train: Path, test: Path, target: str) -> float:
    import pandas as pd  # noqa: PLC0415
    from sklearn.compose import make_column_transformer  # noqa: PLC0415
    from sklearn.impute import SimpleImputer  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: PLC0415

    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["client", "method", "object"]),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["t", "bytes"]),
    )
    return _error_of(columns, pd.read_csv, train, test, target)


PIPELINES = {
    "Reuters acq": reuters_pipeline,
    "20 Newsgroups comp": newsgroups_pipeline,
    "EPA requests": requests_pipeline,
}


# --- memory and speed


def _repeated(path: Path, source: Path) -> Path:
    """Write a file over and over, until it is large."""
    content = source.read_bytes()
    with path.open("wb") as file:
        while file.tell() < BIG:
            file.write(content)
    return path


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


def _growth(path: Path) -> float:
    """Return the peak of memory after the whole file over that after a tenth of it."""
    peaks = []
    for n in (BIG // SHARE, BIG):
        part = path.with_name("part.jsonl")
        with path.open("rb") as whole:
            part.write_bytes(whole.read(n).rpartition(b"\n")[0])
        _selectron("run", part, "--target", "label", "--one-pass")
        peaks.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    return peaks[1] / peaks[0]


if __name__ == "__main__":
    for row in rows():
        print(
            f"{row.name:50s} {row.ratio:.3f}  gate {row.gate:g}  {'ok' if row.passed else 'MISSED'}"
        )
