"""The site builds strictly, has every public name, and fetches nothing from another host."""

import importlib
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import zlib

import pytest

from selectron import SelectiveClassifier, bounds
from selectron.cli.bound import theorems
from selectron.tracking import TrackingClassifier
from tests.docs.places import REFERENCE, ROOT

ROOMS = (
    "selectron",
    "selectron.classifier",
    "selectron.updates",
    "selectron.queries",
    "selectron.scalings",
    "selectron.experts",
    "selectron.estimate",
    "selectron.evaluate",
    "selectron.bounds",
    "selectron.tracking",
    "selectron.power",
    "selectron.streams",
)
needs_mkdocs = pytest.mark.skipif(
    importlib.util.find_spec("mkdocs") is None,
    reason="mkdocs is not installed: make test installs it, or pip install selectron[docs]",
)


def described():
    """Return what the pages of the reference show the docstrings of: name and object."""
    pages = "".join(page.read_text() for page in REFERENCE.glob("*.md"))
    for name in re.findall(r"^::: ([\w.]+)$", pages, re.MULTILINE):
        module, _, attribute = name.rpartition(".")
        yield name, getattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_in_the_reference(room):
    found = importlib.import_module(room)
    assert found.__all__
    shown = {id(subject) for _, subject in described()}
    assert [name for name in found.__all__ if id(getattr(found, name)) not in shown] == []


def test_nothing_is_described_twice():
    names = [name for name, _ in described()]
    assert sorted(names) == sorted(set(names))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `make docs` does, elsewhere."""
    place = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(place)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return place


@pytest.fixture(scope="module")
def inventory(site):
    """Return the Python names that have a place on the site, and what each is."""
    packed = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = [line.split() for line in zlib.decompress(packed).decode().splitlines()]
    return {name: kind for name, kind, priority, *_ in lines if priority == "1"}  # 2: a synonym


@needs_mkdocs
def test_every_public_method_is_on_the_site(inventory):
    for kind, path in (
        (SelectiveClassifier, "selectron.SelectiveClassifier"),
        (TrackingClassifier, "selectron.tracking.TrackingClassifier"),
    ):
        methods = [
            name for name, member in inspect.getmembers(kind)
            if not name.startswith("_") and (callable(member) or isinstance(member, property))
        ]  # fmt: skip
        assert {"fit", "ask", "tell", "estimate"} <= set(methods)
        missing = [name for name in methods if f"{path}.{name}" not in inventory]
        assert missing == []


@needs_mkdocs
def test_no_module_stands_in_for_a_function_of_its_name(inventory):
    modules = {name for name, kind in inventory.items() if kind == "py:module"}
    assert modules == {f"selectron.bounds.{name}" for name in bounds.__all__}


@needs_mkdocs
def test_every_theorem_is_on_the_site(inventory):
    missing = [name for name in theorems() if f"selectron.bounds.{name}" not in inventory]
    assert missing == []


@needs_mkdocs
def test_pages_fetch_nothing_from_another_host(site):
    fetched = re.compile(
        r"""<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=["']?(?:https?:)?//[^"'>\s]+"""
    )
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        assert fetched.findall(page.read_text()) == [], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", sheet.read_text()), sheet.name


@needs_mkdocs
def test_search_works_without_a_server(site):
    assert "SelectiveClassifier" in (site / "search" / "search_index.js").read_text()
    assert "iframe-worker.js" in (site / "index.html").read_text()


@needs_mkdocs
def test_keys_in_docstrings_lead_to_their_papers(site):
    page = (site / "reference" / "updates.html").read_text()
    assert '<a href="../papers/index.html#cbgz06">CBGZ06</a>' in page
    assert 'id="cbgz06"' in (site / "papers" / "index.html").read_text()
