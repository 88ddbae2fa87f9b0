"""The page of everything that is numbered is whole, and nothing on it is stale."""

import ast
import re
from functools import cache
from pkgutil import resolve_name

import pytest

from selectron.cli.bound import theorems
from selectron.cli.main import COMMANDS
from selectron.reproduce import EXPERIMENTS
from tests.docs.places import PAPERS, ROOT, section

PAGE = PAPERS / "everything.md"


def numbered(kind, *numbers):
    return {f"{kind} {number}" for number in numbers}


# What the five works number, read from the works themselves.
WORKS = {
    "CBGZ06": numbered("Theorem", *range(1, 5)) | numbered("Figure", *range(1, 9)),
    "DKM09": numbered("Theorem", 1, 2, 3, 7) | numbered("Lemma", 4, 5, 6, 8, 9, 10, 11)
    | numbered("Definition", 7) | numbered("Figure", *range(1, 5)) | numbered("Table", 1),
    "Mon06": numbered("Theorem", *range(1, 8)) | numbered("Lemma", *range(1, 17))
    | numbered("Corollary", 1, 2) | numbered("Claim", 1) | numbered("Definition", 1, 2)
    | numbered("Figure", *(f"2-{k}" for k in range(1, 12)), *(f"3-{k}" for k in range(1, 5)),
               *(f"4-{k}" for k in range(1, 7)))
    | numbered("Table", "3.1", "4.1"),
    "Ng": {"Theorem"},
    "SS05": numbered("Theorem", 1, 2) | numbered("Corollary", 1) | numbered("Figure", 1, 2, 3),
}  # fmt: skip


def rows_of(work):
    lines = section(PAGE, f"## [{work}]").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line]
    assert all(len(row) == 5 for row in rows)
    return rows[2:]  # below the head and its line


ROWS = [pytest.param(*row, id=f"{work} {row[0]}") for work in WORKS for row in rows_of(work)]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


@cache
def defined_in(path):
    """Return the functions and classes of a file."""
    kinds = ast.FunctionDef | ast.ClassDef
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)}


@pytest.mark.parametrize("work", WORKS)
def test_the_list_is_whole(work):
    items = [row[0] for row in rows_of(work)]
    assert len(items) == len(set(items))
    assert set(items) == WORKS[work]


@pytest.mark.parametrize(("item", "what", "code", "test", "shown"), ROWS)
def test_nothing_is_stale(item, what, code, test, shown):
    assert what
    names = [
        name for cell in (code, shown) for name in quoted(cell) if name.startswith("selectron.")
    ]
    for name in names:
        resolve_name(name)
    for place in quoted(test):
        path, _, name = place.partition("::")
        assert (ROOT / path).is_file(), place
        assert not name or name in defined_in(ROOT / path), place
    for command in quoted(shown):
        check_command(command)


def check_command(text):
    words = text.split()
    if words[0] != "selectron":
        return
    assert words[1] in COMMANDS, text
    if words[1] == "reproduce":
        assert words[2] in EXPERIMENTS, text
    if words[1] == "bound":
        assert words[2] in theorems(), text


@pytest.mark.parametrize(("item", "what", "code", "test", "shown"), ROWS)
def test_what_has_no_command_has_a_reason(item, what, code, test, shown):
    commands = [text for text in quoted(shown) if text.startswith("selectron ")]
    assert commands or len(shown.split()) >= 4
    if not test:
        assert len(shown.split()) >= 7, "without a test the reason says why"


def test_every_experiment_of_a_paper_is_on_the_page():
    keys = tuple(work.lower() for work in WORKS)
    of_papers = {name for name in EXPERIMENTS if name.startswith(keys)}
    shown = set(re.findall(r"`selectron reproduce ([\w.-]+)`", PAGE.read_text()))
    assert of_papers == shown
