"""Make the generated parts of the documentation again.

`python -m docs` writes the page of commands, in seconds; `make docs` runs it and builds the site.
`python -m docs --check` says whether that page is stale. `python -m docs --figures` (`make
figures`) runs every experiment and renews its table and its picture, which takes long.
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
IMAGES = DOCS / "images"
COMMANDS_PAGE = DOCS / "reference" / "commands.md"
HEAD = """# Commands

`make docs` writes this page from the commands themselves.

- `selectron --version` prints the version.
- An error is one line on standard error and exit code 2.
- Ctrl-C gives exit code 130 and leaves no file half written.
- A progress bar shows on a terminal and not in a pipe.
- `--json -` prints JSON and nothing else.

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


def draw_figures() -> None:
    """Draw the demo, run every experiment, and put tables and pictures into their pages."""
    selectron(["demo", "--plot", str(IMAGES / "demo.png")])
    for name, experiment in EXPERIMENTS.items():
        if experiment.reads_data and not os.environ.get("SELECTRON_DATA"):
            continue
        page = page_of(name)
        result = experiment.run(None, lambda: None)
        experiment.plot(result, IMAGES / f"{name}.png")
        page.write_text(with_table(page.read_text(), experiment.text(result)))


def page_of(experiment: str) -> Path:
    """Return the page of an experiment: it has the experiment's name, in one of the rooms."""
    (page,) = [p for p in DOCS.rglob(f"{experiment}.md") if p.parent.name in ("lab", "figures")]
    return page


def with_table(page: str, table: str) -> str:
    """Return the page with this text in its first text block."""
    block = f"```text\n{table}\n```"
    return re.sub(r"```text\n.*?```", lambda _: block, page, count=1, flags=re.DOTALL)


def main(arguments: list[str]) -> None:
    if arguments == ["--figures"]:
        draw_figures()
    elif arguments == ["--check"]:
        if COMMANDS_PAGE.read_text() != commands_page():
            sys.exit("docs/reference/commands.md is stale: run make docs")
    elif arguments:
        sys.exit(f"usage: python -m docs [--check | --figures], got {' '.join(arguments)}")
    else:
        COMMANDS_PAGE.write_text(commands_page())


if __name__ == "__main__":
    main(sys.argv[1:])
