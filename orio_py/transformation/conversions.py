"""The type that C computes an expression of the user's code in, and operands of `?:` in the type of the whole."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.ctree.build import literal_value
from orio_py.ctree.ctype import INT, CType, common, ctype, type_of
from orio_py.ctree.equal import equal
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.constants import typed_literal


def expression_type(
    node: Node, context: Context, declared: Mapping[str, CDeclaration] | None = None
) -> CType | None:
    """The type of an expression; None where it is no number, or depends on the machine or on what is not seen.

    Names without a declaration count as `int`; `declared` are other declarations than those of the context.
    """
    known = context.declarations if declared is None else declared

    def lookup(part: Node) -> CType | None:
        match part:
            case c_ast.ID(name=name) if name in context.macros:
                return INT if context.macros[name].strip(" ()").isdigit() else None
            case _:
                return _of_variable(part, known)

    return type_of(node, lookup)


def _of_variable(node: Node, declared: Mapping[str, CDeclaration]) -> CType | None:
    depth = 0
    while isinstance(node, c_ast.ArrayRef):
        node, depth = node.name, depth + 1
    if not isinstance(node, c_ast.ID):
        return None
    found = declared.get(node.name)
    if found is None:
        return None if depth else INT
    return ctype(found.type) if found.pointers + len(found.dimensions) == depth else None


def is_computed_unsigned(value: Node, context: Context) -> bool:
    """Whether C computes a value as an unsigned one on every machine: `sizeof(int) + m`, `size - c` (C99 6.3.1.8)."""
    found = expression_type(value, context)
    return found is not None and found.promoted.unsigned


def as_common_type(taken: Node, other: Node, context: Context) -> Node | None:
    """The operand of a `?:` that is taken, in the type of the whole expression; None where that cannot be written.

    The type comes from both operands: `1 ? 1u : 7L` is a `long`.
    """
    own, others = expression_type(taken, context), expression_type(other, context)
    whole = common(own, others)
    if whole is None:
        return taken if equal(taken, other) or (own is not None and own == others) else None
    if own is not None and whole == own.promoted:
        return taken
    value = literal_value(taken)
    return None if value is None or whole.is_floating else typed_literal(whole.words, value)
