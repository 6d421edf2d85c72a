"""Two neighbouring loops, or nests, as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orio_py.ctree.build import block, ident, statements
from orio_py.ctree.dependence.fusion import may_fuse
from orio_py.ctree.emit import emit_expression
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop, nest
from orio_py.ctree.nodes import Comment, Compound, For, Node, c_ast
from orio_py.ctree.rewrite import declared_names, substitute, used_names, walk
from orio_py.transformation.base import Context, note, refuse
from orio_py.transformation.final_index import is_live, with_final_indices
from orio_py.transformation.forms import loop_view
from orio_py.transformation.restructuring.loop_matching import nested, require_steady
from orio_py.transformation.types import index_type
from orio_py.transformation.verdicts import dependence_context, require_legal

_DECLARATIONS = (c_ast.Decl, c_ast.DeclList, c_ast.Typedef)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two loops that follow each other, and the comments between them."""

    first: For
    second: For
    comments: tuple[Comment, ...] = ()


@dataclass(frozen=True, slots=True)
class Fused:
    """The fused loop, and the statements that stand in place of the two: the loop is among them."""

    loop: For
    statements: tuple[Node, ...]


def fused_pair(pair: Pair, context: Context, *, what: str, depth: int, force: bool) -> Fused:
    """Two neighbouring loops as one.  Raises Refusal: ORIO-T020 to T030, T040, T041, T070, T071."""
    ones = _levels(pair.first, depth, what, context)
    twos = _levels(pair.second, depth, what, replace(context, pragmas=()))
    if (problem := _difference(ones, twos, context)) is not None:
        refuse(
            "ORIO-T070",
            f"{what} needs loops that run over the same indices: {problem}",
            pair.second,
            notes=[note("the loop before it", pair.first)],
        )
    for one, two in zip(ones, twos, strict=True):
        require_steady([two], what, context, force=force)
        require_steady([one], what, context, force=force)
    body = _renamed(twos[-1].body, ones, twos, what, context)
    parts = (block(*statements(ones[-1].body)), block(*statements(body)))
    fused = nested(ones, _joined(*parts, [*pair.comments, *_comments(twos)], context))
    views = _views(fused, depth)
    require_steady(views, what, context, force=force)
    # The bodies stand apart here: so the dependence test sees each in its own scope.
    apart = nest(_views(nested(ones, block(*parts)), 1)[0])[:depth]
    first, second = statements(apart[-1].body)
    verdict = may_fuse(apart, first, second, dependence_context(context))
    require_legal(verdict, what, pair.second, context, force=force)
    return Fused(fused, tuple(_with_finals(fused, ones, twos, what, context)))


def header_problem(first: For, second: For, depth: int, context: Context) -> str | None:
    """Why two loops do not run over the same indices, None if they do."""
    pair = [CanonicalLoop.match(loop) for loop in (first, second)]
    ones, twos = (nest(view)[:depth] if view is not None else [] for view in pair)
    for loops in (ones, twos):
        if len(loops) < depth:
            return "one of the loops is not canonical, or not nested that deep"
    return _difference(ones, twos, context)


def _levels(loop: For, depth: int, what: str, context: Context) -> list[CanonicalLoop]:
    view = loop_view(loop, what, context)
    loops = nest(view)[:depth]
    for inner in loops[1:]:
        loop_view(inner.node, what, replace(context, pragmas=()))
    if len(loops) < depth:
        refuse(
            "ORIO-T030",
            f"{what} to depth {depth} needs as many perfectly nested loops; here are {len(loops)}",
            loop,
            argument="depth",
        )
    return loops


def _difference(ones: Sequence[CanonicalLoop], twos: Sequence[CanonicalLoop], context: Context) -> str | None:
    """In what the headers of two nests differ, index names apart."""
    for place, (one, two) in enumerate(zip(ones, twos, strict=True)):
        left, right = _header(one), _header(two)
        kinds = index_type(one, context), index_type(two, context)
        if kinds[0] != kinds[1]:
            return f"`{one.index}` is of type `{kinds[0]}`, `{two.index}` of type `{kinds[1]}`"
        start, bound = (_with_indices(part, ones[:place], twos[:place]) for part in (two.start, two.bound))
        same_start = equal(one.start, start)
        same_end = one.relation == two.relation and equal(one.bound, bound)
        trips = one.trip_count()
        same_end = same_end or (trips is not None and trips == two.trip_count())
        if not same_start or not same_end or one.stride != two.stride:
            return f"`{left}` and `{right}`"
    return None


def _header(loop: CanonicalLoop) -> str:
    parts = (loop.node.init, loop.node.cond, loop.node.next)
    init, test, step = ("" if part is None else emit_expression(part) for part in parts)
    if loop.declared_type is not None:
        init = f"{loop.declared_type} {loop.index} = {emit_expression(loop.start)}"
    return f"for ({init}; {test}; {step})"


def _renamed(
    body: Node, ones: Sequence[CanonicalLoop], twos: Sequence[CanonicalLoop], what: str, context: Context
) -> Node:
    """The second body with the indices of the first nest.  Raises Refusal: ORIO-T071."""
    changed = {two.index: one.index for one, two in zip(ones, twos, strict=True) if one.index != two.index}
    if not changed:
        return body
    taken = (set(changed.values()) - set(changed)) & used_names([twos[0].node])
    if taken:
        name = min(taken)
        refuse(
            "ORIO-T071",
            f"{what} would count this loop with `{name}`, which its body uses for something else",
            twos[0].node,
            help=f"use `{name}` as the index of both loops, or another name in the body",
        )
    return _with_indices(body, ones, twos)


def _with_indices(part: Node, ones: Sequence[CanonicalLoop], twos: Sequence[CanonicalLoop]) -> Node:
    # By way of names that C does not have: the indices of the nests may be the same in another order.
    pairs = [(one.index, two.index) for one, two in zip(ones, twos, strict=True) if one.index != two.index]
    for place, (_, old) in enumerate(pairs):
        part = substitute(part, old, ident(f"#{place}"))
    for place, (new, _) in enumerate(pairs):
        part = substitute(part, f"#{place}", ident(new))
    return part


def _joined(first: Compound, second: Compound, comments: Sequence[Node], context: Context) -> Node:
    """Both bodies as one; the first in braces where its declarations would reach the second."""
    one, two = statements(first), statements(second)
    own = [item for item in one if isinstance(item, _DECLARATIONS)]
    declared = frozenset(name for item in own for name in declared_names(item))
    tags = any(isinstance(n, (c_ast.Struct, c_ast.Union, c_ast.Enum)) for item in own for n in walk(item))
    if tags or declared & used_names(two):
        one = [first]
    lines = [*one, *comments, *two]
    return lines[0] if len(lines) == 1 and not isinstance(lines[0], _DECLARATIONS) else block(*lines)


def _comments(loops: Sequence[CanonicalLoop]) -> list[Node]:
    """The comments between the loops of a nest."""
    found: list[Node] = []
    for loop in loops[:-1]:
        found.extend(item for item in statements(loop.body) if isinstance(item, Comment))
    return found


def _views(fused: For, depth: int) -> list[CanonicalLoop]:
    view = CanonicalLoop.match(fused)
    assert view is not None
    return nest(view)[:depth]


def _with_finals(
    fused: For, ones: Sequence[CanonicalLoop], twos: Sequence[CanonicalLoop], what: str, context: Context
) -> list[Node]:
    """The fused loop, and the last values of the second nest's indices where they are not its own."""
    kept = {
        two.index
        for one, two in zip(ones, twos, strict=True)
        if one.index == two.index and one.declared_type is None
    }
    result = with_final_indices(fused, twos, what, replace(context, live_after=context.live_after - kept))
    lines: list[Node] = [fused] if result is fused else statements(result)
    if lines[0] is not fused:
        # Under a condition, the fused loop does not set the first nest's indices where it does not run.
        for one in ones:
            if is_live(one, context):
                refuse(
                    "ORIO-T029",
                    f"{what} cannot give `{one.index}`, which is read after the loops, its last value",
                    one.node,
                    help=f"assign `{one.index}` before it is read again, or use the same indices in both",
                )
    return lines
