"""Jobs on a Ray cluster, or on the one that Ray starts on this machine."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Generic, Self, TypeAlias, cast

from selectron.engines.local import RETRIES, Found, Job, Tick, Value, WorkersLost, nobody_watches

# Before Ray is imported: nothing is reported to anybody, and whoever calls shows a token.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AUTH_MODE", "token")

import ray

Reference: TypeAlias = Any  # of a value or a result in Ray's store


class OnRay:
    """Tasks of Ray; a task whose worker or node dies is done again elsewhere.

    Parameters
    ----------
    workers : int, optional
        Jobs at a time; one for each core of the cluster if left out.
    address : str, optional
        Of a cluster. Without it Ray starts on this machine, whatever runs there already.
    """

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self.workers, self._address = workers, address

    def __enter__(self) -> Self:
        here = {"num_cpus": self.workers, "include_dashboard": False}
        ray.init(
            self._address or "local",
            log_to_driver=False,
            logging_level="ERROR",
            **({} if self._address else here),
        )
        return self

    def __exit__(self, *error: object) -> None:
        ray.shutdown()

    def share(self, name: str, value: Value) -> "StoredObject[Value]":
        """Put a value into Ray's store; Ray drops it when nothing refers to it any more."""
        return StoredObject(ray.put(value))

    def map(
        self, function: Callable[[Job], Found], jobs: Sequence[Job], tick: Tick = nobody_watches
    ) -> list[Found]:
        """Return function(job) for each job, in the order of the jobs; tick after each."""
        task: Any = ray.remote(_done).options(max_retries=RETRIES, num_cpus=1)
        most = self.workers or len(jobs)
        begun: list[Reference] = []
        under_way: list[Reference] = []
        try:
            while len(begun) < len(jobs) or under_way:
                while len(begun) < len(jobs) and len(under_way) < most:
                    begun.append(task.remote(function, jobs[len(begun)]))
                    under_way.append(begun[-1])
                ready, under_way = ray.wait(under_way)
                ray.get(ready)  # raises at once what a job has raised
                tick()
            found: list[Found] = ray.get(begun)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except ray.exceptions.RayError as error:
            raise WorkersLost(f"Ray gave up: {' '.join(str(error).split())[:200]}") from None
        return found


class StoredObject(Generic[Value]):
    """A value in Ray's store: each node fetches it once, and its arrays are not copied."""

    def __init__(self, reference: Reference) -> None:
        self.reference = reference

    def get(self) -> Value:
        """Return the value; its arrays cannot be written to."""
        return cast(Value, ray.get(self.reference))


def _done(function: Callable[[Job], Found], job: Job) -> Found:
    """Do a job: Ray takes no function of C for a task."""
    return function(job)
