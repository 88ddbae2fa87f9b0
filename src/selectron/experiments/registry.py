"""What an experiment offers: its steps, its run, a text and a plot of the result."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Experiment(NamedTuple):
    """One table or figure of a paper, ours beside theirs."""

    summary: str
    steps: Callable[[int | None], int]
    run: Callable[[int | None, Callable[[], Any]], dict[str, Any]]
    text: Callable[[dict[str, Any]], str]
    plot: Callable[[dict[str, Any], Path], None]
    reads_data: bool = False  # its page is made only where the folder of data sets is
