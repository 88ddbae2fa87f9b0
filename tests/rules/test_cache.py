"""Compiled code is found again in a new process, and never outlives an edit of a rule."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import selectron

SCRIPT = """
import numpy as np
from selectron import SelectiveClassifier
from selectron.loop import compiled, run_pass
from selectron.queries import Margin
from selectron.updates import Perceptron

X = np.random.default_rng(0).standard_normal((50, 4))
clf = SelectiveClassifier(Perceptron(), Margin(b=0.5), random_state=0).fit(X, X[:, 0] > 0)
stats = compiled(run_pass, clf._run.machine.states.kinds).stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), clf.coef_.tolist())
"""


@pytest.fixture
def package(tmp_path):
    shutil.copytree(
        Path(selectron.__file__).parent,
        tmp_path / "selectron",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return tmp_path / "selectron"


def run(package, script=SCRIPT):
    environment = dict(
        os.environ,
        PYTHONPATH=str(package.parent),
        PYTHONDONTWRITEBYTECODE="1",
        NUMBA_CACHE_DIR=str(package.parent / "compiled"),
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=package.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    hits, misses, weights = done.stdout.split(maxsplit=2)
    return int(hits), int(misses), weights


def test_a_new_process_finds_compiled_code_and_an_edit_is_seen(package):
    assert run(package)[:2] == (0, 1)
    hits, misses, weights = run(package)
    assert (hits, misses) == (1, 0)

    rule = package / "updates" / "perceptron.py"
    rule.write_text(rule.read_text().replace("rule.eta * y", "3.0 * rule.eta * y"))
    hits, misses, edited = run(package)
    assert (hits, misses) == (0, 1)
    assert edited != weights

    helper = package / "numeric" / "rows.py"
    text = helper.read_text()
    helper.write_text(
        text.replace("w[i] += step * x.values[i]", "w[i] += 0.5 * step * x.values[i]")
    )
    hits, misses, again = run(package)
    assert (hits, misses) == (0, 1)
    assert again != edited


ONE_ROW = """
import numpy as np
from selectron import SelectiveClassifier
from selectron.queries import Margin
from selectron.loop import DenseLayout, SparseLayout, compiled, play_row, predict_row
from selectron.updates import Perceptron

X = np.random.default_rng(0).standard_normal((50, 4))
clf = SelectiveClassifier(Perceptron(), Margin(b=0.5), random_state=0)
for x in X:
    clf.learn_one(x, x[0] > 0)
clf.ask_one(X[0])
clf.predict_one(X[0])
kinds = (*clf._run.machine.states.kinds, DenseLayout, SparseLayout)
kernels = [compiled(loop, kinds) for loop in (predict_row, play_row)]
hits = sum(sum(each.stats.cache_hits.values()) for each in kernels)
misses = sum(sum(each.stats.cache_misses.values()) for each in kernels)
print(hits, misses, clf.coef_.tolist())
"""


def test_another_installation_of_the_same_code_finds_it(package):
    assert run(package)[:2] == (0, 1)
    package.rename(package.parent / "elsewhere")
    moved = package.parent / "site" / "selectron"
    shutil.copytree(package.parent / "elsewhere", moved)
    (package.parent / "site" / "compiled").symlink_to(package.parent / "compiled")
    assert run(moved)[:2] == (1, 0)


EDITS = [
    ("compiler/raw_arrays.py", "!= 1 or", "!= 1 or place == 0 or"),
    ("compiler/emitting.py", "self.position += 1", "self.position = self.position + 1"),
    ("compiler/handles.py", "if kind is types.float64", "if kind == types.float64"),
    ("updates/perceptron.py", "rule.eta * y", "3.0 * rule.eta * y"),
]


def test_the_kernels_of_one_row_are_found_and_an_edit_is_seen(package):
    assert run(package, ONE_ROW)[:2] == (0, 2)
    assert run(package, ONE_ROW)[:2] == (2, 0)
    for name, old, new in EDITS:
        edited = package / name
        assert old in edited.read_text()
        edited.write_text(edited.read_text().replace(old, new))
        assert run(package, ONE_ROW)[:2] == (0, 2), name


def test_a_process_that_loaded_the_old_rule_does_not_pass_it_on_as_the_new_one(package):
    rule = package / "updates" / "perceptron.py"
    edit = (
        "from pathlib import Path\n"
        f"import selectron.updates\nrule = Path({str(rule)!r})\n"
        "rule.write_text(rule.read_text().replace('rule.eta * y', '7.0 * y'))\n"
    )
    old = run(package, edit + SCRIPT)
    hits, misses, new = run(package)
    assert (hits, misses) == (0, 1)
    assert new != old[2]


def test_a_state_that_is_renamed_leaves_the_other_pairs_alone(package):
    other = SCRIPT.replace("Margin(b=0.5)", "Halving()").replace("import Margin", "import Halving")
    assert run(package)[:2] == run(package, other)[:2] == (0, 1)
    rule = package / "queries" / "margin.py"
    rule.write_text(rule.read_text().replace("MarginState", "MarginMemory"))
    assert run(package, other)[:2] == (1, 0)
    assert run(package)[:2] == (0, 1)


def test_an_edit_behind_a_helper_of_a_helper_is_seen(package):
    """Of modules elsewhere too, however they are imported."""
    own = SCRIPT.replace("Margin(b=0.5)", "Eager()").replace(
        "import Margin", "import Margin\nfrom eager import Eager"
    )
    folder = package.parent
    (folder / "eager.py").write_text(
        OWN_RULE.replace("return query.odds", "return near(query.odds)").replace(
            "from typing", "from behind import near\nfrom typing"
        )
    )
    marked = (
        "from selectron.compiler.verbs import helper\n"
        "{0}\n@helper\ndef {1}(odds):\n    return {2}\n"
    )
    (folder / "behind.py").write_text(marked.format("import deep", "near", "deep.far(odds)"))
    (folder / "deep.py").write_text(marked.format("", "far", "odds"))
    hits, misses, before = run(package, own)
    assert (hits, misses) == (0, 1)
    (folder / "deep.py").write_text(marked.format("", "far", "0.3 * odds"))
    hits, misses, after = run(package, own)
    assert (hits, misses) == (0, 1)
    assert after != before


OWN_RULE = """
from dataclasses import dataclass
from typing import NamedTuple
from selectron.protocol import advance, ask_probability, observe, unmoved_by_choice
from selectron.protocol import unmoved_by_label
from selectron.spec import QueryRule

@dataclass(frozen=True)
class Eager(QueryRule):
    def begin(self, d):
        return EagerState(1.0)

class EagerState(NamedTuple):
    odds: float

@ask_probability.of(EagerState)
def eager_probability(query, x, forecast):
    return query.odds

advance.of(EagerState)(unmoved_by_choice)
observe.of(EagerState)(unmoved_by_label)
"""


@pytest.mark.slow  # ten seconds to compile
def test_a_rule_from_elsewhere_has_a_cache_of_its_own(package):
    """Who cannot import it could not read an index that lists it, and so none of its own code."""
    own = SCRIPT.replace("Margin(b=0.5)", "Eager()").replace(
        "import Margin", "import Margin\nfrom eager import Eager"
    )
    module = package.parent / "eager.py"
    module.write_text(OWN_RULE)
    assert run(package, own)[:2] == (0, 1)
    assert run(package, own)[:2] == (1, 0)
    module.unlink()
    assert run(package)[:2] == (0, 1)
    assert run(package)[:2] == (1, 0)
