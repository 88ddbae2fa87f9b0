"""Files for runs in shards, and such runs as processes of their own."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

RULES = "--rules", "perceptron+margin:b=0.5", "--scaling", "centred"


def records(n, seed=0):
    draw = random.Random(seed)
    for _ in range(n):
        age, town = draw.randint(18, 90), draw.choice(["Ulm", "Bonn", "Bad\nUrach"])
        yield {"age": age, "town": town, "risk": "high" if age > 50 or town == "Ulm" else "low"}


def write_csv(path, n):
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, ["age", "town", "risk"])
        table.writeheader()
        table.writerows(records(n))
    return path


def command(data, *options):
    return [
        sys.executable, "-c", "import sys; from selectron.cli import main; sys.exit(main())",
        "run", str(data), "--shards", "3", "--seed", "5", *RULES, *options,
    ]  # fmt: skip


def started(data, *options):
    """Start a run in plain Python, which gives the same bits and need not compile."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    return subprocess.Popen(
        command(data, *options),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def facts_of(process):
    out, err = process.communicate()
    assert (process.returncode, err) == (0, ""), err
    return json.loads(out)["results"][0]


def facts(data, *options):
    return facts_of(started(data, *options, "--json", "-"))


def children(pid):
    """Return the processes that a process has started, and theirs."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found += [int(folder.name), *children(int(folder.name))]
    return found


def is_worker(pid):
    try:
        said = Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False
    return "spawn_main" in said or said.startswith(("ray::_done", "ray::IDLE"))


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def kill_a_worker(process, draw):
    """Kill a worker of a run once there is one; return whether one was killed."""
    while process.poll() is None:
        workers = [pid for pid in children(process.pid) if is_worker(pid)]
        if workers:
            return kill(draw.choice(workers))
        time.sleep(0.01)
    return False
