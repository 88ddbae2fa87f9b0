"""Verbs: one function, one plain body per type of rule, in Python and in compiled code.

A body may call verbs, helpers, NumPy and math. Numba keys its cache on the file of the kernel, so
it would go on running a body that was edited in another file. `digest` therefore puts all code
that a kernel is made of into the key.
"""

import sys
from collections.abc import Callable
from functools import cache, update_wrapper
from hashlib import sha256
from logging import getLogger
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numba import config, njit, types
from numba.extending import overload, register_jitable

from selectron.compiler.cache import kept
from selectron.compiler.inlining import Ingredient, Kernel, apart, seldom
from selectron.compiler.numba_internals import event
from selectron.compiler.replacing import Replacement

__all__ = [
    "INLINE",
    "KERNEL",
    "Replacement",
    "Verb",
    "apart",
    "compiled",
    "digest",
    "helper",
    "kernel",
    "seldom",
    "sources_of",
]

Function: TypeAlias = Callable[..., Any]
Body = TypeVar("Body", bound=Function)

# Bodies are inlined into the kernel, and nothing in them allocates. Counting references to rows and
# states would cost more than the arithmetic on a short row (`_nrt`). Nobody calls them from C.
INLINE = {
    "error_model": "numpy",
    "forceinline": True,
    "_nrt": False,
    "no_cfunc_wrapper": True,
    "pipeline_class": Ingredient,
}
# Kernels share compiled bodies if all their options are the same. Kernels keep the interpreter's
# lock: a state has room for one row, and a prediction in another thread would write there too.
KERNEL = {
    "cache": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
    "pipeline_class": Kernel,
}

LOGGER = getLogger(__name__)
PACKAGE = f"{__name__.partition('.')[0]}."
VERBS: list["Verb"] = []
HELPERS: set[Function] = set()


class Verb:
    """A function that chooses its body by the type of its first argument."""

    def __init__(self, declaration: Function) -> None:
        update_wrapper(self, declaration)
        self.declaration = declaration
        self.name = declaration.__name__
        self.bodies: dict[type, Function] = {}
        self.default: Function | None = None
        VERBS.append(self)

        @overload(self, strict=False, jit_options=INLINE)
        def choose_body(rule: types.Type, *args: types.Type) -> Function | None:
            kind = getattr(rule, "instance_class", None)
            return self.bodies.get(kind, self.default) if kind else None

    def __call__(self, rule: object, *args: object) -> Any:
        body = self.bodies.get(type(rule), self.default)
        if body is None:
            raise TypeError(f"{type(rule).__name__} has no {self.name}")
        return body(rule, *args)

    def of(self, *rule_types: type) -> Callable[[Body], Body]:
        """Give a body to these types of state."""

        def register(body: Body) -> Body:
            self.bodies.update(dict.fromkeys(rule_types, body))
            return body

        return register

    @classmethod
    def with_body(cls, declaration: Function) -> "Verb":
        """Declare a verb whose declaration is the body of the types that have none of their own."""
        verb = cls(declaration)
        verb.default = declaration
        return verb

    def otherwise(self, body: Body) -> Body:
        """Give a body to the types that have none of their own."""
        self.default = body
        return body


def helper(function: Body) -> Body:
    """Make a plain function callable from bodies."""
    compiled: Body = register_jitable(**INLINE)(function)
    HELPERS.add(compiled)
    return compiled


@cache
def digest(*rule_types: type, kernel: str) -> str:
    """Hash all code that the bodies of these types are made of.

    That is the modules of the bodies and of the kernel, all modules of this package that those
    use, and all other modules whose helpers they use. Constants count as much as bodies.
    """
    if config.DISABLE_JIT:  # nothing is compiled, so nothing is cached
        return ""
    bodies = [(verb, t, verb.bodies[t]) for t in rule_types for verb in VERBS if t in verb.bodies]
    chosen = sorted((verb.name, t.__qualname__, body.__qualname__) for verb, t, body in bodies)
    waiting = {kernel, *(body.__module__ for _, _, body in bodies)}
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= _used_by(sys.modules[name]) - found
    code = [(name, _loaded(sys.modules[name])) for name in sorted(found)]
    return sha256(repr((chosen, code)).encode()).hexdigest()


@cache
def kernel(loop: Function, bodies: str, nogil: bool = False) -> Function:
    """Compile a loop for the rules whose code has this digest.

    Each digest has its own cache on disk, because the loop is named after it there. Otherwise
    Numba would list all versions of a loop in one index, with their types. A process that lacks
    one of these types, because a rule was renamed, removed or belongs to another package, could
    not read the index, and so none of its own versions. An edited rule has another digest, so
    Numba compiles it anew.
    """
    if config.DISABLE_JIT:
        return _quiet(loop)
    own = FunctionType(loop.__code__, loop.__globals__, loop.__name__)
    own.__qualname__ = f"{loop.__qualname__}-{bodies[:32]}"
    compiled: Function = kept(njit(nogil=nogil, **(KERNEL | {"cache": False}))(own), own)
    return compiled


def compiled(function: Body) -> Body:
    """Compile a function, and find it in the cache as long as nothing it calls has changed."""
    function.__qualname__ += f"-{sources_of(function)[:16]}"
    return cast(Body, kept(njit(error_model="numpy")(function), function))


def sources_of(*functions: Function) -> str:
    """Hash the files of these functions and of all that they call inside the package."""
    seen: set[Function] = set()
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        if function not in seen:
            seen.add(function)
            found = (function.__globals__.get(name) for name in _names_in(function.__code__))
            waiting += [
                f for f in found if isinstance(f, FunctionType) and f.__module__.startswith(PACKAGE)
            ]
    files = sorted({str(sys.modules[f.__module__].__file__) for f in seen})
    return sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()


def _names_in(code: CodeType) -> list[str]:
    nested = [c for c in code.co_consts if isinstance(c, CodeType)]
    return list(code.co_names) + [name for c in nested for name in _names_in(c)]


class _FirstCompilation(event.Listener):  # type: ignore[misc]
    """Log that this process compiles, once: it takes seconds, and whoever waits shall know why."""

    said = False

    def on_start(self, compilation: event.Event) -> None:
        if not _FirstCompilation.said:
            _FirstCompilation.said = True
            LOGGER.info("compiling for these rules and this machine, once: some seconds")

    def on_end(self, compilation: event.Event) -> None:
        pass


event.register("numba:compile", _FirstCompilation())


def _quiet(loop: Function) -> Function:
    """Keep plain Python from warning of what compiled code passes over: overflow, 0/0."""

    def call(*args: object) -> object:
        with np.errstate(all="ignore"):
            return loop(*args)

    return call


def _used_by(module: ModuleType) -> set[str]:
    """Name the modules whose code a module's bodies may call."""
    used = set()
    for value in vars(module).values():
        if isinstance(value, ModuleType):
            if any(map(_is_helper, vars(value).values())):
                used.add(value.__name__)
        else:
            origin = getattr(value, "__module__", None)
            if isinstance(origin, str) and (origin.startswith(PACKAGE) or _is_helper(value)):
                used.add(origin)
    return used & set(sys.modules)


def _is_helper(value: object) -> bool:
    return isinstance(value, FunctionType) and value in HELPERS


def _loaded(module: ModuleType) -> list[object]:
    """List the code and the constants of a module as they are in memory.

    The file of the module may have been edited since it was loaded, so it does not count.
    """
    listed: list[object] = []
    for name, value in sorted(vars(module).items()):
        if not name.startswith("__"):
            if isinstance(value, int | float | str | tuple | np.generic):
                listed.append((name, repr(value)))
            listed += [(name, _fingerprint(code)) for code in _codes(value, module)]
    return listed


def _codes(value: object, module: ModuleType) -> list[CodeType]:
    """List the code of a function or a verb, or of the methods of a class of this module."""
    value = getattr(value, "_defn", value)  # what Numba's intrinsic wraps
    value = value.declaration if isinstance(value, Verb) else value
    members = [value]
    if isinstance(value, type):
        members = list(vars(value).values()) if value.__module__ == module.__name__ else []
    return [member.__code__ for member in members if hasattr(member, "__code__")]


def _fingerprint(code: CodeType) -> tuple[object, ...]:
    constants = [
        _fingerprint(constant) if isinstance(constant, CodeType) else _stable(constant)
        for constant in code.co_consts
    ]
    return code.co_name, code.co_code, tuple(constants), code.co_names


def _stable(constant: object) -> str:
    # The order of a set differs from process to process.
    return repr(sorted(constant, key=repr) if isinstance(constant, frozenset) else constant)
