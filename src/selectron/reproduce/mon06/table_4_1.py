"""Count labels to learn digits, [Mon06] Table 4.1: its six algorithms, and ours without a knob."""

import numpy as np

from selectron.reproduce.harness import Labels, Reach, grouped
from selectron.reproduce.harness.experiment import Row, verdict
from selectron.reproduce.harness.problems import published
from selectron.reproduce.harness.report import Picture, finish, lay_out, new_figure, show_labels
from selectron.reproduce.mon06.algorithms import (
    ACCURACIES,
    ALGORITHMS,
    LABELS,
    NEAR,
    REPEATS,
    ColumnJob,
    run_column,
)
from selectron.reproduce.mon06.digits import (
    COLUMNS,
    DEFAULT,
    FOLDS,
    HEADS,
    HOLD,
    LEARNERS,
    PROBLEMS,
    LearnerJob,
    run_learner,
)

SEEDS = (1, 2, 3)  # of rows, folds and coins; the six and our older learners run on the first
REFERENCE = "CBGZ + Perceptron"
ACTIVE, AT_RANDOM = ("DKM active + Perceptron", REFERENCE), "random + Perceptron"
LEAST_FACTOR, LARGEST_FACTOR = 1.26, 6.08  # by which random sampling needs more, section 4.6
SIGNIFICANT = 0.05
EFFICIENCY = ("4v7", "0v1", "USPS 0vAll", "0vAll")
LEARNING = ("0v1", "147vAll", "USPS 0vAll", "0vAll")
ERRORS = {digits.name: digits.error for digits in PROBLEMS}

# Mean and standard deviation of the labels that [Mon06] prints, in the order of the problems.
TABLE: dict[str, list[list[float]]] = published("mon06-table")
BEST = tuple(min(cells[k][0] for cells in TABLE.values()) for k in COLUMNS)

# Fewer labels, more labels, and the p that [Mon06] gives; none: "not statistically significant".
COMPARISONS: list[tuple[str, str, float | None]] = [
    (fewer, more, p[0] if p else None)
    for fewer, more, *p in published("mon06-comparisons")["pairs"]
]


def significance(fewer: list[float], more: list[float]) -> float:
    """Return the two-sided p of Wilcoxon's signed ranks, exact, over the seven means."""
    from scipy.stats import wilcoxon  # noqa: PLC0415 - costs half a second

    return float(wilcoxon(fewer, more, method="exact").pvalue)


def jobs(seeds: int) -> list[ColumnJob | LearnerJob]:
    """List the columns of the thesis, and our learners; `seeds` is the number of tenfold runs.

    The long ones come first: nobody waits for the last of them alone.
    """
    default = [(DEFAULT, seed) for seed in SEEDS]
    others = [(name, SEEDS[0]) for name in LEARNERS if name != DEFAULT]
    return [
        *(ColumnJob(problem, seeds, SEEDS[0]) for problem in COLUMNS),
        *(LearnerJob(name, k, seeds, seed) for name, seed in default + others for k in COLUMNS),
    ]


def measure(job: ColumnJob | LearnerJob) -> Row:
    if isinstance(job, LearnerJob):
        return run_learner(job)._asdict()
    return run_column(job, {name: cells[job.problem][0] for name, cells in TABLE.items()})


def report(found: list[tuple[ColumnJob | LearnerJob, Row]], seeds: int) -> Row:
    """Return a cell for every algorithm or learner and problem, and how they compare."""
    columns = {job.problem: done for job, done in found if isinstance(job, ColumnJob)}
    cells = [_thesis_cell(name, k, columns[k][name]) for name in ALGORITHMS for k in COLUMNS]
    rows = [_our_cell(job, done) for job, done in found if isinstance(job, LearnerJob)]
    return {
        "folds": seeds * FOLDS,
        "seeds": list(SEEDS),
        "cells": cells,
        "learners": rows,
        "comparisons": _comparisons(cells),
        "wins": [_wins(digits.name, cells, rows) for digits in PROBLEMS],
    }


def _thesis_cell(name: str, problem: int, found: Row) -> Row:
    mean, deviation = TABLE[name][problem]
    row = {"algorithm": name, "problem": PROBLEMS[problem].name, **found}
    row |= {"thesis_mean": mean, "thesis_sd": deviation}
    return row | _measures(found, "ratio_to_thesis", mean)


def _our_cell(job: LearnerJob, found: Row) -> Row:
    row = {"learner": job.learner, "seed": job.seed, "problem": PROBLEMS[job.problem].name, **found}
    return row | _measures(found, "ratio_to_best_of_thesis", BEST[job.problem])


def _measures(found: Row, ratio: str, theirs: float) -> Row:
    reached: Labels = found["reached"]
    reach, held = Reach.of(reached), Reach.of(found["held"])
    return reach._asdict() | {
        "most": max((labels for labels in reached if labels is not None), default=None),
        "held_mean": held.mean,
        "held_reach": held.reach,
        ratio: None if reach.mean is None else reach.mean / theirs,
    }


def _comparisons(cells: list[Row]) -> list[Row]:
    means = grouped((cell["algorithm"], cell["mean"]) for cell in cells)
    return [
        {"fewer": a, "more": b, "thesis_p": p, "p": significance(means[a], means[b])}
        for a, b, p in COMPARISONS
        if None not in means[a] + means[b]
    ]


def _wins(problem: str, cells: list[Row], rows: list[Row]) -> Row:
    """Compare the default with the best tuned algorithm of a column, fold by fold."""
    column = [cell for cell in cells if cell["problem"] == problem and cell["mean"] is not None]
    best = min(column, key=lambda cell: float(cell["mean"]))
    ours = next(r for r in rows if r["learner"] == DEFAULT and r["problem"] == problem)
    pairs = zip(ours["reached"], best["reached"], strict=True)
    won = sum(a is not None and (b is None or a < b) for a, b in pairs)
    return {"problem": problem, "against": best["algorithm"], "folds_won": won}


def verdicts(result: Row) -> list[Row]:
    """Judge the table, and what section 4.6 says of it."""
    cells = result["cells"]
    factors = [_factor(cell) for cell in cells]
    means, deviations = (_by_algorithm(cells, name) for name in ("mean", "sd"))
    saved = [
        round(random / min(column), 2)  # as the thesis prints them
        for random, *column in zip(means[AT_RANDOM], *(means[name] for name in ACTIVE), strict=True)
    ]
    twice = sum(round(factor, 1) >= 2.0 for factor in saved)  # the thesis counts its 1.99 too
    agree = [_agrees(one, means[one["fewer"]], means[one["more"]]) for one in result["comparisons"]]
    return [
        verdict(
            f"the labels of {len(cells)} cells, to a factor of {NEAR:g}",
            f"median factor {np.median(factors):.2f}, largest {max(factors):.2f}",
            [factor <= NEAR for factor in factors],
            f"a factor of {NEAR:g}",
        ),
        _leaders("the fewest labels", 0, means),
        _leaders("the least standard deviation", 1, deviations),
        verdict(
            f"{AT_RANDOM} needs {LEAST_FACTOR} to {LARGEST_FACTOR} times the labels of the best "
            "active learner",
            "by problem " + ", ".join(f"{factor:.2f}" for factor in saved),
            [LEAST_FACTOR <= factor <= LARGEST_FACTOR for factor in saved],
        ),
        verdict(
            "for more than half of the problems twice as many or more",
            f"{twice} of {len(saved)}",
            twice > len(saved) / 2,
            "2.0 once rounded, as the thesis counts its 1.99",
        ),
        verdict(
            f"of {len(COMPARISONS)} pairs of algorithms, which differ significantly, and which way",
            f"as in the thesis: {sum(agree)} of the {len(agree)} whose runs all reach the error",
            agree,
            f"p at most {SIGNIFICANT:g}",
        ),
    ]


def _factor(cell: Row) -> float:
    """Return how far a cell is from the thesis, as a factor of at least 1."""
    ratio = cell["ratio_to_thesis"]
    return float("inf") if ratio is None else max(ratio, 1.0 / ratio)


def _by_algorithm(cells: list[Row], field: str) -> dict[str, list[float]]:
    """Return a number of every problem by algorithm; infinite where no run reached the error."""
    return grouped(
        (c["algorithm"], float("inf") if c[field] is None else float(c[field])) for c in cells
    )


def _leaders(words: str, place: int, ours: dict[str, list[float]]) -> Row:
    """Judge which algorithm has the least of a number, problem by problem."""
    theirs = {name: [cell[place] for cell in row] for name, row in TABLE.items()}
    led, leads = ([min(of, key=lambda name: of[name][k]) for k in COLUMNS] for of in (theirs, ours))
    return verdict(
        f"{words}: " + ", ".join(f"{name} in {led.count(name)}" for name in dict.fromkeys(led)),
        ", ".join(f"{name} in {leads.count(name)}" for name in dict.fromkeys(leads)),
        [a == b for a, b in zip(led, leads, strict=True)],
    )


def _agrees(one: Row, fewer: list[float], more: list[float]) -> bool:
    if one["thesis_p"] is None:
        return bool(one["p"] > SIGNIFICANT)
    return bool(one["p"] <= SIGNIFICANT and sum(fewer) < sum(more))


def text(result: Row) -> str:
    """Write the table beside the thesis's, the cells that are far off, and the untuned learners."""
    cells = result["cells"]
    factors = np.array([_factor(cell) for cell in cells])
    wins = ["{problem} {folds_won} ({against})".format_map(one) for one in result["wins"]]
    return "\n".join([
        *_thesis_rows(cells),
        "",
        f"{(factors <= NEAR).sum()} of {len(cells)} cells within {NEAR:g}x of the thesis, "
        f"{(factors <= 2.0).sum()} within 2x; median factor {np.median(factors):.2f}",
        "",
        "Cells further off: labels (share that reach) by R or b on the same folds; range of the "
        f"mean when all is repeated {REPEATS} times with the ten folds of a run in one order",
        *(line for cell in cells if "sweep" in cell for line in _far_off(cell)),
        "",
        "Wilcoxon's signed ranks over the seven means, two-sided p: thesis / ours",
        *lay_out([
            [f"  {one['fewer']} against {one['more']}",
             f"{one['thesis_p'] or 'not significant'} / {one['p']:.4f}"]
            for one in result["comparisons"]
        ]),
        "",
        "One setting for all problems, nothing tuned: labels, x the ratio to the best cell of the "
        "thesis's column; worst and median of the ratios",
        *_learner_rows(_by_learner(result)),
        "",
        f"The same until the error is held for {HOLD} labels more: x the ratio to {REFERENCE}, "
        "tuned",
        *_held_rows(_by_learner(result), [c for c in cells if c["algorithm"] == REFERENCE]),
        "",
        "Folds that the default wins against the best tuned algorithm: " + ", ".join(wins),
    ])  # fmt: skip


def _thesis_rows(cells: list[Row]) -> list[str]:
    rows: list[list[str]] = [["", *HEADS]]
    for name, row in grouped((cell["algorithm"], cell) for cell in cells).items():
        rows.append([name, *(f"{c['thesis_mean']:.1f} / {_thesis_labels(c)}" for c in row)])
        rows.append(["", *(
            (f"{c['rate']:g}" if c["rate"] else "-")
            + (f" {c['parameter']:.3g}" if c["parameter"] else "") for c in row
        )])  # fmt: skip
    return lay_out(rows)


def _thesis_labels(cell: Row) -> str:
    return show_labels(cell, cell["ratio_to_thesis"])


def _far_off(cell: Row) -> list[str]:
    """Say how far a cell is from the thesis, with other parameters and on other folds."""
    start = "  {algorithm}, {problem}: thesis {thesis_mean:.1f}±{thesis_sd:.1f}, ours "
    again = f"; repeated {cell['again'][0]:.1f} to {cell['again'][-1]:.1f}"
    swept = [f"{p:.2g}: {mean:.1f} ({share:.2f})" for p, mean, share in cell["sweep"] if mean]
    line = start.format_map(cell) + _thesis_labels(cell) + again
    return [line, "    " + "  ".join(swept)] if len(swept) > 1 else [line]


def _by_learner(result: Row) -> dict[str, list[Row]]:
    return grouped((f"{c['learner']}, seed {c['seed']}", c) for c in result["learners"])


def _learner_rows(learners: dict[str, list[Row]]) -> list[str]:
    best = [f"{mean:.1f}" for mean in BEST]
    rows = [["", *HEADS, "worst", "median"], ["best cell of the thesis", *best, "", ""]]
    for name, row in learners.items():
        ratios = [c["ratio_to_best_of_thesis"] for c in row if c["mean"] is not None]
        ends = [f"{max(ratios):.2f}", f"{np.median(ratios):.2f}"] if ratios else ["", ""]
        rows.append([name, *(show_labels(c, c["ratio_to_best_of_thesis"]) for c in row), *ends])
        if name.startswith(f"{DEFAULT},"):
            rows.append(["  most in one fold", *(str(c["most"]) for c in row), "", ""])
    return lay_out(rows)


def _held_rows(learners: dict[str, list[Row]], reference: list[Row]) -> list[str]:
    rows = [["", *HEADS, "worst"], [REFERENCE, *(_held(c, None) for c in reference), ""]]
    for name, row in learners.items():
        pairs = [(c, r["held_mean"]) for c, r in zip(row, reference, strict=True)]
        ratios = [c["held_mean"] / r for c, r in pairs if c["held_mean"] and r]
        worst = f"{max(ratios):.2f}" if ratios else ""
        rows.append([name, *(_held(c, r) for c, r in pairs), worst])
    return lay_out(rows)


def _held(cell: Row, reference: float | None) -> str:
    mean = cell["held_mean"]
    ratio = mean / reference if mean and reference else None
    return show_labels({"mean": mean, "reach": cell["held_reach"]}, ratio)


def draw(result: Row) -> Picture:
    """Draw Figures 4-5 and 4-6, the panels in the thesis's order; a star is the default learner.

    The star is a mean of first passages, so it belongs to Figure 4-5 alone, and only where all
    runs passed.
    """
    figure, (above, below) = new_figure(16, 8, 2, 4)
    columns = grouped((cell["problem"], cell) for cell in result["cells"])
    stars = {c["problem"]: c["mean"] for c in reversed(result["learners"])
             if c["learner"] == DEFAULT and c["reach"] == 1.0}  # fmt: skip
    for axes, problem in zip(above, EFFICIENCY, strict=True):
        for cell in columns[problem]:
            labels = [np.nan if mean is None else mean for mean in cell["efficiency"]]
            axes.plot(ACCURACIES, labels, ".-", label=cell["algorithm"])
        if problem in stars:
            place = 1.0 - ERRORS[problem], stars[problem]
            axes.plot(*place, "k*", markersize=12, label="default, nothing tuned")
        axes.axvline(1.0 - ERRORS[problem], color="grey", linewidth=0.7)
        finish(axes, title=f"4-5: {problem}", xlabel="test accuracy", yscale="log")
    for axes, problem in zip(below, LEARNING, strict=True):
        for cell in columns[problem]:
            axes.plot(LABELS, cell["learning"], label=cell["algorithm"])
        axes.axhline(ERRORS[problem], color="grey", linewidth=0.7)
        finish(axes, title=f"4-6: {problem}", xlabel="labels", yscale="log")
    above[0].set_ylabel("labels")
    below[0].set_ylabel("test error")
    figure.legend(*above[0].get_legend_handles_labels(), loc="outside lower center", ncols=7)
    return figure
