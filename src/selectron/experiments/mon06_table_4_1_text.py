"""Table 4.1 as text: the thesis beside us, what is far off, and learners without a knob."""

from typing import Any

import numpy as np

from selectron.experiments.ocr_learners import DEFAULT, HOLD
from selectron.experiments.ocr_problems import PROBLEMS
from selectron.experiments.text_columns import lay_out
from selectron.experiments.thesis_runs import NEAR, REPEATS
from selectron.experiments.thesis_table import BEST

HEADS = [f"{digits.name} ({digits.error:g})" for digits in PROBLEMS]
REFERENCE = "CBGZ + Perceptron"


def text(result: dict[str, Any]) -> str:
    """Print all of it."""
    lines = [
        f"Labels until the error in brackets is reached: thesis / ours, mean of {result['folds']} "
        "folds ± standard deviation, x their ratio;",
        "below, the rate (- reflects) and R or b that were tuned; (share) of the runs that reach, "
        "where not all do, the mean being of those",
        "",
        *_thesis_rows(result["cells"]),
        "",
        *_agreement(result["cells"]),
        "",
        *_far_off(result["cells"]),
        "",
        "Wilcoxon's signed ranks over the seven means, two-sided p: thesis / ours",
        *_tests(result["comparisons"]),
        "",
        "One setting for all problems, nothing tuned: labels, x the ratio to the best cell of the "
        "thesis's column; worst and median of the ratios",
        *_learner_rows(result["learners"]),
        "",
        f"The same until the error is held for {HOLD} labels more: x the ratio to {REFERENCE}, "
        "tuned",
        *_held_rows(result),
        "",
        "Folds that the default wins against the best tuned algorithm: "
        + ", ".join(
            f"{one['problem']} {one['folds_won']} ({one['against']})" for one in result["wins"]
        ),
    ]
    return "\n".join(lines)


def _thesis_rows(cells: list[dict[str, Any]]) -> list[str]:
    rows: list[list[str]] = [["", *HEADS]]
    for name in dict.fromkeys(cell["algorithm"] for cell in cells):
        row = [cell for cell in cells if cell["algorithm"] == name]
        rows.append([name, *(f"{c['thesis_mean']:.1f} / {_labels(c)}" for c in row)])
        rows.append(["", *(_setting(c) for c in row)])
    return lay_out(rows)


def _labels(cell: dict[str, Any]) -> str:
    if cell["mean"] is None:
        return "-"
    ratio = cell.get("ratio_to_thesis", cell.get("ratio_to_best_of_thesis"))
    share = "" if cell["reach"] == 1.0 else f" ({cell['reach']:.2f})"
    return f"{cell['mean']:.1f}±{cell['sd']:.1f} x{ratio:.2f}{share}"


def _setting(cell: dict[str, Any]) -> str:
    parameter = f" {cell['parameter']:.3g}" if cell["parameter"] else ""
    return (f"{cell['rate']:g}" if cell["rate"] else "-") + parameter


def _agreement(cells: list[dict[str, Any]]) -> list[str]:
    factors = np.array([_factor(cell) for cell in cells])
    return [
        f"{(factors <= NEAR).sum()} of {len(cells)} cells within {NEAR:g}x of the thesis, "
        f"{(factors <= 2.0).sum()} within 2x; median factor {np.median(factors):.2f}"
    ]


def _factor(cell: dict[str, Any]) -> float:
    ratio = cell["ratio_to_thesis"]
    return float("inf") if ratio is None else max(ratio, 1.0 / ratio)


def _far_off(cells: list[dict[str, Any]]) -> list[str]:
    lines = ["Cells further off: labels (share that reach) by R or b on the same folds; range of "
             f"the mean when all is repeated {REPEATS} times with the ten folds of a run in one "
             "order"]  # fmt: skip
    for cell in cells:
        if "sweep" not in cell:
            continue
        lines.append(
            f"  {cell['algorithm']}, {cell['problem']}: thesis {cell['thesis_mean']:.1f}"
            f"±{cell['thesis_sd']:.1f}, ours {_labels(cell)}; repeated {cell['again'][0]:.1f} to "
            f"{cell['again'][-1]:.1f}"
        )
        swept = [f"{p:.2g}: {mean:.1f} ({share:.2f})" for p, mean, share in cell["sweep"] if mean]
        if len(swept) > 1:
            lines.append("    " + "  ".join(swept))
    return lines


def _tests(comparisons: list[dict[str, Any]]) -> list[str]:
    rows = [
        [f"  {one['fewer']} against {one['more']}",
         f"{'not significant' if one['thesis_p'] is None else one['thesis_p']} / {one['p']:.4f}"]
        for one in comparisons
    ]  # fmt: skip
    return lay_out(rows)


def _learner_rows(learners: list[dict[str, Any]]) -> list[str]:
    best = [f"{mean:.1f}" for mean in BEST]
    rows = [["", *HEADS, "worst", "median"], ["best cell of the thesis", *best, "", ""]]
    for name, row in _by_learner(learners).items():
        ratios = [c["ratio_to_best_of_thesis"] for c in row if c["mean"] is not None]
        ends = [f"{max(ratios):.2f}", f"{np.median(ratios):.2f}"] if ratios else ["", ""]
        rows.append([name, *(_labels(c) for c in row), *ends])
        if name.startswith(f"{DEFAULT},"):
            rows.append(["  most in one fold", *(str(c["most"]) for c in row), "", ""])
    return lay_out(rows)


def _by_learner(learners: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for cell in learners:
        rows.setdefault(f"{cell['learner']}, seed {cell['seed']}", []).append(cell)
    return rows


def _held_rows(result: dict[str, Any]) -> list[str]:
    reference = [cell for cell in result["cells"] if cell["algorithm"] == REFERENCE]
    rows = [["", *HEADS, "worst"], [REFERENCE, *(_held(c, None) for c in reference), ""]]
    for name, row in _by_learner(result["learners"]).items():
        ratios = [
            c["held_mean"] / r["held_mean"]
            for c, r in zip(row, reference, strict=True)
            if c["held_mean"] and r["held_mean"]
        ]
        cells = [_held(c, r["held_mean"]) for c, r in zip(row, reference, strict=True)]
        rows.append([name, *cells, f"{max(ratios):.2f}" if ratios else ""])
    return lay_out(rows)


def _held(cell: dict[str, Any], reference: float | None) -> str:
    if not cell["held_mean"]:
        return "-"
    ratio = f" x{cell['held_mean'] / reference:.2f}" if reference else ""
    share = "" if cell["held_reach"] == 1.0 else f" ({cell['held_reach']:.2f})"
    return f"{cell['held_mean']:.1f}{ratio}{share}"
