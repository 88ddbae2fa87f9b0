"""Output of the commands: tables for people, JSON for programs, a bar while one waits."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from selectron.files import write_whole

if TYPE_CHECKING:
    from tqdm import tqdm

MANY = 10_000  # from here on a bar counts in thousands and millions
OUTPUTS = (
    "json",
    "plot",
    "save",
    "output",
    "latex",
    "csv",
    "differences",
    "ranks",
    "checkpoint",
)  # that name a file
PICTURES = (".png", ".svg", ".pdf")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lay out columns: text to the left, numbers to the right."""
    cells = [[text_of(cell) for cell in row] for row in rows]
    widths = [max(len(line[k]) for line in [list(head), *cells]) for k in range(len(head))]
    numeric = [all(_is_number(row[k]) for row in cells) for k in range(len(head))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            cell.rjust(w) if right else cell.ljust(w)
            for cell, w, right in zip(row, widths, numeric, strict=True)
        ).rstrip()

    return "\n".join([line(head), "  ".join("-" * w for w in widths), *map(line, cells)])


def facts_table(facts: Mapping[str, object]) -> str:
    """Lay out one fact a line: its name, then its value."""
    width = max(map(len, facts))
    shown = {name: text_of(value, thousands="") for name, value in facts.items()}
    return "\n".join(f"{name.ljust(width)}  {text}" for name, text in shown.items())


def text_of(value: object, *, thousands: str = ",") -> str:
    """Write a value for people: four digits of a float, a whole number in full, - for None."""
    if value is None:
        return "-"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:{thousands}}"
    return str(value)


def _is_number(text: str) -> bool:
    return text == "-" or text.strip("+-±%x").replace(",", "")[:1].isdigit()


def check_outputs(options: Namespace) -> None:
    """Refuse a file that cannot be written before any work is done for it."""
    targets = {name: getattr(options, name, None) for name in OUTPUTS}
    taken: dict[Path, str] = {}
    for name, target in targets.items():
        if target not in (None, "-"):
            _check_file(name, target)
            other = taken.setdefault(Path(target).resolve(), name)
            if other != name:
                raise ValueError(f"--{other} and --{name} are both {target}: name two files")
    for name in ("plot", "ranks"):
        picture = targets[name]
        if picture is None:
            continue
        if Path(picture).suffix.lower() not in PICTURES:
            raise ValueError(f"--{name} {picture}: end its name in one of {', '.join(PICTURES)}")
        if find_spec("matplotlib") is None:
            raise ModuleNotFoundError(name="matplotlib")


def _check_file(name: str, target: str) -> None:
    if not target:
        raise ValueError(f"--{name} is empty: name a file")
    if not Path(target).absolute().parent.is_dir():
        raise ValueError(f"--{name} {target}: there is no such folder; make it first")
    if Path(target).is_dir():
        raise ValueError(f"--{name} {target} is a folder: name a file in it")


def tell(options: Namespace, text: str, facts: object) -> int:
    """Print the text, unless standard output is for JSON, and write the facts as JSON."""
    if options.json != "-":
        print(text)
    write_json(facts, options.json)
    return 0


def with_plot(text: str, options: Namespace) -> str:
    """Add a line that says where the plot is, if there is one."""
    return f"{text}\n\nplot: {options.plot}" if options.plot else text


def write_json(result: object, target: str | None) -> None:
    """Write the result to a file, whole or not at all, or to standard output for '-'."""
    if target is None:
        return
    text = json.dumps(result, indent=2, default=_plain, allow_nan=False)
    if target == "-":
        print(text)
    else:
        write_whole(Path(target), f"{text}\n".encode())


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value)


def progress(total: int | None, what: str, unit: str = "it") -> "tqdm":
    """Return a bar on a terminal, and a silent one in a pipe; None: nobody knows how many."""
    from tqdm import tqdm

    return tqdm(
        total=total,
        desc=what,
        unit=unit,
        file=sys.stderr,
        disable=not sys.stderr.isatty(),
        leave=False,
        unit_scale=total is None or total >= MANY,
    )
