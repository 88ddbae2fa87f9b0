"""Compare the learned sleeping policy with those of [Mon06], on web pages and changing traffic."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import product

from selectron.power import (
    Comparison,
    FixedPlan,
    Learned,
    Run,
    changing_workload,
    standard_policies,
    web_workload,
)
from selectron.power.comparison import cost_rows, costs, costs_as_dicts
from selectron.power.plots import Panel, Point, delay_panels, draw_fronts, slowdown_panels
from selectron.reproduce.harness.experiment import Row
from selectron.reproduce.harness.report import Picture, fill
from selectron.reproduce.mon06.sleeping import Job, against_both, comparisons, simulated

FIRST_SEED = 501  # constants were chosen on seeds 1 to 4
WEB_RUNS, PAGES = 8, 100
CHANGING_RUNS, REGIMES = 4, 12
LONGEST_S = {"web": 24.3, "changing": 1.2}  # sleep of the learned policies
LAMBDAS = (0.5, 1.0, 2.0)
LISTENS_S, NAPS_S = (0.0, 0.02, 0.05, 0.1, 0.2), (0.0, 0.05, 0.07)
CAPS_S = (0.1, 0.2, 0.4, 0.8, 1.2)
FIXED = tuple(FixedPlan(*times) for times in product(LISTENS_S, NAPS_S, CAPS_S))


def seeds_from(n: int) -> list[int]:
    return list(range(FIRST_SEED, FIRST_SEED + n))


def jobs(seeds: int) -> list[Job]:
    """List all policies on both kinds of traffic; fixed plans only where traffic changes."""
    kinds = (
        ("web", web_workload, PAGES, seeds or WEB_RUNS, ()),
        ("changing", changing_workload, REGIMES, seeds or CHANGING_RUNS, FIXED),
    )
    return [
        Job(trial, policy, workload, size, seed)
        for trial, workload, size, runs, plans in kinds
        for seed in seeds_from(runs)
        for policy in against_both(
            (*standard_policies(), *(Learned(x, LONGEST_S[trial]) for x in LAMBDAS), *plans)
        )
    ]


measure = simulated


def report(found: list[tuple[Job, Run]], seeds: int) -> Row:
    """Return energy, slowdown and cost of every policy, and who wins on each workload."""
    web, changing = comparisons(found).values()
    shown = Comparison({k: v for k, v in changing.runs.items() if not k.startswith("plan-")})
    return {
        "web_seeds": seeds_from(seeds or WEB_RUNS),
        "changing_seeds": seeds_from(seeds or CHANGING_RUNS),
        "pages": PAGES,
        "web": [asdict(row) for row in web.rows()],
        "changing": costs_as_dicts(cost_rows(shown, LAMBDAS), LAMBDAS),
        "duels": [duel(changing, lambda_) for lambda_ in LAMBDAS],
        "panels": [p._asdict() for p in (*slowdown_panels(web), *delay_panels(shown))],
    }


def duel(comparison: Comparison, lambda_: float) -> Row:
    """Return the costs on each workload: learned, best policy of [Mon06], best fixed plan."""
    ours = costs(comparison, Learned(lambda_).name, lambda_)
    others = [p.name for p in standard_policies() if p.name != "none"]
    best = cheapest(comparison, others, lambda_)
    fixed = cheapest(comparison, [plan.name for plan in FIXED], lambda_)
    rivals = {"best_policy": best, "best_fixed": fixed, "won": wins(ours, best, fixed)}
    return {"lambda": lambda_, "learned": ours} | rivals


def wins(ours: Sequence[float], *rivals: Sequence[float]) -> list[bool]:
    """Say for each workload whether our cost is below that of every rival."""
    return [
        all(cost < other for other in others) for cost, *others in zip(ours, *rivals, strict=True)
    ]


def cheapest(comparison: Comparison, policies: Sequence[str], lambda_: float) -> list[float]:
    """Give, for each workload, the cost of the policy that is cheapest there."""
    table = [costs(comparison, policy, lambda_) for policy in policies]
    return [min(column) for column in zip(*table, strict=True)]


def text(result: Row) -> str:
    """Write energy, slowdown and cost of every policy, and who wins on each workload."""
    lines = [
        f"Web, {len(result['web_seeds'])} x {result['pages']} pages, seeds from {FIRST_SEED}",
        "policy             J/static  slowdown  worst page",
        *fill("{policy:17} {energy_vs_static:9.4f} {slowdown:9.3f} {worst_page:11.2f}",
              result["web"]),
        "",
        f"Changing traffic, {len(result['changing_seeds'])} x {REGIMES} regimes, seeds from "
        f"{FIRST_SEED}; J/h at λ: Joules + λ x delay, an hour",
        "policy             J/static  delay s  longest s"
        + "".join(f"  J/h at {lambda_:g}" for lambda_ in LAMBDAS),
    ]  # fmt: skip
    start = "{policy:17} {energy_vs_static:9.4f} {delay_s:8.3f} {longest_delay_s:10.2f}"
    for row in result["changing"]:
        cells = "".join(f"{cost:{8 + len(name)}.1f}" for name, cost in row["cost_per_hour"].items())
        lines.append(start.format_map(row) + cells)
    lines.append("")
    for one in result["duels"]:
        ours, best, fixed = (" ".join(f"{value:.1f}" for value in one[name])
                             for name in ("learned", "best_policy", "best_fixed"))  # fmt: skip
        lines.append(
            f"λ = {one['lambda']:g}, each seed: learned {ours}; best of the others {best}; best of "
            f"{len(FIXED)} fixed plans in hindsight {fixed}; learned is cheapest on "
            f"{sum(one['won'])} of {len(one['won'])}"
        )
    return "\n".join(lines)


def draw(result: Row) -> Picture:
    """Draw energy against time for every policy, mean and worst, on both kinds of traffic."""
    panels = [Panel(**panel) for panel in result["panels"]]
    return draw_fronts([
        panel._replace(points=[p for p in (Point(*q) for q in panel.points) if p.energy < 2])
        for panel in panels
    ])  # fmt: skip
