"""Which loops of a nest become axes of the index space, and how their iterations are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orio_py.ctree.build import as_long, binary, const, literal_value, ternary
from orio_py.ctree.loops import CanonicalLoop, nest
from orio_py.ctree.nodes import Node, c_ast
from orio_py.kernel.plan import Axis
from orio_py.kernel.types import device_type
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.forms import (
    loop_view,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
    start_is_invariant,
)
from orio_py.transformation.offload.arguments import MAXIMUM_AXES
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.parallel.annotate import require_no_constructs
from orio_py.transformation.parallel.iteration_counts import count_problem
from orio_py.transformation.types import (
    index_type,
    means_its_literals,
    signedness,
    signedness_of_type,
)


def mapped_loops(
    node: Node,
    nd: int | tuple[str, ...],
    what: str,
    context: Context,
    *,
    force: bool,
    most: int = MAXIMUM_AXES,
) -> tuple[list[CanonicalLoop], list[CanonicalLoop]]:
    """The loops that become axes, slowest first and `most` at most, and all loops of the perfect nest.

    Raises Refusal: ORIO-T020 to T028, T120.
    """
    view = loop_view(node, what, context)
    every = nest(view)
    chosen = _chosen(every, nd, what, most)
    # One iteration is the body of no loop in a kernel: it has nowhere to continue.
    for loop in chosen:
        require_no_jumps(loop, what)
    require_no_constructs(view, what, allowed=frozenset())
    indices = frozenset(loop.index for loop in chosen)
    for loop in chosen:
        loop_view(loop.node, what, replace(context, pragmas=()))
        require_stable_index(loop, what, context)
        require_invariant_bound(loop, what, context, force=force)
        require_countable(loop, indices, what, context)
    return chosen, every


def _chosen(
    every: Sequence[CanonicalLoop], nd: int | tuple[str, ...], what: str, most: int
) -> list[CanonicalLoop]:
    depth = nd if isinstance(nd, int) else len(nd)
    if not 1 <= depth <= most:
        refuse(
            "ORIO-T120", f"`nd` gives {depth} dimensions; a device has 1 to 3", every[0].node, argument="nd"
        )
    if depth > len(every):
        refuse(
            "ORIO-T120",
            f"{what} maps {depth} perfectly nested loops to the device; there are {len(every)}",
            every[-1].node,
            help=f"`nd={len(every)}`, or move the statements between the loops with `Distribute`",
        )
    outer = list(every[:depth])
    if isinstance(nd, int):
        return outer
    by_name = {loop.index: loop for loop in outer}
    if set(by_name) != set(nd):
        found = ", ".join(f"`{loop.index}`" for loop in outer)
        refuse("ORIO-T120", f"`nd` has to name the outermost loops of the nest, {found}", every[0].node)
    return [by_name[name] for name in nd]


def require_countable(loop: CanonicalLoop, indices: frozenset[str], what: str, context: Context) -> None:
    """The iterations can be counted before the loop runs, without the other `indices`.

    Raises Refusal: ORIO-T120.
    """
    used = context.effects(loop.start).reads | context.effects(loop.bound).reads
    if others := sorted(used & indices):
        refuse(
            "ORIO-T120",
            f"{what} needs axes that do not depend on each other: the bounds of the loop `{loop.index}` use "
            f"`{others[0]}`",
            loop.node,
            help="map fewer loops: with `nd=1` the outer one alone",
        )
    if (problem := count_problem(loop, "static", context)) is not None:
        refuse("ORIO-T120", f"{what} cannot count the iterations: {problem}", loop.node)
    if not start_is_invariant(loop, context):
        refuse("ORIO-T120", f"{what} needs a start that keeps its value in the loop", loop.start)
    if device_type(index_type(loop, context)) in {None, "bool", "float", "double"}:
        kind = index_type(loop, context)
        refuse("ORIO-T120", f"{what} cannot count in `{loop.index}` of type `{kind}`", loop.node)


def axis(loop: CanonicalLoop, arithmetic: Arithmetic, context: Context) -> Axis:
    """The axis that a loop becomes."""
    trips = trip_expression(loop, arithmetic, context)
    return Axis(loop.index, index_type(loop, context), loop.start, trips, loop.stride)


def trip_expression(loop: CanonicalLoop, arithmetic: Arithmetic, context: Context) -> Node:
    """The number of iterations as a C expression of type `int` or `long`, 0 or less where there is none."""
    if (trips := loop.trip_count()) is not None and means_its_literals(loop, context):
        return const(trips)
    step = abs(loop.stride)
    start, bound = (arithmetic.polynomial(part, {}) for part in (loop.start, loop.bound))
    start = arithmetic.opaque(loop.start) if start is None else start
    bound = arithmetic.opaque(loop.bound) if bound is None else bound
    room = bound - start if loop.upward else start - bound
    room = room.shifted((0 if loop.relation in {"<", ">"} else 1) + step - 1)
    whole = arithmetic.expression(room, wide=step > 1)
    return _guarded(loop, whole if step == 1 else binary("/", whole, step), context)


def _guarded(loop: CanonicalLoop, trips: Node, context: Context) -> Node:
    """The count behind the loop's own test where that compares as unsigned numbers and may fail."""
    kind = index_type(loop, context)
    parts = (loop.start, loop.bound)
    unsigned = signedness_of_type(kind) != "signed" or any(
        signedness(p, context) == "unsigned" for p in parts
    )
    from_zero = loop.upward and literal_value(loop.start) == 0 and isinstance(loop.bound, c_ast.ID)
    if not unsigned or (from_zero and loop.relation == "<"):
        return trips
    return ternary(binary(loop.relation, as_long(loop.start, kind), loop.bound), trips, 0)
