"""Rows as they come."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from selectron.numeric.rows import Row
from selectron.protocol import absorb, has_statistics, present, ready
from selectron.spec import Scaling


@dataclass(frozen=True)
class Raw(Scaling):
    """Hand every row to the update rule as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron.numeric.rows import DenseRow
    >>> from selectron.protocol import present
    >>> from selectron.scalings import Raw
    >>> scaling = Raw().begin(2, np.float64)
    >>> present(scaling, DenseRow(np.array([3.0, 4.0]))).values.tolist()
    [3.0, 4.0]
    """

    def width(self, d: int) -> int:
        return d

    def begin(self, d: int, dtype: Any) -> "RawState":
        return RawState(True)


class RawState(NamedTuple):
    ready: bool  # always: an empty tuple would have no type of its own in compiled code


def nothing_to_absorb(scaling: Any, x: Row) -> Any:
    """Serve as `absorb` of the scalings without statistics."""
    return scaling


def no_statistics(scaling: Any) -> bool:
    """Serve as `has_statistics` of the scalings without any."""
    return False


def always_ready(scaling: Any) -> bool:
    """Serve as `ready` of the scalings that need no warm-up."""
    return True


@present.of(RawState)
def raw_present(scaling: RawState, x: Row) -> Row:
    return x


absorb.of(RawState)(nothing_to_absorb)
has_statistics.of(RawState)(no_statistics)
ready.of(RawState)(always_ready)
