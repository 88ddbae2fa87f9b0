"""What a poller is told: bounds, costs, jitter, seed."""

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any


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
            value = getattr(self, name)
            if not (_is_number(value) and 1e-100 <= value <= 1e100):
                raise ValueError(f"{name} is {value!r}; give a finite number > 0")
        if self.max_interval < self.min_interval:
            raise ValueError(
                f"max_interval is {self.max_interval}, below min_interval {self.min_interval}; "
                "give the longest wait you can bear"
            )
        if not (_is_number(self.jitter) and 0 <= self.jitter < 1):
            raise ValueError(f"jitter is {self.jitter!r}; give a fraction in [0, 1), 0 for none")
        if int(self.random_state) != self.random_state or not 0 <= self.random_state < 2**63:
            raise ValueError(
                f"random_state is {self.random_state!r}; give a whole number, 0 or more"
            )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and isfinite(value)
