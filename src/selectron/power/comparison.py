"""Policies side by side on the same workloads: slowdowns, and costs in Joules an hour.

A slowdown is a ratio to the time without power saving. A pushed message takes about a millisecond
without power saving, so for pushes the delay in seconds says more than a ratio.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product

import numpy as np

from selectron.power.policies import standard_policies
from selectron.power.policies.fixed import AlwaysOn, StaticPsm
from selectron.power.policies.policy import Policy
from selectron.power.results import Run
from selectron.power.simulator import simulate
from selectron.power.web import web_workload
from selectron.power.workload import Workload

Engine = Callable[[Policy, Workload], Run]


@dataclass(frozen=True)
class Row:
    """One policy, averaged over the workloads.

    ``slowdown`` is the mean over pages of latency / latency without power saving, ``worst_page``
    the largest such ratio. Names that end in ``vs_static`` are ratios to static PSM.
    """

    policy: str
    energy_j_per_page: float
    beacon_j_per_page: float
    latency_s: float
    slowdown: float
    worst_page: float
    energy_vs_static: float
    beacons_vs_static: float
    slowdown_vs_static: float
    worst_page_vs_static: float


@dataclass(frozen=True)
class Comparison:
    """The runs of every policy, by name, one for each workload."""

    runs: dict[str, tuple[Run, ...]]

    def rows(self) -> list[Row]:
        """Average each policy over its runs, in the order in which the policies were given."""
        return [self.row(policy) for policy in self.runs]

    def row(self, policy: str) -> Row:
        against = zip(self.runs[policy], self.runs["none"], self.runs["static"], strict=True)
        means = np.mean([measure(*three) for three in against], axis=0)
        return Row(policy, *means.tolist())

    @property
    def pages(self) -> int:
        """Pages in each workload."""
        return len(self.runs["none"][0].latencies_s)

    def to_dict(self) -> dict[str, object]:
        """Return the rows as plain data, for JSON."""
        return {
            "pages": self.pages,
            "runs": len(self.runs["none"]),
            "policies": [asdict(row) for row in self.rows()],
        }


def measure(run: Run, none: Run, static: Run) -> tuple[float, ...]:
    """Return the numbers of a `Row` for one workload."""
    return (
        run.energy_j_per_page,
        run.beacon_j_per_page,
        run.latency_s,
        run.slowdown(none),
        float(np.max(run.slowdowns(none))),
        run.energy_j_per_page / static.energy_j_per_page,
        run.beacon_j_per_page / static.beacon_j_per_page,
        run.slowdown(none) / static.slowdown(none),
        float(np.max(run.slowdowns(static))),
    )


def compare(
    policies: Sequence[Policy] | None = None,
    pages: int = 100,
    seed: int = 1,
    *,
    runs: int = 1,
    workloads: Sequence[Workload] | None = None,
    engine: Engine = simulate,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Run policies on the same web workloads ([Mon06], Figures 2-6 to 2-8).

    Parameters
    ----------
    policies : sequence of Policy, optional
        The policies of [Mon06] by default. No power saving and static PSM are always run, because
        the other policies are measured against them.
    pages, seed : int
        Arguments of `web_workload`.
    runs : int
        How many workloads, with the seeds ``seed``, ``seed + 1``, …; [Mon06] has one of 100 pages
        and four of 500.
    workloads : sequence of Workload, optional
        Run these workloads instead of drawing some.
    engine : callable
        ``engine(policy, workload)`` returns a `Run`. For other links, prices or engines pass
        ``functools.partial(simulate, network=…)`` or ``selectron.power.ns2.simulate``.
    progress : callable, optional
        Called with the number of finished runs and the number of all runs.

    Examples
    --------
    >>> for row in compare([], pages=10, seed=1).rows():
    ...     print(f"{row.policy:6} {row.energy_j_per_page:.2f} J, slowdown {row.slowdown:.2f}")
    none   15.89 J, slowdown 1.00
    static 1.42 J, slowdown 2.32
    """
    if runs < 1:
        raise ValueError(f"runs={runs!r} must be at least 1")
    if workloads is None:
        workloads = [web_workload(pages, seed + i) for i in range(runs)]
    if not workloads:
        raise ValueError("workloads is empty; leave it out to draw web traffic from the seed")
    wanted: dict[str, Policy] = {"none": AlwaysOn(), "static": StaticPsm()}
    for policy in standard_policies() if policies is None else policies:
        if policy.name in wanted and wanted[policy.name] != policy:
            raise ValueError(f"two different policies are called {policy.name!r}; rename one")
        wanted[policy.name] = policy
    done: dict[str, tuple[Run, ...]] = dict.fromkeys(wanted, ())
    pairs = list(product(workloads, wanted))
    for number, (workload, name) in enumerate(pairs, start=1):
        done[name] += (engine(wanted[name], workload),)
        if progress is not None:
            progress(number, len(pairs))
    return Comparison(done)


@dataclass(frozen=True)
class CostRow:
    """What one policy costs, averaged over the workloads.

    ``delay_s`` is the mean delay of a page or push over no power saving, ``longest_delay_s`` the
    longest such delay. ``cost_per_hour`` holds Joules + λ × delay for every λ.
    """

    policy: str
    energy_vs_static: float
    delay_s: float
    longest_delay_s: float
    cost_per_hour: tuple[float, ...]


def cost_rows(comparison: Comparison, lambdas: Sequence[float]) -> list[CostRow]:
    """Return a row for every policy, in the order in which the policies were run."""
    return [cost_row(comparison, policy, lambdas) for policy in comparison.runs]


def cost_row(comparison: Comparison, policy: str, lambdas: Sequence[float]) -> CostRow:
    runs, none, static = (comparison.runs[name] for name in (policy, "none", "static"))
    delays = [run.delays_s(base) for run, base in zip(runs, none, strict=True)]
    energy = [run.joules / base.joules for run, base in zip(runs, static, strict=True)]
    mean, longest = np.mean([np.mean(d) for d in delays]), np.max([np.max(d) for d in delays])
    prices = tuple(float(np.mean(costs(comparison, policy, lambda_))) for lambda_ in lambdas)
    return CostRow(policy, float(np.mean(energy)), float(mean), float(longest), prices)


def costs(comparison: Comparison, policy: str, lambda_: float) -> list[float]:
    """Return the cost of an hour on each workload."""
    pairs = zip(comparison.runs[policy], comparison.runs["none"], strict=True)
    return [run.cost_per_hour(none, lambda_) for run, none in pairs]


def costs_as_dicts(rows: Sequence[CostRow], lambdas: Sequence[float]) -> list[dict[str, object]]:
    """Return the rows as plain data, each cost under its λ, for JSON."""
    names = [f"{lambda_:g}" for lambda_ in lambdas]
    return [
        vars(row) | {"cost_per_hour": dict(zip(names, row.cost_per_hour, strict=True))}
        for row in rows
    ]
