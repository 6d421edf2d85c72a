"""What the header of a loop says of its iterations before it runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orio_py.ctree.build import cast_to, ident, literal_value
from orio_py.ctree.ctype import ctype
from orio_py.ctree.dependence.reuse import Header, started, stepped
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import substitute, walk
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.storage.array_uses.items import Loop
from orio_py.transformation.types import is_natural, signedness_of_type


def header(loop: Loop, context: Context) -> Header:
    """A loop as the questions about subscripts need it."""
    start = loop.start or loop.floor
    trusted = is_trusted(
        [part for part in (start, loop.node.cond) if part is not None], loop.declared, context
    )
    return Header(loop.node, loop.index, start, loop.stride, trusted, loop.view)


def outer_headers(context: Context) -> list[Header]:
    """The loops around the tree."""
    return [
        Header(
            view.node,
            view.index,
            view.start,
            view.stride,
            is_trusted((view.start, ident(view.index), view.bound), context.declarations, context),
            view,
        )
        for view in context.surrounding
    ]


def count(loop: Loop, in_body: frozenset[str]) -> None:
    """Set what a loop counts, unless its body writes that."""
    step, start = stepped(loop.node), started(loop.node)
    view = CanonicalLoop.match(loop.node)
    if view is not None and view.index not in in_body:
        loop.view = view
        loop.index, loop.stride, loop.start = view.index, view.stride, view.start
    elif step is not None and step[0] not in in_body:
        loop.index, loop.stride = step
        loop.start = start[1] if start is not None and start[0] == step[0] else None


def is_trusted(parts: Iterable[Node], declared: Mapping[str, CDeclaration], context: Context) -> bool:
    """Whether integer expressions compute and compare as integers without end do, short of overflow.

    A difference of unsigned numbers wraps around, and a negative number compared with an unsigned one
    becomes a large one.
    """
    kinds: set[str] = set()
    minus = False
    for node in (node for part in parts for node in walk(part)):
        match node:
            case c_ast.ID(name=name) if name in context.macros:
                kinds.add("signed" if context.macros[name].strip(" ()").isdigit() else "unknown")
            case c_ast.ID(name=name):
                known = declared.get(name)
                kinds.add("signed" if known is None else signedness_of_type(known.type))
            case c_ast.Constant(value=text) if "u" in text.lower():
                kinds.add("unsigned")
            case c_ast.BinaryOp(op="-") | c_ast.UnaryOp(op="-"):
                minus = True
            case c_ast.Cast():
                return False
            case _:
                pass
    return kinds <= {"signed"} or (kinds == {"unsigned"} and not minus)


def test_at_start(loop: Loop, condition: Node | None, context: Context) -> Node | None:
    """A test of the index when the loop begins, in terms of the values before it."""
    if condition is None or loop.index is None:
        return None
    if loop.start is None:
        return condition if loop.node.init is None else None
    return simplify(substitute(condition, loop.index, _as_index(loop, loop.start, condition, context)))


def _as_index(loop: Loop, start: Node, condition: Node, context: Context) -> Node:
    """The start with the type that it gets by the assignment to the index, where that matters."""
    known = {n.name: loop.declared.get(n.name) for n in walk(start) if isinstance(n, c_ast.ID)}
    own = loop.declared.get(loop.index or "")
    kind = "int" if own is None else own.type
    same = all(("int" if d is None else d.type) == kind for d in known.values())
    number = ctype(context.types.get(kind, kind))
    if number is None or (
        number.is_narrow and not isinstance(start, c_ast.ID) and not is_natural(start, context)
    ):
        return cast_to(kind, start)  # C computes in `int` what the index then cuts off.
    # Numbers such as `1L`, and `?:` and comparisons, are of other types than the names in them.
    computed = number if literal_value(start) is not None else expression_type(start, context)
    same = same and computed in {None, number}
    if same and is_trusted((start, condition), loop.declared, context):
        return start
    return cast_to(kind, start)


def continues(main: Loop, rest: Loop) -> bool:
    """Whether a loop, right behind another, goes on with the index where that stopped."""
    same = main.index is not None and rest.index == main.index and main.stride * rest.stride > 0
    return (
        same and rest.node.init is None and not main.leaves and not isinstance(main.node.init, c_ast.DeclList)
    )
