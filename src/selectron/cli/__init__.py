"""The command `selectron`."""

from selectron.cli.main import main

__all__ = ["main"]
