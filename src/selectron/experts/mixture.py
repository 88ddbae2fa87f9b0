"""The interface of all mixtures of experts: predict, vote, update, run.

A mixture keeps one weight an expert. `update` tells it what each expert lost in a step and returns
what the mixture lost, the log-loss of ([Mon06], equation 2.1): -log(Σ p e^(-ηL)) / η.

An expert that slept has loss nan. It suffers the loss of the mixture, as in the specialists
setting (Freund, Schapire, Singer and Warmuth, 1997), so learning from the step leaves its weight
as it was; the awake experts share the sum of their weights anew.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import compiled
from selectron.experts.rate import Eta, make_rate
from selectron.experts.readings import State, as_float, read_array
from selectron.experts.steps import ALL_ASLEEP, FINE, TOO_MUCH, Fault
from selectron.numeric.elementary import exponential

Label = TypeVar("Label", bound=Hashable)
LEAST_PRIOR = 1e-280  # a smaller weight would be lost to underflow


class Mixture(ABC):
    """A distribution over experts that follows their losses; see its subclasses."""

    def __init__(self, n: int, eta: Eta, prior: ArrayLike | None) -> None:
        if not (as_float(n).is_integer() and n >= 1):
            raise ValueError(f"n is {n!r}; a mixture needs a whole number of experts, at least 1")
        self.n = int(n)
        self._rate = make_rate(eta, self.n)
        self._prior = _read_prior(self.n, prior)

    @property
    @abstractmethod
    def weights(self) -> Vector:
        """The weight of each expert, (n,), summing to 1: a fresh array."""

    @abstractmethod
    def state(self) -> State:
        """Return all that a continuation needs, as plain arrays and numbers."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: State) -> Self:
        """Build the mixture that goes on exactly where `state` was taken."""

    @abstractmethod
    def _advance(self, losses: Matrix, out: Vector) -> Fault:
        """Learn from all rows, or from none and say why."""

    @abstractmethod
    def _log_weights(self) -> Vector:
        """Return log weights, where numbers would all be 0."""

    def update(self, losses: ArrayLike) -> float:
        """Learn from the losses of one step, (n,); return the mixture's own.

        Losses are ≥ 0 and finite; nan: the expert slept. On an error nothing is learnt.
        """
        row = read_array("losses", losses, f"give one number an expert, ({self.n},)")
        if row.shape != (self.n,):
            raise ValueError(f"losses have shape {row.shape}; give one loss an expert, ({self.n},)")
        return float(self._run(row.reshape(1, -1))[0])

    def run(self, loss_matrix: ArrayLike) -> Vector:
        """Learn from every row of (T, n) in turn, as `update` does; return the T losses."""
        matrix = read_array("loss_matrix", loss_matrix, f"give numbers, (T, {self.n})")
        if matrix.ndim != 2 or matrix.shape[1] != self.n:
            raise ValueError(
                f"loss_matrix has shape {matrix.shape}; give one row a step and one column an "
                f"expert, (T, {self.n})"
            )
        return self._run(matrix)

    def predict(self, expert_predictions: ArrayLike) -> Any:
        """Return the weighted mean of predictions, (n,) or (n, d); nan: the expert abstains."""
        predictions = read_array(
            "expert_predictions", expert_predictions, "give one number an expert; vote takes labels"
        )
        if predictions.ndim not in (1, 2) or len(predictions) != self.n:
            raise ValueError(
                f"expert_predictions have shape {predictions.shape}; give one prediction an "
                f"expert, ({self.n},) or ({self.n}, d)"
            )
        table = predictions.reshape(self.n, -1)
        if np.isnan(table).all(axis=0).any():
            raise ValueError("all experts abstain (nan); predict when one of them is awake")
        means = np.empty(table.shape[1])
        if not weighted_means(self.weights, table, means):
            logs = self._log_weights()
            for k in range(len(means)):
                column = np.ascontiguousarray(table[:, k : k + 1])
                awake = _weights_among(logs, np.isnan(column[:, 0]))
                weighted_means(awake, column, means[k : k + 1])
        return float(means[0]) if predictions.ndim == 1 else means

    def vote(self, expert_labels: Iterable[Label | None]) -> Label:
        """Return the label of greatest weight, the first met of several; None: abstains."""
        labels = list(expert_labels) if isinstance(expert_labels, Iterable) else [expert_labels]
        if len(labels) != self.n:
            raise ValueError(f"{len(labels)} labels for {self.n} experts; give one an expert")
        asleep = np.array([label is None for label in labels])
        if asleep.all():
            raise ValueError("all experts abstain (None); vote when one of them is awake")
        totals = _tally(labels, self.weights)
        if not any(total > 0 for total in totals.values()):
            totals = _tally(labels, _weights_among(self._log_weights(), asleep))
        return max(totals, key=totals.__getitem__)

    def _run(self, losses: Matrix) -> Vector:
        out = np.empty(len(losses))
        fault, t, i = self._advance(losses, out)
        if fault != FINE:
            raise ValueError(_describe(fault, t, i, losses))
        return out


def _tally(labels: list[Label | None], weights: Vector) -> dict[Label, float]:
    totals: dict[Label, float] = {}
    for label, weight in zip(labels, weights.tolist(), strict=True):
        if label is not None:
            totals[label] = totals.get(label, 0.0) + weight
    return totals


def _weights_among(log_weights: Vector, asleep: NDArray[np.bool_]) -> Vector:
    """Return weights of the awake experts, scaled so that the greatest is 1."""
    logs = np.where(asleep, -np.inf, log_weights)
    return np.array([exponential(x) for x in logs - logs.max()])


def _describe(fault: int, t: int, i: int, losses: Matrix) -> str:
    step = f" at step {t}" if len(losses) > 1 else ""
    if fault == ALL_ASLEEP:
        return f"all experts slept (nan){step}; leave out steps in which none was awake"
    if fault == TOO_MUCH:
        return (
            f"the loss of expert {i}{step} is {losses[t, i]}, and with those before it the total "
            "is beyond all numbers: give losses in larger units, or begin a new mixture"
        )
    return (
        f"the loss of expert {i}{step} is {losses[t, i]}; losses must be >= 0 and finite: "
        "subtract the step's smallest, cap them, or pass nan if the expert slept"
    )


def _read_prior(n: int, prior: ArrayLike | None) -> Vector:
    if prior is None:
        return np.full(n, 1 / n)
    weights = read_array("prior", prior, f"give {n} weights > 0, one an expert")
    if np.shape(prior) == (n,) and (weights > 0).all() and (weights < np.inf).all():
        # Divide by a power of two, which is exact: the sum of large weights would be infinite.
        weights = np.ldexp(weights, -np.frexp(weights.max())[1])
        if (weights >= LEAST_PRIOR).all():
            return np.array([weight / sum(weights.tolist()) for weight in weights.tolist()])
    raise ValueError(
        f"prior is {prior}; give {n} weights > 0, one an expert, the smallest from {LEAST_PRIOR} "
        "of the largest"
    )


@compiled
def weighted_means(weights: Vector, table: Matrix, out: Vector) -> bool:
    """Write the mean of each column over awake experts; return whether all columns had weight."""
    for k in range(table.shape[1]):
        total = mass = 0.0
        for i in range(len(weights)):
            if table[i, k] == table[i, k]:
                total += weights[i] * table[i, k]
                mass += weights[i]
        if mass == 0.0:
            return False
        out[k] = total / mass
    return True
