"""Rules of another package: the recipe of CONTRIBUTING.md, built and used as a user would."""

import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from tests.docs.places import ROOT

USE = """
import numpy as np
from selectron import SelectiveClassifier, load
rng = np.random.default_rng(0)
X = rng.standard_normal((300, 4)); y = X[:, 0] > 0
clf = SelectiveClassifier("hebb", "band:width=0.3", random_state=0).fit(X, y)
clf.save("bands.selectron")
print(clf.n_asked_, clf.rules_.query)
"""
RESUME = """
import sys
from selectron import load
clf = load("bands.selectron")
print("bands" in sys.modules, clf.n_asked_, clf.rules_.query)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Install the package of the recipe by hand: its modules, and the metadata of its wheel."""
    folder = tmp_path_factory.mktemp("site")
    page = (ROOT / "CONTRIBUTING.md").read_text()
    blocks = [textwrap.dedent(b) for b in re.findall(r"```(?:python|toml)\n(.*?)```", page, re.S)]
    rules, entry, checks = blocks[:3]
    (folder / "bands").mkdir()
    (folder / "bands" / "__init__.py").write_text(rules)
    (folder / "checks.py").write_text(checks)
    about = folder / "bands-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: bands\nVersion: 1.0\n")
    group, line = re.search(r'"(selectron\.rules)"\]\n(.*?)\n', entry).groups()
    (about / "entry_points.txt").write_text(f"[{group}]\n{line.replace(chr(34), '')}\n")
    return folder


def run(package, *command, compiled=False):
    environment = dict(os.environ, PYTHONPATH=f"{package}{os.pathsep}{ROOT / 'src'}")
    if not compiled:
        environment["NUMBA_DISABLE_JIT"] = "1"
    done = subprocess.run(
        [sys.executable, *command],
        env=environment,
        cwd=package,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_checks_of_the_recipe_pass(package):
    run(package, "checks.py", compiled=True)


def test_rules_are_found_by_name_and_in_files(package):
    used = run(package, "-c", USE)
    assert "Band(width=0.3)" in used
    assert run(package, "-c", RESUME) == f"True {used}"


def test_a_file_of_a_rule_that_is_not_there_is_refused(package, tmp_path):
    run(package, "-c", USE)
    (tmp_path / "bands.selectron").write_bytes((package / "bands.selectron").read_bytes())
    script = RESUME.replace("clf = load", "import selectron\ntry:\n    load").replace(
        "print(", "except selectron.DamagedFile as error:\n    print(error)\n#", 1
    )
    said = run(tmp_path, "-c", script)
    assert "needs the rule Hebb of the package bands, which is not installed" in said


def test_commands_know_the_rules(package):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    rows = [f"{','.join(map(str, x))},{int(x[0] > 0)}" for x in X]
    (package / "data.csv").write_text("\n".join(["a,b,c,label", *rows]))
    command = "from selectron.cli import main; raise SystemExit(main())"
    shown = run(package, "-c", command, "run", "data.csv", "--rules", "hebb+band:width=0.3")
    assert "Hebb" in shown
    learners = "hebb+band:width=0.3", "hebb:rate=1+band:width=0.3"
    words = "data.csv", "breast-cancer", *learners, "--limit", "60", "--no-control"
    shown = run(package, "-c", command, "compare", *words)
    rows = [line.split()[:2] for line in shown.splitlines()]
    sets = "data", "breast-cancer"
    assert [row for row in rows if row and row[-1] in learners] == [
        [name, learner] for name in sets for learner in learners
    ]
