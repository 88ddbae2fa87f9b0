"""The same experiment in ns-2, where it is installed: a second engine to check the first.

ns-2 runs the script ``psm.tcl``: links, FullTcp and the browser. The policy decides in Python, over
a pipe, by the controllers that the embedded engine asks too. Both engines read the same workload.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Unpack

from selectron.power.network import Network
from selectron.power.policies.policy import Controller, Policy, next_beacon
from selectron.power.results import Counts, Run, Settings, run_policy
from selectron.power.workload import Push, Workload

# No packet is lost, so no packet is sent again: this timer never runs out.
RETRANSMIT_AFTER_S = 1e5


def installed() -> bool:
    """Return whether the program ``ns`` is on PATH."""
    return shutil.which("ns") is not None


def simulate(policy: Policy, workload: Workload, **settings: Unpack[Settings]) -> Run:
    """Do in ns-2 what `selectron.power.simulate` does in Python; its parameters are the same."""
    if not installed():
        raise FileNotFoundError("ns-2's program ns is not on PATH; on Debian: apt-get install ns2")
    if any(isinstance(page, Push) for page in workload.pages):
        raise ValueError("ns-2's script knows no pushes; take selectron.power.simulate for them")
    return run_policy(policy, browse, workload, **settings)


def browse(workload: Workload, network: Network, controller: Controller) -> Counts:
    """Let ns-2 load all pages, and answer its questions."""
    with (
        tempfile.TemporaryDirectory() as folder,
        as_file(files("selectron.power") / "psm.tcl") as script,
        Path(folder, "errors").open("w+", encoding="utf-8") as errors,
    ):
        file = Path(folder, "workload")
        workload.save(file)
        command = ["ns", str(script), str(file), *settings(network)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process:
            try:
                latencies, end = converse(process, controller)
            finally:
                process.kill()
        if not end:
            errors.seek(0)
            raise RuntimeError(f"ns-2 stopped before the last page: {errors.read().strip()}")
    duration, awake, beacons, retransmitted = end
    if retransmitted:
        raise RuntimeError(f"ns-2 sent {retransmitted} packets again although none was lost")
    return Counts(latencies, duration, awake, beacons)


def settings(network: Network) -> Iterable[str]:
    """Yield names and values in turn, without exponents, which ns-2 does not read."""
    for field in fields(network):
        value = getattr(network, field.name)
        yield from (field.name, f"{value:.9f}" if isinstance(value, float) else str(int(value)))
    yield from ("rto_s", f"{RETRANSMIT_AFTER_S:.0f}")


def converse(
    process: "subprocess.Popen[str]", controller: Controller
) -> tuple[list[int], list[int]]:
    """Answer until ns-2 has loaded all pages; return latencies and its last line."""
    questions: dict[str, Callable[..., int]] = {
        "begin": controller.begin,
        "sent": controller.sent,
        "woke": controller.woke,
        "sleep": partial(next_beacon, controller),
    }
    said, told = process.stdout, process.stdin
    assert said is not None
    assert told is not None
    latencies: list[int] = []
    for line in said:
        word, *numbers = line.split()
        if word in questions:
            told.write(f"{questions[word](*map(int, numbers))}\n")
            told.flush()
        elif word == "received":
            controller.received(*map(int, numbers))
        elif word == "page":
            latencies.append(int(numbers[0]))
        elif word == "end":
            return latencies, [int(number) for number in numbers]
    return latencies, []
