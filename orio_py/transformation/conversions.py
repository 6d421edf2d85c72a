"""The type that C computes an integer expression in (C99 6.3.1.8), as far as it is the same on every machine."""

from __future__ import annotations

from orio_py.ctree.build import literal_value
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.equal import equal
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.constants import typed_literal
from orio_py.transformation.types import (
    SIGNED_NAMES,
    UNSIGNED_NAMES,
    Signedness,
    declared_as,
    is_floating_literal,
    signedness_of_type,
)

Rank = tuple[Signedness, int]
"""The signedness of a type, and 1 to 3 for `int`, `long` and `long long`."""


def is_computed_unsigned(value: Node, context: Context) -> bool:
    """Whether C computes a value as an unsigned one on every machine: `sizeof(int) + m`, `size - c` (C99 6.3.1.8)."""
    found = rank_of(value, context)
    return found is not None and found[0] == "unsigned"


def rank_of(value: Node, context: Context) -> Rank | None:
    """The rank of the type of an expression; None where it is not known."""
    match value:
        case c_ast.Constant() if not is_floating_literal(value):
            text = value.value.lower() if value.type != "char" else ""
            return "unsigned" if "u" in text else "signed", 1 + text.count("l")
        case c_ast.ID() | c_ast.ArrayRef():
            declared = declared_as(value, context)
            return None if declared is None else rank_of_type(declared.type)
        case c_ast.Cast(to_type=kind):
            return rank_of_type(emit_type(kind))
        case c_ast.UnaryOp(op="sizeof"):
            return "unsigned", 2
        case c_ast.UnaryOp(op="-" | "+", expr=operand):
            return rank_of(operand, context)
        case c_ast.BinaryOp(op="+" | "-" | "*" | "/" | "%", left=left, right=right):
            return common_rank(rank_of(left, context), rank_of(right, context))
        case _:
            return None


def common_rank(first: Rank | None, second: Rank | None) -> Rank | None:
    """The type that an operation on two types is done in; None where it is not known or not always the same."""
    if first is None or second is None:
        return None
    if first[0] == second[0]:
        return max(first, second)
    unsigned, signed = (first, second) if first[0] == "unsigned" else (second, first)
    # A longer signed type holds the values of the unsigned one on some machines only.
    return unsigned if unsigned[1] >= signed[1] else None


def rank_of_type(text: str) -> Rank | None:
    """The rank of a type of integers, after the integer promotions."""
    kind = signedness_of_type(text)
    words = text.split()
    exact = bool(set(words) & (UNSIGNED_NAMES | SIGNED_NAMES)) and words != ["size_t"]
    if kind == "unknown" or exact:
        return None
    return kind, 2 if words == ["size_t"] else 1 + words.count("long")


def as_common_type(taken: Node, other: Node, context: Context) -> Node | None:
    """The operand of a `?:` that is taken, in the type of the whole expression; None where that cannot be written.

    The type comes from both operands: `1 ? 1u : 7L` is a `long`.
    """
    whole = common_rank(rank_of(taken, context), rank_of(other, context))
    if whole is None:
        same = _named_type(taken, context)
        return taken if equal(taken, other) or (same and same == _named_type(other, context)) else None
    if whole == rank_of(taken, context):
        return taken
    value, kind = literal_value(taken), _named_type(other, context)
    if value is None or kind is None or rank_of_type(kind) != whole:
        return None
    return typed_literal(CDeclaration("", kind), value)


def _named_type(value: Node, context: Context) -> str | None:
    """The type of a variable, an element, a cast or a number, in words."""
    match value:
        case c_ast.Cast(to_type=kind):
            return emit_type(kind)
        case c_ast.Constant(value=text) if value.type != "char" and not is_floating_literal(value):
            unsigned, longs = "u" in text.lower(), text.lower().count("l")
            return " ".join([*(["unsigned"] if unsigned else []), *(["long"] * longs or ["int"])])
        case c_ast.Constant(type=kind):
            return kind
        case _:
            declared = declared_as(value, context)
            return None if declared is None else declared.type
