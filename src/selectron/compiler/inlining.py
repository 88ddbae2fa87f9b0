"""Compile bodies as far as kernels need them, and no further.

Numba inlines each body into a kernel and optimises the kernel as a whole. By default it would also
optimise each body on its own and make machine code that nobody calls. With eighty bodies in a
kernel, that took two fifths of the time to compile it. `Ingredient` leaves this work out.
"""

from selectron.compiler.numba_internals import (
    AnalysisPass,
    CompilerBase,
    DefaultPassBuilder,
    JITCodeLibrary,
    NativeLowering,
    StateDict,
    register_pass,
)


class _NoMachineCode:
    """Stand in for Numba's code generator where there is no machine code.

    Numba would tell machine code where its globals are.
    """

    def set_env(self, name: str, env: object) -> None:
        pass


class _Ingredients(JITCodeLibrary):  # type: ignore[misc]
    """Keep the code of a body as Numba wrote it, for kernels to inline."""

    codegen = _NoMachineCode()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


@register_pass(mutates_CFG=False, analysis_only=True)
class _AsIngredients(AnalysisPass):  # type: ignore[misc]
    """Choose where the code goes, ahead of the pass that makes it."""

    _name = "as_ingredients"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: StateDict) -> bool:
        state.library = _Ingredients(state.targetctx.codegen(), state.func_id.func_qualname)
        return False


class Ingredient(CompilerBase):  # type: ignore[misc]
    """Compile functions that exist only within others."""

    def define_pipelines(self) -> list[DefaultPassBuilder]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        place = [step for step, _ in pipeline.passes].index(NativeLowering)
        pipeline.passes.insert(place, (_AsIngredients, "as ingredients of a kernel"))
        pipeline.finalize()
        return [pipeline]
