"""Slow twins: the products and sums as they are written down, round by round."""

from math import exp, log
from typing import NamedTuple


class Round(NamedTuple):
    odds: float
    asked: bool
    predicted: int
    label: int

    @property
    def wrong(self):
        return self.predicted != self.label


UP = [(0.8 / 1.5**j, 1.0 / ((j + 1) * (j + 2))) for j in range(12)]
LOW = [(0.5 / 2**k, 1.0 / (k + 2)) for k in range(16)]


def mixed(grid, bet):
    """Average the bets over the rates of a grid."""
    return sum(w * bet(rate) for rate, w in grid) / sum(w for _, w in grid)


def thinning_up(events, total, explore, risk=False):
    """E: over the odds of the events that were asked, if there were `total` of them in all."""

    def bet(share):
        u = share * explore
        value = exp(u * total) if risk else (1.0 - u) ** -total
        for odds in events:
            value *= 1.0 - u / odds
        return value

    return mixed(UP, bet)


def thinning_low(events, total, risk=False):
    """F."""

    def bet(v):
        value = exp(-v * total) if risk else (1.0 + v) ** -total
        for odds in events:
            value *= 1.0 + v / odds
        return value

    return mixed(LOW, bet)


def bernstein_up(events, total, explore):
    def bet(share):
        u = share * explore
        psi = (-log(1.0 - share) - share) / share**2
        value = exp(u * total)
        for odds in events:
            value *= exp(-u / odds - psi * (u / odds) ** 2)
        return value

    return mixed(UP, bet)


def bernstein_low(events, total):
    def bet(v):
        value = exp(-v * total)
        for odds in events:
            value *= exp(v / odds - 0.5 * (v / odds) ** 2)
        return value

    return mixed(LOW, bet)


def bisect(bet, level, low, high):
    """Return where a monotone bet reaches the level."""
    rises = bet(high) > bet(low)
    for _ in range(200):
        middle = 0.5 * (low + high)
        above = bet(middle) > level
        low, high = (low, middle) if above == rises else (middle, high)
    return low


def outcomes(length, chances):
    """Yield (probability, coins) of all 2^length ways the coins can fall, odds given the past."""

    def play(past):
        if len(past) == length:
            yield 1.0, past
            return
        odds = chances(past)
        for asked in (True, False):
            weight = odds if asked else 1.0 - odds
            if weight > 0.0:
                for rest, coins in play([*past, asked]):
                    yield weight * rest, coins

    return play([])
