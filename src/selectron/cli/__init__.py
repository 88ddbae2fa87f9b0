"""The command `selectron`."""

from selectron.cli.interrupts import leaving_at_once

with leaving_at_once():
    from selectron.cli.main import main

__all__ = ["main"]
