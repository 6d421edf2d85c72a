"""Calls of the file's own functions that give back the place of an element become that place.

    static double *at(struct grid *g, int i, int j)
    {
      return &g->u[i * g->n + j];
    }

    *at(g, i, j) += 1;              g->u[i * g->n + j] += 1;

What an argument is computed from does not change between the call and the use of its value, as the function does nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.ctree.build import binary
from orio_py.ctree.ctype import ctype
from orio_py.ctree.effects import effects
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, rename, substitute, walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.ctree.unit.callees import Callee
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type

_LARGEST = 200
"""Nodes of a place that stands where it is used: nested calls multiply them."""


def with_places(tree: Node, context: Context) -> Node:
    """The tree with places in place of the calls of functions that give back nothing else; the same object where there are none."""
    if not any(callee.place is not None for callee in context.functions.values()):
        return tree
    return _Places(context).rewrite(tree)


class _Places(Rewriter):
    def __init__(self, context: Context) -> None:
        self._context = context

    def visit_FuncCall(self, node: c_ast.FuncCall) -> Node:
        """`at(g, i, j)`."""
        new = self.generic(node)
        match new:
            case c_ast.FuncCall(name=c_ast.ID(name=name), args=args) if name in self._context.functions:
                arguments = list(args) if args is not None else []
                return _place(self._context.functions[name], arguments, self._context) or new
            case _:
                return new

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        """`*&x`."""
        new = self.generic(node)
        match new:
            case c_ast.UnaryOp(op="*", expr=c_ast.UnaryOp(op="&", expr=place)) if new is not node:
                return place
            case _:
                return new

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        """`(&a[i])[j]`."""
        new = self.generic(node)
        match new:
            case c_ast.ArrayRef(
                name=c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(subscript=first) as element), subscript=second
            ) if new is not node and self._are_added(first, second):
                return copy_with(element, subscript=binary("+", first, second))
            case _:
                return new

    def _are_added(self, first: Node, second: Node) -> bool:
        """Whether the sum of two subscripts is that of two distances: one without a sign has nothing below 0."""
        kinds = [expression_type(node, self._context) for node in (first, second)]
        return all(kind is not None and not kind.promoted.unsigned for kind in kinds)

    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        """`(&x)->m`."""
        new = copy_with(node, name=self.rewrite(node.name))
        match new:
            case c_ast.StructRef(name=c_ast.UnaryOp(op="&", expr=place), type="->") if (
                new.name is not node.name
            ):
                return copy_with(new, name=place, type=".")
            case _:
                return new if new.name is not node.name else node


def _place(callee: Callee, arguments: list[Node], context: Context) -> Node | None:
    """What a call gives back, written with its arguments; None where one does not fit."""
    if callee.place is None or len(arguments) != len(callee.parameters):
        return None
    names = context.names(callee.place, *arguments)
    own = {parameter.name: names.fresh(parameter.name) for parameter in callee.parameters}
    found = rename(callee.place, own)
    for parameter, argument in zip(callee.parameters, arguments, strict=True):
        value = _value(parameter, argument, context)
        if value is None:
            return None
        found = substitute(found, own[parameter.name], value)
    return _plain(found) if sum(1 for _ in walk(found)) <= _LARGEST else None


def _value(parameter: CDeclaration, argument: Node, context: Context) -> Node | None:
    """An argument with the type of its parameter; None where it does more than to give a value, or may be of another type."""
    if parameter.is_array_like:
        return argument if _is_same_pointer(parameter, argument, context.declarations) else None
    passed = effects(argument)
    if passed.writes or passed.calls or passed.opaque:
        return None
    kind, own = context.types.get(parameter.type, parameter.type), expression_type(argument, context)
    if ctype(kind) is None or own is None:
        return argument if _is_same_structure(parameter, argument, context.declarations) else None
    if own == ctype(kind):
        return argument
    word = c_ast.IdentifierType(kind.split())
    return c_ast.Cast(c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, word)), argument)


def _is_same_pointer(
    parameter: CDeclaration, argument: Node, declarations: Mapping[str, CDeclaration]
) -> bool:
    """Whether an argument is a variable, or the address of one, that points to what the parameter does."""
    match argument:
        case c_ast.ID(name=name):
            depth = 0
        case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)):
            depth = 1
        case _:
            return False
    declared = declarations.get(name)
    if declared is None or len(parameter.dimensions) > 1 or len(declared.dimensions) > 1:
        return False
    own, other = (d.pointers + len(d.dimensions) for d in (parameter, declared))
    return declared.type == parameter.type and own == other + depth


def _is_same_structure(
    parameter: CDeclaration, argument: Node, declarations: Mapping[str, CDeclaration]
) -> bool:
    """Whether an argument is a variable of the structure that a parameter is."""
    declared = declarations.get(argument.name) if isinstance(argument, c_ast.ID) else None
    return declared is not None and not declared.is_array_like and declared.type == parameter.type


def _plain(node: Node) -> Node:
    """An expression without `(&s)->m`."""
    return _Plain().rewrite(node)


class _Plain(Rewriter):
    def visit_StructRef(self, node: c_ast.StructRef) -> Node:
        """`(&s)->m` as `s.m`."""
        match node:
            case c_ast.StructRef(name=c_ast.UnaryOp(op="&", expr=place), type="->"):
                return copy_with(node, name=self.rewrite(place), type=".")
            case _:
                return copy_with(node, name=self.rewrite(node.name))
