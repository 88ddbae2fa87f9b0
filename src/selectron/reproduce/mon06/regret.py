"""Measure regret against the best switching rate ([Mon06], sections 2.3 and 2.4).

The regret is linear in T if the rate is wrong, and log T if the rate is learnt. Where the path of
the best experts is forced, the quality β* of the minimum is 1 and the bounds meet; the noisy
sequences leave a gap between them.
"""

from math import fsum, log
from typing import NamedTuple

import numpy as np

from selectron.arrays import Matrix
from selectron.bounds import mon06_experts as bounds
from selectron.experts import BestAlpha, LearnAlpha, best_alpha, fixed_share_losses
from selectron.reproduce.harness import grouped
from selectron.reproduce.harness.experiment import Row, verdict
from selectron.reproduce.harness.report import Picture, finish, new_figure

N_EXPERTS = 2
SWITCHING = 0.02
WRONG = (0.002, 0.2)
LENGTHS = (100, 1_000, 10_000, 100_000, 1_000_000)
KINDS = {"forced": (700.0, 0.0), "noisy": (2.0, 1.0)}  # what a wrong expert loses more, and noise
SLACK = 0.1  # of a slope that is fitted between two lengths
ROUNDING = 1e-10  # of β*, where e^-700 leaves room for one path only


class Job(NamedTuple):
    """One sequence of losses."""

    kind: str
    length: int
    seed: int


def jobs(seeds: int) -> list[Job]:
    seeded = range(1, 1 + seeds)
    return [Job(kind, length, seed) for kind in KINDS for length in LENGTHS for seed in seeded]


def sequence(job: Job) -> Matrix:
    """Draw losses of experts of whom the best changes at random."""
    gap, noise = KINDS[job.kind]
    generator = np.random.default_rng(job.seed)
    best = np.cumsum(generator.random(job.length) < SWITCHING) % N_EXPERTS
    losses: Matrix = gap * (np.arange(N_EXPERTS) != best[:, None]).astype(np.float64)
    return losses + noise * generator.random((job.length, N_EXPERTS))


def measure(job: Job) -> Row:
    """Return regrets and bounds on one sequence."""
    losses, length = sequence(job), job.length
    best, totals = best_alpha(losses), fixed_share_losses(losses, WRONG)
    experts = LearnAlpha(N_EXPERTS, horizon=length)
    m = len(experts.alphas)
    return {
        "kind": job.kind,
        "seed": job.seed,
        "T": length,
        "best_alpha": best.alpha,
        "quality": best.quality,
        "m": m,
        "learn_alpha": fsum(experts.run(losses).tolist()) - best.loss,
        "learn_alpha_at_most": bounds.discretised_regret(horizon=length, n_alphas=m),
        "fixed_share": [
            _fixed(length, best, alpha, float(total) - best.loss)
            for alpha, total in zip(WRONG, totals, strict=True)
        ],
    }


def _fixed(length: int, best: BestAlpha, alpha: float, regret: float) -> dict[str, float]:
    ceiling = bounds.fixed_share_regret(horizon=length, best_alpha=best.alpha, alpha=alpha)
    floor = 0.0
    if 0 < best.alpha < 1:
        quality = 1.0 if best.quality > 1 - ROUNDING else best.quality
        floor = bounds.fixed_share_regret_floor(
            horizon=length, best_alpha=best.alpha, alpha=alpha, quality=quality
        )
    return {"alpha": alpha, "regret": regret, "at_least": max(0.0, floor), "at_most": ceiling}


def report(found: list[tuple[Job, Row]], seeds: int) -> Row:
    return {"switching": SWITCHING, "rows": [row for _, row in found]}


def verdicts(result: Row) -> list[Row]:
    """Judge the bounds of sections 2.3 and 2.4, and how regrets grow."""
    kinds = grouped((row["kind"], row) for row in result["rows"])
    growths = {kind: growth(rows) for kind, rows in kinds.items()}
    powers = {f"{kind}, {alpha:g}": power(rows, k) for kind, rows in kinds.items()
              for k, alpha in enumerate(WRONG)}  # fmt: skip
    nearest = max(row["learn_alpha"] - row["learn_alpha_at_most"] for row in result["rows"])
    shares = [share for row in result["rows"] for share in row["fixed_share"]]
    inside = [
        share["at_least"] * (1.0 - ROUNDING) - ROUNDING
        <= share["regret"]
        <= share["at_most"] * (1.0 + ROUNDING) + ROUNDING
        for share in shares
    ]
    return [
        verdict(
            "the regret of Learn-alpha keeps to Corollary 1 with the rates of section 2.3",
            f"regret less bound is {nearest:.3f} at most",
            [row["learn_alpha"] <= row["learn_alpha_at_most"] for row in result["rows"]],
        ),
        verdict(
            f"it grows like (1/2) log T (to {SLACK:g})",
            ", ".join(f"{value:.2f} log T ({kind})" for kind, value in growths.items()),
            [abs(value - 0.5) <= SLACK for value in growths.values()],
            f"{SLACK:g} of the factor",
        ),
        verdict(
            "with a wrong rate that of Fixed-share lies between the bounds of Theorems 1 and 2",
            f"so in {sum(inside)} of {len(inside)} runs",
            inside,
        ),
        verdict(
            f"it grows like T (power of T to {SLACK:g})",
            ", ".join(f"T^{value:.2f} ({name})" for name, value in powers.items()),
            [abs(value - 1.0) <= SLACK for value in powers.values()],
            f"{SLACK:g} of the power",
        ),
    ]


def growth(rows: list[Row]) -> float:
    """Return by how many log T the regret of Learn-alpha grows from the least T to the largest."""
    first, last = rows[0], rows[-1]
    return float((last["learn_alpha"] - first["learn_alpha"]) / log(last["T"] / first["T"]))


def power(rows: list[Row], k: int) -> float:
    """Return the power of T by which Fixed-share's regret grows between the two largest T."""
    totals = grouped((row["T"], row["fixed_share"][k]["regret"]) for row in rows)
    (before, some), (after, more) = list(totals.items())[-2:]
    return log(fsum(more) / fsum(some)) / log(after / before)


def text(result: Row) -> str:
    """Write regrets with their bounds, and how they grow."""
    lines = [
        f"{'':8s}{'T':>9s}{'alpha*':>9s}{'beta*':>7s}{'Learn-alpha':>13s}{'at most':>9s}"
        + "".join(f"{f'Fixed-share {alpha:g}':>20s}{'bounds':>22s}" for alpha in WRONG)
    ]
    start = ("{kind:8s}{T:9d}{best_alpha:9.4f}{quality:7.3f}{learn_alpha:13.3f}"
             "{learn_alpha_at_most:9.3f}")  # fmt: skip
    for row in result["rows"]:
        cells = (f"{found['regret']:20.1f}" + "[{at_least:.1f}, {at_most:.1f}]".format_map(found)
                 .rjust(22) for found in row["fixed_share"])  # fmt: skip
        lines.append(start.format_map(row) + "".join(cells))
    for kind, rows in grouped((row["kind"], row) for row in result["rows"]).items():
        last = rows[-1]
        rates = [f"{found['regret'] / last['T']:.4f} T" for found in last["fixed_share"]]
        lines.append(
            f"{kind}: Learn-alpha's regret grows by {growth(rows):.2f} log T; Fixed-share's by "
            + " and ".join(rates)
        )
    return "\n".join(lines)


def draw(result: Row) -> Picture:
    """Draw regret against T: a straight line of slope 1, and one that hardly rises."""
    figure, both = new_figure(10, 4.5, 1, 2, sharey=True)
    kinds = grouped((row["kind"], row) for row in result["rows"])
    for axes, (kind, rows) in zip(both, kinds.items(), strict=True):
        lengths = [row["T"] for row in rows]
        axes.plot(lengths, [row["learn_alpha"] for row in rows], "ko", label="Learn-α")
        axes.plot(lengths, [row["learn_alpha_at_most"] for row in rows], "k-", label="log m + 1/2")
        for k, alpha in enumerate(WRONG):
            for name, style in {"regret": "o", "at_most": "-", "at_least": ":"}.items():
                shown = [row["fixed_share"][k][name] or np.nan for row in rows]
                label = f"Fixed-share, α = {alpha:g}" if name == "regret" else None
                axes.plot(lengths, shown, style, color=f"C{k}", label=label)
        finish(axes, xscale="log", yscale="log", xlabel="T", ylabel="regret", title=kind)
    axes.legend(fontsize=8)
    return figure
