"""How good it is now: the estimate, the goal, what more labels would bring, why none is asked."""

from selectron.classifier.ledger import LEVEL, Ledger
from selectron.classifier.lifecycle import Lifecycle
from selectron.classifier.silence import silence
from selectron.estimate import Estimate, Goal, Outlook, labels_to_goal, outlook

LATER_HALF = "half"


class Honest(Lifecycle):
    """Questions about the learner's own error, answered from the labels it has asked."""

    def estimate(self, level: float = 0.95, window: int | str | None = None) -> Estimate:
        """Estimate the error of the stream so far, or of late, without any test set.

        Parameters
        ----------
        level : float
            Probability that the interval holds, at all times at once.
        window : int or "half", optional
            None is the stream so far. A number of rounds is the one the learner was made with;
            "half" is the later half of the stream where it was made without.

        Returns
        -------
        Estimate
            `error`, `low`, `high`, `precision`, `recall`, `f1`: of the predictions as they were
            made, round by round, asked or not.

        Examples
        --------
        >>> import numpy as np
        >>> from selectron import SelectiveClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((10_000, 10))
        >>> y = X @ rng.standard_normal(10) > 0
        >>> clf = SelectiveClassifier(explore=0.1, random_state=0).fit(X, y)
        >>> print(clf.estimate(window="half"))
        error 0.4 % (0.2 to 2.1 %, 95 % at all times), 638 labels of 6,000 rounds
        """
        if window is not None and window != (self.window or LATER_HALF):
            made = "without window" if window == LATER_HALF else f"with window={window!r}"
            raise ValueError(
                f"window={window!r}, but this learner keeps window={self.window or LATER_HALF!r}: "
                f"make it {made}"
            )
        return self._ledger().estimate(level, late=window is not None)

    @property
    def stopped_at_(self) -> int | None:
        """The round at which the goal was met and the questions ended, None while they go on."""
        ledger = self._started(AttributeError).machine.ledger
        return None if ledger is None else ledger.met_at

    def outlook(self, labels: int = 100, level: float = 0.95) -> Outlook:
        """Tell what the next labels are expected to bring, if all goes on as it went of late."""
        ledger = self._ledger()
        late, share = ledger.recent.latest, ledger.recent.share_of(level)
        return outlook(late, labels, level=share, pending=ledger.waiting_of_late())

    def readout(self) -> str:
        """Say in a few lines how good it is, what is still to be known, and why it asks or not."""
        run = self._started()
        lines = [f"{run.machine.n_asked:,} labels asked in {run.machine.n_seen:,} rounds"]
        lines.append(f"now: {silence(run)}")
        ledger = run.machine.ledger
        if ledger is not None:
            ledger.skip_to(run.machine.n_seen)
        if ledger is None:
            return "\n".join([*lines, "error: unknown; with explore=0.05 it would be estimated"])
        lines.append(f"so far: {ledger.estimate(LEVEL, late=False)}")
        late = ledger.estimate(LEVEL, late=True)
        lines.append(f"of late: {late}")
        if ledger.goal is not None:
            lines.append(f"goal: {self._towards(ledger, ledger.goal, late)}")
        if ledger.met_at is None and late.labels:
            lines.append(f"next: {self.outlook()}")
        return "\n".join(lines)

    def _towards(self, ledger: Ledger, goal: Goal, late: Estimate) -> str:
        if late.labels == 0:
            return f"{goal} needs labels first"
        if ledger.met_at is not None:
            return f"{goal} met at round {ledger.met_at:,}: nothing has been asked since"
        share, waiting = ledger.recent.share_of(LEVEL), ledger.waiting_of_late()
        more = labels_to_goal(ledger.recent.latest, goal, level=share, pending=waiting)
        far = "out of reach at this error" if more is None else f"about {more:,} more labels"
        return f"{goal.status(late)}; {far}"

    def _ledger(self) -> Ledger:
        machine = self._started().machine
        ledger = machine.ledger
        if ledger is None:
            raise ValueError(
                "no error can be estimated: the odds of a question have no floor; make the learner "
                "with explore=0.05, say, to ask at least every twentieth label"
            )
        return ledger.caught_up(machine.n_seen)
