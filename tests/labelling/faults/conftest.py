"""One nursery for all tests, and what is left of a store after a fault."""

import pytest

from tests.labelling.faults.nursery import Nursery


@pytest.fixture(scope="session")
def nursery():
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture
def acks(tmp_path):
    """Return the folder where clients keep what they were told."""
    folder = tmp_path / "acks"
    folder.mkdir()
    return folder
