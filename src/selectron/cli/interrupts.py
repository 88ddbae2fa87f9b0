"""Ctrl-C as the commands hear it: one line and exit code 130, even from within a compiler."""

import os
import signal
import sys
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer, current_thread, main_thread
from types import FrameType
from typing import NoReturn

CODE = 130
LINE = "interrupted"
AGAIN_SECONDS = 0.05


@contextmanager
def none_dropped() -> Iterator[None]:
    """Let no Ctrl-C be lost within the block.

    LLVM calls Python back while it compiles. An exception cannot leave such a call: Python prints
    it and drops it, and then the compiler may fail of something else. So a KeyboardInterrupt that
    was dropped comes again, and stands for an error that is faster.
    """
    show, again = sys.unraisablehook, Timer(AGAIN_SECONDS, interrupt_main)

    def hook(dropped: "sys.UnraisableHookArgs") -> None:
        nonlocal again
        if isinstance(dropped.exc_value, KeyboardInterrupt):
            again = Timer(AGAIN_SECONDS, interrupt_main)
            again.start()
        else:
            show(dropped)

    sys.unraisablehook = hook
    try:
        yield
    except Exception as error:
        if again.is_alive():
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = show
        again.cancel()


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """End the process at a Ctrl-C within the block, however busy its other threads are."""
    if current_thread() is not main_thread() or not callable(signal.getsignal(signal.SIGINT)):
        yield
        return
    before = signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, f"{LINE}\n".encode())
    os._exit(CODE)
