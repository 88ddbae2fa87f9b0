"""The documents keep up with the code: keys, rules, commands, layers, doctests."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from dataclasses import MISSING, fields

import pytest

import selectron
from docs import __main__ as maker
from selectron import queries, scalings, updates
from selectron.cli.main import COMMANDS, _parser
from selectron.reproduce import EXPERIMENTS
from tests.docs.places import (
    DOCS,
    MODULES,
    PAGES,
    PAPERS,
    REFERENCE,
    ROOT,
    RULES_PAGE,
    SOURCE,
    fenced,
    section,
)
from tests.other_process import digests_of

KEY = re.compile(r"\[((?:[A-Z]+[a-z]*)+\d\d|Ng)(?:,[^\]]*)?\](?!\()")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SHELVES = (updates, queries, scalings)
RULES = [getattr(shelf, name) for shelf in SHELVES for name in shelf.__all__]


def named(kind):
    return kind.__name__


# --- papers


def keys_in(paths):
    return {key for path in paths for key in KEY.findall(path.read_text())}


def test_every_key_resolves():
    index = (PAPERS / "index.md").read_text()
    headings = set(re.findall(r"^## \[(\w+)\]$", index, re.MULTILINE))
    used = keys_in(MODULES)
    assert {"CBGZ06", "DKM09", "SS05", "Mon06", "Ng", "CDKSS06", "CKD09"} <= used
    assert used <= headings
    assert keys_in(PAGES) <= headings
    assert headings <= used, "the index of papers has a paper that nothing cites"


def test_five_papers_have_a_page():
    for paper in ("CBGZ06", "DKM09", "Mon06", "Ng", "SS05"):
        page = PAPERS / f"{paper.lower()}.md"
        assert page.read_text().startswith(f"# [{paper}] ")
        assert section(page, "## What is here")
        assert section(page, "## Where we read it differently")
        assert f"({page.name})" in section(PAPERS / "index.md", f"## [{paper}]")


def public_names():
    rooms = ("updates", "queries", "scalings", "experts", "power", "evaluate")
    for room in rooms:
        yield from importlib.import_module(f"selectron.{room}").__all__
    for module in pkgutil.iter_modules(selectron.bounds.__path__, "selectron.bounds."):
        yield from vars(importlib.import_module(module.name))


@pytest.mark.parametrize("page", sorted(PAPERS.glob("*.md")), ids=lambda page: page.name)
def test_what_papers_name_exists(page):
    text = page.read_text()
    for name in re.findall(r"`(selectron\.[\w.]+)`", text):
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute) or importlib.import_module(name)
    known = set(public_names())
    for word in re.findall(r"`([A-Za-z_0-9]+)(?:\([^`]*\))?`", text):
        assert word in known, f"{page.name} names {word}, which is nowhere"


# --- rules


@pytest.mark.parametrize("kind", RULES, ids=named)
def test_every_rule_is_described_with_all_its_knobs(kind):
    described = section(RULES_PAGE, f"### {kind.__name__}")
    for knob in fields(kind):
        default = knob.default if knob.default is not MISSING else knob.default_factory()
        shown = f'"{default}"' if isinstance(default, str) else repr(default)
        assert re.search(rf"`{knob.name}` \({re.escape(shown)}[,)]", described), (
            f"{kind.__name__}: {knob.name} with its default {shown} is not described"
        )


def test_no_rule_is_described_that_does_not_exist():
    described = re.findall(r"^### (\w+)$", RULES_PAGE.read_text(), re.MULTILINE)
    assert sorted(described) == sorted(kind.__name__ for kind in RULES)


@pytest.mark.parametrize("kind", RULES, ids=named)
def test_every_rule_prints_numbers_in_its_example(kind):
    examples = doctest.DocTestParser().get_examples(kind.__doc__)
    assert any(re.search(r"\d", example.want) for example in examples)


# --- commands


def test_the_page_of_commands_is_fresh():
    assert maker.COMMANDS_PAGE.read_text() == maker.commands_page(), "run make docs"


def test_a_stale_page_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(maker, "COMMANDS_PAGE", tmp_path / "commands.md")
    maker.COMMANDS_PAGE.write_text(maker.commands_page())
    maker.main(["--check"])
    maker.COMMANDS_PAGE.write_text(maker.commands_page() + "more")
    with pytest.raises(SystemExit, match="stale: run make docs"):
        maker.main(["--check"])


def test_the_check_runs_as_make_runs_it():
    done = subprocess.run(
        [sys.executable, "-m", "docs", "--check"], cwd=ROOT, capture_output=True, text=True,
        timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_on_the_page(name):
    described = section(maker.COMMANDS_PAGE, f"## selectron {name}")
    parsers = _parser()._subparsers._group_actions[0].choices
    assert list(parsers) == list(COMMANDS)
    for action in parsers[name]._actions:
        for option in action.option_strings or [action.metavar or action.dest]:
            assert option in described
        assert " ".join(action.help.split()) in " ".join(described.split())


def test_a_table_goes_into_its_page():
    page = "# A\n\n```text\nold\nlines\n```\n\nmore\n\n```text\nother\n```\n"
    made = maker.with_table(page, "new")
    assert made == "# A\n\n```text\nnew\n```\n\nmore\n\n```text\nother\n```\n"
    assert maker.with_table("```text\n```\n", "new") == "```text\nnew\n```\n"


def test_the_sphere_has_a_growth_for_every_curve():
    assert maker.page_of("dkm09-labels").read_text().count("growth: ") == 12


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_has_its_page_with_table_and_picture(name):
    page = maker.page_of(name).read_text()
    table = next(content for language, content, _ in fenced(page) if language == "text")
    assert len(re.findall(r"\d", table)) > 30
    assert f"selectron reproduce {name}" in page
    assert f"images/{name}.png" in page
    assert (DOCS / "images" / f"{name}.png").stat().st_size > 10_000


# --- glossary


def test_the_glossary_has_at_most_forty_words_in_order():
    rows = re.findall(r"^\| ([\w ]+) \| \S", (DOCS / "glossary.md").read_text(), re.MULTILINE)
    words = [word for word in rows if word != "word"]
    assert 20 < len(words) <= 40
    assert words == sorted(set(words))


# --- architecture


def layers():
    contract = next(
        c for c in PROJECT["tool"]["importlinter"]["contracts"] if c["type"] == "layers"
    )
    return [re.sub(r"[()]", "", layer) for layer in contract["layers"]]


def test_the_walks_are_as_measured():
    text = section(DOCS / "architecture.md", "### How far a call goes")
    printed = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    measured = digests_of("tests.walks", NUMBA_DISABLE_JIT="1")
    assert {name: [*map(int, numbers)] for name, *numbers in printed} == measured


def test_the_layers_are_those_that_are_checked():
    drawn = re.search(r"```layers\n(.*?)```", (DOCS / "architecture.md").read_text(), re.DOTALL)
    assert drawn.group(1).splitlines() == layers()


def test_every_layer_is_described():
    text = section(DOCS / "architecture.md", "## Layers")
    described = {
        name for line in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", line)
    }  # fmt: skip
    assert described == {name for layer in layers() for name in layer.split(" | ")}


def test_every_module_has_a_layer():
    found = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or path.is_dir()}
    found -= {"__init__", "__pycache__"}
    assert found <= {name for layer in layers() for name in layer.split(" | ")}


# --- dependencies, version


def test_every_dependency_has_its_reason():
    project = PROJECT["project"]
    text = (REFERENCE / "dependencies.md").read_text()
    extras = project["optional-dependencies"]
    for wanted in (project["dependencies"], *extras.values(), PROJECT["build-system"]["requires"]):
        for requirement in wanted:
            name = re.match(r"[\w-]+", requirement).group()
            if name == "selectron":  # one of its own extras
                continue
            assert re.search(rf"\b{name}\b", text), f"{name} has no reason in dependencies.md"
    for extra in extras:
        assert f"| `{extra}` |" in text


def test_the_version_is_in_the_changelog():
    assert f"\n## {PROJECT['project']['version']}" in (ROOT / "CHANGELOG.md").read_text()
    assert PROJECT["project"]["version"] == selectron.__version__


# --- examples


def modules():
    found = pkgutil.walk_packages(selectron.__path__, "selectron.")
    return ["selectron", *(module.name for module in found)]


# Long runs. The other examples take longer to compile than to run.
COMPILED = (
    "selectron.classifier.estimator",
    "selectron.power",
    "selectron.queries.capped",
    "selectron.tracking",
)

ADAPTERS = {"selectron.river": "river", "selectron.activeml": "skactiveml"}


def example(name):
    return pytest.param(name, marks=() if name.startswith(COMPILED) else pytest.mark.plain)


@pytest.mark.parametrize("name", [example(name) for name in modules()])
def test_examples_print_what_they_say(name):
    if name in ADAPTERS:
        pytest.importorskip(ADAPTERS[name], reason=f"{ADAPTERS[name]} is not installed")
    assert doctest.testmod(importlib.import_module(name)).failed == 0
