"""The types that C computes the expressions of a region in, and the values of constant ones."""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.core.source import SourceFile
from orio_py.ctree.build import binary, ident
from orio_py.ctree.ctype import INT, CType, Rank, ctype, type_of
from orio_py.ctree.evaluate import NoValueError, Number, evaluate
from orio_py.ctree.known_functions import called_name, result_type
from orio_py.ctree.nodes import Node, c_ast, reference_parts
from orio_py.ctree.parse import parse_statement, parse_statements
from orio_py.ctree.rewrite import walk
from orio_py.ctree.structures import number_type
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
            case c_ast.FuncCall():
                return result_type(part) or _type_of_call(part, context)
            case c_ast.StructRef():
                return number_type(part, known, context.structures, context.types)
            case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)) if name in known:
                found = known[name]
                return _named(found.type, context) if found.pointers + len(found.dimensions) == 1 else None
            case _:
                return _of_variable(part, known, context)

    return type_of(node, lookup)


def _type_of_call(call: c_ast.FuncCall, context: Context) -> CType | None:
    """The type of what a function of the file gives back."""
    callee = context.functions.get(called_name(call) or "")
    return None if callee is None or callee.result is None else _named(callee.result, context)


def _of_variable(node: Node, declared: Mapping[str, CDeclaration], context: Context) -> CType | None:
    array, subscripts = reference_parts(node)
    if isinstance(array, c_ast.StructRef):
        return number_type(node, declared, context.structures, context.types)
    if not isinstance(array, c_ast.ID):
        return None
    found = declared.get(array.name)
    if found is None:
        return None if subscripts else INT
    return _named(found.type, context) if found.pointers + len(found.dimensions) == len(subscripts) else None


def uses_wide_values(node: Node, context: Context) -> bool:
    """Whether an expression uses what may be wider than `int`: a member of a structure, an element of one, or a call."""
    kinds = (
        expression_type(part, context)
        for part in walk(node)
        if isinstance(part, c_ast.FuncCall) or isinstance(reference_parts(part)[0], c_ast.StructRef)
    )
    return any(kind is not None and Rank.LONG <= kind.rank <= Rank.LONG_LONG for kind in kinds)


def single_member(
    node: c_ast.StructRef, declared: Mapping[str, CDeclaration], context: Context
) -> CDeclaration | None:
    """The declaration of a member of a structure that a variable or another member is or points to; None for others."""
    match node.name:
        case c_ast.ID(name=name):
            outer = declared.get(name)
        case c_ast.StructRef() as inner:
            outer = single_member(inner, declared, context)
        case _:
            return None
    if outer is None or outer.dimensions or outer.pointers != int(node.type == "->"):
        return None
    members = context.structures.get(outer.type, ())
    return next((m for m in members if m.name == getattr(node.field, "name", None)), None)


def _named(kind: str, context: Context) -> CType | None:
    """The type of numbers that some words name, a typedef of the user's among them."""
    return ctype(context.types.get(kind, kind))


def constant_value(node: Node, context: Context) -> int | None:
    """The value of an integer expression of constants, macros and enumeration constants; None where it is none."""
    number = constant_number(node, context)
    return number.value if number is not None and isinstance(number.value, int) else None


def constant_number(node: Node, context: Context) -> Number | None:
    """The value of an expression of constants, macros and enumeration constants, with its type; None where it is none."""

    def lookup(name: str) -> Number:
        if name in context.enumerators and name not in context.declarations:
            return Number(INT, context.enumerators[name])
        text = context.macros.get(name)
        meaning = None if text is None else parse_statement(text, name)
        if meaning is None:
            raise NoValueError(f"the value of `{name}` is not known")
        return evaluate(meaning, lookup)

    try:
        return evaluate(node, lookup)
    except (NoValueError, RecursionError):
        return None


def parsed_extent(text: str) -> Node:
    """The extent of an array that a declaration gives as text, as an expression."""
    source = SourceFile("extent", f"({text});".encode("latin-1"))  # `m * m;` would declare
    (node,) = parse_statements(source.text, source=source, start=0).block_items or []
    return _without_places(node)


def _without_places(node: Node) -> Node:
    """The node, built anew: its places are in no file of the user's."""
    match node:
        case c_ast.ID(name=name):
            return ident(name)
        case c_ast.Constant(type=kind, value=value):
            return c_ast.Constant(kind, value)
        case c_ast.BinaryOp(op=op, left=left, right=right):
            return binary(op, _without_places(left), _without_places(right))
        case _:
            return node
