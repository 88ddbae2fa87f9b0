"""`selectron demo`: the main job on a data set that comes with scikit-learn."""

from argparse import Namespace
from functools import partial

import numpy as np

from selectron.cli.named import learner_of
from selectron.cli.output import check_outputs, progress, tell
from selectron.cli.report import control_of, judge, results_table
from selectron.streams import Stream

NAME = "scikit-learn's digits, {1, 4, 7} v the rest"
PAIRS = ("default", "perceptron+margin:b=0.1", "perceptron+always")
SEEDS = range(5)
LEARNT = 1297  # rows; the other 500 test


def demo(options: Namespace) -> int:
    check_outputs(options)
    with progress(len(SEEDS) * (len(PAIRS) + 1) * LEARNT, "rows") as bar:
        judged = partial(judge, stream_of=_digits, seeds=SEEDS, tick=bar.update, curves=True)
        results = judged({text: learner_of(text) for text in PAIRS})
        random = control_of(learner_of("default"), results[0].learner, results[0].rate)
        results += judged({"default, at random": random})
    from selectron.evaluate import plot_curves

    plot_curves({result.name: result.trace for result in results}, options.plot, title=NAME)
    n, d = results[0].rounds, results[0].learner.n_features_in_
    text = (
        f"{NAME}: {n:,} rows of {d} features, {len(SEEDS)} orders\n\n{results_table(results)}\n\n"
        f"{results[1].name}: {results[1].certificate}\nplot: {options.plot}\n\n"
        "Label something yourself: selectron label demo"
    )
    shown = results if options.json else []  # each certificate takes a while
    return tell(options, text, {"data": NAME, "results": [result.as_json() for result in shown]})


def _digits(seed: int) -> Stream:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order], np.isin(y[order], (1, 4, 7))
    return Stream(X[:LEARNT], y[:LEARNT], NAME, (X[LEARNT:], y[LEARNT:]))
