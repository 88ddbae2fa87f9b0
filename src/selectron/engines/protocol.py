"""What an engine promises."""

from collections.abc import Callable, Sequence
from typing import Protocol, Self, TypeVar

Job = TypeVar("Job")
Found = TypeVar("Found")
Tick = Callable[[], object]
Value = TypeVar("Value")
Held = TypeVar("Held", covariant=True)

RETRIES = 5  # deaths of workers in a row, with no job done in between


class WorkersLost(OSError):
    """Workers died again and again over the same jobs."""


class Shared(Protocol[Held]):
    """Stands in jobs for a value that is large and the same in all of them."""

    def get(self) -> Held:
        """Return the value, in a worker; it must not be changed."""


class Engine(Protocol):
    """Maps a function over jobs in processes of its own.

    The function and the jobs are sent to workers, so a function is one of a module. A job whose
    worker dies is done again: the function must return the same for the same job. What the function
    raises is raised here, and is not tried again.
    """

    workers: int | None

    def map(
        self, function: Callable[[Job], Found], jobs: Sequence[Job], tick: Tick = ...
    ) -> list[Found]:
        """Return function(job) for each job, in the order of the jobs; tick after each."""

    def share(self, name: str, value: Value) -> Shared[Value]:
        """Put a value where all workers find it; what had this name before is dropped."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


def nobody_watches() -> None:
    """Do nothing with a tick: no progress is shown."""
