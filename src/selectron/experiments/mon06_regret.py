"""Regret against the best switching rate: linear in T with a wrong one, log T when it is learnt.

([Mon06], sections 2.3 and 2.4.) Where the path of the best experts is forced, the quality β* of
the minimum is 1 and the bounds meet; the noisy sequences leave a gap between them.
"""

from collections.abc import Callable
from math import fsum, log
from pathlib import Path
from typing import Any

import numpy as np

from selectron.arrays import Matrix
from selectron.bounds import mon06_experts as bounds
from selectron.evaluate.plots import write_figure
from selectron.experiments.registry import Experiment
from selectron.experts import BestAlpha, LearnAlpha, best_alpha, fixed_share_losses

N_EXPERTS = 2
SWITCHING = 0.02
WRONG = (0.002, 0.2)
LENGTHS = (100, 1_000, 10_000, 100_000, 1_000_000)
KINDS = {"forced": (700.0, 0.0), "noisy": (2.0, 1.0)}  # what a wrong expert loses more, and noise
ROUNDING = 1e-10  # of β*, where e^-700 leaves room for one path only


def sequence(kind: str, length: int, seed: int) -> Matrix:
    """Draw losses of experts of whom the best changes at random."""
    gap, noise = KINDS[kind]
    generator = np.random.default_rng(seed)
    best = np.cumsum(generator.random(length) < SWITCHING) % N_EXPERTS
    losses: Matrix = gap * (np.arange(N_EXPERTS) != best[:, None]).astype(np.float64)
    return losses + noise * generator.random((length, N_EXPERTS))


def steps(seeds: int | None) -> int:
    return len(KINDS) * len(LENGTHS) * (seeds or 1)


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Measure regrets at growing lengths, and the bounds on them."""
    rows = []
    for kind in KINDS:
        for length in LENGTHS:
            for seed in range(1, 1 + (seeds or 1)):
                rows.append({"kind": kind, "seed": seed} | measure(sequence(kind, length, seed)))
                tick()
    return {"experiment": "mon06-regret", "switching": SWITCHING, "rows": rows}


def measure(losses: Matrix) -> dict[str, Any]:
    """Return regrets and bounds on one sequence."""
    length, best = len(losses), best_alpha(losses)
    totals = fixed_share_losses(losses, WRONG)
    experts = LearnAlpha(N_EXPERTS, horizon=length)
    learnt = fsum(experts.run(losses).tolist()) - best.loss
    return {
        "T": length,
        "best_alpha": best.alpha,
        "quality": best.quality,
        "m": len(experts.alphas),
        "learn_alpha": learnt,
        "learn_alpha_at_most": bounds.discretised_regret(
            horizon=length, n_alphas=len(experts.alphas)
        ),
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


def text(result: dict[str, Any]) -> str:
    """Print regrets with their bounds, and how they grow."""
    lines = [
        f"Regret to the best switching rate in hindsight; the best of {N_EXPERTS} experts changes "
        f"at {result['switching']:g} of the steps",
        f"{'':8s}{'T':>9s}{'alpha*':>9s}{'beta*':>7s}{'Learn-alpha':>13s}{'at most':>9s}"
        + "".join(f"{f'Fixed-share {alpha:g}':>20s}{'bounds':>22s}" for alpha in WRONG),
    ]
    for row in result["rows"]:
        cells = "".join(
            f"{found['regret']:20.1f}{_between(found):>22s}" for found in row["fixed_share"]
        )
        lines.append(
            f"{row['kind']:8s}{row['T']:9d}{row['best_alpha']:9.4f}{row['quality']:7.3f}"
            f"{row['learn_alpha']:13.3f}{row['learn_alpha_at_most']:9.3f}{cells}"
        )
    for kind in KINDS:
        first, last = _ends(result, kind)
        growth = (last["learn_alpha"] - first["learn_alpha"]) / log(last["T"] / first["T"])
        rates = [found["regret"] / last["T"] for found in last["fixed_share"]]
        lines.append(
            f"{kind}: Learn-alpha's regret grows by {growth:.2f} log T; Fixed-share's by "
            + " and ".join(f"{rate:.4f} T" for rate in rates)
        )
    lines.append("[Mon06]: at most (1/2) log T + c when the rate is learnt; linear if it is wrong.")
    return "\n".join(lines)


def _between(found: dict[str, float]) -> str:
    return f"[{found['at_least']:.1f}, {found['at_most']:.1f}]"


def _ends(result: dict[str, Any], kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    rows = [row for row in result["rows"] if row["kind"] == kind]
    return rows[0], rows[-1]


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw regret against T: a straight line of slope 1, and one that hardly rises."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    for axes, kind in zip(figure.subplots(1, 2, sharey=True), KINDS, strict=True):
        rows = [row for row in result["rows"] if row["kind"] == kind]
        lengths = [row["T"] for row in rows]
        axes.plot(lengths, [row["learn_alpha"] for row in rows], "ko", label="Learn-α")
        axes.plot(lengths, [row["learn_alpha_at_most"] for row in rows], "k-", label="log m + 1/2")
        for k, alpha in enumerate(WRONG):
            found = [row["fixed_share"][k] for row in rows]
            colour = f"C{k}"
            axes.plot(lengths, [f["regret"] for f in found], "o", color=colour,
                      label=f"Fixed-share, α = {alpha:g}")  # fmt: skip
            axes.plot(lengths, [f["at_most"] for f in found], "-", color=colour)
            axes.plot(lengths, [f["at_least"] or np.nan for f in found], ":", color=colour)
        axes.set(xscale="log", yscale="log", xlabel="T", ylabel="regret", title=kind)
        axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    write_figure(figure, path)


REGRET = Experiment(
    "[Mon06] sections 2.3 and 2.4: regret is log T when the switching rate is learnt, else linear",
    steps,
    run,
    text,
    plot,
)
