"""Scans on devices: two kernels whose groups do a tile of the loop each, one that finds what a tile adds, one that does its
iterations.

Both read what iterations add, so that a value is read twice and written once: less than with running values of tiles that are
written and corrected.
"""

from __future__ import annotations

from dataclasses import replace

from orio_py.ctree.build import block, const, ident, if_, statements, unary
from orio_py.ctree.nodes import Node
from orio_py.kernel.plan import ReductionPlan
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.final_index import with_final_indices
from orio_py.transformation.offload.arguments import OffloadArguments, launch_shape
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.axis_mapping import mapped_loops, trip_expression
from orio_py.transformation.offload.offload import Offloaded, offloaded
from orio_py.transformation.offload.rows import other_way
from orio_py.transformation.offload.scalars import reduction_plan
from orio_py.transformation.parallel.tiled_scan import FoundScan, TiledScan

_TILES = 1024
"""Enough groups for the multiprocessors of all GPUs, few enough for each group to sum up the values of those before it."""


def scan_kernels(
    loop: Node, context: Context, arguments: OffloadArguments
) -> tuple[TiledScan, list[Offloaded]] | None:
    """The kernels of a loop that is a scan; None for other loops.

    Raises Refusal: ORIO-T040, T041 (other dependences), T090 (rounding), T127, and as `offload` does.
    """
    what = arguments.what
    if arguments.nd != 1 or arguments.trusted:
        return None
    try:
        (mapped,), _ = mapped_loops(loop, 1, what, context, force=arguments.force)
    except Refusal:
        return None  # What is wrong with the nest is told where it becomes a kernel.
    found = FoundScan.of(mapped, context)
    if found is None:
        return None
    found.require_apart(what, context, force=arguments.force)
    mapped, scan = found.loop, found.scan
    given = _in_groups(arguments, loop)
    plan = reduction_plan(scan.name, scan.operator, scan.accumulation.place, what, context)
    written = context.effects(mapped.body).writes | {mapped.index}
    trips = trip_expression(mapped, Arithmetic(context, written), context)
    tiles = arguments.groups[0] if arguments.groups else _TILES
    assert given.row is not None
    tiled = TiledScan.of(found, _neutral(plan), trips, tiles, given.row, context)
    passes = ((tiled.totals(), tiled.totals(whole=True)), (tiled.values(), tiled.values(whole=True)))
    return tiled, [offloaded(new, tiled.inside, replace(given, same=whole)) for new, whole in passes]


def in_tiles(tiled: TiledScan, calls: list[Node], original: Node, what: str) -> Node:
    """What stands in place of the `original` loop, with the calls of both kernels."""
    totals, values = calls
    passes = block(totals, *tiled.between, values, *tiled.result)
    room = tiled.room
    new = block(*tiled.declarations, *(statements(passes) if room is None else [if_(room, passes, original)]))
    return with_final_indices(new, [tiled.loop], what, tiled.context)


def _in_groups(arguments: OffloadArguments, loop: Node) -> OffloadArguments:
    """The arguments with a group for each tile.  Raises Refusal: ORIO-T127."""
    launch_shape(1, loop, arguments)
    words = arguments.words
    items = arguments.items or arguments.backend.block_sizes[1]
    name = other_way(replace(arguments, items=None, groups=None))
    if items == (0,):
        name = words.items
    if name is not None:
        message = f"running values are found by groups that do a part of the loop each, and `{name}` says otherwise which iterations an item does"
        refuse("ORIO-T127", message, loop, help=f"leave `{name}` out", argument=name)
    row = arguments.row or items[0]
    return replace(arguments, row=row, items=None, groups=None, trusted=True)


def _neutral(plan: ReductionPlan) -> Node:
    text = plan.identity
    name = text.lstrip("-~")
    value = const(int(name)) if name.isdigit() else ident(name)
    return unary(text[0], value) if name != text else value
