"""Tables for people, JSON for programs, and a bar while there is something to wait for."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

MANY = 10_000  # from here on a bar counts in thousands and millions
PICTURES = (".png", ".svg", ".pdf")


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Lay out columns: text to the left, numbers to the right."""
    cells = [[_text(cell) for cell in row] for row in rows]
    widths = [max(len(line[k]) for line in [list(head), *cells]) for k in range(len(head))]
    numeric = [all(_is_number(row[k]) for row in cells) for k in range(len(head))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            cell.rjust(w) if right else cell.ljust(w)
            for cell, w, right in zip(row, widths, numeric, strict=True)
        ).rstrip()

    return "\n".join([line(head), "  ".join("-" * w for w in widths), *map(line, cells)])


def check_outputs(options: Namespace) -> None:
    """Refuse a file that cannot be written before any work is done for it."""
    targets = {name: getattr(options, name, None) for name in ("json", "plot", "save")}
    taken: dict[Path, str] = {}
    for name, target in targets.items():
        if target not in (None, "-"):
            _check_file(name, target)
            other = taken.setdefault(Path(target).resolve(), name)
            if other != name:
                raise ValueError(f"--{other} and --{name} are both {target}: name two files")
    plot = targets["plot"]
    if plot is not None:
        if Path(plot).suffix.lower() not in PICTURES:
            raise ValueError(f"--plot {plot}: end its name in one of {', '.join(PICTURES)}")
        if find_spec("matplotlib") is None:
            raise ModuleNotFoundError(name="matplotlib")


def _check_file(name: str, target: str) -> None:
    if not target:
        raise ValueError(f"--{name} is empty: name a file")
    if not Path(target).absolute().parent.is_dir():
        raise ValueError(f"--{name} {target}: there is no such folder; make it first")
    if Path(target).is_dir():
        raise ValueError(f"--{name} {target} is a folder: name a file in it")


def write_json(result: Any, target: str | None) -> None:
    """Write the result to a file, whole or not at all, or to standard output for '-'."""
    if target is None:
        return
    text = json.dumps(result, indent=2, default=_plain, allow_nan=False)
    if target == "-":
        print(text)
        return
    path = Path(target)
    if path.exists() and not path.is_file():  # a device or a pipe must not be replaced
        path.write_text(text + "\n")
        return
    beside = path.with_name(f".{path.name}.part")
    try:
        beside.write_text(text + "\n")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def progress(total: int, what: str) -> Any:
    """Return a bar on a terminal, and none in a pipe."""
    from tqdm import tqdm

    return tqdm(
        total=total,
        desc=what,
        file=sys.stderr,
        disable=not sys.stderr.isatty(),
        leave=False,
        unit_scale=total >= MANY,
    )


def _text(cell: Any) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float | np.floating):
        return f"{cell:.4g}"
    if isinstance(cell, int | np.integer) and not isinstance(cell, bool):
        return f"{cell:,}"
    return str(cell)


def _is_number(text: str) -> bool:
    return text == "-" or text.strip("+-±%x").replace(",", "")[:1].isdigit()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value)
