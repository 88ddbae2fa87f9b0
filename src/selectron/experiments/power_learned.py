"""The learned sleeping policy against those of [Mon06]: on web pages, and when traffic changes."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from selectron.evaluate.plots import write_figure
from selectron.experiments.registry import Experiment
from selectron.power import (
    Comparison,
    FixedPlan,
    Learned,
    Policy,
    Workload,
    changing_workload,
    compare,
    standard_policies,
    web_workload,
)
from selectron.power.comparison import cost_rows, costs, costs_as_dicts
from selectron.power.plots import Panel, Point, delay_panels, draw_fronts, slowdown_panels

FIRST_SEED = 501  # constants were chosen on seeds 1 to 4
WEB_RUNS, PAGES, WEB_SLEEP_S = 8, 100, 24.3
CHANGING_RUNS, REGIMES = 4, 12
LAMBDAS = (0.5, 1.0, 2.0)
FIXED = tuple(
    FixedPlan(listen_s, nap_s, cap_s)
    for listen_s in (0.0, 0.02, 0.05, 0.1, 0.2)
    for nap_s in (0.0, 0.05, 0.07)
    for cap_s in (0.1, 0.2, 0.4, 0.8, 1.2)
)


def learned(max_sleep: float) -> tuple[Policy, ...]:
    return tuple(Learned(lambda_, max_sleep) for lambda_ in LAMBDAS)


def steps(seeds: int | None) -> int:
    policies = len(standard_policies()) + len(LAMBDAS)
    changing = seeds or CHANGING_RUNS
    return (seeds or WEB_RUNS) * policies + changing * (policies + len(FIXED))


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Compare all policies on both kinds of traffic, from seed 501 on."""
    web = [web_workload(PAGES, seed) for seed in seeds_from(seeds or WEB_RUNS)]
    changing = [changing_workload(REGIMES, seed) for seed in seeds_from(seeds or CHANGING_RUNS)]
    on_web = judged((*standard_policies(), *learned(WEB_SLEEP_S)), web, tick)
    on_changing = judged((*standard_policies(), *learned(1.2), *FIXED), changing, tick)
    shown = Comparison({k: v for k, v in on_changing.runs.items() if not k.startswith("plan-")})
    return {
        "experiment": "power-learned",
        "web_seeds": list(seeds_from(len(web))),
        "changing_seeds": list(seeds_from(len(changing))),
        "pages": PAGES,
        "web": [asdict(row) for row in on_web.rows()],
        "changing": costs_as_dicts(cost_rows(shown, LAMBDAS), LAMBDAS),
        "duels": [duel(on_changing, lambda_) for lambda_ in LAMBDAS],
        "panels": [p._asdict() for p in (*slowdown_panels(on_web), *delay_panels(shown))],
    }


def seeds_from(n: int) -> range:
    return range(FIRST_SEED, FIRST_SEED + n)


def judged(
    policies: Sequence[Policy], workloads: Sequence[Workload], tick: Callable[[], Any]
) -> Comparison:
    return compare(policies, workloads=workloads, progress=lambda *_: tick())


def duel(comparison: Comparison, lambda_: float) -> dict[str, Any]:
    """Give the cost on each workload: learned, the best of [Mon06]'s, the best fixed plan."""
    ours = costs(comparison, Learned(lambda_).name, lambda_)
    others = [p.name for p in standard_policies() if p.name != "none"]
    best = cheapest(comparison, others, lambda_)
    fixed = cheapest(comparison, [plan.name for plan in FIXED], lambda_)
    return {
        "lambda": lambda_,
        "learned": ours,
        "best_policy": best,
        "best_fixed": fixed,
        "won": wins(ours, best, fixed),
    }


def wins(ours: Sequence[float], *rivals: Sequence[float]) -> list[bool]:
    """Say for each workload whether our cost is below that of every rival."""
    return [
        all(cost < other for other in others) for cost, *others in zip(ours, *rivals, strict=True)
    ]


def cheapest(comparison: Comparison, policies: Sequence[str], lambda_: float) -> list[float]:
    """Give, for each workload, the cost of the policy that is cheapest there."""
    table = [costs(comparison, policy, lambda_) for policy in policies]
    return [min(column) for column in zip(*table, strict=True)]


def text(result: dict[str, Any]) -> str:
    """Print energy, slowdown and cost of every policy, and who wins on each workload."""
    lines = [
        f"Web, {len(result['web_seeds'])} x {result['pages']} pages, seeds from {FIRST_SEED}",
        "policy             J/static  slowdown  worst page",
    ]
    for row in result["web"]:
        lines.append(
            f"{row['policy']:17} {row['energy_vs_static']:9.4f} {row['slowdown']:9.3f} "
            f"{row['worst_page']:11.2f}"
        )
    lines += [
        "",
        f"Changing traffic, {len(result['changing_seeds'])} x {REGIMES} regimes, seeds from "
        f"{FIRST_SEED}; J/h at λ: Joules + λ x delay, an hour",
        "policy             J/static  delay s  longest s" + "".join(
            f"  J/h at {lambda_:g}" for lambda_ in LAMBDAS
        ),
    ]  # fmt: skip
    for row in result["changing"]:
        cells = "".join(f"{cost:{8 + len(name)}.1f}" for name, cost in row["cost_per_hour"].items())
        lines.append(
            f"{row['policy']:17} {row['energy_vs_static']:9.4f} {row['delay_s']:8.3f} "
            f"{row['longest_delay_s']:10.2f}{cells}"
        )
    lines.append("")
    for one in result["duels"]:
        lines.append(
            f"λ = {one['lambda']:g}, each seed: learned {numbers(one['learned'])}; best of the "
            f"others {numbers(one['best_policy'])}; best of {len(FIXED)} fixed plans in hindsight "
            f"{numbers(one['best_fixed'])}; learned is cheapest on {sum(one['won'])} of "
            f"{len(one['won'])}"
        )
    return "\n".join(lines)


def numbers(values: list[float]) -> str:
    return " ".join(f"{value:.1f}" for value in values)


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw energy against time for every policy, mean and worst, on both kinds of traffic."""
    panels = [
        Panel(p["title"], p["time"], [Point(*point) for point in p["points"]])
        for p in result["panels"]
    ]
    kept = [p._replace(points=[q for q in p.points if q.energy < 2]) for p in panels]
    write_figure(draw_fronts(kept), path)


POWER_LEARNED = Experiment(
    "sleeping radios, [Mon06] section 2.5: a policy that learns, against those of the thesis",
    steps,
    run,
    text,
    plot,
)
