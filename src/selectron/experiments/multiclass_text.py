"""The labels of learners of ten classes as text, beside those of an earlier study."""

from typing import Any

import numpy as np

from selectron.experiments.multiclass_runs import BLIND, DEFAULT, FIRST_ORDER, PEER
from selectron.experiments.text_columns import lay_out

# A prototype on streams of its own, of the same kind; None: never, pairs: (mean, runs of ten).
EARLIER: dict[tuple[str, str], str] = {
    ("MNIST", DEFAULT): "144 281 681",
    ("MNIST", BLIND): "246 698 -",
    ("MNIST", FIRST_ORDER): "185 460 900(3)",
    ("MNIST", PEER): "455 590(2) -",
    ("USPS", DEFAULT): "59 94 144 212",
    ("USPS", BLIND): "85 188 323(9) -",
    ("USPS", FIRST_ORDER): "80 133 204 331(8)",
    ("USPS", PEER): "254 329 - -",
    ("20news", DEFAULT): "161 275 390 562; with 300 directions 167 250 374 558",
    ("20news", BLIND): "196 299 387 558",
    ("20news", FIRST_ORDER): "370 590 738 930",
    ("fashion (dev)", DEFAULT): "46 109 194 562",
    ("fashion (dev)", BLIND): "73 156 325 932(5)",
    ("fashion (dev)", FIRST_ORDER): "89 201 415 1057(3)",
    ("fashion (dev)", PEER): "345 542(2) - -",
    ("digits (dev)", DEFAULT): "29 39 66 81",
    ("digits (dev)", BLIND): "44 68 89 84",
    ("digits (dev)", FIRST_ORDER): "39 50 93 113",
    ("digits (dev)", PEER): "- - - -",
}
EARLIER_LATE = 30, 119
SOON = 60


def text(result: dict[str, Any]) -> str:
    """Print a table a problem, and the late classes below."""
    lines = [
        "Labels until the test error is reached the first time, mean ± standard deviation; (k): "
        "only k runs get there, the mean being of those;",
        "x how many times the default's; at the right the means of an earlier study",
    ]
    for problem in dict.fromkeys(cell["problem"] for cell in result["cells"]):
        lines += ["", *lay_out(_table(problem, result["cells"]))]
    for name in result["missing"]:
        lines += ["", f"{name}: not run, for it is not there"]
    return "\n".join([*lines, "", _late(result["late"])])


def _table(problem: str, cells: list[dict[str, Any]]) -> list[list[str]]:
    here = [cell for cell in cells if cell["problem"] == problem]
    default = {cell["error"]: cell for cell in here if cell["learner"] == DEFAULT}
    rows = [[problem, *(f"{100 * error:g} %" for error in default), "earlier"]]
    for name in dict.fromkeys(cell["learner"] for cell in here):
        own = [cell for cell in here if cell["learner"] == name]
        shown = [_labels(cell, default[cell["error"]]) for cell in own]
        rows.append([name, *shown, EARLIER[problem, name]])
    return rows


def _labels(cell: dict[str, Any], default: dict[str, Any]) -> str:
    if cell["mean"] is None:
        return "-"
    share = "" if cell["reach"] == 1.0 else f"({round(cell['reach'] * len(cell['reached']))})"
    times = ""
    if cell["learner"] != DEFAULT and cell["reach"] == default["reach"] == 1.0:
        times = f" x{cell['mean'] / default['mean']:.2f}"
    return f"{cell['mean']:.0f}±{cell['sd']:.0f}{share}{times}"


def _late(rows: list[int | None]) -> str:
    mean, most = EARLIER_LATE
    return (
        "Two classes of clothes absent for 5,000 rounds: rows of such a class until half of its "
        f"test rows are known: {_found(rows)} (earlier: mean {mean}, most {most})"
    )


def _found(rows: list[int | None]) -> str:
    there = [n for n in rows if n is not None]
    if not there:
        return "none"
    never = f"; {len(rows) - len(there)} never" if len(there) < len(rows) else ""
    soon = sum(n <= SOON for n in there)
    return (
        f"mean {np.mean(there):.0f} (standard error {np.std(there) / np.sqrt(len(there)):.0f}), "
        f"median {np.median(there):.0f}, most {max(there)}, {soon} of {len(rows)} within {SOON}"
        f"{never}"
    )
