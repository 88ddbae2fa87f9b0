"""What Numba's cache has to know: the sources of all that a kernel calls.

Numba keys a cached kernel on the kernel's own file and would go on running a step that was edited
in another one. Values that a kernel closes over are part of the key: every kernel here is built in
a function that closes over the hash of the files it calls into.
"""

import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

Kernel = Callable[..., Any]


def sources_of(*functions: Callable[..., Any]) -> str:
    """Hash the files of these functions and of all that they call inside the package."""
    seen: set[Callable[..., Any]] = set()
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        if function not in seen:
            seen.add(function)
            found = (function.__globals__.get(name) for name in _names(function.__code__))
            waiting += [f for f in found if isinstance(f, FunctionType) and _is_ours(f)]
    files = sorted({str(sys.modules[f.__module__].__file__) for f in seen})
    return sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()


def _names(code: CodeType) -> list[str]:
    nested = [c for c in code.co_consts if isinstance(c, CodeType)]
    return list(code.co_names) + [name for c in nested for name in _names(c)]


def _is_ours(function: FunctionType) -> bool:
    return function.__module__.split(".")[0] == __name__.split(".")[0]
