"""A file can do no harm, whatever somebody has written into it.

Each mutant is a file of a learner with one thing changed: an array, a number, a word of the
description or of the metadata. Its checksum is valid. A process loads it, and uses what was loaded
as if nothing were wrong. It may refuse or work. In plain Python an index out of bounds raises
IndexError, where compiled code would read or write somewhere else.
"""

import json

import numpy as np
import pytest
from safetensors.numpy import save

import selectron
from selectron import DamagedFile
from selectron.experts import load_experts
from tests.hostile.__main__ import outcome
from tests.hostile.learners import KINDS, reader_of, write
from tests.hostile.mutants import Original
from tests.hostile.play import play

MANY, FEW = 3200, 400
ALL = 52_000
COMPILED = ("static", "fixed share", "markov stiff", "learn-alpha")  # soon compiled
COMPILED_SLOWLY = ("default", "default many", "perceptron", "kernel smallest", "kernel sparse")
PLAIN = {"NUMBA_DISABLE_JIT": "1"}
DEBUG = {"PYTHONMALLOC": "debug", "MALLOC_PERTURB_": "85"}


def check(folder, first, count, *kinds, **settings):
    ended, failed = play(folder, first, count, *kinds, **settings)
    assert not failed, "\n".join(failed[:20])
    assert sum(ended.values()) == count
    assert min(ended["refused"], ended["used"]) > count / 10  # both ways out are met


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.plain
def test_what_was_not_changed_is_loaded_and_used(kind, tmp_path):
    write(kind, tmp_path / "original")
    reader_of(kind)(tmp_path / "original")
    assert outcome(kind, tmp_path / "original") == "used"


def test_mutants_are_refused_or_work(tmp_path):
    check(tmp_path, 0, MANY, **PLAIN, **DEBUG)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(MANY, MANY + ALL, ALL // 8))
def test_many_more_mutants(tmp_path, first):
    check(tmp_path, first, ALL // 8, **PLAIN, **DEBUG)


@pytest.mark.parametrize(
    "kinds", [COMPILED, pytest.param(COMPILED_SLOWLY, marks=pytest.mark.slow)], ids="".join
)
def test_compiled_code_stays_within_its_arrays(tmp_path, kinds):
    check(tmp_path, 0, FEW, *kinds, **DEBUG)


def rewritten(original, tmp_path, **changes):
    """Write a file with another description."""
    path = tmp_path / "changed"
    original.write(path, original.metadata, original.tensors, original.description | changes)
    return path


@pytest.fixture(scope="module")
def learner(tmp_path_factory):
    path = tmp_path_factory.mktemp("learner") / "perceptron"
    write("ridge", path)
    return Original(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("setting", [10**9, "float64", 1, 2]),
        ("setting", [20_000, "float64", 1, 2]),
        ("setting", [4, "float64", 1, 10**6]),
        ("rules", [{"rule": "Raw"}, {"rule": "Probit", "rank": 10_000}, {"rule": "Always"}]),
        ("rules", [{"rule": "Raw"}, {"rule": "Rehearsal", "memory": 10**6}, {"rule": "Always"}]),
    ],
)
def test_sizes_that_a_file_only_claims_take_no_memory(learner, tmp_path, field, value):
    import resource  # noqa: PLC0415 - not on every system

    path = rewritten(learner, tmp_path, **{field: value})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DamagedFile, match="is damaged"):
        selectron.load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 128 << 10


def test_slots_are_whole_panels(tmp_path):
    """Eight slots have no panel, though all arrays have the shapes that eight slots imply."""
    write("kernel smallest", tmp_path / "x")
    original = Original(tmp_path / "x")
    (machine,) = original.description["machines"]
    path = rewritten(original, tmp_path, machines=[machine | {"room": [8, 0]}])
    with pytest.raises(DamagedFile, match="whole panels"):
        selectron.load(path)


def test_names_of_classes_take_no_more_memory_than_they_need(learner, tmp_path):
    classes = learner.description["classes"] | {"dtype": "<U99999999"}
    with pytest.raises(DamagedFile, match="classes are of"):
        selectron.load(rewritten(learner, tmp_path, classes=classes))


def test_no_search_for_questions_that_were_settled_is_endless(learner, tmp_path):
    tickets = learner.description["tickets"] | {"n_asked": 2**53, "fresh_from": 0}
    changes = {"counts": [2**53, 2**53, False], "tickets": tickets}
    with pytest.raises(DamagedFile, match="may be overdue"):
        selectron.load(rewritten(learner, tmp_path, **changes))


def test_a_mixture_that_claims_experts_without_weights_takes_no_memory(tmp_path):
    write("learn-alpha", tmp_path / "experts")
    original = Original(tmp_path / "experts")
    tensors = original.tensors | {"calm": np.zeros((10**9, 0)), "alphas": np.full(10**4, 0.1)}
    original.write(tmp_path / "changed", original.metadata, tensors, original.description)
    with pytest.raises(DamagedFile, match="weight"):
        load_experts(tmp_path / "changed")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "", "nonsense", "NaN", "[]"])
def test_a_description_of_any_text_is_refused(learner, tmp_path, text):
    learner.write(tmp_path / "x", learner.metadata, learner.tensors, text)
    with pytest.raises(DamagedFile):
        selectron.load(tmp_path / "x")


def test_numbers_that_numpy_has_not_are_refused(tmp_path):
    (tmp_path / "x").write_bytes(as_bfloat(save({"a": np.zeros(4, np.float16)})))
    with pytest.raises(DamagedFile):
        selectron.load(tmp_path / "x")


def as_bfloat(content):
    """Return a file of half-precision numbers that claims another type of the same size."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["a"]["dtype"] = "BF16"
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content[8 + length :]
