"""Compile bodies as far as kernels need them, and no further.

A body ends up inside a kernel, which is optimised as a whole. Numba would also optimise each body
on its own, with all that is inlined into it, and make machine code of it that nobody calls: with
eighty bodies in a kernel that was two fifths of the time to compile it.
"""

from typing import Any

from selectron.compiler.numba_internals import (
    AnalysisPass,
    CompilerBase,
    DefaultPassBuilder,
    JITCodeLibrary,
    NativeLowering,
    register_pass,
)


class _Nowhere:
    """Where Numba would tell machine code of its globals, if there were any."""

    def set_env(self, name: str, env: Any) -> None:
        pass


class _Ingredients(JITCodeLibrary):  # type: ignore[misc]
    """The code of a body as it was written, for kernels to take in."""

    codegen = _Nowhere()

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
    """Say where the code goes, ahead of the pass that makes it."""

    _name = "as_ingredients"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.library = _Ingredients(state.targetctx.codegen(), state.func_id.func_qualname)
        return False


class Ingredient(CompilerBase):  # type: ignore[misc]
    """The compiler of functions that exist only within others."""

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        place = [step for step, _ in pipeline.passes].index(NativeLowering)
        pipeline.passes.insert(place, (_AsIngredients, "as ingredients of a kernel"))
        pipeline.finalize()
        return [pipeline]
