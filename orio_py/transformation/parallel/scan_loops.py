"""Scans with threads: two parallel loops over tiles, one that finds what each tile adds, one that does its iterations.

    for (i = 0; i < n; i++) {           #pragma omp parallel for private(s, i)
      s += x[i];                        for (int s_tile = 0; s_tile < 64; s_tile++) { … s_totals[s_tile] = s; }
      y[i] = s;                         #pragma omp parallel for private(s, i)
    }                                   for (int s_tile = 0; s_tile < 64; s_tile++) { s = s_first; … y[i] = s; … }

What iterations add is read twice, so that two threads gain little where that is all they do.  `tiled_scan` has the loops.
"""

from __future__ import annotations

from collections.abc import Callable

from orio_py.ctree.build import add, as_long, binary, block, const, if_, statements, sub, unary
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node
from orio_py.ctree.simplify import simplify
from orio_py.transformation.base import Context
from orio_py.transformation.final_index import with_final_indices
from orio_py.transformation.parallel.tiled_scan import FoundScan, TiledScan

_TILES = 64
"""Enough for the cores of a machine, few enough for each thread to sum up the values of the tiles before its own."""
_WIDTH = 64
"""Iterations by whose multiples tiles differ, so that no two threads write to one cache line of 64 bytes."""
Share = Callable[[Node, Context], Node]
"""A loop shared out to threads."""


def scan_for_threads(loop: CanonicalLoop, context: Context) -> FoundScan | None:
    """The scan that threads can do of a loop; None for others."""
    found = FoundScan.of(loop, context)
    if found is None or _neutral(found.scan.operator) is None:
        return None
    # The last tile may have no iteration that leaves a value.
    return None if found.shared.last else found


def in_two_passes(found: FoundScan, share: Share, what: str, context: Context) -> Node:
    """The parallel loops that stand in place of a scan."""
    neutral = _neutral(found.scan.operator)
    assert neutral is not None
    tiled = TiledScan.of(found, neutral, _trips(found.loop), _TILES, _WIDTH, context)
    totals, values = (share(one, tiled.inside) for one in (tiled.totals(), tiled.values()))
    passes = block(*statements(totals), *tiled.between, *statements(values), *tiled.result)
    room = tiled.room
    new = [if_(room, passes, found.loop.node)] if room is not None else statements(passes)
    return with_final_indices(block(*tiled.declarations, *new), [found.loop], what, context)


def _neutral(operator: str) -> Node | None:
    """What changes nothing when it is combined (OpenMP API 5.2, table 5.1); None where that is a type's limit."""
    match operator:
        case "+" | "|" | "^":
            return const(0)
        case "*":
            return const(1)
        case "&":
            return unary("~", const(0))
        case _:
            return None


def _trips(loop: CanonicalLoop) -> Node:
    """The number of iterations, 0 or less where there is none."""
    if (trips := loop.trip_count()) is not None:
        return const(trips)
    start, bound = as_long(loop.start), as_long(loop.bound)
    step = abs(loop.stride)
    room = sub(bound, start) if loop.upward else sub(start, bound)
    room = simplify(add(room, step - (loop.relation in {"<", ">"})))
    return room if step == 1 else binary("/", room, step)
