"""The types that C computes the expressions of a region in."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.ctree.ctype import INT, CType, ctype, type_of
from orio_py.ctree.nodes import Node, c_ast, reference_parts
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context


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
            case c_ast.StructRef():
                return _of_member(part, 0, known, context)
            case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)) if name in known:
                found = known[name]
                return _named(found.type, context) if found.pointers + len(found.dimensions) == 1 else None
            case _:
                return _of_variable(part, known, context)

    return type_of(node, lookup)


def _of_variable(node: Node, declared: Mapping[str, CDeclaration], context: Context) -> CType | None:
    array, subscripts = reference_parts(node)
    if isinstance(array, c_ast.StructRef):
        return _of_member(array, len(subscripts), declared, context)
    if not isinstance(array, c_ast.ID):
        return None
    found = declared.get(array.name)
    if found is None:
        return None if subscripts else INT
    return _named(found.type, context) if found.pointers + len(found.dimensions) == len(subscripts) else None


def _of_member(
    node: c_ast.StructRef, depth: int, declared: Mapping[str, CDeclaration], context: Context
) -> CType | None:
    """The type of a number in a single structure, which a variable is or points to, behind so many subscripts."""
    outer = declared.get(node.name.name) if isinstance(node.name, c_ast.ID) else None
    if outer is None or outer.dimensions or outer.pointers != int(node.type == "->"):
        return None
    members = context.structures.get(outer.type, ())
    member = next((m for m in members if m.name == getattr(node.field, "name", None)), None)
    if member is None or member.pointers + len(member.dimensions) != depth or "(" in member.type:
        return None
    return _named(member.type, context)


def _named(kind: str, context: Context) -> CType | None:
    """The type of numbers that some words name, a typedef of the user's among them."""
    return ctype(context.types.get(kind, kind))
