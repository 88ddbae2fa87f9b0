"""Scalings: how a row is presented to the update rule."""

from selectron.scalings.automatic import Automatic
from selectron.scalings.centred import Centred
from selectron.scalings.intercept import Intercept, Raw
from selectron.scalings.text import Text
from selectron.scalings.text_directions import TextDirections
from selectron.scalings.winsorised import Winsorised

__all__ = ["Automatic", "Centred", "Intercept", "Raw", "Text", "TextDirections", "Winsorised"]
