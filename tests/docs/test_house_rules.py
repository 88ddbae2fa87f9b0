"""Rules of the house that no linter knows."""

import ast
import re

import pytest

from tests.docs.places import MODULES, ROOT, SOURCE

KERNELS = ("compiler/verbs.py", "numeric/", "experts/", "power/")
COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "cfunc", "stencil"}
MACHINE = re.compile(r"(?<![\w.])/(?:home|root|work|Users|mnt|opt|srv|media)/|[A-Z]:\\\\")
WRITTEN = [
    path
    for folder in ("src", "tests", "docs", "benchmarks", "requirements", ".")
    for path in ((ROOT / folder).rglob("*") if folder != "." else ROOT.iterdir())
    if path.suffix in {".py", ".md", ".toml", ".txt", ".json", ".tcl"} or path.name == "Makefile"
]


def place(path):
    return path.relative_to(SOURCE).as_posix()


def names_in(path):
    """Every name that code uses or imports, and every keyword; words in text do not count."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Constant) and node.value == "fastmath":
            yield "fastmath"


@pytest.mark.parametrize("path", MODULES, ids=place)
def test_a_file_says_what_it_is(path):
    empty = not path.read_text().strip()
    assert empty or ast.get_docstring(ast.parse(path.read_text()))


def test_no_fast_math():
    assert [place(path) for path in MODULES if "fastmath" in names_in(path)] == []


def test_kernels_live_in_their_places():
    compiled = [place(path) for path in MODULES if COMPILERS & set(names_in(path))]
    assert "compiler/verbs.py" in compiled
    assert [name for name in compiled if not name.startswith(KERNELS)] == []


def test_only_commands_print():
    printing = [place(path) for path in MODULES if "print" in names_in(path)]
    assert printing
    assert [name for name in printing if not name.startswith("cli/")] == []


def test_no_path_of_a_machine():
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in WRITTEN
        if path != THIS
        for line in path.read_text().splitlines()
        if MACHINE.search(line)
    ]
    assert found == []


def test_locks_name_no_hosts():
    for path in (ROOT / "requirements").glob("*.txt"):
        assert "://" not in path.read_text()


THIS = ROOT / "tests" / "docs" / "test_house_rules.py"
