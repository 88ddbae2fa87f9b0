"""Ctrl-C at a moment that suits."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any


class Heard:
    """What has come meanwhile, in the place of the usual handler."""

    def __init__(self, usual: Any) -> None:
        self.usual = usual
        self.waiting: tuple[Any, ...] | None = None

    def __call__(self, *how: Any) -> None:
        self.waiting = how

    def listen(self) -> None:
        """Let the usual handler have what has come."""
        if self.waiting is not None:
            how, self.waiting = self.waiting, None
            self.usual(*how)


@contextmanager
def heard_afterwards() -> Iterator[Heard]:
    """Let what is begun be finished before a Ctrl-C is heard, or wait until one listens.

    Python hears it in the main thread alone, right after a kernel has moved the weights and before
    the rows are counted. Within another such block it is heard after that one.
    """
    usual = signal.getsignal(signal.SIGINT)
    heard = Heard(usual)
    if current_thread() is not main_thread() or not callable(usual):
        yield heard
        return
    signal.signal(signal.SIGINT, heard)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, usual)
        heard.listen()
