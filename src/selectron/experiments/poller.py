"""The learning poller against fixed intervals and back-off, on drawn and recorded arrivals."""

from collections.abc import Callable
from math import exp, log
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from selectron.arrays import Vector
from selectron.evaluate.plots import write_figure
from selectron.experiments.registry import Experiment
from selectron.experiments.traces import (
    busy_clients,
    client_packets,
    data_folder,
    epa_requests,
    within_the_second,
)
from selectron.power.polling import (
    AdaptivePoller,
    Arrivals,
    back_off_bill,
    best_back_off,
    best_fixed_interval,
    bursts,
    on_off,
    poisson,
    replay,
)

FIRST_SEED, SEEDS = 21, 8  # constants were chosen on seeds 1 to 4 and on two clients of every five
OCTAVES_SECONDS, OCTAVES_PACKETS = 11, 9
POLL_COST = 1.0
ROW = ("learned", "worst", "8 an octave", "best back-off", "back-off", "median fixed")


class Stream(NamedTuple):
    """Streams of one kind, the intervals to choose from, and the prices of a second's wait."""

    name: str
    runs: list[Arrivals]
    shortest: float
    octaves: int
    delay_costs: tuple[float, ...]

    def intervals(self, steps_an_octave: int) -> Vector:
        powers = np.arange(self.octaves * steps_an_octave + 1) / steps_an_octave
        grid: Vector = self.shortest * 2.0**powers
        return grid


def streams(seeds: int) -> list[Stream]:
    """Return the streams to be judged on; recorded ones only where the data are."""
    drawn = range(FIRST_SEED, FIRST_SEED + seeds)
    found = [
        _in_seconds("Poisson bursts", [bursts(seed) for seed in drawn]),
        _in_seconds("on/off Pareto", [on_off(seed) for seed in drawn]),
        _in_seconds("Poisson", [poisson(seed) for seed in drawn]),
    ]
    folder = data_folder()
    if folder is not None:
        requests = within_the_second(epa_requests(folder))
        day = float(requests.time_s[-1])
        judged = [c for k, c in enumerate(busy_clients(requests)) if k % 5 >= 2]
        clients = [Arrivals(requests.of(client).time_s, day) for client in judged]
        found += [
            _in_seconds("EPA site", [Arrivals(requests.time_s, day)]),
            _in_seconds("EPA clients", clients),
        ]
        for name in ("web", "youtube"):
            times = client_packets(folder, name).time_s
            run = [Arrivals(times, float(times[-1]))]
            found.append(Stream(f"packets {name}", run, 0.005, OCTAVES_PACKETS, (0.3, 3.0, 30.0)))
    return found


def _in_seconds(name: str, runs: list[Arrivals]) -> Stream:
    return Stream(name, runs, 1.0, OCTAVES_SECONDS, (0.003, 0.03, 0.3))


def steps(seeds: int | None) -> int:
    return sum(len(stream.delay_costs) for stream in streams(seeds or SEEDS))


def run(seeds: int | None, tick: Callable[[], Any]) -> dict[str, Any]:
    """Divide what each way of polling costs by the best fixed interval in hindsight."""
    rows: list[dict[str, Any]] = []
    for stream in streams(seeds or SEEDS):
        for delay_cost in stream.delay_costs:
            ratios = [_ratios(stream, arrivals, delay_cost) for arrivals in stream.runs]
            means = {name: _geometric([r[name] for r in ratios]) for name in ratios[0]}
            means["worst"] = max(r["learned"] for r in ratios)
            rows.append(
                {"stream": stream.name, "runs": len(ratios), "delay_cost": delay_cost} | means
            )
            tick()
    overall = {name: _geometric([row[name] for row in rows]) for name in ROW}
    return {
        "experiment": "poller",
        "seeds": seeds or SEEDS,
        "recorded": data_folder() is not None,
        "rows": rows,
        "all": overall | {"worst": max(row["worst"] for row in rows)},
    }


def _ratios(stream: Stream, arrivals: Arrivals, delay_cost: float) -> dict[str, float]:
    prices = (POLL_COST, delay_cost)
    doublings = stream.intervals(1).tolist()
    low, high = doublings[0], doublings[-1]
    poller = AdaptivePoller(low, high, *prices)
    fixed = [back_off_bill(*arrivals, x, x).cost(*prices) for x in doublings]
    costs = {
        "learned": replay(poller, *arrivals).cost(*prices),
        "best back-off": best_back_off(*arrivals, prices, doublings).cost,
        "back-off": back_off_bill(*arrivals, low, high).cost(*prices),
        "median fixed": median(fixed),
    }
    ratios = {name: cost / min(fixed) for name, cost in costs.items()}
    finest = best_fixed_interval(*arrivals, prices, stream.intervals(8).tolist()).cost
    return ratios | {"8 an octave": costs["learned"] / finest}


def _geometric(values: list[float]) -> float:
    return exp(fmean(log(value) for value in values))


def text(result: dict[str, Any]) -> str:
    """Print a row a stream and price."""
    heading = f"{'':16s}{'wait, a second':>15s}" + "".join(f"{name:>15s}" for name in ROW)
    lines = [
        "Cost over that of the best fixed interval in hindsight: of all doublings of 1 s (packets:",
        "5 ms), or for '8 an octave' of eight times as many. A poll costs 1. Geometric means over",
        f"{result['seeds']} seeds or 30 clients; one recording otherwise.",
        "",
        heading,
    ]
    for row in result["rows"]:
        cells = "".join(f"{row[name]:15.2f}" for name in ROW)
        lines.append(f"{row['stream']:16s}{row['delay_cost']:15g}{cells}")
    lines.append(f"{'all':31s}" + "".join(f"{result['all'][name]:15.2f}" for name in ROW))
    if not result["recorded"]:
        lines += ["", "Without --data or SELECTRON_DATA there are no recorded streams."]
    return "\n".join(lines)


def plot(result: dict[str, Any], path: Path) -> None:
    """Draw the ratios: below one is cheaper than any fixed interval."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots()
    names = [f"{row['stream']}, {row['delay_cost']:g}" for row in result["rows"]]
    marks = {"learned": "o", "best back-off": "^", "back-off": "v", "median fixed": "x"}
    for name, mark in marks.items():
        axes.plot([row[name] for row in result["rows"]], names, mark, label=name)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="cost over the best fixed interval in hindsight")
    axes.invert_yaxis()
    axes.grid(alpha=0.3)
    axes.legend()
    write_figure(figure, path)


POLLER = Experiment(
    "AdaptivePoller against the best fixed interval in hindsight, back-off and a fixed interval",
    steps,
    run,
    text,
    plot,
    reads_data=True,
)
