"""Logistic regression that holds all rows, and always asks about the least certain one."""

from collections.abc import Iterator

import numpy as np

from selectron.arrays import Matrix, Signs, Vector

STRENGTH = 1.0  # C of logistic regression
MOST_STEPS, CLOSE_ENOUGH, HALVINGS = 50, 1e-8, 30


def standardised(rows: Matrix, others: Matrix) -> tuple[Matrix, Matrix]:
    """Return both in the deviations of the first; a column that never moves is 0."""
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0.0)
    return (rows - mean) * scale, (others - mean) * scale


class Logistic:
    """The minimum by Newton's steps, each from where the last labels had it.

    Weights are a sum of the rows asked, so products of rows are all that is needed, whatever their
    width. The constant is not penalised.
    """

    def __init__(self, products: Matrix) -> None:
        self.products = products  # of every row with every row at hand
        self.duals: Vector = np.zeros(0)
        self.constant = 0.0

    def fit(self, asked: list[int], signs: Vector) -> None:
        """Teach these labels: those of the last call, and more."""
        K = self.products[np.ix_(asked, asked)]
        n = len(asked)
        duals, constant = np.append(self.duals, np.zeros(n - len(self.duals))), self.constant
        loss = _loss(K, signs, duals, constant)
        for _ in range(MOST_STEPS):
            scores = K @ duals + constant
            right = 1.0 / (1.0 + np.exp(-np.clip(scores, -500.0, 500.0)))
            weights = np.maximum(right * (1.0 - right), 1e-10)
            target = scores + ((signs > 0) - right) / weights
            system = np.ones((n + 1, n + 1))
            system[:n, :n] = K + np.diag(1.0 / (STRENGTH * weights))
            system[n, n] = 0.0
            found = np.linalg.solve(system, np.append(target, 0.0))
            step, gained = 1.0, 0.0
            for _ in range(HALVINGS):
                near = duals + step * (found[:n] - duals), constant + step * (found[n] - constant)
                gained = loss - _loss(K, signs, *near)
                if gained >= 0.0:
                    duals, constant, loss = *near, loss - gained
                    break
                step /= 2.0
            if gained < CLOSE_ENOUGH * (1.0 + loss):
                break
        self.duals, self.constant = duals, float(constant)

    def scores(self, asked: list[int]) -> Vector:
        """Return the score of every row."""
        found: Vector = self.products[:, asked] @ self.duals + self.constant
        return found


def _loss(K: Matrix, signs: Vector, duals: Vector, constant: float) -> float:
    reached = K @ duals
    missed = np.logaddexp(0.0, -signs * (reached + constant)).sum()
    return float(STRENGTH * missed + 0.5 * duals @ reached)


def pool_errors(
    rows: Matrix, taught: Signs, test_rows: Matrix, test_signs: Signs, seed: int
) -> Iterator[tuple[int, float]]:
    """Yield labels and test error after each label, from two classes on."""
    at_hand, test = standardised(rows, test_rows)
    n = len(at_hand)
    model = Logistic(np.concatenate([at_hand, test]) @ at_hand.T)
    rng = np.random.default_rng(seed)
    asked: list[int] = []
    left = np.ones(n, bool)
    scores: Vector = np.zeros(0)
    while left.any():
        if len(scores) == 0:
            chosen = int(rng.choice(np.flatnonzero(left)))
        else:
            chosen = int(np.where(left, np.abs(scores[:n]), np.inf).argmin())
        asked.append(chosen)
        left[chosen] = False
        signs = taught[asked].astype(float)
        if abs(signs.sum()) < len(asked):
            model.fit(asked, signs)
            scores = model.scores(asked)
            yield len(asked), float(np.mean((scores[n:] > 0) != (test_signs > 0)))


def error_with_all(rows: Matrix, taught: Signs, test_rows: Matrix, test_signs: Signs) -> float:
    """Return the test error of logistic regression on every label."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - costs a second

    at_hand, test = standardised(rows, test_rows)
    model = LogisticRegression(C=STRENGTH, max_iter=500).fit(at_hand, taught)
    return float(np.mean(model.predict(test) != test_signs))
