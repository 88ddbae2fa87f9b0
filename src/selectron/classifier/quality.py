"""How good a learner is now: the estimate, the goal, what more labels would bring."""

from selectron.classifier.ledger import Ledger
from selectron.classifier.multilabel import MultilabelRun
from selectron.classifier.run import Run
from selectron.estimate import (
    Estimate,
    Goal,
    Outlook,
    labels_to_certify,
    labels_to_goal,
    outlook,
    outlook_of,
)
from selectron.estimate.wager import LEVEL
from selectron.protocol import QueryState, ready
from selectron.queries.auto import AutoState, floor_of, one_class, paused
from selectron.queries.budget import BudgetState, left
from selectron.queries.floor import FloorByCertaintyState, FloorState

LATER_HALF = "half"


class Quality:
    """Questions about a learner's own error, answered from the labels it has asked."""

    def __init__(self, run: Run | MultilabelRun, window: int | None) -> None:
        self.run = run
        self.window = window or LATER_HALF

    def estimate(self, level: float, window: int | str | None, missing: str) -> Estimate:
        """Estimate the error: of the window that the learner keeps, or of the stream so far.

        With a goal for the error it is that since the start of the wager, not of all rounds.
        """
        if window is not None and window != self.window:
            made = "without window" if window == LATER_HALF else f"with window={window!r}"
            raise ValueError(
                f"window={window!r}, but this learner keeps window={self.window!r}: make it {made}"
            )
        ledger = self._ledger()
        certified = ledger.certified(level, missing) if window is None else None
        return certified or ledger.estimate(level, late=window is not None, missing=missing)

    def outlook(self, labels: int, level: float) -> Outlook:
        """Tell what the next labels are expected to bring, if all goes on as it went of late."""
        ledger = self._ledger()
        if ledger.certifying is not None:
            wager = ledger.certifying.wager
            return outlook_of(wager, labels, level=level, rounds=ledger.rounds)
        late, share = ledger.recent.latest, ledger.recent.share_of(level)
        return outlook(late, labels, level=share, pending=ledger.waiting_of_late())

    def readout(self) -> dict[str, object]:
        """Return how good it is, what is still to be known, and why it asks or not, by name."""
        run, ledger = self.run, self.run.ledger
        told: dict[str, object] = {"labels": run.n_asked, "rounds": run.rounds}
        told |= {"waiting": len(run.tickets.waiting), "now": why_silent(run)}
        if ledger is None:
            return told
        ledger.skip_to(run.rounds)
        certified = ledger.certified(LEVEL)
        late = certified or ledger.estimate(LEVEL, late=True)
        name = "of late" if certified is None else "since the start"
        told |= {"so far": ledger.estimate(LEVEL, late=False), name: late}
        if worse := _worse_of_late(ledger):
            told["drift"] = worse
        if ledger.goal is not None:
            told["goal"] = _towards(ledger, ledger.goal, late)
        if ledger.met_at is None and late.labels:
            told["next"] = self.outlook(100, LEVEL)
        return told

    def in_lines(self) -> str:
        """Return the readout as a few lines."""
        told = self.readout()
        lines = [f"{told.pop('labels'):,} labels asked in {told.pop('rounds'):,} rounds"]
        if waiting := told.pop("waiting"):
            lines[0] += f"; {waiting:,} wait for an answer"
        lines += [f"{name}: {value}" for name, value in told.items()]
        if self.run.ledger is None:
            lines.append("error: unknown; with explore=0.05 it would be estimated")
        return "\n".join(lines)

    def _ledger(self) -> Ledger:
        ledger = self.run.ledger
        if ledger is None:
            raise ValueError(
                "no error can be estimated: the odds of a question have no floor; make the learner "
                "with explore=0.05, say, to ask at least every twentieth label"
            )
        return ledger.caught_up(self.run.rounds)


def _worse_of_late(ledger: Ledger) -> str | None:
    """Say that the error of late surely lies above the earlier one, if it does.

    The stream so far holds the rounds of late too. If these have the larger error, the others have
    a smaller one. Each interval has half of what the level leaves.
    """
    both = 1.0 - (1.0 - LEVEL) / 2.0
    late, so_far = ledger.estimate(both, late=True), ledger.estimate(both, late=False)
    if so_far.high is None or late.labels == 0 or late.low <= so_far.high:
        return None
    return (
        f"the error of late is at least {late.low:.1%}, that of the whole stream at most "
        f"{so_far.high:.1%}: the concept has moved; TrackingClassifier follows such streams, and a "
        "learner begun anew forgets the past"
    )


def _towards(ledger: Ledger, goal: Goal, late: Estimate) -> str:
    if ledger.certifying is not None and not ledger.certifying.wager.starts:
        return f"{goal} has no start yet: the learner still learns"
    if late.labels == 0:
        return f"{goal} needs labels first"
    if ledger.met_at is not None:
        return f"{goal} met at round {ledger.met_at:,}: nothing has been asked since"
    if ledger.certifying is not None:
        more = labels_to_certify(ledger.certifying.wager, goal, rounds=ledger.rounds)
    else:
        share, waiting = ledger.recent.share_of(LEVEL), ledger.waiting_of_late()
        more = labels_to_goal(ledger.recent.latest, goal, level=share, pending=waiting)
    far = "out of reach at this error" if more is None else f"about {more:,} more labels"
    return f"{goal.status(late)}; {far}"


def why_silent(run: Run | MultilabelRun) -> str:
    """Say why a label is asked now or not, the strongest reason first."""
    ledger, state = run.ledger, run.machine.states.now
    if ledger is not None and ledger.met_at is not None:
        return f"asks nothing: the goal {ledger.goal} was met at round {ledger.met_at:,}"
    if not ready(state.scaling):
        return "asks nothing: the first rows only measure the features"
    return _reason(state.query, run)


def _reason(query: QueryState, run: Run | MultilabelRun) -> str:
    if isinstance(query, BudgetState):
        if left(query) < 1.0:
            kind = "for now: the rate of the budget" if query.rate > 0.0 else "the budget"
            return f"asks nothing: {kind} is spent"
        return _reason(query.rule, run)
    if isinstance(query, FloorByCertaintyState):
        least = query.floors.min()
        reason = _reason(query.rule, run)
        return f"{reason}; for the goal at least {least:.1%} of all" if least > 0.0 else reason
    if isinstance(query, FloorState) and query.explore == 0.0:
        return _reason(query.rule, run)
    if isinstance(query, FloorState):
        return f"{_reason(query.rule, run)}, and at least {query.explore:.1%} of all"
    if isinstance(query, AutoState):
        return _reason_of_auto(query, run)
    return "asks as its rule says"


def _reason_of_auto(query: AutoState, run: Run | MultilabelRun) -> str:
    if paused(query):
        waiting = query.n_asked - query.n_negative - query.n_positive
        return f"waits for {waiting:,} answers; until some come, odds are {floor_of(query):.1%}"
    if query.n_negative + query.n_positive == 0:
        return "asks: no label is known yet"
    if one_class(query):
        names = run.labels.classes.tolist()
        return (
            f"only one class so far, {names[0]!r}: asks for what is new, and at least "
            f"{floor_of(query):.1%} of all"
        )
    return f"asks below its threshold, and at least {floor_of(query):.1%} of all"
