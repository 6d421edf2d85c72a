"""Addresses of numbers that calls hand to functions of the file: in place of the call these set the number itself.

    void split(double v, double *whole, double *part) { *whole = floor(v); *part = v - *whole; }

    split(x[i], &a, &b);                a = floor(x[i]);
                                        b = x[i] - a;

What a function keeps or computes from such a pointer is not written.
"""

from __future__ import annotations

from orio_py.ctree.build import literal_value
from orio_py.ctree.ctype import ctype
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter, assigned_names, copy_with, used_names
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context


def lent_variable(parameter: CDeclaration, argument: Node, context: Context) -> str | None:
    """The number whose address an argument is, for a parameter that points to its type."""
    match argument:
        case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)) if (
            parameter.pointers == 1 and not parameter.dimensions
        ):
            declared = context.declarations.get(name)
            if declared is None or declared.is_array_like or "volatile" in declared.qualifiers:
                return None
            kinds = [context.types.get(each.type, each.type) for each in (parameter, declared)]
            return name if kinds[0] == kinds[1] and ctype(kinds[0]) is not None else None
        case _:
            return None


def with_followed(body: Node, pointer: str, variable: str) -> Node | None:
    """The body with a variable for `*pointer`; None where it does more with the pointer than follow and hand it on."""
    found = _Following(pointer, variable).rewrite(body)
    return None if pointer in used_names([found]) or pointer in assigned_names(found) else found


class _Following(Rewriter):
    """Puts a variable where a pointer to it is followed, and its address where the pointer is handed on."""

    def __init__(self, pointer: str, variable: str) -> None:
        self._pointer, self._variable = pointer, variable

    def visit(self, node: Node) -> Node:
        match node:
            case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)) if name == self._pointer:
                return c_ast.ID(self._variable, node.coord)
            case c_ast.ArrayRef(name=c_ast.ID(name=name), subscript=place) if (
                name == self._pointer and literal_value(place) == 0
            ):
                return c_ast.ID(self._variable, node.coord)
            case c_ast.FuncCall(args=Node() as given):
                handed = [self._handed(each) for each in given]
                return self.generic(copy_with(node, args=copy_with(given, exprs=handed)))
            case _:
                return self.generic(node)

    def _handed(self, argument: Node) -> Node:
        match argument:
            case c_ast.ID(name=name) if name == self._pointer:
                return c_ast.UnaryOp("&", c_ast.ID(self._variable, argument.coord), argument.coord)
            case _:
                return argument
