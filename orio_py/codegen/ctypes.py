"""The arithmetic types that a test program can fill and compare."""

from __future__ import annotations

from orio_py.ctree.ctype import ctype

_FLOATING = {"float": "ORIO_FLOAT", "double": "ORIO_DOUBLE", "long double": "ORIO_LONG_DOUBLE"}


def is_arithmetic(type_name: str) -> bool:
    """Whether the type is one that C defines for numbers."""
    return ctype(type_name) is not None


def is_floating(type_name: str) -> bool:
    """Whether the type is `float`, `double` or `long double`."""
    return type_name in _FLOATING


def kind(type_name: str) -> str:
    """The test program's constant for comparing elements of this type."""
    return _FLOATING.get(type_name, "ORIO_INTEGER")


def random_element(type_name: str) -> str:
    """C text of a random element: floating in [0.5, 1.5), so that products and quotients stay in range;
    integers in 1 … 10, as the language defines for random scalars.
    """
    if is_floating(type_name):
        return f"({type_name})(0.5 + orio_uniform(&orio_state))"
    return f"({type_name})(1 + (int)(10.0 * orio_uniform(&orio_state)))"
