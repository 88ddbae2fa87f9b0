"""Packages that are not always there: an error names the extra that brings them."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Import packages of an extra inside; if one is missing, say how to install it."""
    try:
        yield
    except ModuleNotFoundError as missing:
        said = f"{missing.name} is not installed: pip install 'selectron[{name}]'"
        raise ModuleNotFoundError(said, name=missing.name) from None
