"""`selectron power`: 802.11 power saving, one policy or all of them side by side."""

from argparse import Namespace
from dataclasses import asdict, astuple
from pathlib import Path

from selectron.cli.output import check_outputs, facts_table, progress, table, tell, with_plot
from selectron.evaluate.plots import write_figure
from selectron.power import (
    AlwaysOn,
    Comparison,
    Learned,
    Policy,
    Workload,
    changing_workload,
    compare,
    mismatches,
    named_policy,
    simulate,
    standard_policies,
    web_workload,
)
from selectron.power.comparison import cost_rows, costs_as_dicts
from selectron.power.plots import delay_panels, draw_fronts, sleep_times, slowdown_panels

LEARNED = "learned"
EVERYTHING = [*(policy.name for policy in standard_policies()), LEARNED]
LAMBDAS = (0.5, 1.0, 2.0)
PAGES, REGIMES, MAX_SLEEP = 100, 12, 1.2


def power(options: Namespace) -> int:
    check_outputs(options)
    return simulate_one(options) if options.task == "simulate" else compare_all(options)


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
    facts = {"policy": run.policy, "traffic": options.traffic, "seed": options.seed}
    facts |= {"pages": len(run.latencies_s), "hours": run.duration_s / 3600}
    for name in ("energy_j_per_page", "beacon_j_per_page", "latency_s"):
        facts[name] = getattr(run, name)
    facts |= {"slowdown": run.slowdown(none), "delay_s": run.latency_s - none.latency_s}
    facts |= {"awake_s": run.awake_s, "beacons": run.beacons}
    if options.plot:
        write_figure(sleep_times([run], (0.0, min(120.0, run.duration_s))), Path(options.plot))
    return tell(options, with_plot(facts_table(facts), options), facts)


def compare_all(options: Namespace) -> int:
    names, lambdas = options.policy or EVERYTHING, options.lambdas or list(LAMBDAS)
    check_options(options, names)
    wanted = policies(options, names, lambdas)
    seeds = range(options.seed, options.seed + options.runs)
    workloads = [workload(options, seed) for seed in seeds]
    running = {policy.name for policy in wanted} | {"none", "static"}
    with progress(len(running) * len(workloads), "runs") as bar:
        comparison = compare(wanted, workloads=workloads, progress=lambda *_: bar.update(1))
    web = options.traffic == "web"
    if options.plot:
        panels = slowdown_panels if web else delay_panels
        write_figure(draw_fronts(panels(comparison)), Path(options.plot))
    shown = slowdown_table(comparison) if web else cost_table(comparison, lambdas)
    costs = costs_as_dicts(cost_rows(comparison, lambdas), lambdas)
    rows = [asdict(row) | more for row, more in zip(comparison.rows(), costs, strict=True)]
    facts = {"traffic": options.traffic, "seeds": list(seeds), **comparison.to_dict()}
    head = f"{options.traffic} traffic, seeds {', '.join(map(str, seeds))}\n\n"
    return tell(options, with_plot(head + shown, options), facts | {"policies": rows})


def slowdown_table(comparison: Comparison) -> str:
    head = ("policy", "J/page", "beacons J", "latency s", "slowdown", "worst page", "J/static")
    rows = [astuple(row)[: len(head)] for row in comparison.rows()]
    return "\n".join([table(head, rows), "", *mismatches(comparison)]).rstrip()


def cost_table(comparison: Comparison, lambdas: list[float]) -> str:
    head = ["policy", "J/static", "delay s", "longest s"]
    head += [f"J/h at {lambda_:g}" for lambda_ in lambdas]
    rows = [
        (r.policy, r.energy_vs_static, r.delay_s, r.longest_delay_s, *r.cost_per_hour)
        for r in cost_rows(comparison, lambdas)
    ]
    return f"{table(head, rows)}\n\nJ/h at λ: Joules + λ x seconds of delay, an hour"


def check_options(options: Namespace, names: list[str]) -> None:
    """Refuse options that cannot be run, and options that would have no effect."""
    if options.runs < 1:
        raise ValueError(f"--runs must be at least 1, got {options.runs}")
    unknown = [name for name in names if name not in EVERYTHING]
    if unknown:
        raise ValueError(f"--policy {unknown[0]!r}: choose among {', '.join(EVERYTHING)}")
    for value in options.lambdas or []:
        if not 0 < value < float("inf"):
            raise ValueError(f"--lambda {value:g}: give Joules a second, finite and > 0")
    refuse_repetitions("--lambda", [f"{value:g}" for value in options.lambdas or []])
    if options.traffic == "web" and options.regimes is not None:
        raise ValueError(f"--regimes {options.regimes} is for --traffic changing; web has --pages")
    if options.traffic == "changing" and options.pages is not None:
        raise ValueError(f"--pages {options.pages} is for --traffic web; changing has --regimes")
    refuse_repetitions("--policy", names)
    if LEARNED not in names:
        refuse_options_of_learned(options, names)


def refuse_repetitions(option: str, given: list[str]) -> None:
    for word in given:
        if given.count(word) > 1:
            raise ValueError(f"{option} {word} is there twice: give each once")


def refuse_options_of_learned(options: Namespace, names: list[str]) -> None:
    why = f"is for --policy {LEARNED}, which is not among {', '.join(names)}"
    if options.max_sleep is not None:
        raise ValueError(f"--max-sleep {options.max_sleep:g} {why}")
    priced = options.task == "compare" and (options.traffic == "changing" or options.json)
    if options.lambdas and not priced:
        raise ValueError(f"--lambda {options.lambdas[0]:g} {why}")


def workload(options: Namespace, seed: int) -> Workload:
    if options.traffic == "web":
        return web_workload(PAGES if options.pages is None else options.pages, seed)
    return changing_workload(REGIMES if options.regimes is None else options.regimes, seed)


def policies(options: Namespace, names: list[str], lambdas: list[float]) -> list[Policy]:
    """Find the policies by their names; learned becomes one policy for every λ."""
    max_sleep = MAX_SLEEP if options.max_sleep is None else options.max_sleep
    learned = [Learned(lambda_, max_sleep) for lambda_ in lambdas]
    chosen = (learned if name == LEARNED else [named_policy(name)] for name in names)
    return [policy for some in chosen for policy in some]
