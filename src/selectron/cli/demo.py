"""`selectron demo`: the main job on a data set that comes with scikit-learn."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np

from selectron.cli.output import progress, table, write_json
from selectron.cli.report import HEAD, control_of, judge
from selectron.cli.rules import learner_of
from selectron.streams import Stream

PAIRS = ("default", "perceptron+margin:b=0.1", "perceptron+always")
SEEDS = range(5)


def add_demo(parser: ArgumentParser) -> None:
    parser.add_argument("--plot", default="selectron-demo.png", metavar="FILE",
                        help="where to draw the curves [selectron-demo.png]")  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="write the numbers to FILE, - for stdout")


def demo(options: Namespace) -> int:
    stream = _digits()
    results = []
    with progress(len(SEEDS) * (len(PAIRS) + 1), "runs") as bar:
        for text in PAIRS:
            learner = learner_of(text)
            results.append(judge(text, learner, stream, SEEDS, lambda: bar.update(1), curves=True))
        random = control_of(results[0], learner_of("default"))
        results.append(
            judge("default, at random", random, stream, SEEDS, lambda: bar.update(1), curves=True)
        )
    from selectron.evaluate import plot_curves

    plot = Path(options.plot)
    plot_curves({r.name: r.traces[0] for r in results}, plot, title=stream.name)
    if options.json != "-":
        n, d = stream.X.shape
        print(f"{stream.name}: {n:,} rows of {d} features, {len(SEEDS)} seeds\n")
        print(table(HEAD, [result.row() for result in results]))
        print(f"\n{PAIRS[1]}: {results[1].traces[0].certificate()}")
        print(f"plot: {plot}")
    write_json({"data": stream.name, "results": [r.as_json() for r in results]}, options.json)
    return 0


def _digits() -> Stream:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], np.isin(y[order], (1, 4, 7))
    return Stream(X[:1297], y[:1297], "scikit-learn's digits, {1, 4, 7} v the rest",
                  (X[1297:], y[1297:]))  # fmt: skip
