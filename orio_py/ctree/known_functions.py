"""Functions whose calls do nothing but compute a value."""

from __future__ import annotations

from orio_py.ctree.ctype import CType, ctype
from orio_py.ctree.nodes import INCREMENTS, Node, OwnFunction, c_ast
from orio_py.ctree.rewrite import walk

_REAL_FUNCTIONS = """sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2
    log10 log1p logb sqrt cbrt hypot pow fabs fmax fmin fdim fma fmod remainder floor ceil trunc round rint
    nearbyint lround llround lrint llrint ilogb ldexp scalbn scalbln copysign nextafter nexttoward erf erfc
    tgamma lgamma"""
_OTHER_FUNCTIONS = """abs labs llabs min max MIN MAX fminimum fmaximum isnan isinf isfinite isnormal signbit
    fpclassify isgreater isgreaterequal isless islessequal islessgreater isunordered floord ceild"""
_PARTS_OF_COMPLEX = "cabs carg cimag creal"
_COMPLEX_FUNCTIONS = """conj cproj cexp clog cpow csqrt ccos csin ctan cacos casin catan ccosh csinh ctanh
    cacosh casinh catanh"""

_INTEGER_BUILTINS = "expect popcount clz ctz ffs parity bswap16 bswap32 bswap64"
_WITH_SUFFIXES = f"{_REAL_FUNCTIONS} {_PARTS_OF_COMPLEX} {_COMPLEX_FUNCTIONS}"
_LIBRARY = [name + suffix for name in _WITH_SUFFIXES.split() for suffix in ("", "f", "l")]
_BUILTINS = [*_LIBRARY, *(name + suffix for name in _INTEGER_BUILTINS.split() for suffix in ("", "l", "ll"))]

PURE_FUNCTIONS: frozenset[str] = frozenset(
    [
        *_LIBRARY,
        *_OTHER_FUNCTIONS.split(),
        *(f"__builtin_{name}" for name in [*_BUILTINS, "abs", "labs", "llabs"]),
    ]
)
"""Functions, or macros by these names, whose result depends on their arguments alone (C99 7.3, 7.12, 7.20.6)."""

CHECKS = frozenset({"assert"})
"""Macros that end the program where their argument is 0, and else do nothing; it may not even be evaluated (C99 7.2)."""

MINIMUM_NAMES = frozenset({"min", "MIN", "imin"})
"""Functions and macros that give the smaller of two integers."""

MAXIMUM_NAMES = frozenset({"max", "MAX", "imax"})
"""Functions and macros that give the larger of two integers."""


ALLOCATORS = frozenset(
    {"malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign", "valloc", "_mm_malloc"}
)
"""Functions whose result points to memory that nothing else points to (C99 7.20.3)."""

ALLOCATES_BY_ADDRESS = "posix_memalign"
"""Sets what its first argument points to, to such memory (POSIX.1-2001)."""

STORING_FUNCTIONS = frozenset({"memset", "memcpy", "memmove"})
"""Functions that store to what their first argument points to, and change nothing else (C99 7.21)."""


_RESULTS = {
    **{f"{name}{suffix}": kind for name in f"{_REAL_FUNCTIONS} {_PARTS_OF_COMPLEX}".split()
       for suffix, kind in (("", "double"), ("f", "float"), ("l", "long double"))},
    **{f"{name}{suffix}": kind for name, kind in (("lround", "long"), ("lrint", "long"), ("llround", "long long"),
                                                  ("llrint", "long long"), ("ilogb", "int")) for suffix in ("", "f", "l")},
    **{f"{name}{suffix}": "int" for name in ("popcount", "clz", "ctz", "ffs", "parity") for suffix in ("", "l", "ll")},
    "abs": "int", "labs": "long", "llabs": "long long", "bswap16": "unsigned short", "bswap32": "unsigned",
}  # fmt: skip
"""The types of the results of C's own functions and GNU C's built-in ones (C99 7.12, 7.20.6)."""


def result_type(call: Node) -> CType | None:
    """The type of the result of a call of one of C's own functions; None for others."""
    match call:
        case c_ast.FuncCall(name=c_ast.ID(name=name)):
            kind = _RESULTS.get(name.removeprefix("__builtin_"))
            return None if kind is None else ctype(kind)
        case _:
            return None


def called_name(call: c_ast.FuncCall) -> str | None:
    """The name of the function that is called; None for what is no name."""
    match call.name:
        case c_ast.ID(name=name) | OwnFunction(function=name):
            return name
        case _:
            return None


def is_pure(call: Node) -> bool:
    """Whether a node calls a function whose result depends on the values of its arguments alone.

    It may end the program: then no memory is read any more.
    """
    match call:
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=condition) if name in CHECKS:
            return condition is not None and not any(map(_is_write, walk(condition)))
        case c_ast.FuncCall(name=OwnFunction(is_pure=found)):
            return found
        case c_ast.FuncCall(name=c_ast.ID(name=name)):
            return name in PURE_FUNCTIONS
        case _:
            return False


def _is_write(node: Node) -> bool:
    return isinstance(node, c_ast.Assignment) or (isinstance(node, c_ast.UnaryOp) and node.op in INCREMENTS)
