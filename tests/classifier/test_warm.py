"""Compiling ahead, and saying that something is compiled."""

import subprocess
import sys

import pytest
from numba import config

import selectron
from selectron.queries import Margin
from selectron.updates import Perceptron
from tests.other_process import environment

COLD_THEN_WARM = """
import logging
logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
import selectron
from selectron.queries import Margin
from selectron.updates import Perceptron
selectron.warm(3, learner=selectron.SelectiveClassifier(Perceptron(), Margin()))
"""


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_compiled_code_is_announced_once_and_found_by_the_next_process(tmp_path):
    said = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", COLD_THEN_WARM],
            env=environment(NUMBA_CACHE_DIR=str(tmp_path)),
            capture_output=True,
            text=True,
            check=True,
        )
        said.append(done.stderr.count("selectron.compiler.verbs: compiling for these rules"))
    assert said == [1, 0]


@pytest.mark.plain
@pytest.mark.parametrize("options", [{}, {"classes": 3}, {"sparse": True, "d": 400}])
def test_every_kind_of_rows_can_be_compiled_for(options):
    selectron.warm(**options)


@pytest.mark.plain
def test_the_learner_given_learns_nothing():
    learner = selectron.SelectiveClassifier(Perceptron(), Margin())
    selectron.warm(3, dtype="float32", learner=learner)
    assert not hasattr(learner, "n_seen_")
    with pytest.raises(ValueError, match="classes=1: there are two at least"):
        selectron.warm(classes=1)
