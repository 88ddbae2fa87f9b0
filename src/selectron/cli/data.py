"""The options that say which data to use, shared by the commands."""

from argparse import ArgumentParser, Namespace
from typing import Any

import numpy as np

from selectron.streams import Stream, read_stream, two_classes

FORMATS = "npz, svmlight (.svm, .svm.gz), CSV or Parquet"


def add_data_options(parser: ArgumentParser) -> None:
    parser.add_argument("data", help=f"rows with labels: {FORMATS}")
    parser.add_argument("--target", help="column or array of the labels")
    parser.add_argument("--positive", metavar="A,B",
                        help="classes of the positive side [each class for itself]")  # fmt: skip
    parser.add_argument("--negative", metavar="C", help="classes of the negative side [all others]")
    parser.add_argument("--unit-norm", action="store_true", help="scale every row to length one")
    parser.add_argument("--shuffle", action="store_true", help="shuffle the rows, anew each seed")
    parser.add_argument("--limit", type=int, metavar="N", help="use the first N rows only")
    parser.add_argument("--test", type=float, default=0.0, metavar="SHARE",
                        help="keep this share of the rows apart to test on")  # fmt: skip


def read(options: Namespace) -> Stream:
    """Read the whole stream, its classes chosen."""
    _check(options)
    found = read_stream(options.data, options.target)
    stream = two_classes(found, _split(options.positive), _split(options.negative))
    if stream.X.shape[0] != len(stream.y):
        raise ValueError(f"{options.data}: {stream.X.shape[0]} rows but {len(stream.y)} labels")
    return _unit(stream) if options.unit_norm else stream


def arranged(stream: Stream, options: Namespace, seed: int) -> Stream:
    """Return the rows in the order of this seed, cut and split as the options say."""
    n = len(stream.y)
    order = np.random.default_rng(seed).permutation(n) if options.shuffle else np.arange(n)
    if options.limit is not None:
        order = order[: options.limit]
    split = n_learnt(stream, options)
    return _chosen(stream, order[:split], order[split:])


def n_learnt(stream: Stream, options: Namespace) -> int:
    """Return how many rows are left to learn from."""
    n: int = min(len(stream.y), options.limit or len(stream.y))
    apart: int = round(n * options.test)
    return n - apart


def _check(options: Namespace) -> None:
    if options.limit is not None and options.limit < 1:
        raise ValueError(f"--limit must be at least 1, got {options.limit}")
    if not 0.0 <= options.test < 1.0:
        raise ValueError(f"--test must lie in [0, 1), got {options.test}")


def _chosen(stream: Stream, order: Any, apart: Any) -> Stream:
    X, y, name, test = stream
    if len(apart):
        test = X[apart], y[apart]
    if len(order) < len(y) or (np.diff(order) != 1).any():  # else spare the copy
        X, y = X[order], y[order]
    return Stream(X, y, name, test)


def _unit(stream: Stream) -> Stream:
    from sklearn.preprocessing import normalize

    test = None if stream.test is None else (normalize(stream.test[0]), stream.test[1])
    return stream._replace(X=normalize(stream.X), test=test)


def _split(text: str | None) -> list[str] | None:
    return text.split(",") if text else None
