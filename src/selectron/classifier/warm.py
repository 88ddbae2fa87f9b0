"""Compile ahead, so that the first request of a service, or of a container, does not wait."""

import numpy as np
from numpy.typing import DTypeLike

from selectron.arrays import Table
from selectron.classifier.estimator import SelectiveClassifier, StreamClassifier
from selectron.classifier.one_row import FIRST_CALLS

ROWS = 64  # more than the 50 of a warm-up, so that labels are asked


def warm(
    d: int = 20,
    *,
    classes: int = 2,
    sparse: bool = False,
    dtype: DTypeLike = float,
    learner: StreamClassifier | None = None,
) -> None:
    """Compile all that a learner needs for fit, predict, ask, tell and calls with one row.

    Compiled code is kept on disk (in the user's cache, or in `NUMBA_CACHE_DIR`), so that other
    processes find it. Nothing is learnt: the learner given is copied.

    Parameters
    ----------
    d : int
        Features of a row. Up to 4,096 the default keeps a whole matrix, above it some directions.
    classes : int
        Two, or more.
    sparse : bool
        Rows come as CSR matrices.
    dtype : float or np.float32
    learner : classifier, optional
        The default one if left out.

    Examples
    --------
    >>> import selectron
    >>> selectron.warm(d=784, classes=10)  # doctest: +SKIP
    """
    if classes < 2:
        raise ValueError(f"classes={classes}: there are two at least")
    params = {} if learner is None else learner.get_params(False)
    if params.get("class_weight") is not None:
        params["class_weight"] = "balanced"  # the same code, whatever the classes are called
    made = SelectiveClassifier() if learner is None else type(learner)(**params)
    rng = np.random.default_rng(0)
    X: Table = rng.standard_normal((ROWS, d)).astype(dtype)
    y = np.arange(ROWS) % classes
    if sparse:
        from scipy.sparse import csr_array  # noqa: PLC0415 - who has dense rows need not wait

        X = csr_array(np.where(rng.random(X.shape) < min(0.5, 20.0 / d), X, X.dtype.type(0)))
    made.fit(X, y)
    made.predict(X)
    made.decision_function(X)
    pictures = abs(X)  # the default predicts images by a loop of their own
    type(made)(**made.get_params(deep=False)).fit(pictures, y).predict(pictures)
    asked = made.ask(X)
    made.tell(asked.tickets[asked.asked], y[asked.asked])
    row = X[[0]] if sparse else X[0]
    for _ in range(FIRST_CALLS + 1):
        made.predict_one(row)
    made.ask_one(row)
    made.learn_one(row, 0)
