"""How many labels a learner needs until it is good enough: the first time, and for good."""

from collections.abc import Sized
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Codes
from selectron.classifier import SelectiveClassifier
from selectron.classifier.labels import Labels, read_labels
from selectron.classifier.rows import read_rows
from selectron.classifier.run import Run
from selectron.loop import NOTHING_KEPT
from selectron.numeric.rows import Rows, part, shape

Counts = NDArray[np.int64]
BLOCK = 200  # test rows judged at a time: a bad hypothesis shows after a few blocks


class Curve(NamedTuple):
    """Errors on the test rows after each update, and the labels asked until then."""

    labels: Counts
    errors: Counts
    n_labels: int  # at the end of the pass

    def passage(self, most_errors: int) -> int | None:
        """Return the labels asked when the errors were first no more than these."""
        good = np.flatnonzero(self.errors <= most_errors)
        return int(self.labels[good[0]]) if len(good) else None

    def held(self, most_errors: int, hold: int) -> int | None:
        """Return the labels asked when the errors began to stay down for `hold` labels more.

        A pass that ends before `hold` labels counts if the errors were down at its end.
        """
        since: int | None = None
        for labels, errors in zip(self.labels.tolist(), self.errors.tolist(), strict=True):
            if since is not None and labels > since + hold:
                return since
            since = None if errors > most_errors else labels if since is None else since
        return since


def first_passage(
    learner: SelectiveClassifier,
    X: object,
    y: object,
    test: tuple[object, Sized],
    error: float,
    *,
    seed: int = 0,
    hold: int = 20,
) -> Curve:
    """Run a fresh copy of the learner until its error was held for `hold` labels.

    The count of errors stops once there are more than allowed.

    Parameters
    ----------
    learner : SelectiveClassifier
        A copy with its parameters is run; the learner itself does not change.
    X, y : rows and all their labels
        The learner reads the labels it asks for.
    test : (X, y)
        Rows on which errors are counted after every update.
    error : float
        The share of the test rows in [0, 1] that may be wrong.
    seed : int
        Seed of the coins.
    hold : int
        Labels >= 0 for which the error has to stay down before the run ends.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.evaluate import first_passage
    >>> from selectron.queries import Balanced
    >>> from selectron.updates import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((3000, 10))
    >>> y = X @ rng.standard_normal(10) > 0
    >>> test = X[2000:], y[2000:]
    >>> learner = SelectiveClassifier(Ridge(), Balanced())
    >>> curve = first_passage(learner, X[:2000], y[:2000], test, 0.05)
    >>> print(curve.passage(50), curve.held(50, 20))
    54 64
    """
    allowed = most_errors(error, len(test[1]))
    if hold < 0:
        raise ValueError(f"hold must be a number of labels >= 0, got {hold}")
    copy = SelectiveClassifier(**{**learner.get_params(deep=False), "random_state": seed})
    rows, judged = read_rows(X), read_rows(test[0])
    column = read_labels(y, shape(rows)[0])
    labels = Labels.found_in(column)
    wanted = labels.codes(read_labels(test[1], shape(judged)[0]))
    run = copy._begin(rows, labels, shape(rows)[0])
    asked: list[int] = []
    errors: list[int] = []
    since: int | None = None
    for _ in run.pauses(rows, labels.codes(column), NOTHING_KEPT):
        asked.append(run.n_asked)
        errors.append(_errors(run, judged, wanted, allowed))
        good = errors[-1] <= allowed
        if since is not None and run.n_asked >= since + hold + (not good):
            break
        since = None if not good else run.n_asked if since is None else since
    return Curve(np.array(asked, np.int64), np.array(errors, np.int64), run.n_asked)


def _errors(run: Run, rows: Rows, wanted: Codes, allowed: int) -> int:
    """Count wrong predictions, until there are more than allowed."""
    errors = 0
    for start in range(0, len(wanted), BLOCK):
        stop = min(len(wanted), start + BLOCK)
        predicted = run.predicted(part(rows, start, stop))
        errors += int((predicted != wanted[start:stop]).sum())
        if errors > allowed:
            break
    return errors


def most_errors(error: float, n_rows: int) -> int:
    """Return how many of the rows may be wrong at this error."""
    if not 0.0 <= error <= 1.0:
        raise ValueError(f"error is a share of the test rows in [0, 1], got {error}")
    return int(error * n_rows + 1e-9)  # 0.15 x 1,000 is 150, whatever the last bit says
