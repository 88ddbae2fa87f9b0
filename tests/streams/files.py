"""Files in every format that can be read, holding the same rows."""

import gzip

import numpy as np
import pyarrow
from pyarrow import parquet
from scipy.sparse import csr_array

ROWS = np.array([[0.5, 0.0, -1.25], [2.0, 3.0, 0.0], [0.0, 0.0, 0.75], [-4.0, 0.0, 8.0]])
SIGNS = np.array([1, -1, -1, 1])
WORDS = np.where(SIGNS > 0, "spam", "ham")
NAMES = ["a", "b", "c"]


def write_npz(path, **arrays):
    np.savez(path, **arrays)
    return path


def write_csr(path, **labels):
    X = csr_array(ROWS)
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez(path, **parts, **labels)
    return path


def svmlight_text():
    lines = [
        f"{sign} " + " ".join(f"{k + 1}:{v}" for k, v in enumerate(row) if v)
        for sign, row in zip(SIGNS, ROWS, strict=True)
    ]
    return "\n".join(lines) + "\n"


def write_svmlight(path):
    text = svmlight_text().encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def csv_text(labels=WORDS, name="label"):
    head = ",".join([*NAMES, name])
    lines = [
        ",".join([*map(str, row), str(label)]) for row, label in zip(ROWS, labels, strict=True)
    ]
    return "\n".join([head, *lines]) + "\n"


def write_text(path, text):
    path.write_text(text)
    return path


def write_parquet(path, columns):
    parquet.write_table(pyarrow.table(columns), path)
    return path


def columns_of(rows=ROWS):
    return dict(zip(NAMES, rows.T, strict=True))
