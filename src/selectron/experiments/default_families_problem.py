"""A problem of the development families: rows, labels, and the error to be reached."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Matrix, Signs

Flags = NDArray[np.bool_]

LONGEST_STREAM, LONGEST_TEST = 3500, 1000
TEST_SHARE = 0.3
GAP = 0.2  # of the way from the best linear rule to the majority class that is left to go
FOLDS = 5


class Problem(NamedTuple):
    """Rows with their labels; `taught` are the labels an oracle gives, some of them flipped."""

    name: str
    X: Matrix
    signs: Signs
    taught: Signs
    error: float | None = None  # to be reached; None: by cross-validation

    def noisy(self, share: float, seed: int) -> "Problem":
        """Return the problem with this share of the oracle's answers flipped."""
        flipped = np.random.default_rng(seed).random(len(self.signs)) < share
        taught = np.where(flipped, -self.signs, self.signs).astype(np.int8)
        return self._replace(name=f"{self.name} {share:.0%} noise", taught=taught)


class Split(NamedTuple):
    """A shuffle of a problem: a stream to learn from, and rows to be judged by."""

    X: Matrix
    taught: Signs
    X_test: Matrix
    signs_test: Signs


def problem(name: str, X: Matrix, positive: Flags, error: float | None = None) -> Problem:
    """Make a problem of rows and of which of them are positive."""
    signs = np.where(positive, 1, -1).astype(np.int8)
    return Problem(name, X, signs, signs, error)


def shuffled(given: Problem, seed: int) -> Split:
    n = len(given.signs)
    n_test = min(LONGEST_TEST, int(TEST_SHARE * n))
    order = np.random.default_rng(seed).permutation(n)
    test, stream = order[:n_test], order[n_test : n_test + LONGEST_STREAM]
    return Split(
        given.X[stream].astype(np.float64),
        given.taught[stream],
        given.X[test].astype(np.float64),
        given.signs[test],
    )


def base_rate(given: Problem) -> float:
    """Return the error of always naming the larger class."""
    positive = float(np.mean(given.signs > 0))
    return min(positive, 1.0 - positive)


def linear_error(given: Problem, seed: int = 0) -> float:
    """Return the error of logistic regression, cross-validated: taught as taught, judged clean."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - costs a second
    from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    some = np.random.default_rng(seed).permutation(len(given.signs))[:LONGEST_STREAM]
    X, taught, signs = given.X[some], given.taught[some], given.signs[some]
    wrong = 0
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, signs):
        rule = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
        rule.fit(X[train], taught[train])
        wrong += int((rule.predict(X[test]) != signs[test]).sum())
    return wrong / len(some)


def tolerance(given: Problem) -> float:
    """Return the error to be reached."""
    if given.error is not None:
        return given.error
    best, base = linear_error(given), base_rate(given)
    return best + GAP * (base - best)
