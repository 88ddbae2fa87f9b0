"""The labels of other libraries' learners as text."""

from typing import Any

import numpy as np

from selectron.experiments.ocr_problems import PROBLEMS
from selectron.experiments.text_columns import lay_out

HEADS = [f"{digits.name} ({digits.error:g})" for digits in PROBLEMS]


def text(result: dict[str, Any]) -> str:
    """Print labels, and how many times the default's on the same folds."""
    rows = [["", "folds", *HEADS, "least", "most", "mean"]]
    for name in dict.fromkeys(cell["learner"] for cell in result["cells"]):
        row = [cell for cell in result["cells"] if cell["learner"] == name]
        times = [cell["times_the_default"] for cell in row if cell["times_the_default"]]
        ends = [min(times), max(times), np.exp(np.mean(np.log(times)))] if times else []
        rows.append([name, str(row[0]["folds"]), *map(_labels, row),
                     *([f"{end:.2f}" for end in ends] or [""] * 3)])  # fmt: skip
    return "\n".join(
        [
            "Labels until the error in brackets is reached, mean ± standard deviation, x how many "
            "times the default's on the same folds;",
            "(share) of the runs that reach, where not all do, the mean being of those; least, "
            "most and geometric mean of the x",
            "",
            *lay_out(rows),
        ]
    )


def _labels(cell: dict[str, Any]) -> str:
    if cell["mean"] is None:
        return "- (0.00)"
    share = "" if cell["reach"] == 1.0 else f" ({cell['reach']:.2f})"
    times = cell["times_the_default"]
    return f"{cell['mean']:.1f}±{cell['sd']:.1f}{'' if times is None else f' x{times:.2f}'}{share}"
