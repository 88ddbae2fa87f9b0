"""Make the generated parts of the documentation again: `make docs`.

Pictures, tables and the page of commands; `--check` says whether that page is stale.
"""

import io
import os
import re
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

from selectron.cli import main as selectron
from selectron.cli.main import COMMANDS
from selectron.reproduce import EXPERIMENTS

DOCS = Path(__file__).parent
COMMANDS_PAGE = DOCS / "commands.md"
HEAD = """# Commands

Made by `make docs` from the commands themselves. `selectron --version` names the version. Errors \
are one line on standard error and exit code 2; Ctrl-C is exit code 130 and leaves no file half \
written. A bar shows on a terminal, none in a pipe. `--json -` prints JSON and nothing else.

| command | what it does |
|---|---|
"""


def commands_page() -> str:
    """Return the page: a table of the commands, and the help of each."""
    rows = [f"| `selectron {name}` | {command.help} |\n" for name, command in COMMANDS.items()]
    sections = [f"\n## selectron {name}\n\n```text\n{_help(name)}```\n" for name in COMMANDS]
    return "".join([HEAD, *rows, *sections])


def _help(name: str) -> str:
    shown = io.StringIO()
    plain = {"COLUMNS": "100", "NO_COLOR": "1"}
    with patch.dict(os.environ, plain), redirect_stdout(shown), suppress(SystemExit):
        selectron([name, "--help"])
    return shown.getvalue()


def draw_demo() -> None:
    selectron(["demo", "--plot", str(DOCS / "images" / "demo.png")])


def run_experiments() -> None:
    """Run every experiment that has a page, and put its table and its picture there."""
    for name, experiment in EXPERIMENTS.items():
        page = DOCS / f"{name}.md"
        if not page.exists() or (experiment.reads_data and not os.environ.get("SELECTRON_DATA")):
            continue
        result = experiment.run(None, lambda: None)
        experiment.plot(result, DOCS / "images" / f"{name}.png")
        page.write_text(with_table(page.read_text(), experiment.text(result)))


def with_table(page: str, table: str) -> str:
    """Return the page with this text in its first text block."""
    block = f"```text\n{table}\n```"
    return re.sub(r"```text\n.*?```", lambda _: block, page, count=1, flags=re.DOTALL)


def main(arguments: list[str]) -> None:
    if arguments not in ([], ["--check"]):
        sys.exit(f"usage: python -m docs [--check], got {' '.join(arguments)}")
    page = commands_page()
    if arguments:
        if COMMANDS_PAGE.read_text() != page:
            sys.exit("docs/commands.md is stale: run make docs")
        return
    COMMANDS_PAGE.write_text(page)
    draw_demo()
    run_experiments()


if __name__ == "__main__":
    main(sys.argv[1:])
