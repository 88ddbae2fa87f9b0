"""Read rows, documents and recorded traffic that several experiments need."""

import csv
import gzip
import json
import os
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Indices, Matrix, Signs, Table, Vector

Classes = NDArray[np.int64]
Flags = NDArray[np.bool_]

DIGIT_FILES = ("mnist.npz", "usps.npz")
SHADES = 1_000  # USPS has its pixels in thousandths of [-1, 1]
FASHION = Path("/usr/share/datasets/fashion-mnist")
FASHION_PIXELS = 28 * 28
WORDS = 2**15  # columns into which the words of a document are hashed


@cache
def _published() -> dict[str, object]:
    file = files("selectron.reproduce").joinpath("published.toml")
    return tomllib.loads(file.read_text("utf-8"))


def published(name: str) -> Any:
    """Return numbers of a paper or of an earlier study."""
    return _published()[name]


def data_folder() -> Path | None:
    """Return the folder that SELECTRON_DATA names, or None where it names none."""
    folder = os.environ.get("SELECTRON_DATA")
    if folder and not Path(folder).is_dir():
        raise ValueError(f"SELECTRON_DATA is {folder}, which is no folder; name that of the data")
    return Path(folder) if folder else None


def needed_data_folder(name: str, kind: str = "recorded traffic") -> Path:
    """Return the folder of data sets; refuse to begin where none is named."""
    folder = data_folder()
    if folder is None:
        raise ValueError(
            f"{name} needs {kind}; give the folder of data sets with --data, or in SELECTRON_DATA"
        )
    return folder


def data_file(name: str) -> Path | None:
    """Return the path of a file in the folder of data sets, None where it is missing."""
    path = _folder_or_here() / name
    return path if path.is_file() else None


def require_file(path: Path) -> Path:
    """Return the path of a file of data; refuse one that is missing."""
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.name} not found in {path.parent}: set SELECTRON_DATA, or --data, to the "
            "folder that has it"
        )
    return path


def require_digits() -> None:
    """Refuse to begin where MNIST or USPS is missing."""
    missing = [file for file in DIGIT_FILES if data_file(file) is None]
    if missing:
        raise ValueError(
            f"{' and '.join(missing)} not found in {_folder_or_here()}: set SELECTRON_DATA, or "
            "--data, to the folder that has them"
        )


def _folder_or_here() -> Path:
    return Path(os.environ.get("SELECTRON_DATA", "."))


@cache
def read_pixels(file: str) -> tuple[NDArray[np.int16], NDArray[np.uint8]]:
    """Read MNIST's training rows, or all of USPS, as whole numbers from 0 on."""
    with np.load(_folder_or_here() / file) as stored:
        if file == "mnist.npz":
            pixels, classes = stored["x_train"], stored["y_train"]
        else:
            shades = np.concatenate([stored["x_train"], stored["x_test"]])
            pixels = np.rint((shades.astype(float) + 1.0) * SHADES)
            classes = np.concatenate([stored["y_train"], stored["y_test"]])
    return pixels.reshape(len(pixels), -1).astype(np.int16), classes


def fashion(folder: Path = FASHION) -> tuple[Matrix, Signs]:
    """Read the 60,000 training rows of fashion-MNIST, and their classes."""
    images, labels = (folder / f"train-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1"))
    if not images.is_file():
        raise FileNotFoundError(
            f"{images} is missing: install fashion-MNIST with apt-get install dataset-fashion-mnist"
        )
    pixels = np.frombuffer(gzip.decompress(images.read_bytes()), np.uint8, offset=16)
    classes = np.frombuffer(gzip.decompress(labels.read_bytes()), np.uint8, offset=8)
    return pixels.reshape(-1, FASHION_PIXELS) / np.float32(255.0), classes.astype(np.int8)


def small_digits() -> tuple[Matrix, Signs]:
    """Read the digits of 8 x 8 pixels that come with scikit-learn."""
    from sklearn.datasets import load_digits  # noqa: PLC0415 - costs half a second

    X, classes = load_digits(return_X_y=True)
    return X, classes.astype(np.int8)


class Document(TypedDict):
    """A post or an article; posts have no date."""

    title: str
    text: str
    topics: list[str]
    date: str
    split: str  # of a post: train or test
    modapte: str  # of an article: the same, or unused


def read_documents(path: Path) -> list[Document]:
    """Read one JSON object a line."""
    with gzip.open(require_file(path), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def count_words(documents: Iterable[Document]) -> Table:
    """Return a CSR matrix of the counts of hashed words, title and text.

    Hashing knows no other document, so nothing of the future is in a row.
    """
    from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415 - a second

    words = HashingVectorizer(n_features=WORDS, norm=None, alternate_sign=False)
    return words.transform(f"{document['title']} {document['text']}" for document in documents)


class Requests(NamedTuple):
    """A web server's log: seconds since its first request, who asked, and bytes of the reply."""

    time_s: Vector
    client: Indices
    bytes: Vector

    def of(self, client: int) -> "Requests":
        mine = self.client == client
        return Requests(self.time_s[mine], self.client[mine], self.bytes[mine])


def epa_requests(folder: Path) -> Requests:
    """Read a day of the EPA's web server, 1995: times in whole seconds, bytes 0 if unknown."""
    path = require_file(folder / "epa_http.csv.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [(row["t"], row["client"], row["bytes"] or "0") for row in csv.DictReader(file)]
    times, clients, sizes = np.array(rows, dtype=np.float64).T
    return Requests(times - times[0], clients.astype(np.int64), sizes)


def within_the_second(requests: Requests) -> Requests:
    """Spread times at random within their second: whole ones would favour whole intervals."""
    spread = requests.time_s + np.random.default_rng(0).random(len(requests.time_s))
    order = np.argsort(spread, kind="stable")
    return Requests(spread[order], requests.client[order], requests.bytes[order])


def busy_clients(requests: Requests, least: int = 100) -> list[int]:
    """Return the numbers of the clients with at least so many requests."""
    clients, counts = np.unique(requests.client, return_counts=True)
    busy: list[int] = clients[counts >= least].tolist()
    return busy


def client_packets(folder: Path, name: str) -> Vector:
    """Read when packets came in half a minute at one client: seconds, `web` or `youtube`."""
    with np.load(require_file(folder / "client_packets.npz")) as file:
        times = file[f"{name}_t"].astype(np.float64)
    since_first: Vector = times - times[0]
    return since_first
