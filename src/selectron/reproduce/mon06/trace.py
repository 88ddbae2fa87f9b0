"""Run LPSM and its experts on recorded traffic ([Mon06], section 2.5.4, Figures 2-9 to 2-11).

The thesis has the UC Berkeley Home IP trace, which cannot be had here. An hour of one client in the
log of the EPA's web server stands in for it. That log has no ends of transfers. So each transfer
lasts as long as its bytes take over a modem, and its bytes are spread over that time in bins of
10 ms, as in the thesis. Losses are in units of LPSM's own loss. One run gives all three figures.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from selectron.arrays import Indices, Matrix, Vector
from selectron.experts import LearnAlpha
from selectron.power.policies.lpsm import DelayAndEnergy, inverse
from selectron.reproduce.harness.experiment import Parts, Row, verdict
from selectron.reproduce.harness.problems import (
    Flags,
    busy_clients,
    epa_requests,
    needed_data_folder,
    within_the_second,
)
from selectron.reproduce.harness.report import Picture, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BIN_MS = 10
MODEM_BYTES_PER_S = 3600.0  # 28.8 kbit/s
HOUR_S = 3600
SLEEPS_MS = 100.0 * np.arange(1, 11)
LOSS = DelayAndEnergy(1e-7, inverse)
HORIZON = 27_000  # as in LPSM: 45 minutes of beacons
ZOOM, SHOWN = 300, 1500  # early wake-ups in full, all of them thinned out
MOST, FAR = 0.5, 2.0  # what words of the thesis are taken to mean
HEAD = (
    "An hour of one client of the EPA's web server (1995), a stand-in for the Home IP trace of 1996"
)
SAID = {
    "2-9": f"""\
loss within a tenth of the current best expert's: {{share_within_a_tenth_of_current_best:.1%}} of \
wake-ups
loss at or below it: {{share_at_or_below_current_best:.1%}} of wake-ups
the current best expert changes {{current_best_changes}} times, among \
{{sleeps_that_were_best_ms}} ms
in the first ten wake-ups LPSM beats {{experts_beaten_in_the_first_ten}} of {len(SLEEPS_MS)} \
experts""",
    "2-10": """\
the heaviest expert changes {heaviest_changes} times, first at wake-up {first_change}
lightest at some time and heaviest at a later one: {worst_once_and_best_later_ms} ms
weights between {least_weight:.2g} and {largest_weight:.2g}""",
    "2-11": """\
total loss of LPSM                {loss:10.3f}
best fixed expert ({best_fixed_ms:g} ms)        {best_fixed:10.3f}
worst fixed expert                {worst_fixed:10.3f}
current best expert at each step  {current_best:10.3f}
LPSM is ahead of the best fixed expert: {ahead}""",
}
SMALL: dict[str, Any] = {"markersize": 2, "markerfacecolor": "none"}


class Transfers(NamedTuple):
    """When each begins, how long it lasts, and its bytes."""

    start_s: Vector
    length_s: Vector
    bytes: Vector


class TraceRun(NamedTuple):
    """Every wake-up: ms slept before it, losses of LPSM and of each expert, weights before it."""

    slept_ms: Vector
    loss: Vector
    expert_losses: Matrix
    weights: Matrix


def stand_in(folder: Path) -> Transfers:
    """Return the busiest hour of the client with the most requests."""
    requests = within_the_second(epa_requests(folder))
    counts = [(len(requests.of(client).time_s), -client) for client in busy_clients(requests)]
    mine = requests.of(-max(counts)[1])
    hours = (mine.time_s // HOUR_S).astype(np.int64)
    hour = int(np.bincount(hours).argmax())
    sizes = mine.bytes[hours == hour]
    return Transfers(mine.time_s[hours == hour] - hour * HOUR_S, sizes / MODEM_BYTES_PER_S, sizes)


def bytes_by_bin(transfers: Transfers, duration_s: float) -> Vector:
    """Spread the bytes of each transfer evenly over the bins it spans."""
    bins = np.zeros(int(duration_s * 1000) // BIN_MS)
    for start, length, size in zip(*transfers, strict=True):
        first = int(start * 1000) // BIN_MS
        last = min(int((start + length) * 1000) // BIN_MS, len(bins) - 1)
        bins[first : last + 1] += size / (last + 1 - first)
    return bins


def run_lpsm(bins: Vector) -> TraceRun:
    """Sleep for the mean time of the experts (2.32).

    The loss of an expert is (2.35), that of LPSM is (2.34).
    """
    arrived = np.concatenate([[0.0], np.cumsum(bins)])
    experts = LearnAlpha(len(SLEEPS_MS), horizon=HORIZON)
    rows: list[tuple[float, float, Vector, Vector]] = []
    now = 0
    while True:
        weights = experts.weights
        slept = max(1, round(experts.predict(SLEEPS_MS) / BIN_MS))
        if now + slept > len(bins):
            break
        waiting = round(float(arrived[now + slept] - arrived[now]))
        slept_ms = float(slept * BIN_MS)
        own = float(LOSS(np.array([slept_ms]), slept_ms, waiting)[0])
        losses = LOSS(SLEEPS_MS, slept_ms, waiting)
        experts.update(losses)
        rows.append((slept_ms, own, losses, weights))
        now += slept
    return TraceRun(*map(np.array, zip(*rows, strict=True)))


def losses_said(found: TraceRun) -> Row:
    """Measure what the thesis says of Figure 2-9."""
    best = found.expert_losses.min(axis=1)
    leader = found.expert_losses.argmin(axis=1)
    early = found.expert_losses[:10].sum(axis=0)
    return {
        "share_within_a_tenth_of_current_best": float(np.mean(found.loss <= 1.1 * best)),
        "share_at_or_below_current_best": float(np.mean(found.loss <= best)),
        "current_best_changes": int(np.count_nonzero(np.diff(leader))),
        "sleeps_that_were_best_ms": SLEEPS_MS[np.unique(leader)].tolist(),
        "experts_beaten_in_the_first_ten": int(np.count_nonzero(found.loss[:10].sum() < early)),
    }


def weights_said(found: TraceRun) -> Row:
    """Measure what the thesis says of Figure 2-10."""
    heaviest, lightest = found.weights.argmax(axis=1), found.weights.argmin(axis=1)
    changes = np.flatnonzero(np.diff(heaviest)) + 1
    comebacks = [i for i in range(len(SLEEPS_MS)) if _before(lightest == i, heaviest == i)]
    return {
        "heaviest_changes": len(changes),
        "first_change": int(changes[0]) if len(changes) else None,
        "least_weight": float(found.weights.min()),
        "largest_weight": float(found.weights.max()),
        "worst_once_and_best_later_ms": SLEEPS_MS[comebacks].tolist(),
    }


def _before(one: Flags, other: Flags) -> bool:
    """Tell whether one event happens before the last time that the other does."""
    return bool(one.any() and other.any()) and one.argmax() < np.flatnonzero(other)[-1]


def competition(found: TraceRun) -> Row:
    """Measure what the thesis says of Figure 2-11."""
    totals = found.expert_losses.sum(axis=0)
    own, fixed, _ = _totals(found)
    behind = np.flatnonzero(own > fixed)
    return {
        "loss": float(own[-1]),
        "best_fixed_ms": float(SLEEPS_MS[totals.argmin()]),
        "best_fixed": float(fixed[-1]),
        "worst_fixed": float(totals.max()),
        "current_best": float(found.expert_losses.min(axis=1).sum()),
        "ahead_of_best_fixed_from": int(behind[-1]) + 1 if len(behind) else 0,
    }


def _totals(found: TraceRun) -> tuple[Vector, Vector, Vector]:
    """Add up the losses of LPSM, of the best fixed expert, and of the best at each wake-up."""
    best = int(found.expert_losses.sum(axis=0).argmin())
    each = found.loss, found.expert_losses[:, best], found.expert_losses.min(axis=1)
    own, fixed, current = map(np.cumsum, each)
    return own, fixed, current


def measure(figure: str) -> TraceRun:
    return run_lpsm(bytes_by_bin(stand_in(needed_data_folder(figure)), HOUR_S))


def report(found: list[tuple[str, TraceRun]], seeds: int) -> Row:
    """Return what is said of all three figures, and the curves thinned out."""
    ((_, run),) = found
    n = len(run.loss)
    ends = np.arange(min(ZOOM, n)), np.linspace(0, n - 1, SHOWN).astype(np.int64)
    kept: Indices = np.unique(np.concatenate(ends))
    names = ("total", "total_of_best_fixed", "total_of_current_best")
    curves = run._asdict() | dict(zip(names, _totals(run), strict=True))
    return {
        "data": HEAD,
        "wake_ups": n,
        "losses": losses_said(run),
        "weights": weights_said(run),
        "competition": competition(run),
        "shown": {"wake_up": kept.tolist()} | {k: v[kept].tolist() for k, v in curves.items()},
    }


def judge_losses(result: Row) -> list[Row]:
    """Judge what the thesis says of Figure 2-9."""
    said = result["losses"]
    near, beaten = (
        said["share_within_a_tenth_of_current_best"],
        said["experts_beaten_in_the_first_ten"],
    )
    return [
        verdict(
            "LPSM's loss is close to or better than that of the current best expert "
            "(within a tenth of it at most wake-ups)",
            f"at {near:.1%} of wake-ups",
            near > MOST,
            f"more than {MOST:.0%} of wake-ups",
        ),
        verdict(
            "the current best expert changes with time",
            f"{said['current_best_changes']} times",
            said["current_best_changes"] > 0,
        ),
        verdict(
            "even early on LPSM beats the worse half of the experts",
            f"{beaten} of {len(SLEEPS_MS)} in the first ten wake-ups",
            beaten >= len(SLEEPS_MS) // 2,
        ),
    ]


def judge_weights(result: Row) -> list[Row]:
    """Judge what the thesis says of Figure 2-10."""
    said = result["weights"]
    first, back = said["first_change"], said["worst_once_and_best_later_ms"]
    return [
        verdict(
            f"the heaviest expert shifts, early on too (in the first {ZOOM} wake-ups)",
            f"{said['heaviest_changes']} changes, the first at wake-up {first}",
            first is not None and first < ZOOM,
            f"within {ZOOM} wake-ups",
        ),
        verdict(
            "an expert that was the worst comes back as the best",
            f"{len(back)} of the experts",
            len(back) > 0,
        ),
        verdict(
            "no weight goes to zero",
            f"the least weight is {said['least_weight']:.2g}",
            said["least_weight"] > 0.0,
        ),
    ]


def judge_competition(result: Row) -> list[Row]:
    """Judge what the thesis says of Figure 2-11."""
    said = result["competition"]
    loss, current = said["loss"], said["current_best"]
    totals = f"LPSM {loss:.3f}, current best {current:.3f}"
    return [
        verdict(
            "LPSM eventually does better than the best fixed expert",
            f"LPSM {loss:.3f}, best fixed expert {said['best_fixed']:.3f}",
            said["ahead_of_best_fixed_from"] < result["wake_ups"],
        ),
        verdict("it does not beat the sequence of best experts", totals, loss >= current),
        verdict(
            f"it is never too far from that sequence (at most {FAR:g} times its total loss)",
            totals,
            loss <= FAR * current,
            f"{FAR:g} times the loss",
        ),
    ]


def _text(result: Row, figure: str) -> str:
    """Write what was measured beside what the thesis says of a figure."""
    said = result["losses"] | result["weights"] | result["competition"]
    listed = {name: ", ".join(f"{ms:g}" for ms in said[name]) or "none"
              for name in ("sleeps_that_were_best_ms", "worst_once_and_best_later_ms")}  # fmt: skip
    since = said["ahead_of_best_fixed_from"]
    ahead = f"from wake-up {since} on" if since < result["wake_ups"] else "never for good"
    head = f"{HEAD}: {result['wake_ups']} wake-ups ([Mon06], Figure {figure})\n"
    return head + SAID[figure].format_map(said | listed | {"ahead": ahead})


def _views(result: Row, both: Iterable["Axes"]) -> Iterator[tuple["Axes", dict[str, Vector]]]:
    """Yield the axes for all of the run and for its beginning, each with the curves to draw."""
    shown = {name: np.array(values) for name, values in result["shown"].items()}
    for axes, last in zip(both, (shown["wake_up"][-1], ZOOM), strict=True):
        part = shown["wake_up"] <= last
        yield axes, {name: values[part] for name, values in shown.items()}


def draw_losses(result: Row) -> Picture:
    """Draw each expert's loss and LPSM's."""
    figure, both = new_figure(10.0, 4.0, 1, 2)
    for axes, shown in _views(result, both):
        axes.semilogy(shown["wake_up"], shown["expert_losses"], linewidth=0.6)
        axes.semilogy(shown["wake_up"], shown["loss"], "ko", **SMALL)
        axes.set(xlabel="wake-up", ylabel="loss")
    return figure


def draw_weights(result: Row) -> Picture:
    """Draw each expert's weight."""
    figure, both = new_figure(10.0, 4.0, 1, 2)
    for axes, shown in _views(result, both):
        lines = axes.plot(shown["wake_up"], shown["weights"], linewidth=0.8)
        axes.set(xlabel="wake-up", ylabel="weight")
    axes.legend(lines, [f"{ms:g} ms" for ms in SLEEPS_MS], fontsize=7)
    return figure


def draw_competition(result: Row) -> Picture:
    """Draw the totals against the best fixed expert, and against the best at each step."""
    shown, (figure, both) = result["shown"], new_figure(10.0, 4.0, 1, 2)
    rivals = {"total_of_best_fixed": "best fixed expert", "total_of_current_best": "current best"}
    for axes, (name, label) in zip(both, rivals.items(), strict=True):
        axes.plot(shown["wake_up"], shown["total"], "ko", label="LPSM", **SMALL)
        axes.plot(shown["wake_up"], shown[name], label=label)
        axes.set(xlabel="wake-up", ylabel="total loss")
        axes.legend()
    return figure


def _figure(
    number: str, draw: Callable[[Row], Picture], judge: Callable[[Row], list[Row]]
) -> Parts[str, TraceRun]:
    """Put a figure together; its run has no randomness, so seeds do not matter."""
    name = f"mon06-figure-{number}"
    return Parts(lambda seeds: [name], measure, report, partial(_text, figure=number), draw, judge)


FIGURE_2_9 = _figure("2-9", draw_losses, judge_losses)
FIGURE_2_10 = _figure("2-10", draw_weights, judge_weights)
FIGURE_2_11 = _figure("2-11", draw_competition, judge_competition)
