"""Lay out tables as text, and make figures that look alike."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from selectron.power.plots import new_figure
from selectron.reproduce.harness.experiment import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Picture: TypeAlias = "Figure"  # by this name, modules need not import an extra for its type

__all__ = ["Picture", "fill", "finish", "lay_out", "new_figure", "show_labels", "table"]


def lay_out(rows: Sequence[Sequence[str]]) -> list[str]:
    """Pad every column to its widest cell; all cells stand to the left."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def fill(template: str, rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Return a line for each row: the template with the values of the row in its braces."""
    return [template.format_map(row) for row in rows]


def table(columns: Mapping[str, str], rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Return a head, and a line for each row.

    Parameters
    ----------
    columns : mapping
        The format of a cell by the word at the head of its column. The head is as wide as the
        cell; `<` in the format puts both to the left.
    rows : iterable of mapping
        The values that the formats name.
    """
    lines = [[cell.format_map(row) for cell in columns.values()] for row in rows]
    head = [
        f"{word:{'<' if '<' in columns[word] else '>'}{len(cell)}}"
        for word, cell in zip(columns, lines[0], strict=True)
    ]
    return ["".join(line) for line in (head, *lines)]


def show_labels(cell: Row, ratio: float | None) -> str:
    """Return `mean±deviation xratio (share)`, the share only where some runs missed the error.

    A cell without a deviation is shown without one.
    """
    if cell["mean"] is None:
        return "-"
    spread = f"±{cell['sd']:.1f}" if "sd" in cell else ""
    times = "" if ratio is None else f" x{ratio:.2f}"
    share = "" if cell["reach"] == 1.0 else f" ({cell['reach']:.2f})"
    return f"{cell['mean']:.1f}{spread}{times}{share}"


def finish(axes: "Axes", legend: int | None = None, columns: int = 1, **labels: object) -> None:
    """Set scales, labels and limits, draw the grid, and a legend where a font size is given."""
    axes.set(**labels)
    axes.grid(alpha=0.3)
    if legend is not None:
        axes.legend(fontsize=legend, ncols=columns)
