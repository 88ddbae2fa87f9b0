"""Engines as options name them."""

from argparse import Namespace

from selectron.engines import Engine, engine_of


def engine_named(options: Namespace) -> Engine | None:
    """Return the engine that options name; None if they name none."""
    if options.engine is None:
        unused = next((n for n in ("workers", "address") if getattr(options, n) is not None), None)
        if unused:
            raise ValueError(f"--{unused} needs --engine beside it: local or ray")
        return None
    return engine_of(options.engine, options.workers, options.address)
