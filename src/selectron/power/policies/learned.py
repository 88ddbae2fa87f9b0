"""Learned: follow the plan that has cost least, in Joules and in seconds of delay."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from selectron.experts import LearnAlpha, optimal_alphas
from selectron.experts.rate import Eta, make_rate
from selectron.power.energy import Radio
from selectron.power.grid import SECOND
from selectron.power.policies.hindsight import (
    NEVER,
    Prices,
    Segment,
    columns_of,
    costs_of_plans,
)
from selectron.power.policies.occasions import OCCASIONS, SMALL, Occasions
from selectron.power.policies.plan import SLEEP_S, PlanController, check_longest_sleep
from selectron.power.policies.plan_shelf import learnable_plans, prior_weight
from selectron.spec import POSITIVE, Range, Spec

MOST_J = 1.0  # a segment counts for no more: one long pause must not decide everything


class LearnedController(PlanController):
    """Plays the heaviest plan of the occasion; learns whenever a packet was sent or received."""

    def __init__(self, spec: "Learned") -> None:
        plans = learnable_plans(spec.max_sleep)
        prior = [prior_weight(plan) for plan in plans]
        rates = optimal_alphas(horizon=spec.horizon)
        self.plans = [plan.plan for plan in plans]
        self.columns = columns_of(self.plans)
        self.prices = spec.prices
        self.costs = np.empty(len(plans))
        self.learners = [
            LearnAlpha(len(plans), alphas=rates[rates <= 0.5], eta=spec.eta, prior=prior)
            for _ in range(OCCASIONS)
        ]
        first = self.plans[int(np.argmax(prior))]
        self.heaviest = [first] * OCCASIONS
        self.occasions = Occasions()
        self.occasion = 0
        self.segment_start = 0
        self.unanswered = NEVER, NEVER
        super().__init__(first)

    def sent(self, now: int, size: int) -> int:
        if self.unanswered[0] == now:
            self.heed(*self.unanswered)
        if now > self.segment_start:
            self.learn(now, NEVER)
        self.segment_start = now
        self.occasion = self.occasions.sent(now, size)
        self.plan = self.heaviest[self.occasion]
        return super().sent(now, size)

    def received(self, now: int, size: int, arrived: int) -> None:
        self.occasions.received(now)
        if size > SMALL:
            self.heed(now, arrived)
        else:  # unless it is answered at once, as a SYN-ACK is, its delay held nobody up
            self.unanswered = now, arrived

    def heed(self, now: int, arrived: int) -> None:
        """End the segment with a packet that came."""
        # What was on its way when the segment began would have come whatever the plan.
        if arrived > self.segment_start:
            self.learn(now, arrived)
        self.segment_start = now

    def learn(self, now: int, arrived: int) -> None:
        """Charge every plan for the segment that ends now."""
        segment = Segment(self.sent_at, self.segment_start, now, arrived)
        costs_of_plans(self.columns, segment, self.prices, self.costs)
        learner = self.learners[self.occasion]
        learner.update(self.costs)
        self.heaviest[self.occasion] = self.plans[int(np.argmax(learner.weights))]


@dataclass(frozen=True)
class Learned(Spec):
    """Learn from every packet how long to listen, when to nap and how long to sleep.

    The access point says when each packet reached it. So all plans can be charged what they would
    have cost, in Joules and ``lambda_`` times the delay, and Learn-α weighs them ([Mon06], 2.2.3).
    The heaviest is followed.

    Parameters
    ----------
    lambda_ : float
        Joules that a second of delay is worth, > 0: more is faster, less saves more.
    max_sleep : float
        Longest sleep in seconds, a multiple of 0.1. When nothing comes unasked, longer is cheaper;
        when something may, it waits for so long at most, and 1.2 is the longest of [Mon06].
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
