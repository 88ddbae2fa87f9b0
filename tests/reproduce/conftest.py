"""Experiments of tests run in one process, which sees what a test has put in a module's place."""

import pytest

from selectron.engines import Here
from selectron.reproduce.harness import experiment


@pytest.fixture(scope="package", autouse=True)
def one_process():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "Local", Here)
        yield
