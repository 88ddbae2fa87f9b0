"""Polling for items that arrive unasked: when to look again, at the least cost."""

from selectron.power.polling.bill import (
    Arrivals,
    Bill,
    back_off_bill,
    best_back_off,
    best_fixed_interval,
    bursts,
    on_off,
    poisson,
    replay,
)
from selectron.power.polling.poller import AdaptivePoller
from selectron.power.polling.schedules import BackOff, FixedInterval, Schedule

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
