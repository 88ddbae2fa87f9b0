"""Certified stopping as it is written down: row by row, all sums anew from what happened.

Nothing is kept up to date but the list of rounds: every number is computed from it when it is
needed. `learner` and `query` are those of the other twins.
"""

from math import exp, inf, log, sqrt
from typing import NamedTuple

import numpy as np

KAPPA, WEIGHT = (0.95, 0.65, 0.35), (0.90, 0.06, 0.04)
EDGE = (0.03, 0.06, 0.125, 0.25, 0.5)
PRI, STR = (0.35, 0.2, 0.1, 0.03, 0.008, 0.003), (8, 8, 12, 20, 40, 80)
LOOK = 16  # floors and starts change after so many rounds
ALPHA = 0.05


class Played(NamedTuple):
    level: float
    odds: float
    asked: bool
    wrong: bool | None  # None: no answer yet, or never


class Certified:
    """The algorithm, step by step; `floor` is f, `goal` is ε."""

    def __init__(self, goal, floor=0.2, risk=False):
        self.goal, self.floor, self.risk = goal, floor, risk
        self.rounds = []
        self.answers = []  # (rank of certainty, wrong) in the order of the answers
        self.starts = []
        self.forgotten = 0  # answers before the first start: they shape no floor
        self.next = inf
        self.edges, self.floors = None, None

    # the odds

    def odds(self, rule, level):
        if not self.starts:
            return rule
        b = sum(edge < level for edge in self.edges)
        return min(1.0, max(rule, self.floors[b]))

    def seen(self):
        """Rows from the first question on."""
        asked = [t for t, played in enumerate(self.rounds) if played.asked]
        return self.rounds[asked[0] :] if asked else []

    def latest(self):
        return [played.level for played in self.seen()][-200:]

    def ema(self):
        rate = 1.0
        for played in self.seen():
            rate += (played.odds - rate) / 100
        return rate

    def shape(self):
        ordered = sorted(self.latest())
        self.edges = [ordered[int(edge * len(ordered))] for edge in EDGE]
        self.floors = []
        for b in range(6):
            inside = [wrong for k, wrong in self.answers[self.forgotten :] if k == b]
            q = (sum(inside) + PRI[b] * STR[b]) / (len(inside) + STR[b])
            self.floors.append(min(1.0, self.floor * sqrt(1 + q * (1 - q) / self.goal)))

    # what happens

    def play(self, level, odds, asked):
        self.rounds.append(Played(level, odds, asked, None))

    def answer(self, t, wrong):
        self.rounds[t] = self.rounds[t]._replace(wrong=wrong)
        latest = self.latest()
        rank = sum(level < self.rounds[t].level for level in latest) / len(latest)
        self.answers.append((sum(edge <= rank for edge in EDGE), wrong))

    def look(self):
        n, labels = len(self.rounds), len(self.answers)
        if n % LOOK:
            return
        if not self.starts:
            enough = self.ema() <= 0.67 * self.goal or labels >= 3 / self.goal
            if labels >= 10 and enough:
                self.starts.append(n)
                self.next = 2 * labels
                self.forgotten = labels
        elif labels >= self.next:
            self.starts.append(n)
            self.next *= 2
        if self.starts:
            self.shape()

    # what it says

    def bet(self, start, share):
        """The mixture at a share of mistakes since a start."""
        counted = [played for played in self.rounds[start:] if played.odds >= self.floor]
        total = 0.0
        for kappa, weight in zip(KAPPA, WEIGHT, strict=True):
            rho = kappa * self.floor
            s = share * len(counted)
            product = exp(rho * s) if self.risk else (1 - rho) ** -s
            for played in counted:
                if played.asked and played.wrong is not False:
                    product *= 1 - rho / played.odds
            total += weight * product
        return total

    def certified(self):
        for j, start in enumerate(self.starts, start=1):
            alpha = 0.8 * ALPHA if j == 1 else 0.2 * ALPHA / (j * (j - 1))
            if log(self.bet(start, self.goal)) >= log(1 / alpha):
                return True
        return False


def run(learner, query, certified, X, y, coins):
    """Return the odds and the questions until it stops, and the round at which it does."""
    odds, asked = np.zeros(len(y)), np.zeros(len(y), bool)
    for t in range(len(y)):
        forecast = learner.forecast(X[t])
        level = abs(forecast.margin) / forecast.unit
        odds[t] = certified.odds(query.probability(X[t], forecast), level)
        asked[t] = coins[t] < odds[t]
        certified.play(level, odds[t], bool(asked[t]))
        query.advance(forecast, bool(asked[t]))
        if asked[t]:
            certified.answer(t, bool((1 if forecast.margin > 0 else -1) != y[t]))
            query.observe(X[t], forecast, y[t])
            learner.learn(X[t], y[t])
        if certified.certified():
            return odds[: t + 1], asked[: t + 1], t + 1
        certified.look()
    return odds, asked, None
