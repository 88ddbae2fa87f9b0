"""One pass with everything written down: whom the tracker followed, and how each learner did."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Given, Matrix, Table, Vector
from selectron.classifier.progress import watched_fit
from selectron.tracking.estimator import TrackingClassifier
from selectron.tracking.members import Committee

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Following:
    """A run over a stream whose labels are all known to the judge.

    Attributes
    ----------
    margins, probabilities : ndarray of shape (n,)
        The vote of every round before its label, and the odds of asking for it.
    asked, mistakes : ndarray of bool, (n,)
        Whether the label was asked; whether the vote was wrong, on every round, asked or not.
    weights : ndarray of shape (n, K)
        The weight of each learner in the vote.
    learner_mistakes : ndarray of bool, (n, K)
        Whether each learner on its own was wrong, taught by the labels that the tracker asked.
    names : list of str
        The learners.
    tracker : TrackingClassifier
        As it is at the end of the stream.
    """

    margins: Vector
    probabilities: Vector
    asked: Flags
    mistakes: Flags
    weights: Matrix
    learner_mistakes: Flags
    names: list[str]
    tracker: TrackingClassifier = field(repr=False)

    def __len__(self) -> int:
        return len(self.margins)

    @property
    def following(self) -> NDArray[np.int64]:
        """The learner of greatest weight at every round."""
        leaders: NDArray[np.int64] = self.weights.argmax(axis=1)
        return leaders

    @property
    def error(self) -> float:
        return float(self.mistakes.mean())

    @property
    def learner_errors(self) -> Vector:
        errors: Vector = self.learner_mistakes.mean(axis=0)
        return errors

    @property
    def label_rate(self) -> float:
        return float(self.asked.mean())


def follow(tracker: TrackingClassifier, X: Table, y: Given) -> Following:
    """Run a fresh copy of the tracker over the stream and write down every round.

    The tracker reads the labels it asks for; the judge reads all.

    Examples
    --------
    >>> from selectron.queries import Always
    >>> from selectron.streams import drifting
    >>> from selectron.tracking import TrackingClassifier, follow
    >>> stream = drifting("flips", seed=1)
    >>> run = follow(TrackingClassifier(query=Always()), stream.X, stream.y)
    >>> print(run.error, run.learner_errors.min(), run.names[run.following[-1]])
    0.09925 0.10765 ForgettingLogistic(memory=60.0)
    """
    if not isinstance(tracker, TrackingClassifier):
        raise TypeError(
            f"follow runs a TrackingClassifier, got {tracker!r}; for one learner use "
            "selectron.evaluate.progressive"
        )
    copy = type(tracker)(**tracker.get_params(deep=False))
    d, n_classes = np.shape(X)[1], len(np.unique(y))
    n_learners = len(Committee.of(tracker.learners, d, n_classes).learners)
    _, codes, log = watched_fit(copy, X, y, details=2 * n_learners)
    weights, opinions = log.details[:, :n_learners], log.details[:, n_learners:]
    margins, truth = log.forecasts[:, 0].copy(), codes[:, np.newaxis]
    if n_classes > 2:
        mistakes, mistaken = log.forecasts[:, 4] != codes, opinions != truth
    else:
        mistakes, mistaken = (margins > 0.0) != (codes > 0), (opinions > 0.0) != (truth > 0)
    return Following(
        margins=margins,
        probabilities=log.probabilities,
        asked=log.asked,
        mistakes=mistakes,
        weights=weights,
        learner_mistakes=mistaken,
        names=copy.names_,
        tracker=copy,
    )
