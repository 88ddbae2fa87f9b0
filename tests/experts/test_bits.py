"""The same bits everywhere: step by step or at once, saved or not, compiled or not, on any CPU."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import selectron
from selectron.compiler.verbs import sources_of
from selectron.experts import AdaHedge
from selectron.experts.sharing import step_likelihoods
from selectron.experts.steps import sum_of
from tests.experts.bits import hashes, scenario
from tests.experts.twins import one_of_each

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("eta", [1.0, 0.3, "adahedge", AdaHedge(factor=10.0, cap=2.0)])
def test_run_is_update_for_each_row(eta):
    losses = scenario()
    for name, experts in one_of_each(5, eta=eta).items():
        twin = one_of_each(5, eta=eta)[name]
        assert experts.run(losses).tolist() == [twin.update(row) for row in losses], name
        assert (experts.weights == twin.weights).all()
        halves = one_of_each(5, eta=eta)[name]
        halves.run(losses[:11])
        halves.run(losses[11:])
        assert (halves.weights == experts.weights).all()


@pytest.mark.parametrize("eta", [0.7, "adahedge"])
def test_a_saved_mixture_goes_on_exactly(eta):
    losses = scenario()
    for name, experts in one_of_each(5, eta=eta, prior=[1, 2, 3, 4, 5]).items():
        experts.run(losses[:9])
        state = experts.state()
        assert all(isinstance(value, np.ndarray | float | int) for value in state.values())
        again = type(experts).from_state(state)
        assert (again.weights == experts.weights).all(), name
        assert (again.run(losses[9:]) == experts.run(losses[9:])).all(), name
        assert (again.weights == experts.weights).all(), name
        late = type(experts).from_state(state)  # the state was a copy
        late.run(losses[9:])
        assert (late.weights == experts.weights).all(), name


def test_looking_changes_nothing():
    losses = scenario()
    for name, experts in one_of_each(5).items():
        shy = one_of_each(5)[name]
        for row in losses:
            experts.predict(np.arange(5.0))
            experts.vote("abcde")
            _ = experts.weights, experts._log_weights(), experts.state()
            if hasattr(experts, "alpha_weights"):
                _ = experts.alpha_weights
            assert experts.update(row) == shy.update(row), name


def in_another_process(*choice, **environment):
    environment = {**os.environ, **environment}
    command = [sys.executable, "-W", "error", "-m", "tests.experts.bits", *choice]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_bits_do_not_depend_on_the_compiler():
    assert in_another_process(NUMBA_DISABLE_JIT="1") == hashes()


PROCESSORS = {
    "generic": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "haswell": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"},
}


@pytest.mark.parametrize("processor", ["generic"])  # the other is among all of them, below
def test_bits_do_not_depend_on_the_processor(processor):
    assert in_another_process("few", **PROCESSORS[processor]) == hashes(few=True)


@pytest.mark.slow
@pytest.mark.parametrize("processor", PROCESSORS)
def test_all_bits_do_not_depend_on_the_processor(processor):
    assert in_another_process(**PROCESSORS[processor]) == hashes()


def test_the_cache_key_covers_every_file_a_kernel_calls_into(tmp_path):
    copy = tmp_path / "selectron"
    shutil.copytree(
        Path(selectron.__file__).parent, copy, ignore=shutil.ignore_patterns("*.nb?", "__pycache__")
    )
    script = (
        "from selectron.compiler.verbs import sources_of;"
        "from selectron.experts.sharing import step_likelihoods;"
        "print(sources_of(step_likelihoods))"
    )

    def digest():
        return subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    before = digest()
    assert before == sources_of(step_likelihoods)
    elementary = copy / "numeric" / "elementary.py"
    elementary.write_text(elementary.read_text().replace("1.0 / 6227020800.0", "0.0"))
    assert digest() != before
    assert sources_of(step_likelihoods) != sources_of(sum_of)
