"""LPSM and its experts on a trace ([Mon06], Figures 2-9 to 2-11): one run, three views."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from selectron.arrays import Vector
from selectron.evaluate.plots import write_figure
from selectron.experiments.lpsm_trace import (
    HOUR_S,
    SLEEPS_MS,
    TraceRun,
    bytes_by_bin,
    run_lpsm,
    stand_in,
)
from selectron.experiments.lpsm_trace_facts import competition, losses_said, weights_said
from selectron.experiments.registry import Experiment
from selectron.experiments.traces import needed_data_folder
from selectron.power.plots import new_figure

ZOOM, SHOWN = 300, 1500  # early wake-ups in full, all of them thinned out
HEAD = (
    "An hour of one client of the EPA's web server (1995), in the place of the Home IP trace of "
    "1996"
)


def steps(seeds: int | None) -> int:
    return 1


def run(figure: str, seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Run LPSM over the trace; it has no randomness, so seeds do not matter."""
    found = run_lpsm(bytes_by_bin(stand_in(needed_data_folder(figure)), HOUR_S))
    tick()
    kept = np.unique(np.concatenate([
        np.arange(min(ZOOM, len(found.loss))),
        np.linspace(0, len(found.loss) - 1, SHOWN).astype(np.int64),
    ]))  # fmt: skip
    thinned = {name: array[kept].tolist() for name, array in found._asdict().items()}
    return {
        "experiment": figure,
        "wake_ups": len(found.loss),
        "losses": losses_said(found),
        "weights": weights_said(found),
        "competition": competition(found),
        "shown": {"wake_up": kept.tolist(), **thinned, **_totals(found, kept)},
    }


def _totals(found: TraceRun, kept: Any) -> dict[str, list[float]]:
    best = int(found.expert_losses.sum(axis=0).argmin())
    return {
        "total": np.cumsum(found.loss)[kept].tolist(),
        "total_of_best_fixed": np.cumsum(found.expert_losses[:, best])[kept].tolist(),
        "total_of_current_best": np.cumsum(found.expert_losses.min(axis=1))[kept].tolist(),
    }


def losses_text(result: dict[str, Any]) -> str:
    said = result["losses"]
    best = ", ".join(f"{ms:g}" for ms in said["sleeps_that_were_best_ms"])
    return "\n".join([
        f"{HEAD}: {result['wake_ups']} wake-ups ([Mon06], Figure 2-9)",
        f"loss within a tenth of the current best expert's: {_share(said, 'within_a_tenth_of')}",
        f"loss at or below it: {_share(said, 'at_or_below')}",
        f"the current best expert changes {said['current_best_changes']} times, among {best} ms",
        f"in the first ten wake-ups LPSM beats {said['experts_beaten_in_the_first_ten']} of "
        f"{len(SLEEPS_MS)} experts",
        "",
        "The thesis: loss close to or better than that of the current best expert, which changes;",
        "that takes some time, but even early on LPSM beats the worse half of the experts.",
    ])  # fmt: skip


def _share(said: dict[str, Any], words: str) -> str:
    return f"{said[f'share_{words}_current_best']:.1%} of wake-ups"


def weights_text(result: dict[str, Any]) -> str:
    said = result["weights"]
    regained = ", ".join(f"{ms:g}" for ms in said["worst_once_and_best_later_ms"]) or "none"
    return "\n".join([
        f"{HEAD}: {result['wake_ups']} wake-ups ([Mon06], Figure 2-10)",
        f"the heaviest expert changes {said['heaviest_changes']} times, first at wake-up "
        f"{said['first_change']}",
        f"lightest at some time and heaviest at a later one: {regained} ms",
        f"weights between {said['least_weight']:.2g} and {said['largest_weight']:.2g}",
        "",
        "The thesis: the heaviest expert shifts with the traffic, early on too, and one that was",
        "the worst for a while comes back as the best, for no weight ever goes to zero.",
    ])  # fmt: skip


def competition_text(result: dict[str, Any]) -> str:
    said = result["competition"]
    since = said["ahead_of_best_fixed_from"]
    ahead = f"from wake-up {since} on" if since < result["wake_ups"] else "never for good"
    return "\n".join([
        f"{HEAD}: {result['wake_ups']} wake-ups ([Mon06], Figure 2-11)",
        f"total loss of LPSM                {said['loss']:10.3f}",
        f"best fixed expert ({said['best_fixed_ms']:g} ms)        {said['best_fixed']:10.3f}",
        f"worst fixed expert                {said['worst_fixed']:10.3f}",
        f"current best expert at each step  {said['current_best']:10.3f}",
        f"LPSM is ahead of the best fixed expert: {ahead}",
        "",
        "The thesis: LPSM eventually does better than the best fixed expert, and tracks the",
        "sequence of best experts without beating it.",
    ])  # fmt: skip


def _series(result: dict[str, Any]) -> tuple[Vector, dict[str, Vector]]:
    shown = {name: np.array(values) for name, values in result["shown"].items()}
    return shown.pop("wake_up"), shown


def losses_plot(result: dict[str, Any], path: Path) -> None:
    """Draw each expert's loss and LPSM's, all of the run and its beginning."""
    when, shown = _series(result)
    figure = new_figure(10.0, 4.0)
    for axes, last in zip(figure.subplots(1, 2), (when[-1], ZOOM), strict=True):
        part = when <= last
        axes.semilogy(when[part], shown["expert_losses"][part], linewidth=0.6)
        axes.semilogy(when[part], shown["loss"][part], "ko", markersize=2, markerfacecolor="none")
        axes.set(xlabel="wake-up", ylabel="loss")
    write_figure(figure, path)


def weights_plot(result: dict[str, Any], path: Path) -> None:
    """Draw each expert's weight, all of the run and its beginning."""
    when, shown = _series(result)
    figure = new_figure(10.0, 4.0)
    for axes, last in zip(figure.subplots(1, 2), (when[-1], ZOOM), strict=True):
        part = when <= last
        lines = axes.plot(when[part], shown["weights"][part], linewidth=0.8)
        axes.set(xlabel="wake-up", ylabel="weight")
    axes.legend(lines, [f"{ms:g} ms" for ms in SLEEPS_MS], fontsize=7)
    write_figure(figure, path)


def competition_plot(result: dict[str, Any], path: Path) -> None:
    """Draw the totals against the best fixed expert, and against the best at each step."""
    when, shown = _series(result)
    figure = new_figure(10.0, 4.0)
    rivals = {"total_of_best_fixed": "best fixed expert", "total_of_current_best": "current best"}
    for axes, (name, label) in zip(figure.subplots(1, 2), rivals.items(), strict=True):
        axes.plot(when, shown["total"], "ko", markersize=2, markerfacecolor="none", label="LPSM")
        axes.plot(when, shown[name], label=label)
        axes.set(xlabel="wake-up", ylabel="total loss")
        axes.legend()
    write_figure(figure, path)


def _experiment(number: str, summary: str, text: Any, plot: Any) -> Experiment:
    begin = partial(run, f"mon06-figure-{number}")
    return Experiment(f"[Mon06] Figure {number}: {summary}", steps, begin, text, plot, True)


FIGURE_2_9 = _experiment("2-9", "loss of every expert and of LPSM", losses_text, losses_plot)
FIGURE_2_10 = _experiment("2-10", "LPSM's weights on its experts", weights_text, weights_plot)
FIGURE_2_11 = _experiment(
    "2-11", "LPSM against the best expert, fixed and current", competition_text, competition_plot
)
