"""Jobs in processes of this machine."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Self

from selectron.engines.protocol import RETRIES, Found, Job, Tick, WorkersLost, nobody_watches


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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def map(
        self,
        function: Callable[[Job], Found],
        jobs: Sequence[Job],
        tick: Tick = nobody_watches,
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
            self._pool = ProcessPoolExecutor(self.workers, fresh, _begin_worker)
        try:
            left = (k for k in range(len(jobs)) if k not in found)
            waiting = {self._pool.submit(function, jobs[k]): k for k in left}
            for future in as_completed(waiting):
                found[waiting[future]] = future.result()
                tick()
        except BaseException:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
            raise


def _begin_worker() -> None:
    """Keep to one thread, and end when the process that has the jobs ends, however it ends."""
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only the workers need it

    threadpool_limits(1)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
