"""Engines as options name them."""

import sys
from argparse import Namespace
from contextlib import redirect_stdout
from typing import TextIO

from selectron.engines import Engine, engine_of


def others_aside() -> redirect_stdout[TextIO]:
    """Send what is printed meanwhile to standard error: Ray tells there of workers that died."""
    return redirect_stdout(sys.stderr)


def engine_named(options: Namespace) -> Engine | None:
    """Return the engine that options name; None if they name none."""
    if options.engine is None:
        unused = next((n for n in ("workers", "address") if getattr(options, n) is not None), None)
        if unused:
            raise ValueError(f"--{unused} needs --engine beside it: local or ray")
        return None
    return engine_of(options.engine, options.workers, options.address)
