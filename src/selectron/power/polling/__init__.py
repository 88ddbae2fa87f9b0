"""When to look again: polling for things that arrive unasked, at the least cost."""

from selectron.power.polling.arrivals import Arrivals, bursts, on_off, poisson
from selectron.power.polling.bill import Bill, Schedule, replay
from selectron.power.polling.hindsight import back_off_bill, best_back_off, best_fixed_interval
from selectron.power.polling.poller import AdaptivePoller
from selectron.power.polling.rivals import BackOff, FixedInterval

__all__ = [
    "AdaptivePoller",
    "Arrivals",
    "BackOff",
    "Bill",
    "FixedInterval",
    "Schedule",
    "back_off_bill",
    "best_back_off",
    "best_fixed_interval",
    "bursts",
    "on_off",
    "poisson",
    "replay",
]
