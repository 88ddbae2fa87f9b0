"""What an engine promises, and jobs in processes of this machine, or in this process."""

import mmap
import os
import pickle
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from copy import deepcopy
from itertools import count
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Generic, Protocol, Self, TypeVar, cast

Job = TypeVar("Job")
Found = TypeVar("Found")
Tick = Callable[[], object]
Value = TypeVar("Value")
Wanted = TypeVar("Wanted", covariant=True)

RETRIES = 5  # deaths of workers in a row, with no job done in between
ALIGNED = 64  # bytes: where arrays begin in a file that is mapped


class WorkersLost(OSError):
    """Workers died again and again over the same jobs."""


class Shared(Protocol[Wanted]):
    """Stands in jobs for a value that is large and the same in all of them."""

    def get(self) -> Wanted:
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


class Here:
    """Does its jobs in this process, one after the other."""

    workers: int | None = 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...

    def share(self, name: str, value: Value) -> "Held[Value]":
        """Copy a value, as if it were sent."""
        return Held(deepcopy(value))

    def map(
        self, function: Callable[[Job], Found], jobs: Sequence[Job], tick: Tick = nobody_watches
    ) -> list[Found]:
        """Return function(job) for each job, in the order of the jobs; tick after each."""
        found = []
        for job in jobs:
            found.append(function(job))
            tick()
        return found


class Held(Generic[Value]):
    """A value that is here."""

    def __init__(self, value: Value) -> None:
        self.value = value

    def get(self) -> Value:
        """Return the value."""
        return self.value


class Local:
    """Fresh processes of one thread each, kept from one `map` to the next.

    Parameters
    ----------
    workers : int, optional
        How many processes; one for each core if left out.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count()
        self._pool: ProcessPoolExecutor | None = None
        self._life: Connection | None = None  # its workers end when it is closed
        self._folder: TemporaryDirectory[str] | None = None
        self._shared: dict[str, Path] = {}
        self._numbers = count()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder, self._shared = None, {}

    def share(self, name: str, value: Value) -> "MappedFile[Value]":
        """Write a value to a file that workers map; the file of this name before is removed."""
        if self._folder is None:
            self._folder = TemporaryDirectory()
        path = Path(self._folder.name) / f"{name}.{next(self._numbers)}"
        _write_mapped(path, value)
        if name in self._shared:
            self._shared[name].unlink()
        self._shared[name] = path
        return MappedFile(str(path))

    def map(
        self, function: Callable[[Job], Found], jobs: Sequence[Job], tick: Tick = nobody_watches
    ) -> list[Found]:
        """Return function(job) for each job, in the order of the jobs; tick after each."""
        found: dict[int, Found] = {}
        deaths = 0
        while len(found) < len(jobs):
            done = len(found)
            try:
                self._try(function, jobs, found, tick)
            except BrokenProcessPool:  # it takes all of its processes with it
                deaths = deaths + 1 if len(found) == done else 1
                if deaths > RETRIES:
                    raise WorkersLost(
                        f"{deaths} workers died in a row over {len(jobs) - done} jobs: "
                        "is there memory enough, and does the script work only under "
                        "if __name__ == '__main__'?"
                    ) from None
        return [found[k] for k in range(len(jobs))]

    def _try(
        self,
        function: Callable[[Job], Found],
        jobs: Sequence[Job],
        found: dict[int, Found],
        tick: Tick,
    ) -> None:
        """Do the jobs that are not done yet."""
        if self._pool is None:
            fresh = get_context("spawn")  # a fork would copy locks that threads here hold
            ends, self._life = fresh.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(self.workers, fresh, _begin_worker, (ends,))
        try:
            left = (k for k in range(len(jobs)) if k not in found)
            waiting = {self._pool.submit(function, jobs[k]): k for k in left}
            for future in as_completed(waiting):
                found[waiting[future]] = future.result()
                tick()
        except BaseException:
            assert self._life is not None
            self._life.close()  # nobody waits for jobs that are under way
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
            raise


class MappedFile(Generic[Value]):
    """A value in a file: its arrays lie there as they are in memory, and are not copied."""

    def __init__(self, path: str) -> None:
        self.path = path

    def get(self) -> Value:
        """Return the value; its arrays are mapped and cannot be written to."""
        with Path(self.path).open("rb") as file:
            head, sizes = pickle.load(file)
            start = file.tell()
            whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        buffers = []
        for size in sizes:
            start += -start % ALIGNED
            buffers.append(whole[start : start + size])
            start += size
        return cast(Value, pickle.loads(head, buffers=buffers))


def _write_mapped(path: Path, value: object) -> None:
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    with path.open("wb") as file:
        pickle.dump((head, [array.nbytes for array in arrays]), file)
        for array in arrays:
            file.seek(-file.tell() % ALIGNED, os.SEEK_CUR)
            file.write(array)


def _begin_worker(ends: Connection) -> None:
    """Keep to one thread, and end when the process that has the jobs ends or wants no more."""
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only the workers need it

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the process that has the jobs
    threadpool_limits(1)
    Thread(target=_end_with_parent, args=(ends,), daemon=True).start()


def _end_with_parent(ends: Connection) -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel, ends])
    os._exit(1)
