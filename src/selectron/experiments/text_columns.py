"""Rows of text cells under each other."""

from collections.abc import Sequence


def lay_out(rows: Sequence[Sequence[str]]) -> list[str]:
    """Pad every column to its widest cell; all to the left."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
