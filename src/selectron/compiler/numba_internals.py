"""All private names of Numba that this package uses.

Numba may move these names in any release. This file is the only one that imports them, and
`tests/compiler/test_internals.py` checks them one by one. So a new release of Numba means a change
in this file alone. Other files may import the public names directly: `numba.njit`, `numba.types`,
`numba.extending`, `llvmlite.ir`.

`BaseContext`, `Signature`, `StateDict` and `UnboxContext` serve as annotations. A `BaseContext`
knows how Numba lays out its types on the CPU, a `Signature` has the types of one call, and a
`StateDict` is what one pass of the compiler leaves for the next.
"""

from typing import TypeAlias

from llvmlite.binding import ModuleRef as ModuleRef
from numba.core import caching as caching
from numba.core import cgutils as cgutils
from numba.core import event as event
from numba.core import pythonapi
from numba.core.base import BaseContext as BaseContext
from numba.core.codegen import JITCodeLibrary as JITCodeLibrary
from numba.core.compiler import CompilerBase as CompilerBase
from numba.core.compiler import DefaultPassBuilder as DefaultPassBuilder
from numba.core.compiler import StateDict as StateDict
from numba.core.compiler_machinery import AnalysisPass as AnalysisPass
from numba.core.compiler_machinery import register_pass as register_pass
from numba.core.imputils import impl_ret_borrowed as impl_ret_borrowed
from numba.core.typed_passes import NativeLowering as NativeLowering
from numba.core.typing.templates import AbstractTemplate as AbstractTemplate
from numba.core.typing.templates import AttributeTemplate as AttributeTemplate
from numba.core.typing.templates import Signature as Signature
from numba.core.typing.templates import infer_getattr as infer_getattr
from numba.core.typing.templates import signature as signature
from numba.np.arrayobj import populate_array as populate_array

UnboxContext: TypeAlias = pythonapi._UnboxContext
