"""The plans that `Learned` chooses from, and how far each is trusted before anything is known."""

from selectron.numeric.elementary import exponential, logarithm
from selectron.power.grid import BEACON, SECOND, nanoseconds
from selectron.power.policies.plan import FixedPlan

LISTENS_S = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
NAPS_S = (0.0, 0.03, 0.05, 0.06, 0.07, 0.08, 0.1)


def learnable_plans(max_sleep_s: float) -> tuple[FixedPlan, ...]:
    """Combine every listening time with every nap and every longest sleep.

    A plan that never listens sleeps to the next beacon anyway: naps make no difference to it.

    Examples
    --------
    >>> plans = learnable_plans(1.2)
    >>> print(len(plans), sorted({plan.cap_s for plan in plans}))
    355 [0.1, 0.2, 0.4, 0.8, 1.2]
    """
    return tuple(
        FixedPlan(listen_s, nap_s, cap_s)
        for listen_s in LISTENS_S
        for nap_s in (NAPS_S if listen_s else (0.0,))
        for cap_s in longest_sleeps(max_sleep_s)
    )


def longest_sleeps(max_sleep_s: float) -> list[float]:
    """Double from 0.1 s on, and end at the longest of all."""
    most = nanoseconds(max_sleep_s)
    sleeps = []
    sleep = BEACON
    while sleep < most:
        sleeps.append(sleep / SECOND)
        sleep *= 2
    return [*sleeps, max_sleep_s]


def prior_weight(plan: FixedPlan) -> float:
    """Begin near Bounded SlowDown at 100 %: no harm is done before something is learnt."""
    off_cap = abs(logarithm(plan.cap_s / 0.9))
    return exponential(-3.0 * abs(plan.listen_s - 0.1) - 3.0 * plan.nap_s - 0.2 * off_cap)
