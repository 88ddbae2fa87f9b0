"""The loop over rounds, compiled for a crew of rules: vote, maybe ask, weigh, teach."""

from collections.abc import Callable
from functools import cache
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from selectron.arrays import Matrix, Vector
from selectron.compiler.numbers import pack, unpack
from selectron.compiler.verbs import KERNEL, digest, shelved
from selectron.experts.compiled import sources_of
from selectron.experts.learn_alpha import mix_alpha_rows, run_learn_alpha
from selectron.loop import (
    DONE,
    LABEL_NEEDED,
    LABEL_UNKNOWN,
    NOT_FINITE,
    UNKNOWN,
    UNSOUND,
    UPDATED,
    Learner,
    quietly,
)
from selectron.numeric.rows import Csr, Dense, DenseRow, SparseRow, row, sound
from selectron.protocol import Forecast, advance, ask_probability, observe
from selectron.tracking.crew import Crew, Last, hear_each, teach_each
from selectron.tracking.vote import vote, write_losses

Kernel = Callable[..., Any]
HEARD = 100  # a label was learnt, and its losses wait for a mixture that is not compiled in


class Jury(NamedTuple):
    """The mixture as the loop sees it, and room for one round."""

    inside: bool  # a Learn-α, whose rows follow; any other mixture is updated between calls
    rows: Any
    room: Any
    rate: Any
    weights: Vector  # (K,)
    margins: Vector
    losses: Matrix  # (1, K)
    mixed: Vector  # (1,)


class Diary(NamedTuple):
    """Where the loop writes the weights and every learner's margin, if anybody wants to know."""

    kept: bool
    weights: Matrix  # (n, K), before the round's label
    margins: Matrix

    @classmethod
    def of(cls, n: int, learners: int) -> "Diary":
        return cls(n > 0, np.zeros((n, learners)), np.zeros((n, learners)))

    def part(self, start: int, stop: int) -> "Diary":
        return Diary(self.kept, self.weights[start:stop], self.margins[start:stop])


@cache
def compiled_rounds(bodies: str) -> Kernel:
    """Compile the loop over rounds."""

    @njit(**KERNEL)
    @shelved(bodies)
    def run_rounds(learner, numbers, jury, X, labels, coins, log, diary, pause, teach):  # type: ignore[no-untyped-def]
        _ = bodies  # captured, hence part of the cache key
        scaling, crew, query = unpack(learner, numbers)
        weights, margins = jury.weights, jury.margins
        status = DONE
        n_asked = 0
        t = 0
        while t < len(coins):
            if not sound(X, t):
                status = UNSOUND
                break
            x = row(X, t)
            hear_each(crew, x, 0, margins)
            margin = vote(weights, margins)
            if not isfinite(margin):
                status = NOT_FINITE
                break
            forecast = Forecast(margin, 1.0, 1.0, 0.0, True)
            probability = ask_probability(query, x, forecast)
            asked = coins[t] < probability
            if asked and teach and labels[t] != 1 and labels[t] != -1:
                status = LABEL_UNKNOWN if labels[t] == UNKNOWN else LABEL_NEEDED
                break
            if log.kept:
                log.forecasts[t, 0] = margin
                log.forecasts[t, 1] = probability
                log.probabilities[t] = probability
                log.asked[t] = asked
                log.updated[t] = asked and teach
            if diary.kept:
                for k in range(len(weights)):
                    diary.weights[t, k] = weights[k]
                    diary.margins[t, k] = margins[k]
            query = advance(query, forecast, asked)
            n_asked += asked
            t += 1
            if asked and teach:
                y = float(labels[t - 1])
                query = observe(query, x, forecast, y)
                write_losses(margins, y, probability, jury.losses[0])
                crew = teach_each(crew, x, y)
                if jury.inside:
                    run_learn_alpha(jury.rows, jury.room, jury.rate, jury.losses, jury.mixed)
                    mix_alpha_rows(jury.rows, jury.room)
                    for k in range(len(weights)):
                        weights[k] = jury.room.weights[k]
                if pause or not jury.inside:
                    status = UPDATED if jury.inside else HEARD
                    break
        pack(Learner(scaling, crew, query), numbers)
        return t, status, n_asked

    return quietly(run_rounds)


@cache
def compiled_lesson(bodies: str) -> Kernel:
    """Compile the teaching of one label on its own: asked earlier, or never."""

    @njit(**KERNEL)
    @shelved(bodies)
    def run_lesson(learner, numbers, jury, X, y, asked_with, fresh):  # type: ignore[no-untyped-def]
        _ = bodies
        scaling, crew, query = unpack(learner, numbers)
        if not sound(X, 0):
            return UNSOUND
        x = row(X, 0)
        # The learners have moved since the label was asked; they are judged by what they say now.
        hear_each(crew, x, 0, jury.margins)
        margin = vote(jury.weights, jury.margins)
        if not isfinite(margin):
            return NOT_FINITE
        probability = 1.0
        if fresh:
            query = advance(query, Forecast(margin, 1.0, 1.0, 0.0, True), True)
        elif len(asked_with) > 0:
            margin, probability = asked_with[0, 0], asked_with[0, 1]
        query = observe(query, x, Forecast(margin, 1.0, 1.0, 0.0, True), y)
        write_losses(jury.margins, y, probability, jury.losses[0])
        crew = teach_each(crew, x, y)
        pack(Learner(scaling, crew, query), numbers)
        return DONE

    return quietly(run_lesson)


@cache
def compiled_margins(bodies: str) -> Kernel:
    """Compile the votes on many rows."""

    @njit(**KERNEL)
    @shelved(bodies)
    def run_margins(learner, numbers, jury, X, votes):  # type: ignore[no-untyped-def]
        _ = bodies
        _scaling, crew, _query = unpack(learner, numbers)
        for t in range(len(votes)):
            if not sound(X, t):
                return UNSOUND
            hear_each(crew, row(X, t), 0, jury.margins)
            votes[t] = vote(jury.weights, jury.margins)
        return DONE

    return quietly(run_margins)


def crew_digest(learner: Learner) -> str:
    """Hash all code that a kernel for this crew is made of."""
    kinds = [type(learner.scaling), type(learner.query), Crew, Last]
    crew = learner.update
    while isinstance(crew, Crew):
        kinds.append(type(crew.first))
        crew = crew.rest
    rules = digest(*kinds, Dense, Csr, DenseRow, SparseRow, kernel=Crew.__module__)
    mixture = (getattr(kernel, "py_func", kernel) for kernel in (run_learn_alpha, mix_alpha_rows))
    return rules + sources_of(vote, write_losses, unpack, pack, *mixture)
