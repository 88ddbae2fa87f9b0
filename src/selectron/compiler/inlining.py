"""Compile bodies as far as kernels need them, and no further.

Numba inlines each body into a kernel and optimises the kernel as a whole. By default it would also
optimise each body on its own and make machine code that nobody calls. With eighty bodies in a
kernel, that took two fifths of the time to compile it. `Ingredient` leaves this work out.

A body that is called `seldom`, such as the end of a warm-up, stays a function of its own. LLVM's
effort grows faster than the length of a function, and goes into unrolling and vectorising loops
that hardly ever run. What such a body shares with the loop, and must be fast, stays `apart`.
"""

import gc
from collections.abc import Callable
from typing import TypeVar

from llvmlite import ir

from selectron.compiler.numba_internals import (
    AnalysisPass,
    CompilerBase,
    DefaultPassBuilder,
    JITCodeLibrary,
    ModuleRef,
    NativeLowering,
    StateDict,
    register_pass,
)

Body = TypeVar("Body", bound=Callable[..., object])

# Bodies that stay functions of their own, with LLVM's words for how it shall treat them.
APART: dict[Callable[..., object], tuple[str, ...]] = {}


def apart(body: Body) -> Body:
    """Keep a body out of the loops that call it: its work is long, its arguments are few."""
    APART[body] = ("noinline",)
    return body


def seldom(body: Body) -> Body:
    """Keep a body that hardly ever runs out of the loops that call it, and its code short."""
    APART[body] = ("noinline", "cold", "minsize", "optsize")
    return body


class _NoMachineCode:
    """Stand in for Numba's code generator where there is no machine code.

    Numba would tell machine code where its globals are.
    """

    def set_env(self, name: str, env: object) -> None:
        pass


class _Code(JITCodeLibrary):  # type: ignore[misc]
    """Optimise the functions of a module, but none that it only declares."""

    def _optimize_functions(self, module: ModuleRef) -> None:
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)


class _Ingredients(_Code):
    """Keep the code of a body as Numba wrote it, for kernels to inline."""

    codegen = _NoMachineCode()
    attributes: tuple[str, ...] = ()  # of a body that stays apart

    def add_ir_module(self, module: ir.Module) -> None:
        for function in module.functions:
            if self.attributes and not function.is_declaration:
                function.attributes.discard("alwaysinline")
                for attribute in self.attributes:
                    function.attributes.add(attribute)
        super().add_ir_module(module)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


def _ahead_of_lowering(state: StateDict, choice: type[AnalysisPass]) -> list[DefaultPassBuilder]:
    """Return Numba's passes, with one more ahead of the pass that makes the code."""
    pipeline = DefaultPassBuilder.define_nopython_pipeline(state)
    place = [step for step, _ in pipeline.passes].index(NativeLowering)
    pipeline.passes.insert(place, (choice, "choose where the code goes"))
    pipeline.finalize()
    return [pipeline]


@register_pass(mutates_CFG=False, analysis_only=True)
class _AsIngredients(AnalysisPass):  # type: ignore[misc]
    """Choose where the code goes, ahead of the pass that makes it."""

    _name = "as_ingredients"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: StateDict) -> bool:
        state.library = _Ingredients(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.attributes = APART.get(state.func_id.func, ())
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _AsKernel(AnalysisPass):  # type: ignore[misc]
    """Choose where the code of a kernel goes, from where Numba takes it to the disk."""

    _name = "as_kernel"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: StateDict) -> bool:
        state.library = _Code(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


class Ingredient(CompilerBase):  # type: ignore[misc]
    """Compile functions that exist only within others."""

    def define_pipelines(self) -> list[DefaultPassBuilder]:
        return _ahead_of_lowering(self.state, _AsIngredients)


class Kernel(CompilerBase):  # type: ignore[misc]
    """Compile kernels, with all bodies that they are made of."""

    def define_pipelines(self) -> list[DefaultPassBuilder]:
        return _ahead_of_lowering(self.state, _AsKernel)

    def compile_extra(self, function: Callable[..., object]) -> object:
        """Compile a function while Python collects no garbage.

        Numba makes millions of objects that live until the kernel is done. Python would look
        through them again and again, for a tenth of the time.
        """
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(function)
        finally:
            if collects:
                gc.enable()
