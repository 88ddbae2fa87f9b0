"""Energy and delay as one number, Joules an hour: what policies are judged by when traffic changes.

Slowdown is a ratio to the time without power saving, which for a message pushed is a millisecond;
there the delay itself, in seconds, says more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from selectron.power.comparison import Comparison


@dataclass(frozen=True)
class CostRow:
    """One policy, averaged over the workloads.

    ``delay_s`` is the mean delay of a page or push over no power saving, ``longest_delay_s`` the
    longest of all; ``cost_per_hour`` has Joules + λ × delay for every λ.
    """

    policy: str
    energy_vs_static: float
    delay_s: float
    longest_delay_s: float
    cost_per_hour: tuple[float, ...]


def cost_rows(comparison: Comparison, lambdas: Sequence[float]) -> list[CostRow]:
    """Give a row for every policy, in the order they were run."""
    return [cost_row(comparison, policy, lambdas) for policy in comparison.runs]


def cost_row(comparison: Comparison, policy: str, lambdas: Sequence[float]) -> CostRow:
    runs, none, static = (comparison.runs[name] for name in (policy, "none", "static"))
    delays = [run.delays_s(base) for run, base in zip(runs, none, strict=True)]
    energy = [run.joules / base.joules for run, base in zip(runs, static, strict=True)]
    return CostRow(
        policy,
        float(np.mean(energy)),
        float(np.mean([np.mean(seconds) for seconds in delays])),
        float(np.max([np.max(seconds) for seconds in delays])),
        tuple(float(np.mean(costs(comparison, policy, lambda_))) for lambda_ in lambdas),
    )


def costs(comparison: Comparison, policy: str, lambda_: float) -> list[float]:
    """Give the cost of an hour on each workload."""
    pairs = zip(comparison.runs[policy], comparison.runs["none"], strict=True)
    return [run.cost_per_hour(none, lambda_) for run, none in pairs]


def costs_as_dicts(rows: Sequence[CostRow], lambdas: Sequence[float]) -> list[dict[str, Any]]:
    """Give the rows as plain data, the costs by their λ, for JSON."""
    return [
        {
            **{name: value for name, value in vars(row).items() if name != "cost_per_hour"},
            "cost_per_hour": {
                f"{lambda_:g}": cost
                for lambda_, cost in zip(lambdas, row.cost_per_hour, strict=True)
            },
        }
        for row in rows
    ]
