"""Compiling takes longer than running: what is marked `plain` is slow where it is compiled."""

import pytest
from numba import config


@pytest.hookimpl(tryfirst=True)  # before marks are selected
def pytest_collection_modifyitems(items):
    if not config.DISABLE_JIT:
        for item in items:
            if item.get_closest_marker("plain"):
                item.add_marker("slow")
