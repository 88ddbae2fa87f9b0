"""`selectron power`: 802.11 power saving, one policy or all of them side by side."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from selectron.cli.output import check_outputs, progress, write_json
from selectron.cli.power_options import (
    EVERYTHING,
    LEARNED,
    MAX_SLEEP,
    PAGES,
    REGIMES,
    check_options,
    policies,
    workload,
)
from selectron.cli.power_tables import cost_table, slowdown_table
from selectron.evaluate.plots import write_figure
from selectron.power import AlwaysOn, compare, simulate
from selectron.power.costs import cost_rows, costs_as_dicts
from selectron.power.front import delay_panels, draw_fronts, slowdown_panels
from selectron.power.plots import sleep_times

LAMBDAS = (0.5, 1.0, 2.0)


def add_power(parser: ArgumentParser) -> None:
    parser.add_argument("task", choices=("simulate", "compare"), metavar="simulate|compare",
                        help="run one policy, or several side by side")  # fmt: skip
    parser.add_argument("--policy", nargs="+", metavar="NAME",
                        help="simulate [learned] or compare [all] of: "
                        f"{', '.join(EVERYTHING)}")  # fmt: skip
    parser.add_argument("--lambda", nargs="+", type=float, dest="lambdas", metavar="J_PER_S",
                        help="Joules that a second of delay is worth to learned "
                        "[simulate: 1; compare: 0.5 1 2]")  # fmt: skip
    parser.add_argument("--max-sleep", type=float, metavar="S",
                        help=f"longest sleep of learned, seconds [{MAX_SLEEP}]")  # fmt: skip
    parser.add_argument("--traffic", choices=("web", "changing"), default="web",
                        help="pages, or five kinds of traffic in turn [web]")  # fmt: skip
    parser.add_argument("--pages", type=int, metavar="N",
                        help=f"pages of web traffic [{PAGES}]")  # fmt: skip
    parser.add_argument("--regimes", type=int, metavar="N",
                        help="spells of 5 to 15 minutes of changing traffic "
                        f"[{REGIMES}]")  # fmt: skip
    parser.add_argument("--seed", type=int, default=1, help="of the traffic [1]")
    parser.add_argument("--runs", type=int, default=1, metavar="N",
                        help="average over the seeds SEED, SEED + 1, … [1]")  # fmt: skip
    parser.add_argument("--plot", metavar="FILE",
                        help="draw sleeping times (simulate), energy against time (compare)",
                        )  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="write the numbers to FILE, - for stdout")


def power(options: Namespace) -> int:
    check_outputs(options)
    if options.task == "simulate":
        return simulate_one(options)
    return compare_all(options)


def simulate_one(options: Namespace) -> int:
    names, lambdas = options.policy or [LEARNED], options.lambdas or [1.0]
    check_options(options, names)
    if len(names) > 1 or len(lambdas) > 1 or options.runs != 1:
        raise ValueError("power simulate runs one policy once; power compare takes several")
    (policy,) = policies(options, names, lambdas)
    traffic = workload(options, options.seed)
    with progress(2, "runs") as bar:
        none = simulate(AlwaysOn(), traffic)
        bar.update(1)
        run = simulate(policy, traffic, diary=options.plot is not None)
        bar.update(1)
    facts: dict[str, Any] = {
        "policy": run.policy,
        "traffic": options.traffic,
        "seed": options.seed,
        "pages": len(run.latencies_s),
        "hours": run.duration_s / 3600,
        "energy_j_per_page": run.energy_j_per_page,
        "beacon_j_per_page": run.beacon_j_per_page,
        "latency_s": run.latency_s,
        "slowdown": run.slowdown(none),
        "delay_s": run.latency_s - none.latency_s,
        "awake_s": run.awake_s,
        "beacons": run.beacons,
    }
    if options.plot:
        write_figure(sleep_times([run], (0.0, min(120.0, run.duration_s))), Path(options.plot))
    if options.json != "-":
        width = max(map(len, facts))
        for name, value in facts.items():
            print(f"{name.ljust(width)}  {f'{value:.4g}' if isinstance(value, float) else value}")
        tell_plot(options)
    write_json(facts, options.json)
    return 0


def compare_all(options: Namespace) -> int:
    names, lambdas = options.policy or EVERYTHING, options.lambdas or list(LAMBDAS)
    check_options(options, names)
    wanted = policies(options, names, lambdas)
    seeds = range(options.seed, options.seed + options.runs)
    workloads = [workload(options, seed) for seed in seeds]
    running = {policy.name for policy in wanted} | {"none", "static"}
    with progress(len(running) * len(workloads), "runs") as bar:
        comparison = compare(wanted, workloads=workloads, progress=lambda *_: bar.update(1))
    if options.plot:
        panels = slowdown_panels if options.traffic == "web" else delay_panels
        write_figure(draw_fronts(panels(comparison)), Path(options.plot))
    if options.json != "-":
        print(f"{options.traffic} traffic, seeds {', '.join(map(str, seeds))}\n")
        print(slowdown_table(comparison) if options.traffic == "web"
              else cost_table(comparison, lambdas))  # fmt: skip
        tell_plot(options)
    costs = costs_as_dicts(cost_rows(comparison, lambdas), lambdas)
    facts = {"traffic": options.traffic, "seeds": list(seeds), **comparison.to_dict()}
    for row, more in zip(facts["policies"], costs, strict=True):
        row |= more
    write_json(facts, options.json)
    return 0


def tell_plot(options: Namespace) -> None:
    if options.plot:
        print(f"\nplot: {options.plot}")
