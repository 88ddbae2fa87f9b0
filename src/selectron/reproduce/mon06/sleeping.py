"""Simulate sleeping radios ([Mon06], Figures 2-5 to 2-8): sleeps, energy and slowdown."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.power import (
    AlwaysOn,
    Comparison,
    Diary,
    Lpsm,
    Policy,
    Radio,
    Run,
    StaticPsm,
    Workload,
    lpsm_inverse_log,
    mismatches,
    simulate,
    standard_policies,
    web_workload,
)
from selectron.power.plots import page_slowdowns, sleep_times
from selectron.power.thesis import Printed, printed_for
from selectron.reproduce.harness.experiment import Parts, Row
from selectron.reproduce.harness.measure import grouped
from selectron.reproduce.harness.report import Picture, fill, new_figure

EVOLVING_PAGES, SHORT_PAGES, LONG_PAGES = 100, 100, 500
LONG_S = 0.25  # a sleep of 300 ms or more, whatever its last bit
TITLES = {"a": "a) one trial of 100 pages", "b": "b) trials of 500 pages"}


class Job(NamedTuple):
    """One policy on one workload of a trial."""

    trial: str
    policy: Policy
    workload: Callable[[int, int], Workload]
    size: int  # of the workload: pages, or regimes
    seed: int
    diary: bool = False  # keep every sleep


@lru_cache(maxsize=1)
def drawn(workload: Callable[[int, int], Workload], size: int, seed: int) -> Workload:
    """Draw a workload; all its policies follow each other, so one is remembered."""
    return workload(size, seed)


def simulated(job: Job) -> Run:
    workload = drawn(job.workload, job.size, job.seed)
    return simulate(job.policy, workload, diary=job.diary)


def against_both(policies: Iterable[Policy]) -> list[Policy]:
    """Put the two policies first that all are measured against: awake always, and static PSM."""
    first: list[Policy] = [AlwaysOn(), StaticPsm()]
    return list({policy.name: policy for policy in (*first, *policies)}.values())


def comparisons(found: Iterable[tuple[Job, Run]]) -> dict[str, Comparison]:
    """Gather the runs of each policy, in the order of the seeds, by trial."""
    trials = grouped((job.trial, (job.policy.name, run)) for job, run in found)
    return {
        trial: Comparison({name: tuple(some) for name, some in grouped(runs).items()})
        for trial, runs in trials.items()
    }


def run_as_data(run: Run) -> Row:
    """Return a run as plain data, from which a figure can be drawn."""
    kept = ("policy", "duration_s", "awake_s", "beacons")
    diary = run.diary and [column.tolist() for column in astuple(run.diary)]
    pages = {"latencies_s": run.latencies_s.tolist(), "diary": diary}
    return {name: getattr(run, name) for name in kept} | pages


def run_from_data(data: Row) -> Run:
    diary = data["diary"] and Diary(*map(np.array, data["diary"]))
    spent = data["duration_s"], data["awake_s"], data["beacons"]
    return Run(data["policy"], np.array(data["latencies_s"]), *spent, Radio(), diary)


def comparison_as_data(comparison: Comparison) -> Row:
    return {name: [run_as_data(run) for run in runs] for name, runs in comparison.runs.items()}


def comparison_from_data(data: Row) -> Comparison:
    return Comparison({name: tuple(map(run_from_data, runs)) for name, runs in data.items()})


def evolving_jobs(seeds: int) -> list[Job]:
    policies, numbers = (Lpsm(), lpsm_inverse_log()), range(1, 1 + seeds)
    return [Job("", p, web_workload, EVOLVING_PAGES, n, True) for n in numbers for p in policies]


def report_sleeps(found: list[tuple[Job, Run]], seeds: int) -> Row:
    """Return every sleep of a hundred pages, with both losses."""
    return {
        "runs": [
            run_as_data(run) | {"seed": job.seed} | behaviour(run.diary)
            for job, run in found
            if run.diary is not None
        ]
    }


def behaviour(diary: Diary) -> dict[str, float | None]:
    """Measure what the thesis says in words.

    Of sleeps after data: the share of 100 ms. Of sleeps after none: the share not shorter than
    the one before. And how long it takes to back off from 100 ms to 300 ms in silence.
    """
    sleeps, data = diary.sleep_s, diary.bytes_waiting > 0
    after_data, quiet = sleeps[data], ~data[1:]
    waits, since = [], None
    for when, sleep, waiting in zip(diary.time_s, sleeps, data, strict=True):
        if waiting:
            since = when if sleep < 0.15 else None
        elif since is not None and sleep > LONG_S:
            waits.append(when - since)
            since = None
    return {
        "share_of_100_ms_after_data": float(np.mean(after_data < 0.15)),
        "share_of_300_ms_after_data": float(np.mean(after_data > LONG_S)),
        "share_not_shorter_in_silence": float(np.mean(sleeps[1:][quiet] >= sleeps[:-1][quiet])),
        "back_off_s": float(np.median(waits)) if waits else None,
    }


def sleeps_text(result: Row) -> str:
    """Write each sentence of the thesis, and what was measured."""
    runs = [
        run | {"back_off": f"{run['back_off_s']:.1f} s (median)" if run["back_off_s"] else "never"}
        for run in result["runs"]
    ]
    sentences = (
        "{policy}, seed {seed}\n"
        "  sleeps after data: {share_of_100_ms_after_data:.0%} are of 100 ms, "
        "{share_of_300_ms_after_data:.0%} of 300 ms or more\n"
        "  sleeps after none: {share_not_shorter_in_silence:.1%} are not shorter than the one "
        "before\n"
        "  from 100 ms after data to 300 ms in silence: {back_off}"
    )
    return "\n".join(fill(sentences, runs))


def page_jobs(seeds: int) -> list[Job]:
    """List 100 pages of seed 1, and trials of 500 pages, under every policy."""
    trials = [("a", SHORT_PAGES, 1), *(("b", LONG_PAGES, 1 + k) for k in range(seeds))]
    return [
        Job(trial, policy, web_workload, pages, seed)
        for trial, pages, seed in trials
        for policy in against_both(standard_policies())
    ]


def report_pages(found: list[tuple[Job, Run]], seeds: int) -> Row:
    """Return all runs, the rows of the tables, and what differs from the thesis."""
    trials = comparisons(found)
    return {
        "trials": {name: comparison_as_data(trial) for name, trial in trials.items()},
        "rows": {name: trial.to_dict()["policies"] for name, trial in trials.items()},
        "mismatches": {name: mismatches(trial) for name, trial in trials.items()},
    }


def trials_of(result: Row) -> dict[str, Comparison]:
    return {name: comparison_from_data(data) for name, data in result["trials"].items()}


def table_text(title: str, columns: dict[str, str], words: Sequence[str], result: Row) -> str:
    """Write some columns of every policy, ours and (the thesis's), and what differs there.

    Parameters
    ----------
    title : str
        The first line.
    columns : dict
        The fields of a row by the word at their head.
    words : sequence of str
        Of what differs, the sentences with one of these words are printed.
    result : Row
        The report.
    """
    lines = [f"{title}; the thesis's figures in brackets"]
    for name, comparison in trials_of(result).items():
        printed = printed_for(comparison)
        lines += ["", TITLES[name], f"{'':14s}" + "".join(f"{head:>22s}" for head in columns)]
        for row in comparison.rows():
            thesis = printed.get(row.policy, Printed())
            cells = [_cell(getattr(row, c), getattr(thesis, c, None)) for c in columns.values()]
            lines.append(f"{row.policy:14s}" + "".join(f"{cell:>22s}" for cell in cells))
        said = result["mismatches"][name]
        lines += [f"Differs: {one}." for one in said if any(word in one for word in words)]
    return "\n".join(lines)


energy_text = partial(
    table_text,
    "Energy per page ([Mon06], Figure 2-6)",
    {"J/page": "energy_j_per_page", "beacons J/page": "beacon_j_per_page",
     "energy/static": "energy_vs_static", "beacons/static": "beacons_vs_static"},
    ("energy", "beacons"),
)  # fmt: skip
slowdown_text = partial(
    table_text,
    "Slowdown over no power saving ([Mon06], Figure 2-7)",
    {"latency s": "latency_s", "slowdown": "slowdown", "over static": "slowdown_vs_static"},
    ("slowdown",),
)


def _cell(ours: float, thesis: float | None) -> str:
    return f"{ours:.3f}" + (f" ({thesis:.3g})" if thesis is not None else "")


def pages_text(result: Row) -> str:
    """Write how much slower single pages get than under static PSM, short ones and long ones."""
    lines = [
        f"{'':26s}{'mean':>8s}{'worst':>8s}{'fastest 10 %':>14s}{'slowest 10 %':>14s}"
        f"{'worst, thesis':>15s}"
    ]
    for name, comparison in trials_of(result).items():
        lines.append(TITLES[name])
        for policy in ("lpsm-1/T", "lpsm-1/logT"):
            ratios = _by_length(comparison, policy)
            tenth = max(1, len(ratios) // 10)
            worst = printed_for(comparison).get(policy, Printed()).worst_page_vs_static
            lines.append(
                f"  {policy:24s}{np.mean(ratios):8.2f}{np.max(ratios):8.2f}"
                f"{ratios[:tenth].mean():14.2f}{ratios[-tenth:].mean():14.2f}"
                + (f"{'at most ' + format(worst, 'g'):>15s}" if worst else "")
            )
    return "\n".join(lines)


def _by_length(comparison: Comparison, policy: str) -> Vector:
    """Return the pages' ratios to static PSM, first the pages that load fastest without saving."""
    times = np.concatenate([none.latencies_s for none in comparison.runs["none"]])
    pairs = zip(comparison.runs[policy], comparison.runs["static"], strict=True)
    ratios = np.concatenate([one.slowdowns(static) for one, static in pairs])
    return ratios[np.argsort(times, kind="stable")]


def draw_bars(column: str, label: str, result: Row) -> Picture:
    """Draw a bar a policy, trials side by side, what the thesis prints as a cross."""
    figure, both = new_figure(10.0, 4.0, 1, 2, sharey=True)
    for axes, (name, comparison) in zip(both, trials_of(result).items(), strict=True):
        rows = [row for row in comparison.rows() if row.policy != "none"]
        axes.bar([row.policy for row in rows], [getattr(row, column) for row in rows])
        if column == "energy_j_per_page":
            axes.bar([r.policy for r in rows], [r.beacon_j_per_page for r in rows], label="beacons")
            thesis = {p: v.energy_j_per_page for p, v in printed_for(comparison).items()}
            axes.plot(list(thesis), list(thesis.values()), "kx", label="thesis")
            axes.legend()
        axes.set(title=TITLES[name], ylabel=label)
        axes.tick_params("x", rotation=45)
    return figure


draw_energy = partial(draw_bars, "energy_j_per_page", "energy per page (J)")
draw_slowdown = partial(draw_bars, "slowdown", "slowdown over no power saving")


# Figure 2-5 shows the first minute and a half, a panel for each run.
FIGURE_2_5 = Parts(
    evolving_jobs, simulated, report_sleeps, sleeps_text,
    lambda result: sleep_times(list(map(run_from_data, result["runs"])), (0.0, 90.0)),
)  # fmt: skip
FIGURE_2_6 = Parts(page_jobs, simulated, report_pages, energy_text, draw_energy)
FIGURE_2_7 = Parts(page_jobs, simulated, report_pages, slowdown_text, draw_slowdown)
FIGURE_2_8 = Parts(
    page_jobs, simulated, report_pages, pages_text,
    lambda result: page_slowdowns(trials_of(result)["a"]),
)  # fmt: skip
