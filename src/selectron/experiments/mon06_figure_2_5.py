"""How LPSM's sleeping times evolve ([Mon06], Figure 2-5)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from selectron.evaluate.plots import write_figure
from selectron.experiments.power_runs import run_as_data, run_from_data
from selectron.experiments.registry import Experiment
from selectron.power import Diary, Lpsm, lpsm_inverse_log, simulate, web_workload
from selectron.power.plots import sleep_times

PAGES = 100
LONG_S = 0.25  # a sleep of 300 ms or more, whatever its last bit


def steps(seeds: int | None) -> int:
    return 2 * (seeds or 1)


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Keep every sleep of a hundred pages, with both losses."""
    runs = []
    for seed in range(1, 1 + (seeds or 1)):
        for policy in (Lpsm(), lpsm_inverse_log()):
            found = simulate(policy, web_workload(PAGES, seed), diary=True)
            assert found.diary is not None
            runs.append(run_as_data(found) | {"seed": seed} | behaviour(found.diary))
            tick()
    return {"experiment": "mon06-figure-2-5", "runs": runs}


def behaviour(diary: Diary) -> dict[str, float | None]:
    """Measure what the thesis says in words.

    Of sleeps after data: the share of 100 ms. Of sleeps after none: the share not shorter than
    the one before. And how long it takes to back off from 100 ms to 300 ms in silence.
    """
    sleeps, data = diary.sleep_s, diary.bytes_waiting > 0
    after_data = sleeps[data]
    quiet = ~data[1:]
    grown = sleeps[1:][quiet] >= sleeps[:-1][quiet]
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
        "share_not_shorter_in_silence": float(np.mean(grown)),
        "back_off_s": float(np.median(waits)) if waits else None,
    }


def text(result: dict[str, Any]) -> str:
    """Print each sentence of the thesis, and what was measured."""
    lines = ["Sleeping times of LPSM ([Mon06], Figure 2-5), measured over 100 pages", ""]
    for found in result["runs"]:
        back_off = found["back_off_s"]
        lines += [
            f"{found['policy']}, seed {found['seed']}",
            f"  sleeps after data: {found['share_of_100_ms_after_data']:.0%} are of 100 ms, "
            f"{found['share_of_300_ms_after_data']:.0%} of 300 ms or more",
            f"  sleeps after none: {found['share_not_shorter_in_silence']:.1%} are not shorter "
            "than the one before",
            "  from 100 ms after data to 300 ms in silence: "
            + (f"{back_off:.1f} s (median)" if back_off is not None else "never"),
        ]
    return "\n".join(
        [
            *lines,
            "",
            "The thesis: when packets are queued the sleep is quickly cut to 100 ms; in silence it",
            "grows at every wake-up; with 1/T it backs off much more slowly than with 1/log T.",
        ]
    )


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw the first minute and a half, a panel each."""
    runs = [run_from_data(found) for found in result["runs"]]
    write_figure(sleep_times(runs, (0.0, 90.0)), path)


FIGURE_2_5 = Experiment(
    "[Mon06] Figure 2-5: how LPSM's sleeping times evolve, with 1/T and with 1/log T",
    steps,
    run,
    text,
    plot,
)
