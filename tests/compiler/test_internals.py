"""Canaries: each private name of other packages is where we expect it, and has the shape we use.

The first group is about `selectron.compiler.numba_internals`. The second is about what compiled
code takes from Numba without a name of its own: options, attributes, the fields of NumPy's arrays.
The third is about the private names of scikit-learn and scipy that `selectron.classifier` uses.
"""

import ast
import ctypes
import inspect
import tomllib
from importlib import import_module
from importlib.metadata import version

import numba
import numpy as np
import pytest
from llvmlite import ir
from numba import njit, types
from numba.core.compiler import Flags
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from packaging.requirements import Requirement

from selectron.compiler import numba_internals, raw_arrays
from selectron.compiler.verbs import INLINE, KERNEL
from tests.docs.places import MODULES, ROOT, SOURCE

jit = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
HOME = "compiler/numba_internals.py"

FUNCTIONS = {
    "numba.core.cgutils.alloca_once": ("builder", "ty"),
    "numba.core.cgutils.alloca_once_value": ("builder", "value"),
    "numba.core.cgutils.for_range": ("builder", "count"),
    "numba.core.cgutils.get_or_insert_function": ("module", "fnty", "name"),
    "numba.core.compiler_machinery.register_pass": ("mutates_CFG", "analysis_only"),
    "numba.core.event.register": ("kind", "listener"),
    "numba.core.imputils.impl_ret_borrowed": ("ctx", "builder", "retty", "ret"),
    "numba.core.typing.templates.infer_getattr": (),
    "numba.core.typing.templates.signature": ("return_type",),
    "numba.np.arrayobj.populate_array": (
        "array",
        "data",
        "shape",
        "strides",
        "itemsize",
        "meminfo",
    ),
    "sklearn.utils.validation._check_feature_names": ("estimator", "X", "reset"),
    "sklearn.utils.validation._get_feature_names": ("X",),
}
METHODS = {
    "llvmlite.binding.ModuleRef": ("data_layout", "functions"),
    "numba.core.base.BaseContext": (
        "cast",
        "get_abi_sizeof",
        "get_data_type",
        "get_dummy_value",
        "get_value_type",
        "make_array",
        "make_tuple",
    ),
    "numba.core.caching.CompileResultCacheImpl": ("_locator_classes", "check_cachable"),
    "numba.core.caching.FunctionCache": ("_impl_class", "save_overload"),
    "numba.core.caching._CacheLocator": (
        "ensure_cache_path",
        "from_function",
        "get_cache_path",
        "get_disambiguator",
        "get_source_stamp",
    ),
    "numba.core.codegen.JITCodeLibrary": (
        "_ensure_finalized",
        "_finalize_final_module",
        "_optimize_final_module",
        "_optimize_functions",
        "_verify_declare_only_symbols",
        "add_ir_module",
        "enable_object_caching",
        "get_pointer_to_function",
    ),
    "numba.core.compiler.CompilerBase": ("compile_extra", "define_pipelines"),
    "numba.core.compiler.DefaultPassBuilder": ("define_nopython_pipeline",),
    "numba.core.compiler.StateDict": (),
    "numba.core.compiler_machinery.AnalysisPass": ("run_pass",),
    "numba.core.event.Listener": ("on_end", "on_start"),
    "numba.core.pythonapi._UnboxContext": ("builder",),
    "numba.core.typed_passes.NativeLowering": (),
    "numba.core.typing.templates.AbstractTemplate": (),
    "numba.core.typing.templates.AttributeTemplate": ("resolve",),
    "numba.core.typing.templates.Signature": ("replace",),
}


def found(name):
    """Return what a dotted name stands for; fail with the package's version if it moved."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        pytest.fail(f"{name} is not where it was: {installed(name)}")


def installed(name):
    package = {"sklearn": "scikit-learn"}.get(name.partition(".")[0], name.partition(".")[0])
    return f"this is {package} {version(package)}"


def imported_from_numba():
    """List the dotted names that numba_internals imports or takes from a module."""
    tree = ast.parse((SOURCE / HOME).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("numba"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_every_internal_name_has_a_canary():
    modules = {
        "numba.core.caching",
        "numba.core.cgutils",
        "numba.core.event",
        "numba.core.pythonapi",
    }  # some of their names are in the lists
    assert set(imported_from_numba()) <= {*FUNCTIONS, *METHODS, *modules}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_the_arguments_that_we_give(name):
    function = found(name)
    assert callable(function), f"{name} is no function: {installed(name)}"
    taken = inspect.signature(function).parameters
    missing = [argument for argument in FUNCTIONS[name] if argument not in taken]
    assert missing == [], f"{name} does not take {missing}: {installed(name)}"


@pytest.mark.parametrize("name", METHODS)
def test_a_class_has_the_methods_that_we_call_or_replace(name):
    kind = found(name)
    assert isinstance(kind, type), f"{name} is no class: {installed(name)}"
    missing = [method for method in METHODS[name] if not hasattr(kind, method)]
    assert missing == [], f"{name} has no {missing}: {installed(name)}"


@pytest.mark.parametrize("name", ["intp_t", "voidptr_t"])
def test_cgutils_has_the_types_of_words_and_pointers(name):
    kind = getattr(numba_internals.cgutils, name, None)
    assert isinstance(kind, ir.Type), f"numba.core.cgutils.{name} moved: {installed('numba')}"


def test_the_pass_before_which_bodies_are_redirected():
    compiler = found("numba.core.compiler.DefaultPassBuilder")
    state = found("numba.core.compiler.StateDict")(flags=Flags(), func_ir=None)
    passes = [step for step, _ in compiler.define_nopython_pipeline(state).passes]
    expected = found("numba.core.typed_passes.NativeLowering")
    assert expected in passes, f"the pipeline has no NativeLowering: {installed('numba')}"


def test_an_intrinsic_keeps_its_definition():
    def emit(typing_context, x):
        return None

    kept = getattr(intrinsic(emit), "_defn", None)
    assert kept is emit, f"an intrinsic has no _defn: {installed('numba')}"


def test_code_is_made_for_a_cpu_that_has_a_name():
    _, cpu, _ = cpu_target.target_context.codegen().magic_tuple()
    assert isinstance(cpu, str), f"codegen().magic_tuple() changed: {installed('numba')}"


def test_code_can_be_optimised_function_by_function():
    codegen = cpu_target.target_context.codegen()
    missing = [
        name for name in ("_data_layout", "_function_pass_manager") if not hasattr(codegen, name)
    ]
    assert missing == [], f"the code generator has no {missing}: {installed('numba')}"


@jit
def test_options_and_entry_point():
    @njit(**{name: value for name, value in (KERNEL | INLINE).items() if name != "cache"})
    def body(x):
        return x + 1

    @njit(**KERNEL | {"cache": False})
    def double(x):
        return 2.0 * x

    kinds = (types.float64,)
    double.compile(kinds)
    entry = getattr(double.overloads[kinds], "entry_point", None)
    assert entry is not None, f"compiled code has no entry_point: {installed('numba')}"
    assert entry(1.5) == 3.0
    body.compile(kinds)  # every option is known


class Fields(ctypes.Structure):
    """What NumPy's `PyArrayObject_fields` begins with, behind the header of a Python object."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("nd", ctypes.c_int),
        ("dimensions", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("base", ctypes.c_void_p),
        ("descr", ctypes.c_void_p),
    )


OFFSETS = {
    "data": raw_arrays.DATA,
    "nd": raw_arrays.NDIM,
    "dimensions": raw_arrays.SHAPE,
    "strides": raw_arrays.STRIDES,
    "descr": raw_arrays.DTYPE,
}


@pytest.mark.parametrize("field", OFFSETS)
def test_a_field_of_an_array_lies_where_we_read_it(field):
    moved = f"ndarray.{field} lies elsewhere: {installed('numpy')}"
    assert raw_arrays.HEADER + getattr(Fields, field).offset == OFFSETS[field], moved
    array = np.arange(12.0).reshape(3, 4)[:, 1:]
    seen = Fields.from_address(id(array) + raw_arrays.HEADER)
    there = {
        "data": (seen.data, array.ctypes.data),
        "nd": (seen.nd, 2),
        "dimensions": (tuple(seen.dimensions[:2]), array.shape),
        "strides": (tuple(seen.strides[:2]), array.strides),
        "descr": (seen.descr, id(array.dtype)),
    }
    assert there[field][0] == there[field][1], moved


@pytest.mark.parametrize("name", ["f4", "f8", "i4", "u4", "i8"])
def test_the_word_of_a_dtype_lies_where_we_read_it(name):
    dtype = np.dtype(name)
    word = ctypes.c_int64.from_address(id(dtype) + raw_arrays.BRAND).value
    moved = f"dtype.kind lies elsewhere: {installed('numpy')}"
    assert word & raw_arrays.TELLING == raw_arrays.brand(dtype), moved


def test_the_class_of_an_object_lies_where_we_read_it():
    word = ctypes.c_int64.from_address(id(np.zeros(1)) + raw_arrays.CLASS).value
    assert word == id(np.ndarray)


def test_scipy_keeps_the_shape_in_one_attribute():
    matrix = found("scipy.sparse.csr_matrix")(np.eye(1, 3))
    array = found("scipy.sparse.csr_array")(np.eye(1, 3))
    for each in (matrix, array):
        kept = getattr(each, "_shape", None)
        assert kept == (1, 3), f"scipy.sparse has no _shape: {installed('scipy')}"


# Who else imports what is private, and which versions may be installed.

PRIVATE = ("numba.core", "numba.np", "numba.misc", "numba.cpython", "llvmlite.binding")
PUBLIC = {"numba", "numba.extending", "llvmlite"}
ELSEWHERE = {
    "classifier/estimator.py": {"sklearn.utils.validation._check_feature_names"},
    "classifier/rows.py": {"sklearn.utils.validation._get_feature_names"},
}


def private_imports(path):
    """List what a module imports that other packages do not promise to keep."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.startswith(PRIVATE)}
        elif isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] != "selectron":
            compiled = node.module.partition(".")[0] in ("numba", "llvmlite")
            names |= {
                f"{node.module}.{alias.name}"
                for alias in node.names
                if (compiled and node.module not in PUBLIC)
                or f"{node.module}.{alias.name}".startswith(PRIVATE)
                or (alias.name.startswith("_") and not alias.name.endswith("__"))
            }
    return names


def test_private_names_are_imported_in_one_place():
    found_in = {p.relative_to(SOURCE).as_posix(): private_imports(p) for p in MODULES}
    assert found_in.pop(HOME)
    assert {place: names for place, names in found_in.items() if names} == ELSEWHERE


@pytest.mark.parametrize("package", ["numba", "numpy"])
def test_a_version_that_was_not_tested_is_not_installed(package):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {Requirement(text).name: Requirement(text) for text in project["dependencies"]}
    allowed = wanted[package].specifier
    pinned = [
        line.split("==")[1].split()[0]
        for line in (ROOT / "requirements" / "base.txt").read_text().splitlines()
        if line.startswith(f"{package}==")
    ]
    assert all(allowed.contains(each) for each in pinned)
    major, minor = max(tuple(map(int, each.split(".")[:2])) for each in pinned)
    assert not allowed.contains(f"{major}.{minor + 1}.0")
