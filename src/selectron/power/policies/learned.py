"""Learned: follow the plan that has cost least, in Joules and in seconds of delay."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from selectron.experts import LearnAlpha, optimal_alphas
from selectron.experts.rate import Eta, make_rate
from selectron.power.clock import SECOND
from selectron.power.network import Radio
from selectron.power.policies.plan import (
    NEVER,
    PlanController,
    Prices,
    Segment,
    costs_of_plans,
    learnable_plans,
    prior_weight,
)
from selectron.power.policies.policy import SLEEP_S, check_longest_sleep
from selectron.spec import POSITIVE, Range, Spec

MOST_J = 1.0  # no segment costs more, so that one long pause does not decide everything
OCCASIONS = 3
ANSWERED, ACKNOWLEDGED, UNASKED = range(OCCASIONS)
SMALL = 64  # bytes: a packet without data
LATE_ACK = (SECOND // 1000 * 3, SECOND // 1000 * 150)  # time since the packet it acknowledges
LATELY = 2 * SECOND


class Occasions:
    """Tells on which occasion a packet was sent; each occasion has a learner of its own.

    What may follow a packet differs between a request, an ACK after a reply, and an ACK of what
    came unasked. A small packet sent 3 to 150 ms after one was received is a delayed ACK, which
    gets no answer. Any other packet may get one, also an ACK sent at once: it lets a reply go on.
    """

    def __init__(self) -> None:
        self.asked_at = -LATELY
        self.received_at = -LATELY

    def received(self, now: int) -> None:
        self.received_at = now

    def sent(self, now: int, size: int) -> int:
        """Return the occasion, and remember when the packet was sent."""
        if size > SMALL:
            self.asked_at = now
        first, last = LATE_ACK
        if size > SMALL or not first <= now - self.received_at <= last:
            return ANSWERED
        return ACKNOWLEDGED if now - self.asked_at < LATELY else UNASKED


class LearnedController:
    """Plays the heaviest plan of the occasion; learns from every packet sent or received."""

    def __init__(self, spec: "Learned") -> None:
        shelf = learnable_plans(spec.max_sleep)
        prior = [prior_weight(plan) for plan in shelf]
        rates = optimal_alphas(horizon=spec.horizon)
        self.plans = [plan.plan for plan in shelf]
        self.plan_table = np.array(self.plans, dtype=np.int64)
        self.prices = spec.prices
        self.costs = np.empty(len(shelf))
        self.learners = [
            LearnAlpha(len(shelf), alphas=rates[rates <= 0.5], eta=spec.eta, prior=prior)
            for _ in range(OCCASIONS)
        ]
        first = self.plans[int(np.argmax(prior))]
        self.heaviest = [first] * OCCASIONS
        self.occasions = Occasions()
        self.occasion = 0
        self.segment_start = 0
        self.unanswered = NEVER, NEVER
        self.player = PlanController(first)
        self.begin, self.woke, self.sleep = self.player.begin, self.player.woke, self.player.sleep

    def sent(self, now: int, size: int) -> int:
        if self.unanswered[0] == now:
            self.end_segment(*self.unanswered)
        if now > self.segment_start:
            self.learn(now, NEVER)
        self.segment_start = now
        self.occasion = self.occasions.sent(now, size)
        self.player.plan = self.heaviest[self.occasion]
        return self.player.sent(now, size)

    def received(self, now: int, size: int, arrived: int) -> None:
        self.occasions.received(now)
        if size > SMALL:
            self.end_segment(now, arrived)
        else:  # the delay of a small packet matters only if it is answered at once, as a SYN-ACK is
            self.unanswered = now, arrived

    def end_segment(self, now: int, arrived: int) -> None:
        """End the segment with a packet that came."""
        # A packet on its way when the segment began would have come under any plan.
        if arrived > self.segment_start:
            self.learn(now, arrived)
        self.segment_start = now

    def learn(self, now: int, arrived: int) -> None:
        """Charge every plan for the segment that ends now."""
        segment = Segment(self.player.sent_at, self.segment_start, now, arrived)
        costs_of_plans(self.plan_table, segment, self.prices, self.costs)
        learner = self.learners[self.occasion]
        learner.update(self.costs)
        self.heaviest[self.occasion] = self.plans[int(np.argmax(learner.weights))]


@dataclass(frozen=True)
class Learned(Spec):
    """Learn from every packet how long to listen, when to nap and how long to sleep.

    The access point says when each packet reached it. So every plan can be charged what it would
    have cost, in Joules and ``lambda_`` times the delay. Learn-α weighs the plans ([Mon06], 2.2.3),
    and the station follows the heaviest.

    Parameters
    ----------
    lambda_ : float
        Joules that a second of delay is worth, > 0: more is faster, less saves more.
    max_sleep : float
        Longest sleep in seconds, a multiple of 0.1. Longer is cheaper when every packet answers a
        request. A packet that comes unasked may wait this long; 1.2 is the longest of [Mon06].
    eta : float or "adahedge"
        Learning rate per Joule.
    horizon : int
        Packets for which Learn-α's switching rates are chosen.
    radio : Radio
        Prices that the losses are computed with.

    Examples
    --------
    >>> from selectron.power import simulate, web_workload
    >>> run = simulate(Learned(lambda_=1.0, max_sleep=24.3), web_workload(pages=10, seed=1))
    >>> f"{run.energy_j_per_page:.2f} J a page, {run.latency_s:.3f} s"
    '1.22 J a page, 0.345 s'
    """

    lambda_: float = 1.0
    max_sleep: float = 1.2
    eta: Eta = "adahedge"
    horizon: int = 1000
    radio: Radio = field(default_factory=Radio)

    RANGES: ClassVar = {"lambda_": POSITIVE, "max_sleep": SLEEP_S, "horizon": Range(1, 1e9)}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_longest_sleep(self, "max_sleep")
        make_rate(self.eta, 2)

    @property
    def name(self) -> str:
        longest = "" if self.max_sleep == Learned.max_sleep else f"-{self.max_sleep:g}s"
        return f"learned-{self.lambda_:g}{longest}"

    @property
    def prices(self) -> Prices:
        awake_w = self.radio.awake_w - self.radio.asleep_w
        return Prices(awake_w / SECOND, self.radio.beacon_j, self.lambda_ / SECOND, MOST_J)

    def start(self) -> LearnedController:
        return LearnedController(self)
