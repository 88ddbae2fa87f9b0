"""Give files to `selectron run` as they are, and to a pipeline of scikit-learn that has all labels.

The files are CSV with texts of several lines, codes, dates, numbers and empty cells. The run gets
the file, the name of the target, and a budget of a tenth of the rows. The pipeline is told which
column is what: TF-IDF, one-hot codes, scaled numbers, logistic regression with its defaults.
"""

import csv
import gzip
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Table, Values
from selectron.classifier.estimator import SelectiveClassifier, load_as
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.problems import needed_data_folder, read_documents, require_file
from selectron.reproduce.harness.report import Picture, finish, new_figure, table
from selectron.streams import FileRows

SHARE = 10  # one label in so many
BOUND = 1.1
REUTERS, NEWS, EPA = "reuters21578.jsonl.gz", "20news_bydate.jsonl.gz", "epa_http.csv.gz"
TARGET = "label"

Records = list[Values]


class Corpus(NamedTuple):
    """How a corpus is read, and what its columns are, for the pipeline alone."""

    read: Callable[[], tuple[Records, Records]]  # rows to learn from, rows to test on
    texts: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()


class Job(NamedTuple):
    """One corpus, and how many seeds of the coins."""

    corpus: str
    seeds: int


def reuters() -> tuple[Records, Records]:
    """Is it about acquisitions? ModApte's split, by date."""
    documents: Any = read_documents(needed_data_folder(REUTERS, "texts") / REUTERS)
    parts: dict[str, Records] = {"train": [], "test": []}
    for each in sorted(documents, key=lambda document: document["date"]):
        if each["modapte"] in parts:
            record = {name: each[name] for name in ("date", "title", "dateline", "text")}
            record |= {"month": each["date"][5:7], "places": " ".join(each["places"])}
            label = "acq" if "acq" in each["topics"] else "other"
            parts[each["modapte"]].append(record | {TARGET: label})
    return parts["train"], parts["test"]


def newsgroups() -> tuple[Records, Records]:
    """Is it about computers? By date, in random order within each part."""
    posts = read_documents(needed_data_folder(NEWS, "texts") / NEWS)
    parts: dict[str, Records] = {"train": [], "test": []}
    for k in np.random.default_rng(0).permutation(len(posts)):
        label = "comp" if posts[k]["topics"][0].startswith("comp.") else "other"
        record = {"title": posts[k]["title"], "text": posts[k]["text"], TARGET: label}
        parts[posts[k]["split"]].append(record)
    return parts["train"], parts["test"]


def requests() -> tuple[Records, Records]:
    """The status of a request to a web server, eight classes; the last quarter of a day to test."""
    with gzip.open(needed_data_folder(EPA, "a log") / EPA, "rt", encoding="utf-8") as file:
        rows = [row | {TARGET: row.pop("status")} for row in csv.DictReader(file)]
    cut = len(rows) * 3 // 4
    return rows[:cut], rows[cut:]


CORPORA = {
    "Reuters-21578, acq or not": Corpus(
        reuters, ("text", "title"), ("places", "dateline"), ("month",)
    ),
    "20 Newsgroups, comp.* or not": Corpus(newsgroups, ("text", "title")),
    "EPA requests, status": Corpus(
        requests, codes=("client", "method", "object"), numbers=("t", "bytes")
    ),
}


def require() -> None:
    """Refuse to begin where a corpus is missing."""
    for file in (REUTERS, NEWS, EPA):
        require_file(needed_data_folder(file, "corpora") / file)


def jobs(seeds: int) -> list[Job]:
    """List the corpora."""
    return [Job(name, seeds) for name in CORPORA]


def measure(job: Job) -> Row:
    """Return the errors of both on the rows apart, and the labels that were paid for."""
    corpus = CORPORA[job.corpus]
    train, test = corpus.read()
    with TemporaryDirectory() as folder:
        files = Path(folder) / "train.csv", Path(folder) / "test.csv"
        for path, records in zip(files, (train, test), strict=True):
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(records[0]))
                writer.writeheader()
                writer.writerows(records)
        runs = [our_error(*files, len(train) // SHARE, seed) for seed in range(job.seeds)]
    return {
        "rows": len(train),
        "labels": [labels for labels, _ in runs],
        "ours": [error for _, error in runs],
        "theirs": their_error(corpus, train, test),
    }


def our_error(train: Path, test: Path, budget: int, seed: int) -> tuple[int, float]:
    """Run the command; return the labels that it asked for, and the error of its learner."""
    model = train.with_suffix(".selectron")
    options = ["--target", TARGET, "--budget", budget, "--seed", seed, "--save", model]
    command = [sys.executable, "-m", "selectron", "run", train, *options]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    learner: SelectiveClassifier = load_as([SelectiveClassifier], model)
    wrong = [
        np.asarray(learner.predict(batch.X)) != np.array(batch.labels)
        for batch in FileRows(test, TARGET, learner.recipe)
    ]
    return learner.n_asked_, float(np.concatenate(wrong).mean())


def their_error(corpus: Corpus, train: Records, test: Records) -> float:
    """Return the error of the pipeline, fitted on all labels."""
    from scipy.sparse import hstack  # noqa: PLC0415 - costs seconds
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    parts = list(_columns(corpus, train, test))
    rows, apart = (hstack([part[k] for part in parts]).tocsr() for k in (0, 1))
    labels, wanted = ([each[TARGET] for each in some] for some in (train, test))
    model = LogisticRegression(max_iter=1000).fit(rows, labels)
    return 1.0 - float(model.score(apart, wanted))


def _columns(corpus: Corpus, train: Records, test: Records) -> Iterator[tuple[Table, Table]]:
    """Yield what becomes of a column, of the rows to learn from and of those to test on."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415
    from sklearn.impute import SimpleImputer  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: PLC0415

    for name in corpus.texts:
        words = TfidfVectorizer()
        some = ([each[name] or "" for each in records] for records in (train, test))
        yield words.fit_transform(next(some)), words.transform(next(some))
    for names, kind, made in (
        (corpus.codes, str, OneHotEncoder(handle_unknown="ignore")),
        (
            corpus.numbers,
            _number,
            make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
        ),
    ):
        if names:
            cells = ([[kind(each[n]) for n in names] for each in some] for some in (train, test))
            yield made.fit_transform(next(cells)), made.transform(next(cells))


def _number(cell: str) -> float:
    return float(cell) if cell else float("nan")


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    """Return a line a corpus, with the ratio of the mean errors."""
    lines = [
        row | {"corpus": job.corpus, "ratio": float(np.mean(row["ours"])) / row["theirs"]}
        for job, row in found
    ]
    return {"seeds": seeds, "corpora": lines}


COLUMNS = {
    "file": "{corpus:<30}",
    "rows": "{rows:>8,}",
    "labels": "{asked:>9,.0f}",
    "selectron run": "{error:>15.2%}",
    "worst": "{worst:>8.2%}",
    "pipeline, all labels": "{theirs:>22.2%}",
    "ratio": "{ratio:>7.2f}",
}


def text(result: Row) -> str:
    """Write a line a corpus."""
    rows = [
        line | {"asked": np.mean(line["labels"]), "error": np.mean(line["ours"])}
        | {"worst": max(line["ours"])}
        for line in result["corpora"]
    ]  # fmt: skip
    n = sum(line["ratio"] <= BOUND for line in rows)
    return "\n".join([*table(COLUMNS, rows), "", f"{n} of {len(rows)} are within {BOUND}"])


def draw(result: Row) -> Picture:
    """Draw the errors side by side."""
    figure, axes = new_figure(7.0, 3.0)
    for k, line in enumerate(result["corpora"]):
        axes.plot(line["ours"], [k] * len(line["ours"]), "o", color="C0")
        axes.plot([line["theirs"]], [k], "|", color="black", markersize=18)
    axes.set_yticks(range(len(result["corpora"])), [line["corpus"] for line in result["corpora"]])
    axes.invert_yaxis()
    finish(axes, xlabel="test error: a tenth of the labels (dots), the pipeline with all (bar)")
    return figure
