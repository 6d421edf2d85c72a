"""The arithmetic types that a test program can fill and compare."""

from __future__ import annotations

import re

from orio_py.ctree.ctype import ctype

_FLOATING = {"float": "ORIO_FLOAT", "double": "ORIO_DOUBLE", "long double": "ORIO_LONG_DOUBLE"}
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TYPEDEF = re.compile(r"\btypedef\s+([A-Za-z_][\w\s]*?)\s+([A-Za-z_]\w*)\s*;")


def is_arithmetic(type_name: str) -> bool:
    """Whether the type is one that C defines for numbers."""
    return ctype(type_name) is not None


def is_floating(type_name: str) -> bool:
    """Whether the type is `float`, `double` or `long double`."""
    return type_name in _FLOATING


def typedefs(text: str) -> list[tuple[str, str]]:
    """The simple typedefs in C text: each name with the type that it stands for.

    >>> typedefs("typedef float real; /* typedef int real; */")
    [('real', 'float')]
    """
    code = _COMMENT.sub(" ", text)
    return [(name, " ".join(target.split())) for target, name in _TYPEDEF.findall(code)]


def resolve(type_name: str, text: str) -> str | None:
    """The arithmetic type that `type_name` stands for, through the typedefs in `text`; None if unknown."""
    known = dict(typedefs(text))
    seen: set[str] = set()
    while not is_arithmetic(type_name):
        if type_name in seen or type_name not in known:
            return None
        seen.add(type_name)
        type_name = known[type_name]
    return " ".join(type_name.split())


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
