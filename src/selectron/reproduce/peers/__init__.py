"""Run active learners of other libraries on the same problems."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Codes, Matrix, Signs, Vector
from selectron.reproduce.harness.problems import Flags

BUDGET = 0.1  # the share of labels that scikit-activeml's strategies are given
CONSTANT = 11_650_396  # where Vowpal Wabbit keeps its intercept
RATE = 0.1  # of River's gradients: with its own 0.01 it needs several times the labels
SOFTNESS = 10.0  # C of the SVM


class Hypothesis(NamedTuple):
    """A separator, and the labels asked for it so far."""

    n_labels: int
    weights: Vector
    intercept: float


class Linear(Protocol):
    """A fitted linear model of scikit-learn."""

    coef_: Matrix
    intercept_: Vector


class Wrapped(Protocol):
    """A model of scikit-learn as scikit-activeml wraps it."""

    estimator_: Linear

    def predict(self, X: Matrix, /) -> NDArray[np.int64]: ...


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


@dataclass(frozen=True)
class Activeml:
    """A strategy of scikit-activeml, and the model it asks for."""

    strategy: str
    refit: bool = False  # a regression is fitted to all labels; else stochastic gradients go on
    rate: float | None = None  # of the gradients; None: scikit-learn's own
    at_a_time: int = 1  # rows that are shown together

    def models(
        self, rows: Matrix, labels: Codes, seed: int, classes: Codes
    ) -> Iterator[tuple[int, Wrapped]]:
        """Yield the labels asked and the model, after every label since the model is fitted."""
        from skactiveml import stream  # noqa: PLC0415 - an extra
        from skactiveml.classifier import SklearnClassifier  # noqa: PLC0415
        from sklearn.linear_model import LogisticRegression, SGDClassifier  # noqa: PLC0415

        rate = {} if self.rate is None else {"learning_rate": "constant", "eta0": self.rate}
        gradients = SGDClassifier(loss="log_loss", random_state=seed, **rate)
        inner = LogisticRegression() if self.refit else gradients
        model = SklearnClassifier(inner, classes=classes, random_state=seed)
        asking = getattr(stream, self.strategy)(budget=BUDGET, random_state=seed)
        kept: list[int] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no label yet, or only one class
            model.fit(np.empty((0, rows.shape[1])), np.empty(0))
            for start in range(0, len(rows), self.at_a_time):
                some = rows[start : start + self.at_a_time]
                found, utilities = asking.query(some, clf=model, return_utilities=True)
                asking.update(some, found, budget_manager_param_dict={"utilities": utilities})
                for t in start + np.asarray(found, int):
                    kept.append(t)
                    if self.refit:
                        model.fit(rows[kept], labels[kept])
                    else:
                        model.partial_fit(rows[t : t + 1], labels[t : t + 1])
                    if hasattr(model.estimator_, "coef_"):
                        yield len(kept), model

    def __call__(self, rows: Matrix, signs: Signs, seed: int) -> Iterator[Hypothesis]:
        """Run the strategy on two classes."""
        for n_labels, model in self.models(rows, signs, seed, np.array([-1, 1])):
            yield _separator(model.estimator_, n_labels)


def pool_svm(rows: Matrix, signs: Signs, seed: int) -> Iterator[Hypothesis]:
    """Run Simple: of all rows left, ask for the one nearest to a linear SVM on all labels.

    It keeps every row and every label, which no other learner here does.
    """

    def nearest(now: Hypothesis, left: Flags) -> int:
        distances = np.abs(rows @ now.weights + now.intercept)
        return int(np.argmin(np.where(left, distances, np.inf)))

    return _svm(rows, signs, nearest)


def stream_svm(rows: Matrix, signs: Signs, seed: int) -> Iterator[Hypothesis]:
    """Run a linear SVM on all labels of a stream that is asked about from its beginning.

    Rows come in random order, so these are random queries.
    """
    return _svm(rows, signs, lambda now, left: int(np.argmax(left)))


def _svm(
    rows: Matrix, signs: Signs, choose: Callable[[Hypothesis, Flags], int]
) -> Iterator[Hypothesis]:
    """Fit a linear SVM after each label; rows are taken as they come until both classes came."""
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
        kept.append(choose(now, left))
        left[kept[-1]] = False


def _separator(model: Linear, n_labels: int) -> Hypothesis:
    return Hypothesis(n_labels, model.coef_[0], float(model.intercept_[0]))


class Peer(NamedTuple):
    """How to run a learner, and whether on the folds of every run or, being slow, of one."""

    learn: Callable[[Matrix, Signs, int], Iterator[Hypothesis]]
    all_runs: bool


POOL = "SVM on all labels, Simple on the pool"
PEERS = {
    "Vowpal Wabbit --active, mellowness 0.1": Peer(partial(vowpal_wabbit, mellowness=0.1), True),
    "Vowpal Wabbit --active, mellowness 1": Peer(partial(vowpal_wabbit, mellowness=1.0), True),
    "scikit-activeml, Split + SGD": Peer(Activeml("Split"), False),
    "scikit-activeml, VariableUncertainty + SGD": Peer(Activeml("VariableUncertainty"), False),
    "scikit-activeml, Split + refitted regression": Peer(Activeml("Split", refit=True), False),
    "River, EntropySampler + regression": Peer(river, False),
    POOL: Peer(pool_svm, True),
}
