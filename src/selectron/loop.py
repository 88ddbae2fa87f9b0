"""The one loop that composes any three rules, and its two smaller sisters, compiled."""

from collections.abc import Callable
from functools import cache
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np
from numba import config, njit
from numpy.typing import NDArray

from selectron.arrays import Matrix, Vector
from selectron.compiler.numbers import pack, unpack
from selectron.compiler.verbs import KERNEL, digest, shelved
from selectron.forecasts import TWO, class_count, class_of, recall, verdict, write_down
from selectron.numeric.rows import Csr, Dense, DenseRow, SparseRow, row, sound
from selectron.protocol import (
    absorb_row,
    advance,
    ask_probability,
    count_class,
    follow_scaling,
    glance,
    has_statistics,
    learn,
    observe,
    predict,
    present,
    preview,
    ready,
)

Kernel = Callable[..., Any]


class Learner(NamedTuple):
    """The states of the three rules."""

    scaling: Any
    update: Any
    query: Any


class Log(NamedTuple):
    """Where a pass writes what happened, if anybody wants to know."""

    kept: bool
    exact: bool  # whether rounds that are not asked need their exact forecasts and odds too
    forecasts: Matrix  # (n, 4): margin, unit, norm, variance; of many classes also best, second
    probabilities: Vector
    asked: NDArray[np.bool_]
    updated: NDArray[np.bool_]

    @classmethod
    def of(cls, n: int, told: int = TWO, *, exact: bool = True) -> "Log":
        """Make room for n rounds, `told` numbers a forecast; none keeps nothing."""
        flags = np.zeros(n, bool), np.zeros(n, bool)
        return cls(n > 0, exact and n > 0, np.zeros((n, told)), np.zeros(n), *flags)

    @classmethod
    def of_questions(cls, n: int) -> "Log":
        """Make room for n rounds of which only the questions are kept: forecasts stay glances."""
        return cls.of(0)._replace(asked=np.zeros(n, bool))

    @property
    def sides(self) -> Vector:
        """What each prediction hangs on: the margin, or of many classes the best."""
        return self.forecasts[:, TWO if self.forecasts.shape[1] > TWO else 0].copy()

    @property
    def predicted(self) -> NDArray[np.int32]:
        """The label that each forecast predicts."""
        if self.forecasts.shape[1] > TWO:
            return self.forecasts[:, TWO].astype(np.int32)
        return np.where(self.forecasts[:, 0] > 0.0, 1, -1).astype(np.int32)

    def part(self, start: int, stop: int) -> "Log":
        if len(self.asked) == 0:
            return self
        return self._replace(
            forecasts=self.forecasts[start:stop],
            probabilities=self.probabilities[start:stop],
            asked=self.asked[start:stop],
            updated=self.updated[start:stop],
        )


# Labels are signs, -1 and +1, or with more than two classes their numbers from 0; or one of these.
UNKNOWN, NOT_GIVEN = -2, -3

DONE, LABEL_NEEDED, LABEL_UNKNOWN, NOT_FINITE, UNSOUND, UPDATED = range(6)


@cache
def compiled_pass(bodies: str) -> Kernel:
    """Compile THE loop: predict, maybe ask, maybe learn, row after row."""

    @njit(**KERNEL)
    @shelved(bodies)
    def run_pass(learner, numbers, X, labels, coins, log, absorbed, pause, teach):  # type: ignore[no-untyped-def]
        _ = bodies  # captured, hence part of the cache key: an edited rule is compiled anew
        scaling, update, query = unpack(learner, numbers)
        status = DONE
        n_asked = 0
        t = 0
        while t < len(coins):
            if not sound(X, t):
                status = UNSOUND
                break
            x = row(X, t)
            new = t >= absorbed
            if has_statistics(scaling) and new:
                scaling, update, query = absorb_row(scaling, update, query, x)
            z = present(scaling, x)
            if has_statistics(scaling) and new:
                update = follow_scaling(update, z)
            if new and ready(scaling):
                query = preview(query, z)
            forecast = glance(update, z)
            probability = 0.0
            if ready(scaling):
                probability = ask_probability(query, z, forecast)
                if not forecast.exact and (log.exact or coins[t] < probability):
                    forecast = predict(update, z, forecast)
                    probability = ask_probability(query, z, forecast)
            if not (isfinite(forecast.margin) and isfinite(forecast.variance)):
                status = NOT_FINITE
                break
            if log.kept:  # ahead of the label, which may not be there yet
                write_down(forecast, log.forecasts[t])
                log.probabilities[t] = probability
            n_updates = update.n_updates
            asked = coins[t] < probability
            if asked:
                if teach:
                    label = labels[t]
                    if label <= UNKNOWN:
                        status = LABEL_UNKNOWN if label == UNKNOWN else LABEL_NEEDED
                        break
                    y = float(label)
                    query = advance(query, forecast, True)
                    query = count_class(query, class_of(forecast, y), class_count(forecast, update))
                    query = observe(query, z, forecast, verdict(forecast, y))
                    update = learn(update, z, y, forecast)
                else:
                    query = advance(query, forecast, True)
                n_asked += 1
                if len(log.asked) > 0:
                    log.asked[t] = True
            else:
                query = advance(query, forecast, False)
            if log.kept:
                log.updated[t] = update.n_updates != n_updates
            t += 1
            if pause and update.n_updates != n_updates:
                status = UPDATED
                break
        pack(Learner(scaling, update, query), numbers)
        return t, status, n_asked

    return quietly(run_pass)


@cache
def compiled_lesson(bodies: str) -> Kernel:
    """Compile the loop's `if` on its own: labels asked earlier, or never."""

    @njit(**KERNEL)
    @shelved(bodies)
    def run_lesson(learner, numbers, X, labels, asked_with, fresh):  # type: ignore[no-untyped-def]
        _ = bodies
        scaling, update, query = unpack(learner, numbers)
        status = DONE
        for t in range(len(labels)):
            if not sound(X, t):
                status = UNSOUND
                break
            x = row(X, t)
            if fresh:
                scaling, update, query = absorb_row(scaling, update, query, x)
            z = present(scaling, x)
            if fresh and has_statistics(scaling):
                update = follow_scaling(update, z)
            if fresh and ready(scaling):
                query = preview(query, z)
            # The hypothesis has moved since the label was asked: a stale variance would spoil A⁻¹.
            forecast = predict(update, z, glance(update, z))
            if not (isfinite(forecast.margin) and isfinite(forecast.variance)):
                status = NOT_FINITE
                break
            then = forecast
            if fresh:
                query = advance(query, forecast, True)
            elif len(asked_with) > 0:
                then = recall(forecast, asked_with[t])
            y = float(labels[t])
            query = count_class(query, class_of(forecast, y), class_count(forecast, update))
            query = observe(query, z, then, verdict(then, y))
            update = learn(update, z, y, forecast)
        if status == DONE:
            pack(Learner(scaling, update, query), numbers)
        return status

    return quietly(run_lesson)


@cache
def compiled_margins(bodies: str) -> Kernel:
    """Compile the prediction of many rows; `exact` asks for the margin, not only for its sign."""

    @njit(**KERNEL)
    @shelved(bodies)
    def run_margins(learner, numbers, X, margins, exact):  # type: ignore[no-untyped-def]
        _ = bodies
        scaling, update, _query = unpack(learner, numbers)
        for t in range(len(margins)):
            if not sound(X, t):
                return UNSOUND
            z = present(scaling, row(X, t))
            forecast = glance(update, z)
            if exact and not forecast.exact:
                forecast = predict(update, z, forecast)
            margins[t] = forecast.margin
        return DONE

    return quietly(run_margins)


@cache
def compiled_scores(bodies: str) -> Kernel:
    """Compile the scores that many classes give to many rows."""

    @njit(**KERNEL)
    @shelved(bodies)
    def run_scores(learner, numbers, X, scores):  # type: ignore[no-untyped-def]
        _ = bodies
        scaling, update, _query = unpack(learner, numbers)
        for t in range(len(scores)):
            if not sound(X, t):
                return UNSOUND
            forecast = glance(update, present(scaling, row(X, t)))
            for k in range(len(update.scores)):
                scores[t, k] = update.scores[k] if isfinite(forecast.margin) else nan
        return DONE

    return quietly(run_scores)


def quietly(kernel: Kernel) -> Kernel:
    """Keep plain Python from warning of what compiled code passes over: overflow, 0/0."""
    if not config.DISABLE_JIT:
        return kernel

    def call(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return kernel(*args)

    return call


def kinds_of(state: Any) -> list[type]:
    """List the type of a state and of those within it: a rule may hold another."""
    within = [kind for field in state if isinstance(field, tuple) for kind in kinds_of(field)]
    return [type(state), *within]


def rules_digest(learner: Learner) -> str:
    """Hash all code that a kernel for this learner is made of."""
    return digest(*kinds_of(learner)[1:], Dense, Csr, DenseRow, SparseRow, kernel=__name__)
