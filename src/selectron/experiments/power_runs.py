"""Runs of the power simulator as plain data, there and back: what a figure is drawn from."""

from typing import Any

import numpy as np

from selectron.power import Comparison, Diary, Radio, Run


def run_as_data(run: Run) -> dict[str, Any]:
    return {
        "policy": run.policy,
        "latencies_s": run.latencies_s.tolist(),
        "duration_s": run.duration_s,
        "awake_s": run.awake_s,
        "beacons": run.beacons,
        "diary": None
        if run.diary is None
        else [
            run.diary.time_s.tolist(),
            run.diary.sleep_s.tolist(),
            run.diary.bytes_waiting.tolist(),
        ],
    }


def run_from_data(data: dict[str, Any]) -> Run:
    columns = data["diary"]
    return Run(
        data["policy"],
        np.array(data["latencies_s"]),
        data["duration_s"],
        data["awake_s"],
        data["beacons"],
        Radio(),
        None if columns is None else Diary(*map(np.array, columns)),
    )


def comparison_as_data(comparison: Comparison) -> dict[str, Any]:
    return {name: [run_as_data(run) for run in runs] for name, runs in comparison.runs.items()}


def comparison_from_data(data: dict[str, Any]) -> Comparison:
    return Comparison({name: tuple(map(run_from_data, runs)) for name, runs in data.items()})
