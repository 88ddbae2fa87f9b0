"""The tables and the picture of how the estimates hold."""

from pathlib import Path
from typing import Any

import numpy as np

from selectron.arrays import Vector
from selectron.evaluate.plots import write_figure
from selectron.experiments.estimate_runs import CONSTRUCTIONS, NOISE, WINDOW, D


def text(result: dict[str, Any]) -> str:
    """Print the table of claims, and the table of widths."""
    lines = [
        f"{result['rounds']:,} rounds, d = {D}, {100 * NOISE:g} % of the labels turned over; means "
        "over the runs, in %.",
        "",
        "Share of runs that ever left the 95 % claim (5 allowed): T, EB; T and EB in any window of "
        f"{WINDOW:,};",
        "precision / recall / F1; +- 1.96 standard errors, looked at every 250 rounds. Bias in "
        "standard errors (z).",
        "",
        f"{'learner':<34}{'runs':>6}{'z':>7}{'T':>7}{'EB':>7}{'T win':>7}{'EB win':>7}"
        f"{'P / R / F1':>20}{'normal':>8}",
    ]
    for line in result["cases"]:
        ratios = " / ".join(f"{100 * off:.1f}" for off in line["ratios_off"])
        lines.append(
            f"{line['case']:<34}{line['runs']:>6,}{line['z']:>7.2f}"
            f"{100 * sum(line['thinning_off']):>7.2f}{100 * sum(line['bernstein_off']):>7.2f}"
            f"{100 * line['thinning_windows_off']:>7.2f}{100 * line['bernstein_windows_off']:>7.2f}"
            f"{ratios:>20}{100 * line['normal_off']:>8.1f}"
        )
    lines += [
        "",
        "The interval at the end. Hoeffding: half-width, one moment. C-P: Clopper-Pearson from as "
        "many random labels, one look.",
        "sd: of the estimate; with guess: with a control variate of 5 %, or of 30 % where the "
        "error is of that order.",
        "",
        f"{'learner':<34}{'labels':>7}{'error':>7}{'T':>13}{'EB':>13}{'Hoeffding':>11}{'C-P':>13}"
        f"{'sd':>6}{'with guess':>12}",
    ]
    for line in result["cases"]:
        lines.append(
            f"{line['case']:<34}{line['labels']:>7.0f}{100 * line['truth']:>7.1f}"
            f"{_ends(line['thinning']):>13}{_ends(line['bernstein']):>13}"
            f"{100 * line['hoeffding']:>11.0f}{_ends(line['clopper_pearson']):>13}"
            f"{100 * line['sd']:>6.2f}{100 * line['sd_guessed']:>12.2f}"
        )
    return "\n".join([*lines, "", result["hard"]])


def _ends(ends: list[float]) -> str:
    return f"{100 * ends[0]:.1f}-{100 * ends[1]:.1f}"


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw one run with its bands, and the ends against the floor."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    curve: dict[str, Vector] = {k: np.array(v, float) for k, v in result["curve"].items()}
    band = [100 * curve[f"thinning {end}"] for end in ("low", "high")]
    left.fill_between(curve["rounds"], *band, alpha=0.25, label="thinning")
    for end in ("low", "high"):
        name = "bernstein" if end == "low" else None
        left.plot(curve["rounds"], 100 * curve[f"bernstein {end}"], "C1:", label=name)
    left.plot(curve["rounds"], 100 * curve["estimate"], "C0", label="estimate")
    left.plot(curve["rounds"], 100 * curve["truth"], "k--", label="true error so far")
    left.set(xlabel="rounds", ylabel="error, %", ylim=(0, 30), title="one run, explore 0.02")
    floors = sorted(
        (line for line in result["cases"] if line["case"].startswith("default")
         and not line["case"].endswith("drift")), key=lambda line: line["floor"],
    )  # fmt: skip
    x = np.array([line["floor"] for line in floors])
    for name in CONSTRUCTIONS:
        ends = 100 * np.array([line[name] for line in floors])
        right.plot(x, ends[:, 1], "^-", label=f"{name}: upper end")
        right.plot(x, ends[:, 0], "v-", label=f"{name}: lower end")
    right.plot(x, [100 * line["truth"] for line in floors], "k--", label="true error")
    right.set(xscale="log", xlabel="explore", ylabel="error, %",
              title="what the floor buys, 10,000 rounds")  # fmt: skip
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    write_figure(figure, path)
