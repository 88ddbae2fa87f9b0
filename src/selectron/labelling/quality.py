"""What the audits say: the error with its interval, and whether the goal is reached."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from selectron.labelling import checks
from selectron.labelling.audits import Audited, Draw
from selectron.labelling.books import Books, Question
from selectron.labelling.checks import Label
from selectron.labelling.events import Reply

Estimate = Callable[[Audited, float], Reply]

Known = TypeVar("Known")

CURVE_POINTS = 32
CERTIFYING_RATE = 1.0  # of audits, when the goal is near
RECENT_AUDITS = 20
LEAST_AUDITS = 5  # before the goal can be near
OUTLOOK_LABELS = 25
OUTLOOK_AUDITS = 20  # with fewer audits a forecast would be a guess


class Judged(NamedTuple):
    """An audit, and the label it got."""

    question: Question
    label: Label


class Quality:
    """The estimates of one desk, computed again only when an audit changes."""

    def __init__(self, books: Books, estimate: Estimate) -> None:
        self._books = books
        self._estimate = estimate
        self._key: object = None
        self._cache: dict[str, Any] = {}
        self._plotted: list[Draw] = []
        self._points: dict[int, Reply] = {}

    def judged(self) -> list[Judged]:
        """Return the audits that count, with the labels given, in the order of the draws.

        For the error they are those of the model at hand, for recall all that were ever drawn.
        What bounds the mistakes among the items at hand leaves out audits of items that were
        pushed: they were drawn from a stream.
        """
        books = self._books
        after = 0 if self._measure() == "recall" else books.audits_from
        pushed = books.passed if self._measure() == "recall" or books.frozen else ()
        return [
            Judged(question, books.labels[row])
            for row, question in books.audits.items()
            if row in books.labels and question.number > after and row not in pushed
        ]

    @property
    def level(self) -> float:
        """The level of the interval.

        Each frozen model is one more try at the goal. The k-th may err with 1 / (k (k + 1)) of the
        probability allowed, so that all tries together keep to it.
        """
        level, k = float(self._books.settings["level"]), self._books.freezes
        return 1.0 - (1.0 - level) / (k * (k + 1)) if self._books.frozen else level

    def audit_rate(self, change: str | None = None) -> float:
        """Return the share of audits among the questions, large when the goal is near.

        With a change of phase, it is that of the questions that follow.
        """
        rate = float(self._books.settings["audit_rate"])
        if not self._books.knows_two_classes:
            return 0.0  # nothing is predicted yet
        frozen = self._books.frozen if change is None else change == "freeze"
        near = frozen if self._measure() == "error" else self._recall_is_near()
        beyond = self._books.settings["beyond_goal"]
        return max(rate, CERTIFYING_RATE) if rate and near and not beyond else rate

    def phase_change(self) -> str | None:
        """Say whether to "freeze" the model for audits, or to "thaw" it and learn on.

        The model is frozen when the recent audits are as good as the goal. It is thawed when
        audits are wrong more often than the goal allows by two deviations. A stream has no rest
        that a frozen model could be judged by.
        """
        streams = bool(self._books.passed) and not self._books.frozen
        if self._measure() != "error" or not self.audit_rate() or streams:
            return None
        limit = checks.goal(self._books.settings["goal"]).limit
        wrong = [draw.wrong for draw in self._kept("wrong", self._wrong)]
        if self._books.frozen:
            allowed = limit * len(wrong)
            bad = len(wrong) >= RECENT_AUDITS and sum(wrong) > allowed + 2.0 * allowed**0.5
            return "thaw" if bad else None
        recent = wrong[-RECENT_AUDITS:]
        good = len(recent) >= LEAST_AUDITS and sum(recent) <= limit * len(recent)
        return "freeze" if good else None

    def _measure(self) -> str | None:
        goal = self._books.settings["goal"]
        return None if goal is None else checks.goal(goal).measure

    def _recall_is_near(self) -> bool:
        if self._measure() != "recall" or self.judged_count() < LEAST_AUDITS:
            return False
        recall = self.recall()["recall"]
        return recall is not None and recall >= checks.goal(self._books.settings["goal"]).limit

    def error(self) -> Reply:
        """Return error, low, high and the number of audits."""
        return dict(self._kept("error", lambda: self._of(self._wrong())))

    def recall(self) -> Reply:
        """Return the recall of the answers, with its lower limit.

        Audits bound the share of the positive class among the items without a label. So they
        bound how many there are in all; the labels say how many were found.
        """
        total = self._kept("positives", self._positives)
        found = self._books.balance[self._books.settings["positive"]]
        share, low = (found / max(found, n) if n else None for n in total)
        return {"recall": share, "low": low or 0.0, "high": 1.0, "found": found}

    def reached(self) -> bool:
        """Say whether the goal is reached, with the confidence of the level."""
        text = self._books.settings["goal"]
        if text is None or not self.judged_count():
            return False
        goal = checks.goal(text)
        if goal.measure == "error":  # one model is judged, or audits would add up different ones
            return self._books.frozen and bool(self.error()["high"] <= goal.limit)
        return bool(self.recall()["low"] >= goal.limit)

    def judged_count(self) -> int:
        return len(self._kept("wrong", self._wrong))

    def stops(self) -> bool:
        """Say whether the desk has nothing more to ask because the goal is reached."""
        return self.reached() and not self._books.settings["beyond_goal"]

    def curve(self) -> list[Reply]:
        """Return the error by questions asked, at most at 64 places."""
        audits, records = self.judged(), self._wrong()
        if self._plotted != records[: len(self._plotted)]:
            self._points = {}  # an audit was corrected or undone
        self._plotted = records
        step = 1
        while step * CURVE_POINTS < len(records):
            step *= 2
        places = {*range(step, len(records) + 1, step), len(records)} - {0}
        for n in places - self._points.keys():
            question = audits[n - 1][0]
            estimate = self._estimate(self._audited(records[:n], question.unlabelled), self.level)
            self._points[n] = {"labels": question.number, **estimate}
        self._points = {n: self._points[n] for n in sorted(places)}
        return list(self._points.values())

    def outlook(self) -> Reply | None:
        """Say what the next labels should bring, if audits go on as they went.

        None where there are too few audits or items to say so.
        """
        records = self._kept("wrong", self._wrong)
        more = round(OUTLOOK_LABELS * self.audit_rate())
        unlabelled = self._books.n_unlabelled
        if len(records) < OUTLOOK_AUDITS or not more or unlabelled <= OUTLOOK_LABELS:
            return None
        share = sum(draw.wrong for draw in records) / len(records)
        wrong, gone = round(share * more), records[-1].gone
        limit = _limit(self._books.settings["goal"])
        forecast = [Draw(n < wrong, unlabelled - n, gone, limit) for n in range(more)]
        estimate = self._kept("outlook", lambda: self._of(records + forecast))
        return {"labels": OUTLOOK_LABELS, "low": estimate["low"], "high": estimate["high"]}

    def _wrong(self) -> list[Draw]:
        """Return the audits of the error.

        Whatever else has left the items that could be drawn may have been a mistake.
        """
        draws: list[Draw] = []
        for question, label in self.judged():
            most = draws[0].left if draws else question.unlabelled
            gone = max(0, most - question.unlabelled - len(draws))
            limit = _limit(question.goal)
            draws.append(Draw(question.guess != label, question.unlabelled, gone, limit))
        return draws

    def _positives(self) -> tuple[float, float]:
        """Return how many positives there are in all: as the audits have it, and at most."""
        positive = self._books.settings["positive"]
        draws: list[Draw] = []
        shown, first = 0, 0
        for question, label in self.judged():
            first = question.positives if not draws else first
            gone = max(0, question.positives - first - shown)
            draws.append(Draw(positive in _set(label), question.unlabelled, gone))
            shown += draws[-1].wrong
        found, rest = self._books.balance[positive], self._books.n_at_hand
        if not draws:
            return 0.0, found + float(rest)
        surely = max(0, found - first - shown)
        audited = Audited(draws, rest, True, surely)
        estimate = self._estimate(audited, self.level)
        return found + (estimate["error"] or 0.0) * rest, found + estimate["high"] * rest

    def _audited(self, draws: list[Draw], left: int) -> Audited:
        return Audited(draws, left, self._books.frozen)

    def _of(self, draws: list[Draw]) -> Reply:
        if not draws:
            return {"error": None, "low": 0.0, "high": 1.0, "audits": 0}
        return self._estimate(self._audited(draws, self._books.n_at_hand), self.level)

    def _kept(self, name: str, compute: Callable[[], Known]) -> Known:
        books = self._books
        key = (
            books.audits_changed,
            *(books.settings[name] for name in ("level", "positive", "goal")),
        )
        if key != self._key:
            self._key, self._cache = key, {}
        if name not in self._cache:
            self._cache[name] = compute()
        known: Known = self._cache[name]
        return known


def _limit(goal: str | None) -> float | None:
    """Return the error that a goal allows; None where it is not about the error."""
    read = None if goal is None else checks.goal(goal)
    return read.limit if read is not None and read.measure == "error" else None


def _set(label: checks.Label) -> list[str]:
    return [label] if isinstance(label, str) else label
