"""Verbs: one function, one plain body per type of rule, in Python and in compiled code.

A body may call verbs, helpers, NumPy and math. Numba keys its cache on the kernel's own file, so
it would go on running a body that was edited elsewhere; `digest` puts the code of every body and
helper into the key.
"""

from collections.abc import Callable
from functools import cache, update_wrapper
from hashlib import sha256
from types import CodeType
from typing import Any, TypeVar

from numba.extending import overload, register_jitable

Body = TypeVar("Body", bound=Callable[..., Any])

# Bodies are inlined into the kernel, and nothing in them allocates: counting references to rows and
# states would cost more than the arithmetic on a short row.
INLINE = {"error_model": "numpy", "forceinline": True, "_nrt": False}

VERBS: list["Verb"] = []
HELPERS: list[Callable[..., Any]] = []


class Verb:
    """A function that chooses its body by the type of its first argument."""

    def __init__(self, declaration: Callable[..., Any]) -> None:
        update_wrapper(self, declaration)
        self.bodies: dict[type, Callable[..., Any]] = {}
        VERBS.append(self)

        @overload(self, strict=False, jit_options=INLINE)
        def choose_body(rule: Any, *args: Any) -> Callable[..., Any] | None:
            return self.bodies.get(getattr(rule, "instance_class", type(None)))

    def __call__(self, rule: Any, *args: Any) -> Any:
        return self.bodies[type(rule)](rule, *args)

    def of(self, *rule_types: type) -> Callable[[Body], Body]:
        def register(body: Body) -> Body:
            self.bodies.update(dict.fromkeys(rule_types, body))
            return body

        return register


def helper(function: Body) -> Body:
    """Make a plain function callable from bodies, and its code part of every digest."""
    HELPERS.append(function)
    compiled: Body = register_jitable(**INLINE)(function)
    return compiled


def digest(*rule_types: type) -> str:
    """Hash the bodies of these types and all helpers."""
    return _digest(rule_types)


@cache
def _digest(rule_types: tuple[type, ...]) -> str:
    bodies = [verb.bodies[t] for t in rule_types for verb in VERBS if t in verb.bodies]
    code = [_fingerprint(function.__code__) for function in (*bodies, *HELPERS)]
    return sha256(repr(code).encode()).hexdigest()


def _fingerprint(code: CodeType) -> tuple[Any, ...]:
    constants = [_fingerprint(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return code.co_name, code.co_code, tuple(constants), code.co_names
