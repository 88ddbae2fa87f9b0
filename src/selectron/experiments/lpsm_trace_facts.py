"""What [Mon06] says in words of LPSM on a trace, as numbers."""

from typing import Any

import numpy as np

from selectron.experiments.lpsm_trace import SLEEPS_MS, TraceRun


def losses_said(found: TraceRun) -> dict[str, Any]:
    """Measure what the thesis says of Figure 2-9."""
    best = found.expert_losses.min(axis=1)
    leader = found.expert_losses.argmin(axis=1)
    early = found.expert_losses[:10].sum(axis=0)
    return {
        "share_within_a_tenth_of_current_best": float(np.mean(found.loss <= 1.1 * best)),
        "share_at_or_below_current_best": float(np.mean(found.loss <= best)),
        "current_best_changes": int(np.count_nonzero(np.diff(leader))),
        "sleeps_that_were_best_ms": SLEEPS_MS[np.unique(leader)].tolist(),
        "experts_beaten_in_the_first_ten": int(np.count_nonzero(found.loss[:10].sum() < early)),
    }


def weights_said(found: TraceRun) -> dict[str, Any]:
    """Measure what the thesis says of Figure 2-10."""
    heaviest, lightest = found.weights.argmax(axis=1), found.weights.argmin(axis=1)
    changes = np.flatnonzero(np.diff(heaviest)) + 1
    comebacks = [
        i for i in range(len(SLEEPS_MS)) if _first(lightest == i) < _last(heaviest == i)
    ]  # fmt: skip
    return {
        "heaviest_changes": len(changes),
        "first_change": int(changes[0]) if len(changes) else None,
        "least_weight": float(found.weights.min()),
        "largest_weight": float(found.weights.max()),
        "worst_once_and_best_later_ms": SLEEPS_MS[comebacks].tolist(),
    }


def _first(when: Any) -> int:
    return int(when.argmax()) if when.any() else len(when)


def _last(when: Any) -> int:
    return int(len(when) - 1 - when[::-1].argmax()) if when.any() else -1


def competition(found: TraceRun) -> dict[str, Any]:
    """Measure what the thesis says of Figure 2-11."""
    totals = found.expert_losses.sum(axis=0)
    fixed = np.cumsum(found.expert_losses[:, int(totals.argmin())])
    own = np.cumsum(found.loss)
    behind = np.flatnonzero(own > fixed)
    return {
        "loss": float(own[-1]),
        "best_fixed_ms": float(SLEEPS_MS[totals.argmin()]),
        "best_fixed": float(fixed[-1]),
        "worst_fixed": float(totals.max()),
        "current_best": float(found.expert_losses.min(axis=1).sum()),
        "ahead_of_best_fixed_from": int(behind[-1]) + 1 if len(behind) else 0,
    }
