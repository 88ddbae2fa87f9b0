"""What is not installed is named with the extra that brings it; `import selectron` needs none."""

import json
import subprocess
import sys

import pytest

from selectron.cli.main import EXTRAS

BLOCKED = sorted({name for needs in EXTRAS.values() for name in needs} | {"river", "skactiveml"})
ATTEMPTS = {
    "tables": "list(read_records('a.parquet'))",
    "tables, zst": "list(read_records('a.csv.zst'))",
    "tables, shards": "Shards('a.parquet')",
    "label": "importlib.import_module('selectron.client')",
    "label, pictures": "grey_pixels(b'')",
    "postgres": "open_store('postgresql://localhost/labels')",
    "redis": "source_of('redis://localhost/0', 'items', 'group', 'me')",
    "cluster": "engine_of('ray')",
    "river": "importlib.import_module('selectron.river')",
    "activeml": "importlib.import_module('selectron.activeml')",
    "plot": "new_figure(1.0, 1.0)",
}
COMMANDS = {
    "tables": ["run", "a.parquet"],
    "label": ["label", "a.csv", "--classes", "yes,no", "--store", "a.db"],
    "postgres": ["run", "a.csv", "--label-store", "postgresql://localhost/x"],
    "redis": ["consume", "redis://localhost/0", "--stream", "s", "--store", "b.db"],
    "cluster": ["run", "a.csv", "--engine", "ray"],
    "plot": ["run", "a.csv", "--plot", "a.png"],
}
PROGRAM = """
import importlib, io, json, sys
from contextlib import redirect_stderr

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

blocked, attempts, commands = json.load(sys.stdin)
sys.meta_path.insert(0, Blocked())
import selectron
first = sorted(name for name in sys.modules if name.startswith("selectron."))
from selectron.cli import main
from selectron.engines import engine_of
from selectron.features.recipe import grey_pixels
from selectron.labelling.sources import source_of
from selectron.labelling.store import open_store
from selectron.power.plots import new_figure
from selectron.streams import Shards, read_records

said = {}
for name, attempt in attempts.items():
    try:
        eval(attempt)
    except ModuleNotFoundError as error:
        said[name] = str(error)
told = {}
for name, arguments in commands.items():
    with redirect_stderr(io.StringIO()) as line:
        code = main(arguments)
    told[name] = [code, line.getvalue()]
print(json.dumps([first, said, told]))
"""


@pytest.fixture(scope="module")
def blocked(tmp_path_factory):
    """Return what is said in a process in which no package of an extra can be imported."""
    folder = tmp_path_factory.mktemp("extras")
    for name in ("a.parquet", "a.csv.zst"):
        (folder / name).write_bytes(b"x")
    (folder / "a.csv").write_text("size,label\n" + "1,a\n2,b\n" * 20)
    given = json.dumps([BLOCKED, ATTEMPTS, COMMANDS])
    process = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(process, input=given, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_import_selectron_needs_no_extra(blocked):
    assert blocked[0] == []


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_missing_package_is_named_with_its_extra(blocked, attempt):
    extra = attempt.partition(",")[0]
    assert blocked[1][attempt].endswith(f" is not installed: pip install 'selectron[{extra}]'")


@pytest.mark.parametrize("extra", COMMANDS)
def test_a_command_says_it_in_one_line(blocked, extra):
    code, said = blocked[2][extra]
    assert code == 2
    assert said.startswith("selectron: ")
    assert said.endswith(f" is not installed: pip install 'selectron[{extra}]'\n")
    assert said.count("\n") == 1
