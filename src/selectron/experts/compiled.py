"""Compiled loops, and what Numba's cache has to know about them.

Numba keys its cache on the file of the compiled function. Numba would go on running an old version
of a step that was edited in another file. So the name of each compiled function, which names its
place in the cache, ends in a hash of all files that the function calls into.
"""

import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType
from typing import TypeVar, cast

from numba import njit

from selectron.compiler.cache import kept

PACKAGE = f"{__name__.partition('.')[0]}."
Function = Callable[..., object]
Compiled = TypeVar("Compiled", bound=Function)


def compiled(function: Compiled) -> Compiled:
    """Compile a function, and find it in the cache as long as nothing it calls has changed."""
    function.__qualname__ += f"-{sources_of(function)[:16]}"
    return cast(Compiled, kept(njit(error_model="numpy")(function), function))


def sources_of(*functions: Function) -> str:
    """Hash the files of these functions and of all that they call inside the package."""
    seen: set[Function] = set()
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        if function not in seen:
            seen.add(function)
            found = (function.__globals__.get(name) for name in _names(function.__code__))
            waiting += [
                f for f in found if isinstance(f, FunctionType) and f.__module__.startswith(PACKAGE)
            ]
    files = sorted({str(sys.modules[f.__module__].__file__) for f in seen})
    return sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()


def _names(code: CodeType) -> list[str]:
    nested = [c for c in code.co_consts if isinstance(c, CodeType)]
    return list(code.co_names) + [name for c in nested for name in _names(c)]
