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
from selectron.power.thesis import (
    AGREES,
    FOUR_TRIALS_OF_500,
    ONE_TRIAL_OF_100,
    Printed,
    printed_for,
)
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Parts, Row, verdict
from selectron.reproduce.harness.report import Picture, fill, new_figure

EVOLVING_PAGES, SHORT_PAGES, LONG_PAGES = 100, 100, 500
LONG_S = 0.25  # a sleep of 300 ms or more, whatever its last bit
PRINTED = {"a": ONE_TRIAL_OF_100, "b": FOUR_TRIALS_OF_500}
MOST, EVERY, MUCH, NEGLIGIBLE = 0.5, 0.99, 2.0, 1.1  # what words of the thesis are taken to mean
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


def judge_sleeps(result: Row) -> list[Row]:
    """Judge the three sentences that the thesis has on Figure 2-5."""
    runs = result["runs"]
    by_seed = grouped((run["seed"], run["back_off_s"] or np.inf) for run in runs).values()

    def each(share: str) -> str:
        return ", ".join(f"{run['policy']} {run[share]:.1%}" for run in runs)

    return [
        verdict(
            "when packets are queued the sleep is quickly cut to 100 ms (most sleeps after data)",
            each("share_of_100_ms_after_data"),
            [run["share_of_100_ms_after_data"] > MOST for run in runs],
            f"more than {MOST:.0%} of sleeps",
        ),
        verdict(
            "in silence the sleep grows at every wake-up (here: is not shorter than the one "
            f"before, at {EVERY:.0%} of them)",
            each("share_not_shorter_in_silence"),
            [run["share_not_shorter_in_silence"] >= EVERY for run in runs],
            f"{EVERY:.0%} of wake-ups",
        ),
        verdict(
            "with 1/T it backs off much more slowly than with 1/log T "
            f"(at least {MUCH:g} times as long)",
            "; ".join(f"{slow:.1f} s against {fast:.1f} s" for slow, fast in by_seed),
            [slow >= MUCH * fast for slow, fast in by_seed],
            f"at least {MUCH:g} times",
        ),
    ]


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


def _policies(result: Row, start: str) -> list[tuple[str, Row]]:
    """List the rows of the policies whose name starts so, with the trial that each is of."""
    return [
        (trial, row)
        for trial, rows in result["rows"].items()
        for row in rows
        if row["policy"].startswith(start)
    ]


def as_printed(result: Row, column: str, words: str) -> Row:
    """Judge whether the numbers of a column are those that the thesis prints, to 5 %."""
    pairs = {
        f"{row['policy']} {trial})": (row[column], getattr(PRINTED[trial][row["policy"]], column))
        for trial, row in _policies(result, "lpsm")
        if row["policy"] in PRINTED[trial]
    }
    return verdict(
        f"{words} over static PSM, to {AGREES:.0%}: "
        + ", ".join(f"{name} {theirs:.3f}" for name, (_, theirs) in pairs.items()),
        ", ".join(f"{name} {ours:.3f}" for name, (ours, _) in pairs.items()),
        [abs(ours / theirs - 1.0) <= AGREES for ours, theirs in pairs.values()],
        f"{AGREES:.0%}",
    )


def judge_energy(result: Row) -> list[Row]:
    """Judge what the thesis says of Figure 2-6."""
    lpsm = {
        f"{r['policy']} {trial})": r["energy_vs_static"] for trial, r in _policies(result, "lpsm")
    }
    least = {trial: r["energy_vs_static"] for trial, r in _policies(result, "lpsm-1/logT")}
    bounded = [(trial, row["energy_vs_static"]) for trial, row in _policies(result, "bsd")]
    return [
        as_printed(result, "energy_vs_static", "energy"),
        as_printed(result, "beacons_vs_static", "energy of beacons"),
        verdict(
            "LPSM consistently lowers the energy of a page below that of static PSM",
            ", ".join(f"{name} {ratio:.3f}" for name, ratio in lpsm.items()),
            [ratio < 1.0 for ratio in lpsm.values()],
        ),
        verdict(
            "1/log T saves more energy than every setting of BSD",
            f"energy over static PSM {max(least.values()):.3f} at most; "
            f"BSD {min(energy for _, energy in bounded):.3f} at least",
            [least[trial] < energy for trial, energy in bounded],
        ),
    ]


def judge_slowdown(result: Row) -> list[Row]:
    """Judge what the thesis says of Figure 2-7."""
    lpsm, bounded = (
        [row["slowdown"] for _, row in _policies(result, start)] for start in ("lpsm", "bsd")
    )
    return [
        as_printed(result, "slowdown_vs_static", "slowdown"),
        verdict(
            "LPSM slows down more than BSD",
            f"LPSM {min(lpsm):.2f} at least, BSD {max(bounded):.2f} at most",
            [slowdown > max(bounded) for slowdown in lpsm],
        ),
    ]


def judge_pages(result: Row) -> list[Row]:
    """Judge what the thesis says of the single pages of its trial of 100."""
    trial = trials_of(result)["a"]
    limits = {name: printed.worst_page_vs_static for name, printed in PRINTED["a"].items()}
    ratios = {name: _by_length(trial, name) for name, limit in limits.items() if limit}
    tenths = {name: _tenths(pages) for name, pages in ratios.items()}
    worst = {name: float(pages.max()) for name, pages in ratios.items()}
    return [
        verdict(
            "no page is slower than under static PSM by more than a factor of "
            + ", ".join(f"{limits[name]} ({name})" for name in worst),
            ", ".join(f"{name} {ratio:.2f}" for name, ratio in worst.items()),
            [ratio <= (limits[name] or 0.0) for name, ratio in worst.items()],
        ),
        verdict(
            f"longer transfers are slowed down negligibly (at most {NEGLIGIBLE:g} times)",
            ", ".join(f"{name} {long:.2f}" for name, (_, long) in tenths.items())
            + " in the slowest tenth of pages",
            [long <= NEGLIGIBLE for _, long in tenths.values()],
            f"{NEGLIGIBLE:g} times",
        ),
        verdict(
            "it is shorter transfers that LPSM slows down",
            ", ".join(f"{name} {short:.2f}" for name, (short, _) in tenths.items())
            + " in the fastest tenth",
            [short > long for short, long in tenths.values()],
        ),
    ]


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
            short, long = _tenths(ratios)
            worst = printed_for(comparison).get(policy, Printed()).worst_page_vs_static
            lines.append(
                f"  {policy:24s}{np.mean(ratios):8.2f}{np.max(ratios):8.2f}"
                f"{short:14.2f}{long:14.2f}"
                + (f"{'at most ' + format(worst, 'g'):>15s}" if worst else "")
            )
    return "\n".join(lines)


def _by_length(comparison: Comparison, policy: str) -> Vector:
    """Return the pages' ratios to static PSM, first the pages that load fastest without saving."""
    times = np.concatenate([none.latencies_s for none in comparison.runs["none"]])
    pairs = zip(comparison.runs[policy], comparison.runs["static"], strict=True)
    ratios = np.concatenate([one.slowdowns(static) for one, static in pairs])
    return ratios[np.argsort(times, kind="stable")]


def _tenths(ratios: Vector) -> tuple[float, float]:
    """Return the mean ratio of the fastest tenth of the pages, and of the slowest."""
    tenth = max(1, len(ratios) // 10)
    return float(ratios[:tenth].mean()), float(ratios[-tenth:].mean())


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
    lambda result: sleep_times(list(map(run_from_data, result["runs"])), (0.0, 90.0)), judge_sleeps,
)  # fmt: skip
FIGURE_2_6 = Parts(page_jobs, simulated, report_pages, energy_text, draw_energy, judge_energy)
FIGURE_2_7 = Parts(page_jobs, simulated, report_pages, slowdown_text, draw_slowdown, judge_slowdown)
FIGURE_2_8 = Parts(
    page_jobs, simulated, report_pages, pages_text,
    lambda result: page_slowdowns(trials_of(result)["a"]), judge_pages,
)  # fmt: skip
