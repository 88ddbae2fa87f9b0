"""What a run leaves to be judged by: the rounds on which its hypothesis changed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from selectron.arrays import Vector
from selectron.numeric.rows import Dense, Rows


@dataclass(frozen=True)
class Evidence:
    """The rounds on which the hypothesis changed, as the update rule saw them."""

    X: Any
    signs: Vector  # of more than two classes, their numbers
    max_norm: float
    max_entry: float
    longest: Callable[[float], float]  # the largest p-norm of a row
    n_margin_errors: int
    n_classes: int

    @property
    def many(self) -> bool:
        return self.n_classes > 2

    def leads(self, u: Vector) -> Vector:
        """Return by how much u has the right class ahead of the best other one, by round."""
        if not self.many:
            signed: Vector = self.signs * np.asarray(self.X @ u).reshape(-1)
            return signed
        scores = np.asarray(self.X @ u.reshape(self.n_classes, -1).T)
        rounds, right = np.arange(len(scores)), self.signs.astype(np.intp)
        own = scores[rounds, right]
        scores[rounds, right] = -np.inf
        ahead: Vector = own - scores.max(axis=1)
        return ahead


def gather(trace: Any, *, with_constant: bool) -> Evidence:
    X = _matrix(trace.rows)
    chosen = np.flatnonzero(trace.updated)
    squares = np.asarray(X.multiply(X).sum(axis=1)).reshape(-1)
    extra = 1.0 if with_constant else 0.0
    seen = X[chosen]
    if with_constant:
        from scipy.sparse import csr_array, hstack  # noqa: PLC0415

        seen = csr_array(hstack([seen, csr_array(np.ones((len(chosen), 1)))]))
    state = trace.learner._started().machine.state.update
    return Evidence(
        seen,
        trace.signs[chosen].astype(float),
        float(np.sqrt(squares.max() + extra)),
        float(max(abs(X).max(), extra)),
        lambda p: float(((abs(X) ** p).sum(axis=1).max() + extra) ** (1.0 / p)),
        int(getattr(state, "n_margin_errors", 0)),
        max(2, len(trace.learner.classes_)),
    )


def _matrix(rows: Rows) -> Any:
    from scipy.sparse import csr_array  # noqa: PLC0415

    if isinstance(rows, Dense):
        return csr_array(rows.values.astype(np.float64))
    shape = (len(rows.starts) - 1, rows.width)
    # scikit-learn's separators want signed 32 bits: enough, but for billions of entries.
    kind = np.int32 if rows.starts[-1] < 2**31 else np.int64
    places = rows.indices.astype(kind), rows.starts.astype(kind)
    return csr_array((rows.values.astype(np.float64), *places), shape=shape)
