"""The runs on which both engines are compared; ``python -m tests.power.ns2_cases`` records ns-2's.

The record lets the embedded engine be checked against ns-2 where ns-2 is not installed.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from selectron.power import Network, Policy, Workload, ns2, standard_policies, web_workload
from selectron.power.clock import nanoseconds

RECORD = Path(__file__).with_name("ns2_record.json")
PAGES = Path(__file__).with_name("ns2_pages.txt")
SLOW_PAGES = Path(__file__).with_name("ns2_slow_pages.txt")  # servers that take 150 ms
NETWORKS = {
    "default": Network(),
    "nagle": Network(nagle=True),
    "small segments": Network(mss=536),
    "one connection": Network(connections=1),
    "slow links": Network(radio_mbps=1.0, wire_mbps=2.0, wire_delay_s=0.0733),
}


def cases() -> Iterator[tuple[str, Policy, Workload, Network]]:
    """Give every policy with the default settings, three of them with each of the others."""
    policies = standard_policies()
    for file in (PAGES, SLOW_PAGES):
        for policy in policies:
            yield f"{file.stem}, {policy.name}", policy, Workload.load(file), Network()
    for name, network in NETWORKS.items():
        if name != "default":
            for policy in policies[1:5:2]:
                yield f"{name}, {policy.name}", policy, Workload.load(PAGES), network


def record() -> None:
    web_workload(20, seed=11).save(PAGES)
    web_workload(10, seed=12, server_delay_s=0.15).save(SLOW_PAGES)
    found: dict[str, Any] = {}
    for name, policy, workload, network in cases():
        run = ns2.simulate(policy, workload, network=network)
        found[name] = {
            "latencies_ns": [nanoseconds(latency) for latency in run.latencies_s.tolist()],
            "duration_ns": nanoseconds(run.duration_s),
            "awake_ns": nanoseconds(run.awake_s),
            "beacons": run.beacons,
        }
    RECORD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
