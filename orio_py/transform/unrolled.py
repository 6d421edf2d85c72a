"""The loops that unrolling makes: copies of a body, a main loop and a loop over what remains."""

from __future__ import annotations

from dataclasses import dataclass, replace

from orio_py.ctree import build
from orio_py.ctree.build import add, assign, binary, block, declare, for_, ident, literal_value, mul, sub
from orio_py.ctree.effects import PURE_FUNCTIONS
from orio_py.ctree.loops import CanonicalLoop, loops_in
from orio_py.ctree.nodes import Comment, Compound, For, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, substitute, walk
from orio_py.ctree.simplify import simplify
from orio_py.transform.base import Context
from orio_py.transform.forms import start_is_invariant
from orio_py.transform.sites import splices
from orio_py.transform.types import fits_index, index_type, is_natural, same_signedness, signedness_of_type


@dataclass(frozen=True, slots=True)
class Parts:
    """Statements that stand before the main loop, the main loop, and the loop over the remainder."""

    before: tuple[Node, ...]
    main: For
    remainder: For


def apply(
    view: CanonicalLoop, factor: int, context: Context, *, jam: bool = False, canonical: bool = False
) -> Node:
    """The unrolled loop; `jam` fuses the copies of inner loops, `canonical` asks for a plain main test."""
    before, view = hoisted(view, context)
    if not canonical:
        result = with_test(view, factor, context, jam=jam)
        return block(*before, *(statements(result) if splices(result) else [result])) if before else result
    parts = with_limit(view, factor, context, jam=jam)
    return block(*before, *parts.before, parts.main, parts.remainder)


def jammed(view: CanonicalLoop, factor: int, context: Context) -> list[Node]:
    """Like `copies`, with the copies of each inner loop fused into one loop."""
    if not loops_in(view.body):
        return copies(view, factor, context)
    result: list[Node] = []
    together: list[Node] = []
    for statement in statements(view.body):
        if not isinstance(statement, For):
            together.append(statement)
            continue
        result.extend(copies(_with_body(view, block(*together)), factor, context) if together else [])
        together = []
        fused = jammed(_with_body(view, statement.stmt), factor, context)
        result.append(copy_with(statement, stmt=block(*fused)))
    return result + (copies(_with_body(view, block(*together)), factor, context) if together else [])


def _with_body(view: CanonicalLoop, body: Node) -> CanonicalLoop:
    return replace(view, node=copy_with(view.node, stmt=body), body=body)


def copies(view: CanonicalLoop, factor: int, context: Context) -> list[Node]:
    """The statements of `factor` consecutive iterations; comments stay in the first."""
    first = statements(view.body)
    bare = statements(_WithoutComments().rewrite(view.body))
    scoped = any(isinstance(s, (c_ast.Decl, c_ast.DeclList, c_ast.Typedef)) for s in bare)
    shadow = _needs_shadow(view, context)
    result: list[Node] = [block(*first)] if scoped else list(first)
    for number in range(1, factor):
        offset = number * view.stride
        if shadow:
            result.append(_shadowed(view, [block(*bare)] if scoped else bare, offset, context))
            continue
        place = add(ident(view.index), offset)
        copy = [simplify(substitute(s, view.index, place)) for s in ([block(*bare)] if scoped else bare)]
        result.extend(copy)
    return result


def with_test(view: CanonicalLoop, factor: int, context: Context, *, jam: bool = False) -> Node:
    """The unrolled loop; the main loop's test says that `factor` iterations remain."""
    trips = view.trip_count() if is_natural(view.start, context) else None
    if trips is not None and trips < factor:
        return view.node
    step = factor * view.stride
    body = block(*(jammed if jam else copies)(view, factor, context))
    declared = view.declared_type is not None
    if trips is not None and trips % factor == 0:
        return for_(view.node.init, view.node.cond, advance(view.index, step), body)
    init = assign(view.index, view.start) if declared else view.node.init
    main = for_(init, main_test(view, factor, context), advance(view.index, step), body)
    remainder = for_(None, view.node.cond, view.node.next, view.body)
    if declared:
        return block(declare(index_type(view, context), view.index), main, remainder)
    return block(main, remainder)


def with_limit(view: CanonicalLoop, factor: int, context: Context, *, jam: bool = False) -> Parts:
    """The unrolled loop with the end of the main loop in a variable of its own.

    Both loops compare their index with an expression that stays as it is, which is what OpenMP and
    vectorising compilers want.  The variable takes only values that the index takes.
    """
    kind = index_type(view, context)
    names = context.names(view.node)
    last = names.fresh(f"{view.index}_last")
    span, step = abs(view.stride) * (factor - 1), abs(view.stride) * factor
    here = ident(last)
    room = sub(view.bound, here) if view.upward else sub(here, view.bound)
    strict = view.relation in {"<", ">"}
    if strict and abs(view.stride) == 1:
        ample: Node = binary(view.relation, here, view.bound)
        amount = mul(binary("/", room, step), step)
    else:
        enough = binary(">" if strict else ">=", room, span)
        ample = binary("&&", binary(view.relation, here, view.bound), enough)
        amount = add(mul(binary("/", sub(room, span + 1 if strict else span), step), step), step)
    guard = build.if_(ample, assign(last, amount, "+=" if view.upward else "-="))
    relation = "<" if view.upward else ">"
    body = block(*(jammed if jam else copies)(view, factor, context))
    main = for_(
        _start_at(view, view.start),
        binary(relation, ident(view.index), here),
        advance(view.index, factor * view.stride),
        body,
    )
    remainder = for_(_start_at(view, here), view.node.cond, view.node.next, view.body)
    return Parts((declare(kind, last, view.start), guard), main, remainder)


def hoisted(view: CanonicalLoop, context: Context) -> tuple[tuple[Node, ...], CanonicalLoop]:
    """A long bound in a variable of its own: the declaration, and the loop that uses it."""
    kind = index_type(view, context)
    long = any(isinstance(n, (c_ast.TernaryOp, c_ast.FuncCall)) for n in walk(view.bound))
    if not long or not fits_index(view.bound, kind, context):
        return (), view
    stop = context.names(view.node).fresh(f"{view.index}_stop")
    cond = binary(view.relation, ident(view.index), ident(stop))
    again = CanonicalLoop.match(copy_with(view.node, cond=cond))
    return ((declare(f"const {kind}", stop, view.bound),), again) if again is not None else ((), view)


def main_test(view: CanonicalLoop, factor: int, context: Context) -> Node:
    """The condition under which at least `factor` iterations remain, without overflow.

    With a start that is known, `bound - span` cannot leave the type once the bound lies beyond
    `start + span`; otherwise the distance between index and bound decides.
    """
    span = abs(view.stride) * (factor - 1)
    index, bound, start = ident(view.index), view.bound, view.start
    beyond = view.relation
    if view.upward:
        fixed, limit, away = literal_value(start), literal_value(bound), ">" if beyond == "<" else ">="
        if fixed is not None and fixed >= 0:
            test = binary(beyond, index, simplify(sub(bound, span)))
            if limit is not None and limit > fixed + span:
                return test
            return binary("&&", binary(away, bound, fixed + span), test)
        if start_is_invariant(view, context) and same_signedness(
            index_type(view, context), context, start, bound
        ):
            first = binary("&&", binary(away, bound, start), binary(away, sub(bound, start), span))
            return binary("&&", first, binary(beyond, index, simplify(sub(bound, span))))
        return binary("&&", binary(beyond, index, bound), binary(away, sub(bound, index), span))
    lowest = literal_value(bound)
    if lowest is not None and (lowest >= 0 or signedness_of_type(index_type(view, context)) == "signed"):
        return binary(beyond, index, lowest + span)
    return binary("&&", binary(beyond, index, bound), binary(beyond, sub(index, bound), span))


def advance(name: str, step: int) -> Node:
    """`name += step`, or `name -= -step`."""
    return assign(name, abs(step), "+=" if step > 0 else "-=")


def statements(body: Node) -> list[Node]:
    """The statements of a block, or the one statement that is not a block."""
    if isinstance(body, Compound):
        return list(body.block_items or [])
    return [] if isinstance(body, c_ast.EmptyStatement) else [body]


def without_comments(node: Node) -> Node:
    """`node` without the comments inside it."""
    return _WithoutComments().rewrite(node)


def _start_at(view: CanonicalLoop, start: Node) -> Node:
    if view.declared_type is None:
        return assign(view.index, start)
    return c_ast.DeclList([declare(view.declared_type, view.index, start)])


class _WithoutComments(Rewriter):
    def visit_Comment(self, node: Comment) -> list[Node]:
        return []


def _needs_shadow(view: CanonicalLoop, context: Context) -> bool:
    # The text of a macro may name the index, or use an argument without parentheses: there the copy
    # gets a variable of the index's own name instead of `i + 1`.
    inside = context.effects(view.body)
    if inside.calls & context.function_macros - PURE_FUNCTIONS:
        return True
    macros = (inside.reads | inside.writes) & frozenset(context.macros)
    return view.index in context.expanded(macros)


def _shadowed(view: CanonicalLoop, body: list[Node], offset: int, context: Context) -> Node:
    kind = index_type(view, context)
    place = context.names(view.node).fresh(f"{view.index}_next")
    inner = block(declare(f"const {kind}", view.index, ident(place)), *body)
    return block(declare(f"const {kind}", place, add(ident(view.index), offset)), inner)
