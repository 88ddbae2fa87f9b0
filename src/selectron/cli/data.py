"""The options that say which data to use, shared by the commands."""

from argparse import ArgumentParser, Namespace
from typing import Any

import numpy as np

from selectron.streams import Stream, read_stream, two_classes

FORMATS = "npz, svmlight (.svm, .svm.gz), CSV or Parquet"


def add_data_options(parser: ArgumentParser) -> None:
    parser.add_argument("data", help=f"rows with labels: {FORMATS}")
    parser.add_argument("--target", help="column or array of the labels")
    parser.add_argument("--positive", metavar="A,B", help="classes of the positive side")
    parser.add_argument("--negative", metavar="C", help="classes of the negative side [all others]")
    parser.add_argument("--unit-norm", action="store_true", help="scale every row to length one")
    parser.add_argument("--shuffle", action="store_true", help="shuffle the rows by the seed")
    parser.add_argument("--limit", type=int, metavar="N", help="use the first N rows only")
    parser.add_argument("--test", type=float, default=0.0, metavar="SHARE",
                        help="keep this share of the rows apart to measure the error on")  # fmt: skip


def load(options: Namespace, seed: int) -> Stream:
    """Read the stream as the options say."""
    stream = two_classes(
        read_stream(options.data, options.target),
        _split(options.positive),
        _split(options.negative),
    )
    X, y, name, test = stream
    n = len(y)
    if X.shape[0] != n:
        raise ValueError(f"{options.data}: {X.shape[0]} rows but {n} labels")
    order = np.arange(n)
    if options.shuffle:
        order = np.random.default_rng(seed).permutation(n)
    if options.limit is not None:
        if options.limit < 1:
            raise ValueError(f"--limit must be at least 1, got {options.limit}")
        order = order[: options.limit]
    if not 0.0 <= options.test < 1.0:
        raise ValueError(f"--test must lie in [0, 1), got {options.test}")
    kept = round(len(order) * options.test)
    if kept:
        test = (X[order[len(order) - kept :]], y[order[len(order) - kept :]])
        order = order[: len(order) - kept]
    if len(order) == n and not options.shuffle:
        rows, labels = X, y
    else:
        rows, labels = X[order], y[order]
    if options.unit_norm:
        rows = _unit(rows)
        test = None if test is None else (_unit(test[0]), test[1])
    return Stream(rows, labels, name, test)


def _unit(X: Any) -> Any:
    from sklearn.preprocessing import normalize

    return normalize(X)


def _split(text: str | None) -> list[str] | None:
    return text.split(",") if text else None
