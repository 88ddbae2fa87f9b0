"""Active learners of other libraries, as they come: a hypothesis after every label they learn."""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Matrix, Signs, Vector

BUDGET = 0.1  # the share of labels that scikit-activeml's strategies are given
CONSTANT = 11_650_396  # where Vowpal Wabbit keeps its intercept
RATE = 0.1  # of River's gradients: with its own 0.01 it needs several times the labels
SOFTNESS = 10.0  # C of the SVM


class Hypothesis(NamedTuple):
    """A separator, and the labels asked for it so far."""

    n_labels: int
    weights: Vector
    intercept: float


def vowpal_wabbit(rows: Matrix, signs: Signs, seed: int, mellowness: float) -> Iterator[Hypothesis]:
    """Run `vw --active`, logistic loss and its default rate."""
    from vowpalwabbit import Workspace  # noqa: PLC0415 - an extra

    learner = Workspace(
        f"--active --simulation --mellowness {mellowness} --loss_function logistic "
        f"--random_seed {seed} -b 18 --quiet"
    )
    n_labels, width = 0, rows.shape[1]
    try:
        for x, sign in zip(rows, signs.tolist(), strict=True):
            cells = " ".join(f"{i}:{x[i]:.9g}" for i in np.flatnonzero(x))
            example = learner.example(f"{sign} | {cells}")
            learner.learn(example)
            asked = example.get_simplelabel_label() == sign  # a label not asked is wiped out
            learner.finish_example(example)
            if asked:
                n_labels += 1
                weights = np.array([learner.get_weight(i) for i in range(width)])
                yield Hypothesis(n_labels, weights, learner.get_weight(CONSTANT))
    finally:
        learner.finish()


def river(rows: Matrix, signs: Signs, seed: int) -> Iterator[Hypothesis]:
    """Run EntropySampler on logistic regression."""
    from river.active import EntropySampler  # noqa: PLC0415 - an extra
    from river.linear_model import LogisticRegression  # noqa: PLC0415
    from river.optim import SGD  # noqa: PLC0415

    model = LogisticRegression(SGD(RATE))
    learner = EntropySampler(model, seed=seed)
    weights = np.zeros(rows.shape[1])
    n_labels = 0
    for x, sign in zip(rows, signs.tolist(), strict=True):
        places = np.flatnonzero(x).tolist()
        named = dict(zip(places, x[places].tolist(), strict=True))
        _, asked = learner.predict_one(named)
        if asked:
            learner.learn_one(named, sign > 0)
            n_labels += 1
            weights[list(model.weights)] = list(model.weights.values())
            yield Hypothesis(n_labels, weights, model.intercept)


def scikit_activeml(
    rows: Matrix, signs: Signs, seed: int, strategy: str, *, refit: bool
) -> Iterator[Hypothesis]:
    """Run a strategy on stochastic gradients, or on a regression that is fitted to all labels."""
    from skactiveml import stream  # noqa: PLC0415 - an extra
    from skactiveml.classifier import SklearnClassifier  # noqa: PLC0415
    from sklearn.linear_model import LogisticRegression, SGDClassifier  # noqa: PLC0415

    inner = LogisticRegression() if refit else SGDClassifier(loss="log_loss", random_state=seed)
    model = SklearnClassifier(inner, classes=[-1, 1], random_state=seed)
    asking = getattr(stream, strategy)(budget=BUDGET, random_state=seed)
    kept: list[int] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no label yet, or only one class
        model.fit(np.empty((0, rows.shape[1])), np.empty(0))
        for t in range(len(rows)):
            x = rows[t : t + 1]
            found, utilities = asking.query(x, clf=model, return_utilities=True)
            asking.update(x, found, budget_manager_param_dict={"utilities": utilities})
            if not len(found):
                continue
            kept.append(t)
            if refit:
                model.fit(rows[kept], signs[kept])
            else:
                model.partial_fit(x, signs[t : t + 1])
            if hasattr(model.estimator_, "coef_"):
                yield _separator(model.estimator_, len(kept))


def pool_svm(rows: Matrix, signs: Signs, seed: int) -> Iterator[Hypothesis]:
    """Run Simple: of all rows left, ask for the one nearest to a linear SVM on all labels.

    It keeps every row and every label, which no other learner here does. Rows are taken as they
    come until both classes were seen.
    """
    from sklearn.svm import SVC  # noqa: PLC0415

    both = int(np.argmax(signs != signs[0]))
    kept = list(range(both + 1))
    left = np.ones(len(rows), bool)
    left[kept] = False
    model = SVC(kernel="linear", C=SOFTNESS)
    while left.any():
        model.fit(rows[kept], signs[kept])
        now = _separator(model, len(kept))
        yield now
        distances = np.abs(rows @ now.weights + now.intercept)
        nearest = int(np.argmin(np.where(left, distances, np.inf)))
        kept.append(nearest)
        left[nearest] = False


def _separator(model: Any, n_labels: int) -> Hypothesis:
    return Hypothesis(n_labels, model.coef_[0], float(model.intercept_[0]))
