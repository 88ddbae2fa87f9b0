"""Prototypes that lead by one, earlier labels gone over again: the default's update for many."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.numeric.rows import Row
from selectron.numeric.symmetric import downdate, image
from selectron.protocol import ManyForecast, glance, hypothesis, learn, predict
from selectron.spec import Range, UpdateRule
from selectron.updates.class_ridge import (
    class_ridge_glance,
    class_ridge_hypothesis,
    class_ridge_predict,
    class_ridge_separation,
)
from selectron.updates.covariance import Covariance, shared_covariance
from selectron.updates.known_classes import count_label, weight_of
from selectron.updates.notebook import Notebook, fresh_notebook, rehearse, written
from selectron.updates.prototypes import frobenius
from selectron.updates.two_prototypes import TwoPrototypesState, separation


@dataclass(frozen=True)
class Rehearsal(UpdateRule):
    """A prototype a class: that of the label shall lead every other by one.

    What is missing counts squared, beside the squares of the prototypes ([WW99]). There is no
    closed form of the minimum, and labels learnt once each stay behind it. So the rows of the
    latest labels are kept, and with each new one some of them are gone over in turn: what a row is
    in the prototypes is set to the best there is with all else as it is ([HCLKS08]). Labels of a
    class that has had fewer than its share count for up to four, and a class does not compete
    before a label names it. A⁻¹ of all labels tells how certain a lead is.

    Parameters
    ----------
    memory : int
        How many labels are kept, each with its row. Those before them stay learnt.
    visits : int
        How many of them are gone over with each label.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> from selectron.queries import Always
    >>> from selectron.updates import Rehearsal
    >>> X = np.array([[0.6, 0.8], [0.8, -0.6], [1.0, 0.0]])
    >>> clf = SelectiveClassifier(Rehearsal(), Always()).fit(X, ["ant", "bee", "cow"])
    >>> clf.coef_.round(3).tolist()
    [[-0.196, 0.664], [-0.029, -0.624], [0.226, -0.04]]
    """

    memory: int = 1024
    visits: int = 64
    RANGES: ClassVar = {"memory": Range(1, 1_000_000), "visits": Range(0, 1_000_000)}

    def begin(self, d: int, dtype: Any) -> TwoPrototypesState:
        return TwoPrototypesState(self.many(d, dtype, 2), 0.0, 0)

    def many(self, d: int, dtype: Any, n_classes: int) -> "RehearsalState":
        return RehearsalState(
            shared_covariance(d, n_classes, 1.0),
            fresh_notebook(int(self.memory), d, n_classes),
            np.zeros(n_classes),
            np.zeros(n_classes),
            int(self.visits),
            0.0,
            0,
        )


class RehearsalState(NamedTuple):
    covariance: Covariance  # its weights are (K, d)
    notebook: Notebook
    counts: Vector  # labels of each class
    scores: Vector
    visits: int
    norm: float
    n_updates: int


glance.of(RehearsalState)(class_ridge_glance)
predict.of(RehearsalState)(class_ridge_predict)
hypothesis.of(RehearsalState)(class_ridge_hypothesis)
separation.of(RehearsalState)(class_ridge_separation)


@learn.of(RehearsalState)
def rehearsal_learn(
    update: RehearsalState, x: Row, y: float, forecast: ManyForecast
) -> RehearsalState:
    label = int(y)
    weights, A_inv, g, _ = update.covariance
    counts = update.counts
    count_label(label, counts, update.scores)
    image(x, A_inv, g)
    weight = weight_of(label, counts)
    downdate(A_inv, g, weight / (1.0 + weight * forecast.variance))
    notebook = written(update.notebook, x, label)
    notebook = rehearse(notebook, update.visits, weights, counts, update.scores)
    return update._replace(
        notebook=notebook, norm=frobenius(weights), n_updates=update.n_updates + 1
    )
