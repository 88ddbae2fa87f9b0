"""Measure the defaults of this library on problems and seeds that did not choose them."""
