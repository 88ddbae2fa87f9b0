"""What a poller is told: bounds, costs, jitter, seed."""

from dataclasses import asdict, dataclass
from typing import Any

from selectron.experts.readings import as_float
from selectron.power.polling.readings import read_number

SMALLEST, LARGEST = 1e-100, 1e100  # so that no product or quotient of two leaves the floats
LARGEST_JITTER = 1 - 2.0**-53


@dataclass(frozen=True)
class Settings:
    """See `AdaptivePoller`, which documents them."""

    min_interval: float
    max_interval: float
    poll_cost: float
    delay_cost: float
    jitter: float
    random_state: int

    def __post_init__(self) -> None:
        for name in ("min_interval", "max_interval", "poll_cost", "delay_cost"):
            remedy = f"give a finite number > 0, from {SMALLEST} to {LARGEST}"
            self._set(name, read_number(name, getattr(self, name), remedy, SMALLEST, LARGEST))
        if self.max_interval < self.min_interval:
            raise ValueError(
                f"max_interval is {self.max_interval}, below min_interval {self.min_interval}; "
                "give the longest wait you can bear"
            )
        remedy = "give a fraction in [0, 1), 0 for none"
        self._set("jitter", read_number("jitter", self.jitter, remedy, most=LARGEST_JITTER))
        seed = as_float(self.random_state)
        if not (0 <= seed < 2.0**63 and seed.is_integer()):
            raise ValueError(
                f"random_state is {self.random_state!r}; give a whole number, 0 or more"
            )
        self._set("random_state", int(self.random_state))

    def _set(self, name: str, value: float) -> None:
        """Keep a plain number, whatever type it came in: a state goes into JSON."""
        object.__setattr__(self, name, value)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
