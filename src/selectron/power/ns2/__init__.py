"""The same experiment in ns-2, where it is installed: a second engine to check the first."""

from selectron.power.ns2.engine import installed, simulate

__all__ = ["installed", "simulate"]
