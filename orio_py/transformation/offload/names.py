"""What the names in the body of a nest stand for, where no declaration says it."""

from __future__ import annotations

import re

from orio_py.ctree.build import literal_value
from orio_py.ctree.nodes import c_ast
from orio_py.transformation.base import Context

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fFuUlL]*")
_TOKEN = re.compile(rf"\s*({_NUMBER.pattern}|[A-Za-z_]\w*|[-+*/()])")
_FLOATING = re.compile(r"\d+\.|\.\d|\d[eE]|(?<![xX])\b\d+[fF]\b")
_INT_MAX = 2**31 - 1
_HEXADECIMAL = {"int": _INT_MAX, "unsigned": 2**32 - 1, "long": 2**63 - 1}

_CONSTANTS_TEXT = """
    M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2
    INFINITY NAN HUGE_VAL HUGE_VALF CHAR_BIT CHAR_MAX CHAR_MIN SCHAR_MAX SCHAR_MIN UCHAR_MAX
    SHRT_MAX SHRT_MIN USHRT_MAX INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX FLT_MAX FLT_MIN
    FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON
"""
CONSTANTS = frozenset(_CONSTANTS_TEXT.split())
"""Macros of C headers that OpenCL C has by the same names (The OpenCL Specification 1.2, 6.12.2 and 6.12.3)."""


def is_number_macro(name: str, context: Context) -> bool:
    """Whether a macro of the file is an expression of numbers."""
    return macro_type(name, context) is not None


def macro_type(name: str, context: Context, within: frozenset[str] = frozenset()) -> str | None:
    """The C type of a macro that is an expression of numbers and of other such macros; None for others."""
    text = context.macros.get(name)
    if text is None or name in within:
        return None
    tokens = _TOKEN.findall(text)
    if not tokens or "".join(tokens) != "".join(text.split()):
        return None
    kinds: list[str] = []
    for token in tokens:
        if token[0].isalpha() or token[0] == "_":
            inner = macro_type(token, context, within | {name})
            if inner is None:
                return None
            kinds.append(inner)
        elif token[0].isdigit() or token[0] == ".":
            kinds.append(_number_type(token))
    return next(
        (kind for kind in ("double", "float", "unsigned long", "long", "unsigned") if kind in kinds), "int"
    )


def _number_type(token: str) -> str:
    if _FLOATING.search(token) and not token.lower().startswith("0x"):
        return "float" if token[-1] in "fF" else "double"
    suffix = token.lower()[len(token.rstrip("uUlL")) :]
    if suffix:
        words = (["unsigned"] if "u" in suffix else []) + (["long"] if "l" in suffix else [])
        return " ".join(words)
    if token.lower().startswith("0x"):
        value = int(token, 16)
        # ISO C99, 6.4.4.1: a hexadecimal number takes the unsigned type where the signed one is too small.
        return next((kind for kind, most in _HEXADECIMAL.items() if value <= most), "unsigned long")
    value = literal_value(c_ast.Constant("int", token))
    return "int" if value is None or value <= _INT_MAX else "long"
