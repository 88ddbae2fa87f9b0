"""What a user passes as random_state, as the seed of the coins."""

from typing import Any

import numpy as np


def seed_of(random_state: Any) -> int:
    """Return a seed below 2⁶³: the one given, or a fresh one."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if 0 <= random_state < 2**63:
            return int(random_state)
        raise ValueError(f"random_state must lie in [0, 2**63), got {random_state}")
    raise TypeError(f"random_state must be None, an integer or a generator, got {random_state!r}")
