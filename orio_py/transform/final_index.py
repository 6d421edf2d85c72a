"""Gives the indices of transformed loops the values that the original loops leave in them.

for (i = s; i < n; i += 4) …        for (int ii = …)
return i;                             …
i = s < n ? s + ((n - s - 1) / 4 + 1) * 4 : s;
return i;
"""

from __future__ import annotations

from collections.abc import Sequence

from orio_py.ctree.build import add, assign, binary, block, const, if_, literal_value, mul, sub, ternary
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node
from orio_py.ctree.rewrite import substitute
from orio_py.ctree.simplify import simplify
from orio_py.transform.base import Context, refuse
from orio_py.transform.forms import start_is_invariant
from orio_py.transform.types import index_type, is_natural, same_signedness


def is_live(view: CanonicalLoop, context: Context) -> bool:
    """Whether the index is declared before the loop and read after it."""
    return view.declared_type is None and view.index in context.live_after


def with_final_indices(result: Node, loops: Sequence[CanonicalLoop], what: str, context: Context) -> Node:
    """`result`, and after it assignments that give the indices of a nest their values after the nest.

    `loops` are the original perfectly nested loops, outermost first, whose bounds nothing changes; indices
    that nothing reads afterwards get no assignment, and without any the result is `result` itself.
    Raises Refusal: ORIO-T029 where the value cannot be written down.
    """
    after = _finals(loops, 0, what, context)
    return block(result, *after) if after else result


def final_value(view: CanonicalLoop, what: str, context: Context) -> Node:
    """The index after the loop, as an expression of start and bound.  Raises Refusal: ORIO-T029."""
    start, bound, stride = view.start, view.bound, abs(view.stride)
    trips = view.trip_count()
    if trips is not None:
        return const((literal_value(start) or 0) + trips * view.stride)
    kind = index_type(view, context)
    if not start_is_invariant(view, context):
        _refuse(view, what, "its start has another value by then")
    strict = view.relation in {"<", ">"}
    runs = binary(view.relation, start, bound)
    if stride == 1:
        over = 0 if strict else (1 if view.upward else -1)
        return ternary(runs, simplify(add(bound, over)), start)
    if not same_signedness(kind, context, start, bound):
        _refuse(view, what, "its start and bound have different types")
    room = bound if is_natural(start, context) and literal_value(start) == 0 else sub(bound, start)
    room = room if view.upward else sub(start, bound)
    steps = add(binary("/", sub(room, 1) if strict else room, stride), 1)
    away = mul(steps, stride)
    return ternary(runs, simplify(add(start, away) if view.upward else sub(start, away)), start)


def _finals(loops: Sequence[CanonicalLoop], depth: int, what: str, context: Context) -> list[Node]:
    if depth == len(loops) or not any(is_live(loop, context) for loop in loops[depth:]):
        return []
    loop = loops[depth]
    inner = _finals(loops, depth + 1, what, context)
    mine: list[Node] = (
        [assign(loop.index, final_value(loop, what, context))] if is_live(loop, context) else []
    )
    if not inner:
        return mine
    _require_plain(loops, depth, what, context)
    last = _last_value(loop, what, context)
    inner = [simplify(substitute(statement, loop.index, last)) for statement in inner]
    return [if_(binary(loop.relation, loop.start, loop.bound), block(*inner)), *mine]


def _last_value(loop: CanonicalLoop, what: str, context: Context) -> Node:
    """The index in the last iteration of a loop that runs at least once."""
    value = final_value(loop, what, context)
    runs = getattr(value, "iftrue", value)
    return simplify(sub(runs, loop.stride))


def _require_plain(loops: Sequence[CanonicalLoop], depth: int, what: str, context: Context) -> None:
    """A live inner index has its last value from the last iteration of the loops around it.

    That holds where each of them but the outermost runs the same number of times whatever the others do.
    """
    outer = {loop.index for loop in loops[: depth + 1]}
    for loop in loops[depth + 1 : -1]:
        deeper = loops[loops.index(loop) + 1 :]
        if not any(is_live(other, context) for other in deeper):
            continue
        names = context.effects(loop.start).reads | context.effects(loop.bound).reads
        if names & outer:
            live = next(other for other in deeper if is_live(other, context))
            _refuse(live, what, f"the loop `{loop.index}` around it runs a varying number of times")


def _refuse(view: CanonicalLoop, what: str, why: str) -> None:
    refuse(
        "ORIO-T029",
        f"{what} cannot give `{view.index}`, which is read after the loop, its last value: {why}",
        view.node,
        help=f"assign `{view.index}` before it is read again, or use another variable as the loop index",
    )
