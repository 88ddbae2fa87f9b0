"""Recorded traffic from the data folder: a web server's log, and packets at one client."""

import csv
import gzip
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from selectron.arrays import Indices, Vector


class Requests(NamedTuple):
    """A server's log: seconds since its first request, who asked, and bytes of the reply."""

    time_s: Vector
    client: Indices
    bytes: Vector

    def of(self, client: int) -> "Requests":
        mine = self.client == client
        return Requests(self.time_s[mine], self.client[mine], self.bytes[mine])


class Packets(NamedTuple):
    """Packets as a client saw them: seconds since the first, and bytes."""

    time_s: Vector
    bytes: Vector


def data_folder() -> Path | None:
    """Return the folder of data sets, or None where none is named."""
    folder = os.environ.get("SELECTRON_DATA")
    if folder and not Path(folder).is_dir():
        raise ValueError(f"SELECTRON_DATA is {folder}, which is no folder; name that of the data")
    return Path(folder) if folder else None


def needed_data_folder(name: str) -> Path:
    folder = data_folder()
    if folder is None:
        raise ValueError(
            f"{name} needs recorded traffic; give the folder of data sets with --data, or in "
            "SELECTRON_DATA"
        )
    return folder


def epa_requests(folder: Path) -> Requests:
    """Read a day of the EPA's web server, 1995: times in whole seconds, bytes 0 if unknown."""
    with gzip.open(folder / "epa_http.csv.gz", "rt", encoding="utf-8") as file:
        rows = [(row["t"], row["client"], row["bytes"] or "0") for row in csv.DictReader(file)]
    times, clients, sizes = np.array(rows, dtype=np.float64).T
    return Requests(times - times[0], clients.astype(np.int64), sizes)


def within_the_second(requests: Requests) -> Requests:
    """Spread times at random within their second: whole ones would favour whole intervals."""
    spread = requests.time_s + np.random.default_rng(0).random(len(requests.time_s))
    order = np.argsort(spread, kind="stable")
    return Requests(spread[order], requests.client[order], requests.bytes[order])


def busy_clients(requests: Requests, least: int = 100) -> list[int]:
    """Return the clients with at least so many requests, by number."""
    clients, counts = np.unique(requests.client, return_counts=True)
    busy: list[int] = clients[counts >= least].tolist()
    return busy


def client_packets(folder: Path, name: str) -> Packets:
    """Read half a minute at one client: `web` or `youtube`."""
    with np.load(folder / "client_packets.npz") as file:
        times = file[f"{name}_t"].astype(np.float64)
        return Packets(times - times[0], file[f"{name}_bytes"].astype(np.float64))
