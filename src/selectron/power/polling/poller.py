"""A poller that learns how often to look, from how many things it finds."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Self

import numpy as np

from selectron.experts import AdaHedge, LearnAlpha, optimal_alphas
from selectron.numeric.coins import coins
from selectron.power.polling.ladders import make_ladders
from selectron.power.polling.readings import read_clock, read_number
from selectron.power.polling.settings import Settings
from selectron.power.polling.state import check_state, experts_from_lists, lists_of
from selectron.power.polling.waiting import await_between_polls, sleep_between_polls

HORIZON = 1000  # polls for which the switching rates are spaced; 100 and 10,000 do as well
COMMITMENT = 10.0  # of AdaHedge: its own proof has 1, which is slow to leave a bad interval

FOREVER = 1e300  # seconds of silence are counted up to here: a sum of more may not be finite


class AdaptivePoller:
    """Choose when to poll next, so that polls and waiting items together cost little.

    A poll costs `poll_cost`; an item that waits to be found costs `delay_cost` a second. Experts
    are intervals between the two bounds, some fixed, some growing with the silence. Learn-α
    weighs them ([Mon06], section 2.5), and the poller polls at their mean *rate*. An expert with
    interval T_i is charged for T seconds in which n items came: poll_cost · T/T_i polls, and
    delay_cost · n T_i/2 for items that wait half an interval each. The learning rate is tuned by
    the losses themselves, so only the ratio of the two costs matters.

    Parameters
    ----------
    min_interval, max_interval : float
        Seconds; every interval lies between them. After a long silence the next item may wait
        for `max_interval`: choose what you can bear.
    poll_cost, delay_cost : float
        > 0, in a unit of yours: of one poll, and of one item waiting for one second.
    jitter : float, default=0.1
        Each interval is moved by up to this fraction of itself, so that many clients do not
        come at once.
    random_state : int, default=0
        Seed of the jitter.
    clock : callable
        Tells the time in seconds; it must not go back.

    Examples
    --------
    >>> poller = AdaptivePoller(1.0, 64.0, poll_cost=1.0, delay_cost=0.1, jitter=0.0)
    >>> print(round(poller.next(), 3))
    2.593
    >>> for _ in range(20):
    ...     poller.observe(0, elapsed=poller.next())
    >>> print(round(poller.next(), 1))
    49.2
    >>> poller.observe(40, elapsed=poller.next())
    >>> print(round(poller.next(), 3))
    1.669
    """

    def __init__(
        self,
        min_interval: float,
        max_interval: float,
        poll_cost: float,
        delay_cost: float,
        jitter: float = 0.1,
        random_state: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = Settings(
            min_interval, max_interval, poll_cost, delay_cost, jitter, random_state
        )
        self.clock = clock
        self._ladders = make_ladders(self.settings.min_interval, self.settings.max_interval)
        rates = optimal_alphas(horizon=HORIZON)
        self._experts = LearnAlpha(
            len(self._ladders.shortest), alphas=rates[rates <= 0.5], eta=AdaHedge(COMMITMENT)
        )
        self._n_polls = 0
        self._silence = 0.0  # seconds without an item, up to the last poll
        self._polled_at = read_clock(clock)

    @property
    def n_polls(self) -> int:
        """Polls observed so far."""
        return self._n_polls

    def next(self) -> float:
        """Return how many seconds to wait before the next poll; the same until it is observed."""
        proposed = self._ladders.intervals(self._silence)
        interval = 1 / self._experts.predict(1 / proposed)
        toss = coins(self.settings.random_state, self._n_polls, 1)[0]
        interval *= 1 + self.settings.jitter * (2 * toss - 1)
        return float(min(max(interval, self.settings.min_interval), self.settings.max_interval))

    def observe(self, n_items: float, elapsed: float | None = None) -> None:
        """Learn from a poll: how many items (or bytes) it found.

        Parameters
        ----------
        n_items : float
            0 or more.
        elapsed : float, optional
            Seconds since the poll before; by the clock if left out.
        """
        now = read_clock(self.clock)
        passed = self._seconds_since(now, elapsed)
        found = read_number("n_items", n_items, "give the number of items found, 0 or more")
        self._experts.update(self._losses(found, passed))
        self._silence = 0.0 if found > 0 else min(self._silence + passed, FOREVER)
        self._n_polls += 1
        self._polled_at = now

    def _seconds_since(self, now: float, elapsed: float | None) -> float:
        if elapsed is not None:
            remedy = "give the seconds since the poll before, finite and 0 or more"
            return read_number("elapsed", elapsed, remedy)
        if now < self._polled_at:
            raise ValueError(
                f"{now - self._polled_at} seconds since the last poll; time must not go back: use "
                "a monotonic clock, or pass elapsed yourself"
            )
        return now - self._polled_at

    def _losses(self, n_items: float, passed: float) -> Any:
        proposed = self._ladders.intervals(self._silence)
        with np.errstate(over="ignore"):
            polls = self.settings.poll_cost * (passed / proposed)
            waits = self.settings.delay_cost * n_items * (proposed / 2)
            losses = polls + waits
        if not np.isfinite(losses).all():
            raise ValueError(
                f"n_items is {n_items} after {passed} seconds; what that costs is beyond all "
                "numbers: count in larger units"
            )
        return losses

    def __iter__(self) -> Iterator[float]:
        """Sleep, yield the seconds slept, and again; `observe` must be called in between."""
        return sleep_between_polls(self)

    def __aiter__(self) -> AsyncIterator[float]:
        """Do as `__iter__` with ``async for``: others run meanwhile."""
        return await_between_polls(self)

    def state(self) -> dict[str, Any]:
        """Return all that a continuation needs as numbers and lists, for JSON or the like."""
        return {
            "settings": self.settings.as_dict(),
            "n_polls": self._n_polls,
            "silence": self._silence,
            "experts": lists_of(self._experts.state()),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], clock: Callable[[], float] = time.monotonic) -> Self:
        """Build the poller that goes on exactly where `state` was taken.

        The current interval begins anew: time in which no poller ran is not counted.
        """
        settings, n_polls, silence, experts = check_state(state)
        poller = cls(**settings, clock=clock)
        poller._experts = experts_from_lists(experts, poller._experts)
        poller._n_polls, poller._silence = n_polls, silence
        return poller
