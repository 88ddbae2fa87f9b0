"""Runs whose every label is known, and whether the intervals ever left what is true."""

from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Indices, Vector
from selectron.classifier.machine import Machine
from selectron.classifier.rules import choose_rules
from selectron.estimate import Bernstein, Evidence, Thinning
from selectron.estimate.constructions import Construction
from selectron.estimate.sums import (
    FALSE_NEGATIVE,
    FALSE_POSITIVE,
    MISTAKES,
    TRUE_POSITIVE,
    Sums,
    terms_of,
)
from selectron.loop import Log
from selectron.numeric.rows import Dense
from selectron.spec import Spec
from selectron.streams import drifting

D, NOISE = 5, 0.02
WINDOW = 3000
LOOKS = 250  # rounds between two looks of who trusts a normal approximation
LEVEL = 0.95
CONSTRUCTIONS: dict[str, Construction] = {"thinning": Thinning(), "bernstein": Bernstein()}


class Case(NamedTuple):
    """A learner on a kind of stream; `explore` is what its odds are known not to fall below."""

    name: str
    update: Spec | None
    query: Spec
    explore: float
    stream: str = "stationary"
    guess: float = 0.05  # the control variate


class Played(NamedTuple):
    """A run, round by round, without the rounds whose odds were below the floor."""

    rounds: Indices
    odds: Vector
    asked: NDArray[np.bool_]
    predicted: Indices
    labels: Indices
    n_rounds: int

    @property
    def outcomes(self) -> Indices:
        return 2 * (self.predicted > 0) + (self.labels > 0)


def play(case: Case, seed: int, n: int) -> Played:
    """Run the learner over a stream of this seed."""
    stream = drifting(case.stream, seed, n=n, d=D, noise=NOISE)
    rules = choose_rules(None, case.update, case.query, fit_intercept=False, d=D, rows=n)
    machine = Machine(rules, D, np.dtype(np.float64), seed)
    written = Log.of(n)
    labels = stream.y.astype(np.int8)
    machine.run(Dense(stream.X), labels, log=written)
    predicted = np.where(written.forecasts[:, 0] > 0.0, 1, -1)
    rounds = np.flatnonzero(written.probabilities >= case.explore)
    odds, asked = written.probabilities[rounds], written.asked[rounds]
    return Played(rounds, odds, asked, predicted[rounds], labels[rounds].astype(np.int64), n)


def judge(case: Case, seed: int, n: int) -> dict[str, Any]:
    """Return what one run says: estimates at its end, and which claims it ever broke."""
    played = play(case, seed, n)
    evidence = gather(case, played)
    mistakes = played.predicted != played.labels
    hits = path_of(played, case.explore, (TRUE_POSITIVE,))
    false, missed, wrong = (
        path_of(played, case.explore, event)
        for event in ((FALSE_POSITIVE,), (FALSE_NEGATIVE,), MISTAKES)
    )
    found: dict[str, Any] = {
        "labels": evidence.tally().labels,
        "outside": evidence.tally().outside,
        "truth": float(mistakes.mean()),
        "error": evidence.estimate().error,
        "guessed": evidence.estimate(guess=case.guess).error,
        "normal off": trusts_too_soon(played, mistakes),
        "ratios off": [breaks_pair(hits, event, case.explore) for event in (false, missed, wrong)],
    }
    for name, construction in CONSTRUCTIONS.items():
        shown = evidence.estimate(LEVEL, construction=construction)
        found[name] = [shown.low, shown.high]
        found[f"{name} off"] = breaks(wrong, construction, case.explore)
        found[f"{name} windows off"] = breaks_a_window(wrong, construction, case.explore, n)
    return found


def gather(case: Case, played: Played) -> Evidence:
    """Return the evidence at the end of a run."""
    evidence = Evidence(case.explore)
    evidence.reach(played.n_rounds, outside=played.n_rounds - len(played.rounds))
    told = played.asked
    evidence.add(
        played.rounds[told], played.odds[told], played.predicted[told], played.labels[told]
    )
    return evidence


class Path(NamedTuple):
    """The sums after each event, and the rounds at which they changed."""

    rounds: Indices
    sums: Sums

    def between(self, first: int, last: int) -> "Path":
        """Return the events from number `first` up to `last`, as if nothing had been before."""
        before = (field[first - 1] if first else 0.0 * field[0] for field in self.sums)
        since = (field[first:last] - b for field, b in zip(self.sums, before, strict=True))
        return Path(self.rounds[first:last], Sums(*since))


def path_of(played: Played, explore: float, outcomes: tuple[int, ...]) -> Path:
    """Return the sums of an event after each time it happened, asked or not."""
    events = np.flatnonzero(np.isin(played.outcomes, outcomes))
    terms = terms_of(played.odds[events], explore)
    counted = played.asked[events].astype(float)
    sums = (np.cumsum(field * _beside(counted, field), axis=0) for field in terms)
    return Path(played.rounds[events], Sums(*sums))


def _beside(flags: Vector, field: Vector) -> Vector:
    return flags if field.ndim == 1 else flags[:, np.newaxis]


def breaks(
    path: Path, construction: Construction, explore: float, share: float = 1.0 - LEVEL
) -> tuple[bool, bool]:
    """Tell whether the true total was ever ruled out, as too many and as too few.

    Both bets change at events only, so these are all the moments there are.
    """
    total = np.arange(1.0, len(path.rounds) + 1.0)
    bound = log(2.0 / share)
    many = construction.too_many(path.sums, explore).at(total)
    few = construction.too_few(path.sums, explore).at(total)
    return bool((many >= bound).any()), bool((few >= bound).any())


def breaks_a_window(path: Path, construction: Construction, explore: float, n: int) -> bool:
    """Tell whether any window was ever wrong, each start with its share of the level."""
    quarter = WINDOW // 4
    for number, start in enumerate(range(0, n, quarter), start=1):
        first, last = np.searchsorted(path.rounds, (start, start + WINDOW + quarter))
        share = (1.0 - LEVEL) / (number * (number + 1))
        if any(breaks(path.between(int(first), int(last)), construction, explore, share)):
            return True
    return False


def breaks_pair(hits: Path, missed: Path, explore: float) -> bool:
    """Tell whether the true pair of totals behind a quotient was ever ruled out."""
    moments = np.union1d(hits.rounds[::20], missed.rounds)
    few, many = [], []
    for path in (hits, missed):
        done = np.searchsorted(path.rounds, moments, side="right")
        sums = Sums(*(np.concatenate([0.0 * f[:1], f])[done] for f in path.sums))
        few.append(Thinning().too_few(sums, explore).at(done))
        many.append(Thinning().too_many(sums, explore).at(done))
    bound = log(2.0 / (1.0 - LEVEL))
    return bool((few[0] + many[1] >= bound).any() or (few[1] + many[0] >= bound).any())


def trusts_too_soon(played: Played, mistakes: NDArray[np.bool_]) -> bool:
    """Tell whether estimate ± 1.96 standard errors was ever wrong, looking now and then."""
    seen = np.where(mistakes & played.asked, 1.0 / played.odds, 0.0)
    spread = np.where(mistakes & played.asked, (1.0 - played.odds) / played.odds**2, 0.0)
    looks = np.arange(LOOKS, len(seen) + 1, LOOKS) - 1
    off = np.abs(np.cumsum(seen) - np.cumsum(mistakes))[looks]
    return bool((off > 1.96 * np.sqrt(np.cumsum(spread))[looks] + 1e-9).any())
