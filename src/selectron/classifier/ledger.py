"""What the labels asked so far say of the error, and whether that is good enough to stop.

Rounds carry the learner's own numbers. A lesson that nobody asked for (`learn_one` on a new row) is
a round outside: its label was not drawn. A goal for the error or the risk has a wager, which
also shapes the odds of questions; other goals are held against the interval of late.
"""

from dataclasses import replace
from logging import getLogger
from numbers import Real
from typing import Self

import numpy as np

from selectron.arrays import Array, Codes, Flags, Matrix, Vector
from selectron.estimate import Certifying, Estimate, Evidence, Goal, Recent
from selectron.estimate.evidence import WORST, State
from selectron.estimate.wager import LEVEL
from selectron.files import DamagedFile, Reader
from selectron.loop import Log
from selectron.protocol import MANY, TWO
from selectron.queries.floor import by_certainty, with_floor
from selectron.spec import QueryRule, Rules

LOGGER = getLogger(__name__)
STRETCH = 4096  # rounds whose log is held in memory at once
LOOK = 64  # rounds between two looks at a goal without a wager
NO_CLASS = -1.0
EXPLORE_TO_STOP = 0.2  # odds with which a goal is looked at, unless told otherwise


GROWING = "pending.", "recent.starts", "recent.pieces_", "goal.starts_"  # arrays in files


def mistaken(told: Matrix, codes: Codes | float) -> Flags:
    """Tell which predictions, as they were written down, are wrong."""
    predicted = told[:, TWO] if told.shape[1] >= MANY else np.where(told[:, 0] > 0.0, 1, -1)
    wrong: Flags = predicted != codes
    return wrong


def levels_of(told: Matrix) -> list[float]:
    """Return the certainty of each forecast that was written down."""
    levels: list[float] = (np.abs(told[:, 0]) / told[:, 1]).tolist()
    return levels


class Ledger:
    """Evidence on a run: of the whole stream, of late, and towards a goal."""

    def __init__(
        self, explore: float, window: int | None, goal: Goal | None, least: float = 0.0
    ) -> None:
        self.least = least  # floor of all rounds; the rounds that count have odds from explore on
        self.whole = Evidence(explore)
        self.recent = Recent(window, explore)
        self.goal = goal
        self.certifying: Certifying | None = None
        if goal is not None and goal.certified:
            self.certifying = Certifying(goal.bound, explore, risk=goal.measure == "risk")
        self.outside = 0
        self.pending: dict[int, float] = {}  # round: the odds with which it was asked
        self.chooses = True  # whether two classes are known: rounds before that are outside
        self.blind = 0  # 1: the label that is waited for was asked when that was so
        self.many = False  # classes: then there is no precision, and no recall
        self.met_at: int | None = None  # the round at which the goal was met: no question since

    @property
    def rounds(self) -> int:
        return self.whole.rounds

    def check_goal(self) -> None:
        """Refuse a third class where the goal is about two."""
        if self.goal is not None:
            check_many(self.goal)

    def wait(self) -> None:
        """Remember, for the round that waits for its label, whether there was a choice."""
        self.blind = int(not self.chooses)

    def stretch(self) -> int:
        """Return how many rounds may be played before the next entry."""
        to_start = self.recent.next_start - self.rounds
        to_look = STRETCH if self.goal is None else LOOK - self.rounds % LOOK
        if self.certifying is not None and self.met_at is None:
            to_look = self.certifying.stretch(self.rounds)
        return max(1, min(STRETCH, to_start, to_look))

    @property
    def wants_exact(self) -> bool:
        """Whether the odds hang on exact certainties."""
        return self.certifying is not None and self.met_at is None

    def asking(self, query: QueryRule) -> QueryRule:
        """Return the query rule with the floors that this ledger needs."""
        query = with_floor(query, self.least) if self.least > 0.0 else query
        return query if self.certifying is None else by_certainty(query)

    def skip_to(self, rounds: int) -> None:
        """Count rounds in which nothing was drawn."""
        while self.rounds < rounds:
            to = rounds if self.met_at is not None else min(rounds, self.recent.next_start)
            self._reach(to, to - self.rounds)

    def caught_up(self, rounds: int) -> Self:
        """Return this ledger with rounds in which nothing was drawn counted."""
        self.skip_to(rounds)
        return self

    def enter(self, log: Log, labels: Codes | None, *, joined_at: float | None = None) -> None:
        """Enter the rounds of a log, with the labels of those asked, or as questions that wait.

        If the class of the first row has just joined, it was drawn at the odds of before, when
        nobody could predict it.
        """
        if self.met_at is not None:
            log.probabilities[:] = 0.0
            self.skip_to(self.rounds + len(log.asked))
            return
        first, odds, told = self.rounds, log.probabilities, log.forecasts
        if joined_at is not None and len(odds):
            odds, told = odds.copy(), told.copy()
            odds[0], told[0, TWO] = joined_at, NO_CLASS
        inside = odds >= self.whole.explore
        inside[: self.blind if self.chooses else None] = False
        self.blind = 0 if len(odds) else self.blind
        self._reach(first + len(log.asked), int((~inside).sum()))
        at = np.flatnonzero(log.asked & inside)
        if labels is None:
            self.pending |= dict(zip((first + at).tolist(), odds[at].tolist(), strict=True))
        else:
            self._add(first + at, odds[at], told[at], labels[at])
        if self.certifying is not None:
            self._certify(self.certifying, first, odds, told, log.asked, inside, labels)
        self._look()

    def _certify(
        self,
        certifying: Certifying,
        first: int,
        odds: Vector,
        told: Matrix,
        asked: Flags,
        inside: Flags,
        labels: Codes | None,
    ) -> None:
        """Enter rounds one after the other: first the question, then its answer."""
        wrong = None if labels is None else mistaken(told, labels)
        for i, level in enumerate(levels_of(told)):
            certifying.play(level, float(odds[i]), asked=bool(asked[i]), inside=bool(inside[i]))
            if asked[i] and wrong is not None:
                certifying.profile.learn(level, wrong=bool(wrong[i]))
                if inside[i]:
                    answer = first + i, float(odds[i])
                    certifying.wager.answer(*answer, wrong=bool(wrong[i]))

    def enter_one(self, told: Vector, probability: float, *, asked: bool) -> None:
        """Enter a round of its own, whose label, if asked, waits."""
        if self.met_at is not None:
            self.skip_to(self.rounds + 1)
            return
        inside = self.chooses and probability >= self.whole.explore
        if asked and inside:
            self.pending[self.rounds] = probability
        self._reach(self.rounds + 1, int(not inside))
        if self.certifying is not None:
            level = levels_of(told[np.newaxis])[0]
            self.certifying.play(level, probability, asked=asked, inside=inside)
        self._look()

    def answer(self, round_: int, told: Vector, code: float) -> None:
        """Enter the answer to a question that waited."""
        odds, told = self.pending.pop(round_, None), told[np.newaxis]
        if odds is not None:  # else the round is outside
            self._add(np.array([round_]), np.array([odds]), told, np.array([code]))
        if self.certifying is not None:
            wrong = bool(mistaken(told, np.array([code]))[0])
            self.certifying.profile.learn(levels_of(told)[0], wrong=wrong)
            if odds is not None:
                self.certifying.wager.answer(round_, odds, wrong=wrong)
            self._look_at_wager(self.certifying)

    def give_up(self, round_: int) -> None:
        """Enter that a question will never be answered."""
        odds = self.pending.pop(round_, None)
        if odds is None:
            return
        for evidence in (self.whole, self.recent):
            evidence.forget([round_], [odds])
        if self.certifying is not None:
            self.certifying.wager.give_up(round_)

    def certified(self, level: float, missing: str = WORST) -> Estimate | None:
        """Estimate the error since the start of the wager; None without such a goal."""
        if self.certifying is None:
            return None
        if missing != WORST:
            raise ValueError(
                f"missing={missing!r}, but a goal counts questions that were given up as mistakes; "
                "ask for a window, or make the learner without stop_when"
            )
        return self.certifying.wager.estimate(level, rounds=self.rounds)

    def estimate(self, level: float, *, late: bool, missing: str = WORST) -> Estimate:
        evidence = self.recent if late else self.whole
        waiting = list(self.pending), list(self.pending.values())
        pending = waiting if self.pending else 0
        known = evidence.estimate(level, pending=pending, missing=missing)
        return replace(known, _judge=None) if self.many else known

    def waiting_of_late(self) -> tuple[list[int], list[float]]:
        """Return the questions of the window that wait, numbered within it, and their odds."""
        since = self.recent.since
        late = {t: odds for t, odds in self.pending.items() if t >= since}
        return [t - since for t in late], list(late.values())

    def _reach(self, rounds: int, outside: int) -> None:
        self.outside += outside
        self.whole.reach(rounds, outside=self.outside)
        if self.met_at is None:
            self.recent.reach(rounds, outside=self.outside)

    def _add(self, rounds: Array, odds: Vector, told: Matrix, codes: Codes) -> None:
        predicted, labels = np.where(told[:, 0] > 0.0, 1, -1), np.asarray(codes, np.int64)
        if told.shape[1] >= MANY:  # of many classes only right and wrong are told apart
            self.many = True
            predicted, labels = np.ones(len(codes), int), np.where(mistaken(told, codes), -1, 1)
        for evidence in (self.whole, self.recent):
            evidence.add(rounds, odds, predicted, labels)

    def _look(self) -> None:
        if self.certifying is not None:
            self._look_at_wager(self.certifying)
        elif self.goal is not None and self.rounds % LOOK == 0:
            self._stop_if(self.goal.met(self.estimate(LEVEL, late=True)))

    def _look_at_wager(self, certifying: Certifying) -> None:
        self._stop_if(certifying.wager.met(LEVEL))

    def _stop_if(self, met: bool) -> None:
        if met and self.met_at is None:
            self.met_at = self.rounds
            LOGGER.info("goal %s met at round %d", self.goal, self.rounds)

    def state(self) -> dict[str, Array]:
        """Return all there is, as plain arrays."""
        waiting = np.array(list(self.pending), np.int64), np.array(list(self.pending.values()))
        state = {
            "ledger": np.array([self.outside, self.met_at or 0, self.many, self.blind], np.int64),
            "pending.rounds": waiting[0],
            "pending.odds": waiting[1],
        }
        for name, evidence in (("whole", self.whole), ("recent", self.recent)):
            state |= {f"{name}.{part}": value for part, value in evidence.state().items()}
        if self.certifying is not None:
            state |= {f"goal.{part}": v for part, v in self.certifying.state().items()}
        return state

    def read(self, reader: Reader) -> None:
        """Take what `state` gave from a file."""
        like, state = self.state(), {}
        for name, array in like.items():
            grows = name.startswith(GROWING)
            shape = (None, *array.shape[1:]) if grows else array.shape
            state[name] = reader.take(name, array.dtype, shape)
            if array.dtype.kind == "i" and (state[name] < 0).any():
                raise DamagedFile(f"the array {name!r} counts below 0")
        reader.check_all_taken()
        pieces = {
            len(a)
            for name, a in state.items()
            if name.startswith("recent.") and name != "recent.recent"
        }
        odds = state["pending.odds"]
        if len(pieces) != 1 or 0 in pieces or len(odds) != len(state["pending.rounds"]):
            raise DamagedFile("the estimates are of unequal lengths")
        if not ((odds > 0.0) & (odds <= 1.0)).all():
            raise DamagedFile(
                f"questions wait that were asked at odds {odds.min()} to {odds.max()}"
            )
        self.restore(state)

    def restore(self, state: dict[str, Array]) -> Self:
        """Go on exactly where `state` was taken."""
        parts: dict[str, State] = {"whole": {}, "recent": {}, "goal": {}}
        for name, value in state.items():
            owner, _, part = name.partition(".")
            if owner in parts:
                parts[owner][part] = value
        self.whole = Evidence.from_state(parts["whole"])
        self.recent = Recent.from_state(parts["recent"])
        if self.certifying is not None:
            self.certifying.restore(parts["goal"])
        self.outside, met_at, many, self.blind = (int(n) for n in state["ledger"])
        self.met_at, self.many = met_at or None, bool(many)
        waiting = state["pending.rounds"].tolist(), state["pending.odds"].tolist()
        self.pending = dict(zip(*waiting, strict=True))
        return self


def with_ledger(
    rules: Rules,
    explore: float | None,
    window: int | None,
    stop_when: str | None,
    *,
    many: bool = False,
) -> tuple[Rules, Ledger | None]:
    """Put a floor under the query rule where the error is to be estimated, and open a ledger.

    For the sake of a wager alone there is no floor at first: the learner learns before.
    """
    goal = None if stop_when is None else Goal.parse(stop_when)
    if many and goal is not None:
        check_many(goal)
    least = rules.query.explore
    if explore is not None:
        number = isinstance(explore, Real) and not isinstance(explore, bool)
        if not number or not 0.0 < explore <= 1.0:
            raise ValueError(f"explore must lie in (0, 1], got {explore!r}")
        least = float(max(explore, least))
    certified = goal is not None and goal.certified
    if goal is not None and not certified and least == 0.0:
        least = EXPLORE_TO_STOP
    if least == 0.0 and not certified:
        if window is not None:
            raise ValueError(f"window={window} is for an estimate of the error: set explore too")
        return rules, None
    floor = max(least, EXPLORE_TO_STOP) if certified and explore is None else least
    ledger = Ledger(float(floor), window, goal, least)
    return rules._replace(query=ledger.asking(rules.query)), ledger


def check_many(goal: Goal) -> None:
    if not goal.certified:
        raise ValueError(f"{goal} is about two classes and there are more: a goal is error<=0.05")
