"""The tables of `selectron power compare`."""

from selectron.cli.output import table
from selectron.power import Comparison, mismatches
from selectron.power.costs import cost_rows


def slowdown_table(comparison: Comparison) -> str:
    head = ("policy", "J/page", "beacons J", "latency s", "slowdown", "worst page", "J/static")
    rows = [
        (r.policy, r.energy_j_per_page, r.beacon_j_per_page, r.latency_s, r.slowdown, r.worst_page,
         r.energy_vs_static)
        for r in comparison.rows()
    ]  # fmt: skip
    return "\n".join([table(head, rows), "", *mismatches(comparison)]).rstrip()


def cost_table(comparison: Comparison, lambdas: list[float]) -> str:
    head = ["policy", "J/static", "delay s", "longest s"]
    head += [f"J/h at {lambda_:g}" for lambda_ in lambdas]
    rows = [
        (r.policy, r.energy_vs_static, r.delay_s, r.longest_delay_s, *r.cost_per_hour)
        for r in cost_rows(comparison, lambdas)
    ]
    return f"{table(head, rows)}\n\nJ/h at λ: Joules + λ x seconds of delay, an hour"
