"""Where compiled loops are kept: in one folder of the user, by the digest of their code.

Numba keeps compiled code beside the file that it was compiled from. Another environment, another
checkout or a new version with the same rules would compile all of it again. A loop is named after
the digest of all code that it is made of (`verbs.digest`), so it is the same loop wherever it was
installed from. Numba keys every entry on the processor too.
"""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import time
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import config

from selectron.compiler.numba_internals import caching

OLDEST = 90 * 24 * 3600.0  # seconds after which an entry is removed: rules are edited, and upgraded


def folder() -> Path:
    """Return the folder of compiled loops: of `NUMBA_CACHE_DIR`, else of this user."""
    place = config.CACHE_DIR
    if not place:
        home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
        place = Path(home) if home else Path.home() / ".cache"
    # The loops read the fields of NumPy's arrays where they lie.
    versions = f"numba-{numba.__version__}-numpy-{np.__version__}"
    return Path(place) / "selectron" / versions


class _ByDigest(caching._CacheLocator):  # type: ignore[misc]
    """Find a loop by the digest that its name ends in."""

    def __init__(self, digest: str, py_file: str) -> None:
        self.digest, self._py_file = digest, py_file

    def get_cache_path(self) -> str:
        return str(folder())

    def get_source_stamp(self) -> str:
        return self.digest

    def get_disambiguator(self) -> str:
        return "loop"

    @classmethod
    def from_function(cls, function: FunctionType, py_file: str) -> "_ByDigest | None":
        locator = cls(function.__qualname__, py_file)
        try:
            locator.ensure_cache_path()
        except (OSError, RuntimeError):  # no home, or none that can be written to
            return None
        return locator


class _Results(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_ByDigest, *caching.CompileResultCacheImpl._locator_classes)


class LoopCache(caching.FunctionCache):  # type: ignore[misc]
    """The cache of one loop. Where there is no such folder, Numba keeps it beside the file."""

    _impl_class = _Results

    def save_overload(self, signature: object, result: object) -> None:
        _sweep(folder())
        super().save_overload(signature, result)


def kept(compiled: Any, function: Callable[..., object]) -> Any:
    """Return the compiled form of a function, which this cache keeps from now on.

    The name of the function must end in a digest of all code that it calls.
    """
    if not config.DISABLE_JIT:
        compiled._cache = LoopCache(function)
    return compiled


@cache
def _sweep(place: Path) -> None:
    """Remove the entries that are old, once a process."""
    for entry in place.glob("*.nb?"):
        try:
            if time() - entry.stat().st_mtime > OLDEST:
                entry.unlink()
        except OSError:  # another process was faster
            pass
