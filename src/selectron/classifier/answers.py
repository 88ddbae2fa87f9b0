"""Tickets and labels as users hand them in, paired."""

from typing import Any

import numpy as np

from selectron.classifier.run import Ask


def paired(tickets: Any, labels: Any) -> list[tuple[Any, Any]]:
    """Return each ticket with its label, or say what to pass instead."""
    if isinstance(tickets, Ask):
        which = "[ask.asked]" if np.ndim(tickets.tickets) else ""
        raise ValueError(
            f"tell got the whole answer of ask, for {np.size(tickets.tickets)} rows: pass its "
            f"tickets, tell(ask.tickets{which}, labels)"
        )
    if np.ndim(tickets) == 0:
        return [(tickets, labels)]
    if np.ndim(tickets) != 1:
        raise ValueError(f"tickets have shape {np.shape(tickets)}: pass a flat list of them")
    if isinstance(labels, str | bytes) or not hasattr(labels, "__len__"):
        raise ValueError(
            f"{len(tickets)} tickets but one label, {labels!r}: pass a list with one for each"
        )
    if len(tickets) != len(labels):
        raise ValueError(f"{len(tickets)} tickets but {len(labels)} labels: pass one for each")
    return list(zip(tickets, labels, strict=True))
