"""Compiling takes longer than running: what is marked `plain` is slow where it is compiled."""

import signal

import pytest
from numba import config

from selectron.classifier import estimator

# Under nohup a shell starts the suite with SIGINT ignored; tests of Ctrl-C need its handler.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests make few calls with one row. They are to take the way that all later calls of a user take.
estimator.FIRST_CALLS = 0

# Files that take half a minute and more come first, so that no worker idles beside one at the end.
LONG = (
    "tests/test_plain_python.py",
    "tests/docs/test_docs.py",
    "tests/docs/test_pages.py",
    "tests/rules/test_determinism.py",
    "tests/rules/test_many.py",
    "tests/kernels/test_bits.py",
    "tests/classifier/test_estimator_checks.py",
    "tests/experts/test_bits.py",
)


def place(item):
    """Return how early a test is to be run, 0 first."""
    return next((k for k, name in enumerate(LONG) if item.nodeid.startswith(name)), len(LONG))


@pytest.hookimpl(tryfirst=True)  # before marks are selected
def pytest_collection_modifyitems(items):
    if not config.DISABLE_JIT:
        for item in items:
            if item.get_closest_marker("plain"):
                item.add_marker("slow")
    items.sort(key=place)
