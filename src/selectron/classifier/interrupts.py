"""Ctrl-C at a moment that suits."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread


@contextmanager
def heard_afterwards() -> Iterator[None]:
    """Let what is begun be finished before a Ctrl-C is heard.

    Python hears it in the main thread alone, right after a kernel has moved the weights and before
    the rows are counted.
    """
    usual = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(usual):
        yield
        return
    heard = []
    signal.signal(signal.SIGINT, lambda *how: heard.append(how))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if heard:
            usual(*heard[0])
