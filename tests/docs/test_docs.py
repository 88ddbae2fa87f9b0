"""The documents keep up with the code: keys, rules, commands, layers, examples, links."""

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
from tests.docs.places import DOCS, MODULES, PAGES, ROOT, SOURCE, section

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
    headings = set(re.findall(r"^## \[(\w+)\]$", (DOCS / "papers.md").read_text(), re.MULTILINE))
    used = keys_in(MODULES)
    assert {"CBGZ06", "DKM09", "SS05", "Mon06", "Ng", "CDKSS06", "CKD09"} <= used
    assert used <= headings
    assert keys_in(PAGES) <= headings
    assert headings <= used, "papers.md has a paper that nothing cites"


def test_what_papers_md_names_exists():
    text = (DOCS / "papers.md").read_text()
    for name in re.findall(r"`(selectron\.[\w.]+)`", text):
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute) or importlib.import_module(name)
    rules = {kind.__name__ for kind in RULES}
    bounds = {
        word
        for module in pkgutil.iter_modules(selectron.bounds.__path__, "selectron.bounds.")
        for word in vars(importlib.import_module(module.name))
    }
    for word in re.findall(r"`([A-Za-z_0-9]+)(?:\([^`]*\))?`", text):
        assert word in rules | bounds, f"papers.md names {word}, which is nowhere"


# --- rules


@pytest.mark.parametrize("kind", RULES, ids=named)
def test_every_rule_is_described_with_all_its_knobs(kind):
    described = section(DOCS / "rules.md", f"### {kind.__name__}")
    for knob in fields(kind):
        default = knob.default if knob.default is not MISSING else knob.default_factory()
        shown = f'"{default}"' if isinstance(default, str) else repr(default)
        assert re.search(rf"`{knob.name}` \({re.escape(shown)}[,)]", described), (
            f"{kind.__name__}: {knob.name} with its default {shown} is not described"
        )


def test_no_rule_is_described_that_does_not_exist():
    described = re.findall(r"^### (\w+)$", (DOCS / "rules.md").read_text(), re.MULTILINE)
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
    described = section(DOCS / "commands.md", f"## selectron {name}")
    parsers = _parser([name])._subparsers._group_actions[0].choices
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


def blocks_of(page, language):
    fenced = rf"^```{language}\n(.*?)^```$"
    yield from re.findall(fenced, page, re.DOTALL | re.MULTILINE)


def test_the_sphere_has_a_growth_for_every_curve():
    assert (DOCS / "dkm09-labels.md").read_text().count("growth: ") == 12


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_has_its_page_with_table_and_picture(name):
    page = (DOCS / f"{name}.md").read_text()
    table = next(blocks_of(page, "text"))
    assert len(re.findall(r"\d", table)) > 30
    assert f"selectron reproduce {name}" in page
    assert f"images/{name}.png" in page
    assert (DOCS / "images" / f"{name}.png").stat().st_size > 10_000


# --- architecture


def layers():
    contract = next(
        c for c in PROJECT["tool"]["importlinter"]["contracts"] if c["type"] == "layers"
    )
    return [re.sub(r"[()]", "", layer) for layer in contract["layers"]]


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
    text = (DOCS / "dependencies.md").read_text()
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


# Each example of a rule brings others together, and compiling takes longer than running.
OF_RULES = tuple(
    f"selectron.{place}" for place in ("updates", "queries", "scalings", "tracking.by")
)


def example(name):
    return pytest.param(name, marks=pytest.mark.plain if name.startswith(OF_RULES) else ())


@pytest.mark.parametrize("name", [example(name) for name in modules()])
def test_examples_print_what_they_say(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def blocks(page):
    """Yield each block of Python, with the block of text that follows it, if any."""
    fenced = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    for k, (language, code) in enumerate(fenced):
        if language == "python":
            follows = fenced[k + 1 : k + 2]
            yield code, follows[0][1] if follows and follows[0][0] == "text" else ""


README = list(blocks(ROOT / "README.md"))


@pytest.mark.parametrize("k", range(len(README)))
def test_the_journeys_of_the_readme_run_as_shown(k, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, printed = README[k]
    assert len([line for line in code.splitlines() if line and "import" not in line]) <= 10
    exec(compile(code, "README.md", "exec"), {})
    assert steady(capsys.readouterr().out) == steady(printed)


def steady(printed):
    """Leave out what a certificate's search may find otherwise elsewhere."""
    return re.sub(r"<= [\d,]+|gamma [\d.]+|hinge [\d.]+", "", printed)


def test_the_readme_has_three_journeys():
    assert len(README) == 3
    assert all(printed for _, printed in README)


@pytest.mark.parametrize(
    "page",
    [
        "rules.md",
        "experts.md",
        "polling.md",
        pytest.param("multiclass.md", marks=pytest.mark.plain),
        pytest.param("kernels.md", marks=pytest.mark.plain),
    ],
)
def test_the_other_examples_run(page):
    for code, _ in blocks(DOCS / page):
        exec(compile(code, page, "exec"), {})


def run_page(page):
    """Run the blocks of a page as one program; return its names."""
    names = {}
    for code, _ in blocks(DOCS / page):
        exec(compile(code, page, "exec"), names)
    return names


def test_the_page_of_tracking_runs_from_top_to_bottom():
    tracker = run_page("tracking.md")["tracker"]
    assert tracker.n_seen_ == 2000
    assert 100 < tracker.n_asked_ == tracker.n_updates_ < 1000


def test_the_page_of_power_runs_from_top_to_bottom(capsys):
    run_page("power.md")
    assert len(capsys.readouterr().out.splitlines()) == 8


# --- links


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text()):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
