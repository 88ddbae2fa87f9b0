"""Jobs on all cores: fresh processes, one thread each, results in the order of the jobs."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


def in_processes(
    work: Callable[[Job], Result], jobs: Sequence[Job], tick: Callable[[], Any]
) -> list[Result]:
    """Return work(job) for every job; `tick` is called as each is done."""
    fresh = get_context("spawn")  # a fork would copy locks that threads of ours hold
    with ProcessPoolExecutor(os.cpu_count(), fresh, _one_thread) as pool:
        waiting = [pool.submit(work, job) for job in jobs]
        try:
            for future in as_completed(waiting):
                future.result()
                tick()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [future.result() for future in waiting]


def _one_thread() -> None:
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - in the children alone

    threadpool_limits(1)
