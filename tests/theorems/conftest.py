"""Theorems are checked on the same streams every time: hypothesis draws them without chance."""

import pytest
from hypothesis import settings

from tests.theorems.subjects import SUBJECTS

settings.register_profile("theorems", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("theorems")


@pytest.fixture(scope="session", params=sorted(SUBJECTS))
def play(request):
    return SUBJECTS[request.param]
