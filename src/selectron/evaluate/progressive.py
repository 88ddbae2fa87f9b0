"""Judge an online learner on a stream: each row is predicted before its label may be learnt."""

import numpy as np
from numpy.typing import ArrayLike

from selectron.classifier.estimator import StreamClassifier
from selectron.classifier.progress import Tick, watched_fit
from selectron.evaluate.trace import Trace


def progressive(
    learner: StreamClassifier,
    X: object,
    y: object,
    *,
    seed: int = 0,
    test: tuple[object, ArrayLike] | None = None,
    tick: Tick | None = None,
) -> Trace:
    """Run a fresh copy of the learner over the stream and write down every round.

    Parameters
    ----------
    learner : SelectiveClassifier or TrackingClassifier
        A copy with its parameters is run; the learner itself does not change.
    X, y : rows and all their labels
        The learner sees the labels it asks for; the judge sees all. The trace has the rounds in
        the order in which they were played, which is that of the rows but for the opening of a
        stream of texts.
    seed : int
        Seed of the coins.
    test : (X, y), optional
        Rows on which the error is measured after every update.
    tick : callable, optional
        Called a few times a second with the number of rows done since the last call.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.evaluate import progressive
    >>> from selectron.queries import Margin
    >>> from selectron.updates import Perceptron
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((1000, 5))
    >>> y = X[:, 0] > 0
    >>> trace = progressive(SelectiveClassifier(Perceptron(), Margin(b=0.5)), X, y)
    >>> print(trace.n_asked, trace.n_mistakes, trace.n_updates)
    165 74 36
    """
    copy = type(learner)(**{**learner.get_params(deep=False), "random_state": seed})
    rounds: list[int] = []
    errors: list[float] = []
    after_update = None
    if test is not None:
        X_test, y_test = test
        wanted = np.asarray(y_test)

        def after_update(now: StreamClassifier, done: int) -> None:
            rounds.append(done)
            errors.append(float(np.mean(now.predict(X_test) != wanted)))

    rows, codes, log = watched_fit(copy, X, y, after_update, tick)
    return Trace(
        margins=log.forecasts[:, 0].copy(),
        probabilities=log.probabilities,
        asked=log.asked,
        updated=log.updated,
        mistakes=log.predicted != codes,
        learner=copy,
        rows=rows,
        signs=codes,
        test_rounds=np.array(rounds, np.int64),
        test_errors=np.array(errors),
        predicted=log.predicted,
    )
