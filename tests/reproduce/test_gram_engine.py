"""The engine on products decides as the library does, row by row, and as the pseudo-code."""

from math import sqrt

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.evaluate import progressive
from selectron.numeric.coins import coins
from selectron.queries import Halving, Margin, Uniform
from selectron.reproduce.mon06.digits import PROBLEMS, Sample, folds
from selectron.reproduce.mon06.gram_engine import Table, run_fold
from selectron.updates import Perceptron, Reflection

QUERIES = [Halving(2, start=1.0), Halving(9, start=1.0), Margin(0.01), Margin(0.3), Uniform(0.5)]


def sample(seed, n=400, d=12):
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, (n, d)).astype(float)
    signs = np.where((pixels - 128) @ rng.standard_normal(d) > 0, 1, -1)
    signs[rng.random(n) < 0.05] *= -1
    return Sample(pixels, np.linalg.norm(pixels, axis=1), signs.astype(np.int8))


def some_folds(n, seed):
    return list(folds(PROBLEMS[seed % len(PROBLEMS)], n, 1, seed))[:4]


@pytest.mark.parametrize("query", QUERIES, ids=repr)
@pytest.mark.parametrize("update", [Perceptron(), Reflection()], ids=lambda rule: rule.label)
@pytest.mark.parametrize("seed", [0, 1])
def test_as_the_library(query, update, seed):
    data = sample(seed)
    table = Table.of(data)
    n_updates = 0
    for fold in some_folds(400, seed):
        eta = 1.0 if isinstance(update, Perceptron) else 0.0
        curve = run_fold(table, fold, query, eta=eta)
        test = data.rows[fold.test], data.signs[fold.test]
        learner = SelectiveClassifier(update, query)
        train = data.rows[fold.train], data.signs[fold.train]
        trace = progressive(learner, *train, seed=fold.seed, test=test)
        asked = np.cumsum(trace.asked)[trace.test_rounds - 1]
        assert curve.labels.tolist() == asked.tolist()
        assert curve.errors.tolist() == np.rint(trace.test_errors * 40).astype(int).tolist()
        assert curve.n_labels == trace.n_asked
        n_updates += len(curve.labels)
    assert n_updates > 10  # the four folds are not all closed at once


def by_pseudo_code(data, fold, tossed, eta, first=1.0, b=None, patience=None):
    """Run Figures 4-3 and 4-4 of the thesis, counting the first label, which makes first y x."""
    rows, signs = data.rows, data.signs
    v, s, tau = np.zeros(rows.shape[1]), 1.0, 0
    n_labels, labels, errors = 0, [], []
    for t, place in enumerate(fold.train):
        x, y = rows[place], float(signs[place])
        p = float(x @ v)
        if n_labels:
            length = sqrt(float(v @ v))
            heads = tossed[t] < b / (b + abs(p)) if b else abs(p) / length <= s
            if not heads:
                continue
        n_labels += 1
        if n_labels == 1:
            v = first * y * x
        elif y * p <= 0:
            v = v + eta * y * x
            tau = 0
        else:
            tau += 1
            if tau == patience:
                s, tau = s / 2, 0
            continue
        labels.append(n_labels)
        wrong = np.where(rows[fold.test] @ v > 0, 1, -1) != signs[fold.test]
        errors.append(int(wrong.sum()))
    return labels, errors


@pytest.mark.parametrize("eta", [0.1, 0.7, 2.0])
@pytest.mark.parametrize("from_zero", [False, True])
@pytest.mark.parametrize("query", [Halving(3, start=1.0), Margin(0.05)], ids=repr)
def test_as_the_pseudo_code_at_any_rate(query, from_zero, eta):
    first = eta if from_zero else 1.0
    data = sample(3)
    table = Table.of(data)
    knobs = {"b": query.b} if isinstance(query, Margin) else {"patience": query.patience}
    for fold in some_folds(400, 3):
        curve = run_fold(table, fold, query, eta=eta, first=first)
        tossed = coins(fold.seed, 0, len(fold.train))
        labels, errors = by_pseudo_code(data, fold, tossed, eta, first, **knobs)
        assert curve.labels.tolist() == labels
        assert curve.errors.tolist() == errors


def test_it_ends_where_it_is_good_enough():
    table = Table.of(sample(5))
    fold = some_folds(400, 5)[0]
    whole = run_fold(table, fold, Uniform(0.5), eta=1.0)
    enough = int(np.sort(whole.errors)[3])
    short = run_fold(table, fold, Uniform(0.5), eta=1.0, enough=enough)
    n = len(short.errors)
    assert short.errors[-1] <= enough < short.errors[:-1].min()
    assert whole.errors[:n].tolist() == short.errors.tolist()
    assert short.n_labels == short.labels[-1] == whole.passage(enough)


def test_products_are_exact():
    data = sample(6, n=1500, d=300)  # more than a block
    products = Table.of(data).products
    exact = data.pixels.astype(np.int64) @ data.pixels.astype(np.int64).T
    assert (products == exact).all()
