"""A poller that learns how often to look, from how many items it finds."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from math import inf, isfinite, nan
from reprlib import repr as short_repr
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Vector
from selectron.experts import AdaHedge, LearnAlpha, optimal_alphas
from selectron.experts.readings import as_float
from selectron.numeric.coins import coins
from selectron.power.polling.schedules import await_between_polls, sleep_between_polls

State = dict[str, Any]  # numbers, lists and dicts, as JSON knows them

HORIZON = 1000  # polls for which the switching rates are spaced; 100 and 10,000 do as well
COMMITMENT = 10.0  # of AdaHedge: its own proof has 1, which is slow to leave a bad interval
REACHES = (1.0, 4.0, 16.0, 64.0)  # by how much an interval may grow; 1 keeps it as it is
FOREVER = 1e300  # the longest silence that is counted, in seconds: larger sums may overflow
SMALLEST, LARGEST = 1e-100, 1e100  # so that no product or quotient of two settings overflows
LARGEST_JITTER = 1 - 2.0**-53
MOST_POLLS = 2**53  # one a nanosecond for a hundred days


def read_number(
    name: str, value: object, remedy: str, least: float = 0.0, most: float = inf
) -> float:
    """Return a finite number between two bounds; text is refused even if it looks like one."""
    number = as_float(value)
    if not (isfinite(number) and least <= number <= most):
        raise ValueError(f"{name} is {short_repr(value)}; {remedy}")
    return number


def read_clock(clock: Callable[[], float]) -> float:
    """Return what the clock says now, which may be any number."""
    told = clock() if callable(clock) else nan
    now = as_float(told)
    if not isfinite(now):
        what = f"clock() is {told!r}" if callable(clock) else f"clock is {clock!r}"
        raise ValueError(
            f"{what}; give a function that tells the time in seconds, such as time.monotonic"
        )
    return now


class Settings(NamedTuple):
    """The settings of an `AdaptivePoller`, which documents them."""

    min_interval: float
    max_interval: float
    poll_cost: float
    delay_cost: float
    jitter: float
    random_state: int

    def checked(self) -> "Settings":
        """Return the settings as plain numbers, which JSON knows, or refuse them."""
        remedy = f"give a finite number > 0, from {SMALLEST} to {LARGEST}"
        low, high, poll_cost, delay_cost = (
            read_number(name, getattr(self, name), remedy, SMALLEST, LARGEST)
            for name in ("min_interval", "max_interval", "poll_cost", "delay_cost")
        )
        if high < low:
            raise ValueError(
                f"max_interval is {high}, below min_interval {low}; "
                "give the longest wait you can bear"
            )
        remedy = "give a fraction in [0, 1), 0 for none"
        jitter = read_number("jitter", self.jitter, remedy, most=LARGEST_JITTER)
        seed = as_float(self.random_state)
        if not (0 <= seed < 2.0**63 and seed.is_integer()):
            raise ValueError(
                f"random_state is {self.random_state!r}; give a whole number, 0 or more"
            )
        return Settings(low, high, poll_cost, delay_cost, jitter, int(self.random_state))


class Ladders(NamedTuple):
    """The experts: each proposes the time since the last item, within bounds of its own."""

    shortest: Vector
    longest: Vector

    def intervals(self, silence: float) -> Vector:
        """Return the interval each expert proposes after ``silence`` seconds without an item."""
        return np.minimum(self.longest, np.maximum(self.shortest, silence))


def make_ladders(min_interval: float, max_interval: float) -> Ladders:
    """Make an expert for every doubling of the shortest interval and for every reach.

    >>> make_ladders(1.0, 4.0).longest.tolist()
    [1.0, 4.0, 2.0, 4.0, 4.0]
    """
    rungs = []
    rung = min_interval
    while rung < max_interval * (1 - 1e-9):
        rungs.append(rung)
        rung *= 2
    rungs.append(max_interval)
    pairs = [(rung, min(max_interval, reach * rung)) for rung in rungs for reach in REACHES]
    shortest, longest = np.array(list(dict.fromkeys(pairs)), dtype=np.float64).T
    return Ladders(shortest.copy(), longest.copy())


class AdaptivePoller:
    """Choose when to poll next, so that polls and waiting items together cost little.

    A poll costs `poll_cost`; an item that waits to be found costs `delay_cost` a second. Experts
    are intervals between the two bounds: some stay fixed, some grow with the time since the last
    item. Learn-α weighs the experts ([Mon06], section 2.5), and the poller polls at their mean
    *rate*. For T seconds in which n items came, an expert with interval T_i is charged poll_cost ·
    T/T_i for its polls and delay_cost · n T_i/2 for items that wait half an interval each. The
    losses tune the learning rate, so only the ratio of the two costs matters.

    Parameters
    ----------
    min_interval, max_interval : float
        Seconds; every interval lies between them. After a long time without items, the next item
        may wait for `max_interval`: choose what you can bear.
    poll_cost, delay_cost : float
        Cost of one poll, and of one item waiting for one second; > 0, in any unit.
    jitter : float, default=0.1
        Each interval is moved by up to this fraction of itself, so that many clients do not
        poll at once.
    random_state : int, default=0
        Seed of the jitter.
    clock : callable
        Returns the time in seconds, which must not go back.

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
        given = Settings(min_interval, max_interval, poll_cost, delay_cost, jitter, random_state)
        self.settings = given.checked()
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
        """Return how many seconds to wait before the next poll; constant until `observe`."""
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
            Seconds since the poll before; measured by the clock if left out.
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

    def _losses(self, n_items: float, passed: float) -> Vector:
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
        """Sleep and yield the seconds slept, again and again; call `observe` in between."""
        return sleep_between_polls(self)

    def __aiter__(self) -> AsyncIterator[float]:
        """Do as `__iter__` does, for ``async for``: other tasks run meanwhile."""
        return await_between_polls(self)

    def state(self) -> State:
        """Return all that a continuation needs as numbers and lists, for JSON or the like."""
        lists = {name: np.asarray(v).tolist() for name, v in self._experts.state().items()}
        return {
            "settings": self.settings._asdict(),
            "n_polls": self._n_polls,
            "silence": self._silence,
            "experts": {name: None if v == inf else v for name, v in lists.items()},
        }

    @classmethod
    def from_state(cls, state: State, clock: Callable[[], float] = time.monotonic) -> Self:
        """Build the poller that goes on exactly where `state` was taken.

        The current interval begins anew: time in which no poller ran is not counted.
        """
        settings, n_polls, silence, experts = check_state(state)
        poller = cls(**settings, clock=clock)
        poller._experts = restore_experts(experts, poller._experts)
        poller._n_polls, poller._silence = n_polls, silence
        return poller


def check_state(state: State) -> tuple[State, int, float, State]:
    """Return settings, polls, silence and experts of a state, or refuse it."""
    if not isinstance(state, dict):
        raise ValueError(f"a state is a dict, got {state!r}; pass what AdaptivePoller.state() gave")
    missing = [name for name in ("settings", "n_polls", "silence", "experts") if name not in state]
    if missing:
        raise ValueError(f"state has no {missing[0]!r}; pass what AdaptivePoller.state() returned")
    settings, n_polls, experts = state["settings"], state["n_polls"], state["experts"]
    if not isinstance(settings, dict) or settings.keys() != set(Settings._fields):
        known = ", ".join(Settings._fields)
        raise ValueError(f"the settings are {settings!r}; a state holds {known}")
    if not (isinstance(n_polls, int) and 0 <= n_polls < MOST_POLLS):
        raise ValueError(
            f"n_polls is {short_repr(n_polls)}; a state holds a whole number, from 0 to 2^53"
        )
    silence = read_number("silence", state["silence"], "a state holds seconds, 0 or more")
    if not isinstance(experts, dict):
        raise ValueError(f"the experts' state is {experts!r}; a state holds a dict")
    return settings, n_polls, silence, experts


def restore_experts(lists: State, like: LearnAlpha) -> LearnAlpha:
    """Rebuild experts of the same shape as those of a new poller with the same settings."""
    arrays = {}
    for name, value in like.state().items():
        if name not in lists:
            raise ValueError(f"the experts' state has no {name!r}; it is damaged")
        expected = np.asarray(value)
        found = read_like(name, lists[name], expected)
        if found.size != expected.size:
            raise ValueError(
                f"{name!r} of the experts' state holds {found.size} numbers instead of "
                f"{expected.size}; it belongs to other intervals, or is damaged"
            )
        arrays[name] = found.reshape(expected.shape) if expected.shape else found.item()
    return LearnAlpha.from_state(arrays)


def read_like(name: str, given: object, expected: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return an array of the expected type, finite unless an infinite number was expected.

    JSON has no infinity, so a state has None in its place.
    """
    try:
        found = np.array(inf if given is None else given, dtype=expected.dtype)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name!r} of the experts' state holds no numbers; it is damaged"
        ) from None
    bad = found[~np.isfinite(found)]
    if len(bad) and np.isfinite(expected).all():
        raise ValueError(f"{name!r} of the experts' state holds {bad[0]}; it is damaged")
    return found
