"""A wager that the error is low enough, which takes fewer labels to win than an interval.

A wager speaks of one end only, of the rounds since a start, and of one bound that is fixed
beforehand. So it bets all it has against that bound, where an interval bets against all totals at
once. The first start is opened after the learner has learnt. Further starts, which leave more of
the early mistakes behind, share a reserve of the level.
"""

from dataclasses import dataclass, field, replace
from math import ceil, exp, log, log1p
from typing import Self

import numpy as np

from selectron.arrays import Vector
from selectron.estimate.constructions import Mixture
from selectron.estimate.estimates import Estimate, check_level
from selectron.estimate.evidence import State

SHARES_OF_FLOOR = (0.95, 0.65, 0.35)  # rates of the bets: a rate above the odds may lose all
WEIGHTS = (0.90, 0.06, 0.04)  # of the bets
FIRST_START = 0.8  # of what the level leaves; the rest is kept for later starts
LEVEL = 0.95  # at which a goal is certified
ROUNDING = 1e-9  # rounds
COUNTS = "opened", "rounds", "labels", "wrong", "pending", "lost"


@dataclass
class Start:
    """What is known of the rounds since a start."""

    opened: int  # the number of its first round
    rounds: int = 0  # with odds of at least the floor
    labels: int = 0
    wrong: int = 0
    pending: int = 0
    lost: int = 0
    weight: float = 0.0  # Σ 1/π over the mistakes
    sums: list[float] = field(default_factory=lambda: [0.0] * len(WEIGHTS))

    def times(self, factor: float) -> "Start":
        """Return the start after ``factor`` times as many of the same rounds."""
        counts = {name: round(factor * getattr(self, name)) for name in COUNTS[1:]}
        sums = [factor * s for s in self.sums]
        return replace(self, **counts, weight=factor * self.weight, sums=sums)


def share_of_start(number: int) -> float:
    """Return the share of 1 - level that start number 1, 2, ... has; all shares sum to 1."""
    return FIRST_START if number == 1 else (1.0 - FIRST_START) / (number * (number - 1))


class Wager:
    """Bets that the error since a start is below a bound.

    Parameters
    ----------
    bound : float
        The error, in (0, 1), below which the bets are won.
    floor : float
        The least odds of the rounds that count, in (0, 1].
    risk : bool
        Bound the mean probability of a mistake given the past, in place of the share of mistakes.

    Notes
    -----
    Whether round t is a mistake, ℓ_t, is fixed before its coin; its label is asked with odds
    π_t >= floor. For a rate ρ < floor let h_t = 1 - (ρ/π_t) ℓ_t if asked, and 1 if not. Its mean
    given the past, the row and the label is 1 - ρ ℓ_t. So Π h_t (1 - ρ)^(-S) is a martingale for
    the true number S of mistakes since the start, whatever the stream and the learner make of the
    past; and so is a mixture over rates. It ever reaches 1/α with probability at most α (Ville). It
    rises with S. So where the mixture at S = bound · rounds reaches 1/α, the share of mistakes lies
    below the bound. Start j has α_j = (1 - level) share_of_start(j): with probability `level` no
    start is ever wrong.

    Of the risk: the mean of h_t given the past alone is 1 - ρ r_t <= e^(-ρ r_t), where r_t is the
    probability of a mistake. So e^(ρS) stands for (1 - ρ)^(-S), and S for the sum of the risks.

    A question counts as a mistake until its answer comes, and for ever if none comes: the true bet
    is at least as large.

    Examples
    --------
    >>> wager = Wager(bound=0.05, floor=0.2)
    >>> wager.open(at=0)
    >>> for t in range(400):
    ...     wager.play()
    ...     if t % 5 == 0:
    ...         wager.ask(0.2)
    ...         wager.answer(t, 0.2, wrong=t == 300)
    >>> wager.met(), print(wager.estimate(rounds=400))
    error 1.2 % (0.2 to 7.4 %, 95 % at all times), 80 labels of 400 rounds
    (False, None)
    """

    def __init__(self, bound: float, floor: float, *, risk: bool = False) -> None:
        self.bound, self.floor, self.risk = bound, floor, risk
        self.starts: list[Start] = []
        self._rates = [share * floor for share in SHARES_OF_FLOOR]
        self._gains = self._rates if risk else [-log1p(-rate) for rate in self._rates]
        self._weights = [log(weight) for weight in WEIGHTS]

    # --- what happens

    def open(self, at: int) -> None:
        """Open a start at the round of this number."""
        self.starts.append(Start(at))

    def play(self) -> None:
        """Count a round with odds of at least the floor."""
        for start in self.starts:
            start.rounds += 1

    def ask(self, odds: float) -> None:
        """Count a question of the round just played; until it is answered, as a mistake."""
        terms = self._terms(odds)
        for start in self.starts:
            start.pending += 1
            start.sums = [s + term for s, term in zip(start.sums, terms, strict=True)]

    def answer(self, round_: int, odds: float, *, wrong: bool) -> None:
        """Enter the answer to the question of a round."""
        terms = self._terms(odds)
        for start in self._since(round_):
            start.pending -= 1
            start.labels += 1
            if wrong:
                start.wrong += 1
                start.weight += 1.0 / odds
            else:
                start.sums = [s - term for s, term in zip(start.sums, terms, strict=True)]

    def give_up(self, round_: int) -> None:
        """Enter that a question will never be answered."""
        for start in self._since(round_):
            start.pending -= 1
            start.lost += 1

    def _terms(self, odds: float) -> list[float]:
        return [log1p(-rate / odds) for rate in self._rates]

    def _since(self, round_: int) -> list[Start]:
        return [start for start in self.starts if start.opened <= round_]

    # --- what it says

    def met(self, level: float = LEVEL) -> bool:
        """Tell whether a start is sure of the bound."""
        return bool(self.won(level))

    def won(self, level: float = LEVEL) -> list[Start]:
        """List the starts that are sure of the bound."""
        return [start for j, start in self._numbered() if self._short_of(j, start, level) <= 0.0]

    def rounds_to_go(self, level: float = LEVEL) -> int | None:
        """Return after how many more rounds the bound can be met at the earliest; None: no start.

        Answers that wait may come in between.
        """
        most = self.bound * max(self._gains)  # that a round adds to the logarithm of a bet
        short = [self._short_of(j, start, level) for j, start in self._numbered()]
        return max(1, ceil(min(short) / most - ROUNDING)) if short else None

    def _numbered(self) -> list[tuple[int, Start]]:
        return list(enumerate(self.starts, start=1))

    def _short_of(self, number: int, start: Start, level: float) -> float:
        """Return by how much the logarithm of the mixture is short of what it has to reach."""
        total = self.bound * start.rounds
        exponents = [
            weight + gain * total + s
            for weight, gain, s in zip(self._weights, self._gains, start.sums, strict=True)
        ]
        largest = max(exponents)
        wealth = largest + log(sum(exp(e - largest) for e in exponents))
        return -log((1.0 - level) * share_of_start(number)) - wealth

    def estimate(self, level: float = LEVEL, *, rounds: int) -> Estimate:
        """Return the error since the start that has the lowest upper end, of so many rounds in all.

        The lower end is what is certain: the mistakes seen.
        """
        return self.estimate_after(1.0, level, rounds=rounds)

    def estimate_after(self, factor: float, level: float = LEVEL, *, rounds: int) -> Estimate:
        """Return the estimate after ``factor`` times as many of the same rounds."""
        check_level(level)
        known = [
            self._known(number, start.times(factor) if factor != 1.0 else start, level, rounds)
            for number, start in self._numbered()
            if start.rounds
        ]
        nothing = Estimate(None, 0.0, 1.0, 0, 0, level, outside=rounds)
        return min(known, key=lambda estimate: float(estimate.high or 0.0), default=nothing)

    def _known(self, number: int, start: Start, level: float, rounds: int) -> Estimate:
        slopes, offsets = np.array(self._gains), np.array(start.sums)
        mixture = Mixture(np.array(self._weights), slopes, offsets)
        most = float(mixture.crossing(-log((1.0 - level) * share_of_start(number))))
        least = 0
        if not self.risk:  # mistakes seen have happened, right answers are none
            least = start.wrong
            most = min(max(most, least), start.rounds - (start.labels - start.wrong))
        n = start.rounds
        return Estimate(
            start.weight / n, least / n, min(most / n, 1.0), n, start.labels, level,
            max(rounds - n, 0), start.pending, start.lost,
        )  # fmt: skip

    # --- files

    def state(self) -> State:
        """Return everything as plain arrays, a row a start."""
        counts = [[getattr(start, name) for name in COUNTS] for start in self.starts]
        sums: list[Vector | list[float]] = [[start.weight, *start.sums] for start in self.starts]
        return {
            "counts": np.array(counts, np.int64).reshape(-1, len(COUNTS)),
            "sums": np.array(sums, float).reshape(-1, 1 + len(WEIGHTS)),
        }

    def restore(self, state: State) -> Self:
        """Go on exactly where `state` was taken."""
        counts, sums = state["counts"].tolist(), state["sums"].tolist()
        starts = [
            Start(**dict(zip(COUNTS, n, strict=True)), weight=s[0], sums=s[1:])
            for n, s in zip(counts, sums, strict=True)
        ]
        for start in starts:
            settled = start.labels + start.pending + start.lost
            if not start.wrong <= start.labels <= settled <= start.rounds:
                raise ValueError(f"{settled} questions in {start.rounds} rounds of a wager")
        opened = [start.opened for start in starts]
        if opened != sorted(set(opened)):
            raise ValueError(f"wagers start at {opened}")
        self.starts = starts
        return self
