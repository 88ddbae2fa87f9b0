"""Scalings: how a row is presented to the update rule."""

from selectron.scalings.centred import Centred
from selectron.scalings.intercept import Intercept
from selectron.scalings.raw import Raw

__all__ = ["Centred", "Intercept", "Raw"]
