"""Measure every speed bar: `make bench`. Names of groups as arguments run only those.

Exits with 1 if a gate is missed.
"""

import json
import os
import platform
import sys
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # read once, when NumPy is imported by anyone

from matplotlib.figure import Figure  # noqa: E402

from benchmarks import (  # noqa: E402
    compare,
    default,
    experts,
    files,
    kernels,
    labelling,
    passes,
    peers,
    second_order,
    shards,
)

GROUPS = {
    "passes": passes.rows,
    "second-order": second_order.rows,
    "default": default.rows,
    "kernels": kernels.rows,
    "experts": experts.rows,
    "sklearn": peers.scikit_learn,
    "vw": peers.vowpal_wabbit,
    "river": peers.river,
    "dictionaries": peers.dictionaries,
    "start-up": peers.start_up,
    "labelling": labelling.rows,
    "files": files.rows,
    "shards": shards.rows,
    "compare": compare.rows,
}


def main() -> int:
    chosen = sys.argv[1:] or list(GROUPS)
    found = []
    for group in chosen:
        print(f"{group} ...", file=sys.stderr, flush=True)
        found += GROUPS[group]()
    machine = f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}; median of paired rounds, one thread\n")
    for row in found:
        sign, mark = (">=", row.unit or "x faster") if row.faster else ("<=", row.unit)
        verdict = "ok" if row.passed else "MISSED"
        load = "" if row.load is None else f"  (load {row.load})"
        print(f"{row.name:58s} {row.ratio:9.2f}{mark:9s} gate {sign} {row.gate:g}  {verdict}{load}")
    out = Path("out")
    out.mkdir(exist_ok=True)
    report = {"machine": machine, "rows": [row.as_json() for row in found]}
    (out / "bench.json").write_text(json.dumps(report, indent=2) + "\n")
    plot(found, machine, out / "bench.png")
    print("\nout/bench.json, out/bench.png")
    return int(not all(row.passed for row in found))


def plot(rows: list, machine: str, path: Path) -> None:
    """Draw how far each bar is from its gate: above one is better."""
    figure = Figure(figsize=(9, 0.32 * len(rows) + 1.2), layout="constrained")
    axes = figure.subplots()
    reached = [r.ratio / r.gate if r.faster else r.gate / r.ratio for r in rows]
    colours = ["C0" if row.passed else "C3" for row in rows]
    axes.barh([row.name for row in rows], reached, color=colours)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set(xlabel="speed over its goal", title=machine)
    axes.invert_yaxis()
    figure.savefig(path, dpi=110)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(": ")[2]
    return platform.processor()


if __name__ == "__main__":
    sys.exit(main())
