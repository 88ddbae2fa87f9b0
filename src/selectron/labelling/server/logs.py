"""What the server tells its keeper: one JSON line a request, and counts for Prometheus.

Neither has anything that people wrote: a request is named by its route, never by its path, and
query strings, cookies, headers and bodies are left out. An error is named by its type and by the
line of code that raised it, because messages may quote an item.
"""

import json
import threading
import time
import traceback
from bisect import bisect_left
from pathlib import Path

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class Log:
    """JSON lines in a file, or nowhere."""

    def __init__(self, path: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._file = None if path is None else path.open("a", encoding="utf-8")

    def write(self, event: str, **fields: object) -> None:
        """Write one line."""
        if self._file is None:
            return
        line = {"at": round(time.time(), 3), "event": event, **fields}
        with self._lock:
            self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def place_of(error: BaseException) -> str:
    """Return type and line of an error, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return type(error).__name__ + where


class Metrics:
    """Requests by route and status, and how long they took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str, int], int] = {}
        self._buckets: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        with self._lock:
            key = method, route, status
            self._requests[key] = self._requests.get(key, 0) + 1
            row = self._buckets.setdefault(route, [0] * (len(BUCKETS) + 1))
            row[bisect_left(BUCKETS, seconds)] += 1
            self._seconds[route] = self._seconds.get(route, 0.0) + seconds

    def text(self, gauges: dict[str, float]) -> str:
        """Return everything in the text format of Prometheus."""
        lines = ["# TYPE selectron_requests_total counter"]
        with self._lock:
            for (method, route, status), n in sorted(self._requests.items()):
                names = f'method="{method}",route="{route}",status="{status}"'
                lines.append(f"selectron_requests_total{{{names}}} {n}")
            lines.append("# TYPE selectron_request_seconds histogram")
            for route, row in sorted(self._buckets.items()):
                lines += self._histogram(route, row)
        for name, value in gauges.items():
            lines += [f"# TYPE selectron_{name} gauge", f"selectron_{name} {value:g}"]
        return "\n".join(lines) + "\n"

    def _histogram(self, route: str, row: list[int]) -> list[str]:
        name, total, lines = "selectron_request_seconds", 0, []
        for bound, n in zip((*map(str, BUCKETS), "+Inf"), row, strict=True):
            total += n
            lines.append(f'{name}_bucket{{route="{route}",le="{bound}"}} {total}')
        lines.append(f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}')
        lines.append(f'{name}_count{{route="{route}"}} {total}')
        return lines
