"""The examples of pages print what the pages say, and the links between pages lead somewhere."""

import re
import sys
from types import ModuleType

import pytest

from tests.docs.places import DOCS, PAGES, ROOT, RULES_PAGE, examples, name_of

README = ROOT / "README.md"
SHOWN = [
    README,
    DOCS / "index.md",
    RULES_PAGE,
    DOCS / "papers" / "readings.md",
    *sorted((DOCS / "start").glob("*.md")),
    *sorted((DOCS / "guides").glob("*.md")),
]
EXAMPLES = [example for page in SHOWN for example in examples(page)]
# Pages, and words in examples, that take longer to compile than to run.
PLAIN = (
    "budgets.md",
    "files.md",
    "clusters.md",
    "late-labels.md",
    "readings.md",
    "river.md",
    "your-own-rule.md",
    "ask_one",
)


def marked(example):
    plain = any(word in example.page.name or word in example.code for word in PLAIN)
    return pytest.param(example, id=example.name, marks=pytest.mark.plain if plain else ())


@pytest.mark.parametrize("example", [marked(example) for example in EXAMPLES])
def test_examples_print_what_pages_say(example, tmp_path, monkeypatch, capsys):
    for package in ("river", "skactiveml"):
        if f"from {package}" in example.code or f"import {package}" in example.code:
            pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    module = ModuleType("shown_on_a_page")  # rules are found by the module that defines them
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(example.code, example.name, "exec"), module.__dict__)
    assert steady(capsys.readouterr().out) == steady(example.printed)


def steady(printed):
    """Leave out what a certificate's search may find otherwise elsewhere."""
    return re.sub(r"<= [\d,]+|gamma [\d.]+|hinge [\d.]+", "", printed)


@pytest.mark.parametrize("page", SHOWN, ids=name_of)
def test_a_page_that_prints_says_what(page):
    for example in examples(page):
        assert ("print(" in example.code) == bool(example.printed), example.name


def test_the_tour_learns_a_table_pictures_and_texts():
    tour = "".join(example.code for example in EXAMPLES if example.page.stem == "ten-minutes")
    for data in ("load_breast_cancer", "load_digits", "HashingVectorizer"):
        assert data in tour


# --- README


def test_the_readme_is_short():
    assert len(README.read_text().split()) < 900


def test_the_readme_has_three_journeys():
    journeys = list(examples(README))
    assert len(journeys) == 3
    for journey in journeys:
        assert journey.printed
        written = [line for line in journey.code.splitlines() if line and "import" not in line]
        assert len(written) <= 10, journey.name


def test_the_readme_has_five_figures_with_their_commands():
    table = re.search(r"^\| figure \|.*?\n\n", README.read_text(), re.DOTALL | re.MULTILINE)[0]
    rows = table.strip().splitlines()[2:]
    assert len(rows) == 5
    for row in rows:
        assert re.search(r"\d.*\| `(selectron|make) ", row), row


# --- links


LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page):
    """Return the anchors of a page's headings, as both GitHub and the site make them."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", h).strip().lower()) for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(there), f"{page.name} links to {target}"


def test_every_picture_is_shown():
    targets = [target for page in PAGES for target in LINK.findall(page.read_text())]
    pictures = {picture.name for picture in (DOCS / "images").iterdir()}
    assert pictures <= {target.rpartition("/")[2] for target in targets}
