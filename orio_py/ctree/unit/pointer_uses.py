"""What code does with pointers beside following them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set

from orio_py.ctree.nodes import Node, c_ast, reference_parts
from orio_py.ctree.rewrite import used_names

_TESTS = frozenset({"==", "!=", "&&", "||"})

Parts = Callable[[Node], Sequence[Node] | None]
"""The parts of a node that count where the others are harmless; None for a node of which nothing special is known."""


def used_otherwise(node: Node | None, followed: Set[str], parts: Parts) -> Iterator[str]:
    """The names that code uses for more than to test a pointer, to store where it points to, or to follow it.

    What is read through it counts as no pointer to the same for those in `followed` alone: a number is none, an array
    in an array or a structure is.
    """
    match node:
        case None:
            return
        case _ if (known := parts(node)) is not None:
            rest = known
        case c_ast.ID(name=name):
            yield name
            return
        case c_ast.UnaryOp(op="sizeof") | c_ast.UnaryOp(op="!", expr=c_ast.ID()):
            return
        case c_ast.UnaryOp(op="&"):
            yield from used_names([node.expr])
            return
        case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)) if name in followed:
            return
        case c_ast.ArrayRef(name=c_ast.ID(name=name), subscript=place) if name in followed:
            rest = [place]
        case c_ast.Assignment(op="=", lvalue=target, rvalue=value) if not isinstance(target, c_ast.ID):
            rest = [*_places(target), value]
        case c_ast.StructRef(name=inner):
            rest = [inner]
        case c_ast.BinaryOp(op=op) if op in _TESTS:
            rest = [part for part in (node.left, node.right) if not isinstance(part, c_ast.ID)]
        case c_ast.If(cond=c_ast.ID()):
            rest = [part for part in (node.iftrue, node.iffalse) if part is not None]
        case _:
            rest = list(node)
    for part in rest:
        yield from used_otherwise(part, followed, parts)


def _places(target: Node) -> Iterator[Node]:
    """What says where an assignment stores, but for the pointer from which it is reached."""
    match target:
        case c_ast.ID():
            return
        case c_ast.StructRef(name=inner) | c_ast.UnaryOp(op="*", expr=inner):
            yield from _places(inner)
        case c_ast.ArrayRef():
            base, subscripts = reference_parts(target)
            yield from _places(base)
            yield from subscripts
        case _:
            yield target


def without_casts(node: Node) -> Node:
    """What is behind casts."""
    while isinstance(node, c_ast.Cast):
        node = node.expr
    return node
