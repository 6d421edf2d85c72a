"""Loops that count without a header that says so get one.

while (i < n) {                     const int i_first = i;
y[i] = x[i];                      for (i = i_first; i < n; i++)
i++;                                y[i] = x[i];
}

for (i = n; i-- > 0;)               for (i = n - 1; i >= 0; i--)
y[i] = 0;                           y[i] = 0;

for (p = x; p < x + n; p++)         for (long p_at = 0; p_at < n; p_at++) {
*p = 0;                             double *p = x + p_at;
*p = 0;
}
"""

from __future__ import annotations

from orio_py.ctree.build import (
    add,
    assign,
    binary,
    const,
    declare,
    flat_block,
    for_,
    ident,
    statements,
    sub,
    unary,
)
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop, jumps_out, unmarked
from orio_py.ctree.nodes import INCREMENTS, Comment, For, Node, c_ast
from orio_py.ctree.rewrite import copy_with, used_names
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.forms import bound_is_invariant
from orio_py.transformation.sites import marked_like, rewrite_marked

_LEAVING = (c_ast.Break, c_ast.Return, c_ast.Goto)


def with_counted_loops(tree: Node, context: Context) -> Node:
    """The tree whose loops set, test and step their indices in headers; the same object where all do."""

    def is_odd(loop: Node) -> bool:
        view = CanonicalLoop.match(loop) if isinstance(loop, (For, c_ast.While)) else None
        declared = None if view is None else context.declarations.get(view.index)
        pointer = declared is not None and declared.pointers > 0
        return isinstance(loop, (For, c_ast.While)) and (view is None or pointer)

    return rewrite_marked(tree, is_odd, _counted, context)


def _counted(statement: Node, context: Context) -> Node:
    match unmarked(statement):
        case c_ast.While(cond=test, stmt=body):
            found = _stepped(test, body, context)
        case For(init=None, cond=Node() as test, next=Node() as step, stmt=body):
            found = _from_where_it_is(test, step, body, context)
        case For(next=None) as loop:
            found = _downwards(loop, context)
        case For() as loop:
            found = _by_places(loop, context)
        case _:
            found = None
    if found is None:
        return statement
    *before, loop = found
    whole = marked_like(statement, loop)
    return flat_block(*before, whole) if before else whole


def _stepped(test: Node, body: Node, context: Context) -> list[Node] | None:
    """A `while` loop whose body ends with the step of what it tests."""
    items = [item for item in statements(body) if not isinstance(item, Comment)]
    if not items or jumps_out(body, _LEAVING) is not None:
        return None
    rest = [item for item in statements(body) if item is not items[-1]]
    return _from_where_it_is(test, items[-1], flat_block(*rest), context)


def _from_where_it_is(test: Node, step: Node, body: Node, context: Context) -> list[Node] | None:
    """A loop whose index begins with the value that it has."""
    match step:
        case c_ast.UnaryOp(op=op, expr=c_ast.ID(name=index)) if op in INCREMENTS:
            pass
        case c_ast.Assignment(lvalue=c_ast.ID(name=index)):
            pass
        case _:
            return None
    declared = context.declarations.get(index)
    if declared is None or not _is_counter(declared):
        return None
    first = context.names(test, step, body).fresh(f"{index}_first")
    loop = for_(assign(index, ident(first)), test, step, body)
    if CanonicalLoop.match(loop) is None:
        return None
    return [declare(f"const {declared.type}", first, ident(index)), loop]


def _is_counter(declared: CDeclaration) -> bool:
    return declared.is_scalar and declared.is_integer and not declared.qualifiers & {"volatile", "_Atomic"}


def _downwards(loop: For, context: Context) -> list[Node] | None:
    """`for (i = n; i-- > 0;)`, whose index is one less in the body and behind the loop."""
    match loop:
        case For(
            init=c_ast.Assignment(op="=", lvalue=c_ast.ID(name=index), rvalue=start),
            cond=c_ast.BinaryOp(op=">", left=c_ast.UnaryOp(op="p--", expr=c_ast.ID(name=tested)), right=zero),
        ) if index == tested:
            pass
        case _:
            return None
    declared = context.declarations.get(index)
    signed = declared is not None and _is_counter(declared) and not declared.is_unsigned
    if (
        not signed
        or not equal(zero, const(0))
        or jumps_out(loop.stmt, (*_LEAVING, c_ast.Continue)) is not None
    ):
        return None
    init = assign(index, simplify(sub(start, 1)))
    return [copy_with(loop, init=init, cond=binary(">=", ident(index), 0), next=unary("p--", ident(index)))]


def _by_places(loop: For, context: Context) -> list[Node] | None:
    """A loop over the elements of an array by a pointer, as one over their numbers."""
    match loop:
        case For(
            init=c_ast.Assignment(op="=", lvalue=c_ast.ID(name=pointer), rvalue=first),
            cond=c_ast.BinaryOp(op="<" | "!=", left=c_ast.ID(name=tested), right=end),
            next=c_ast.UnaryOp(op="++" | "p++", expr=c_ast.ID(name=stepped)),
        ) if pointer == tested == stepped:
            pass
        case _:
            return None
    declared = context.declarations.get(pointer)
    if declared is None or declared.pointers != 1 or declared.dimensions or "volatile" in declared.qualifiers:
        return None
    inside = context.effects(loop.stmt)
    if pointer in inside.scalar_writes | inside.address_taken | context.live_after | context.exposed:
        return None
    if pointer in used_names([first, end]) or not all(
        _is_steady(part, loop, context) for part in (first, end)
    ):
        return None
    supply = context.names(loop)
    at, before, count = supply.fresh(f"{pointer}_at"), list[Node](), _count(first, end)
    if count is None:
        before = [declare("const long", name := supply.fresh(f"{pointer}_count"), sub(end, first))]
        count = ident(name)
    own = declare(_pointer_type(declared), pointer, add(first, ident(at)))
    new = for_(
        declare("long", at, const(0)),
        binary("<", ident(at), count),
        unary("p++", ident(at)),
        flat_block(own, *statements(loop.stmt)),
    )
    return [*before, new] if CanonicalLoop.match(new) is not None else None


def _is_steady(part: Node, loop: For, context: Context) -> bool:
    """Whether a part of the header has one value throughout, and is a pointer or a sum with one."""
    plain = isinstance(part, c_ast.ID) or (
        isinstance(part, c_ast.BinaryOp) and part.op == "+" and isinstance(part.left, c_ast.ID)
    )
    view = CanonicalLoop(loop, "", None, const(0), "<", part, 1, loop.stmt)
    return plain and bound_is_invariant(view, context)


def _count(first: Node, end: Node) -> Node | None:
    """The number of elements from `x` to `x + n`; None for other pointers."""
    match end:
        case c_ast.BinaryOp(op="+", left=left, right=count) if equal(left, first):
            return count
        case _:
            return None


def _pointer_type(declared: CDeclaration) -> str:
    constant = "const " if "const" in declared.qualifiers else ""
    return f"{constant}{declared.type} *"
