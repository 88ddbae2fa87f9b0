"""One nursery for all tests, and what is left of a store after a fault."""

import tempfile
from pathlib import Path

import pytest

from tests.labelling.faults.nursery import Nursery


@pytest.fixture(scope="session")
def nursery():
    with Nursery() as nursery:
        yield nursery


@pytest.fixture
def acks(tmp_path):
    """Return the folder where clients keep what they were told."""
    folder = tmp_path / "acks"
    folder.mkdir()
    return folder


@pytest.fixture
def memory():
    """Return a folder in memory, where a flush takes no time, for what is left of stores."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        yield Path(name)
