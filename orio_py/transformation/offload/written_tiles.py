"""Tiles of arrays that a nest writes: iterations write to local memory, and the group stores neighbouring elements together.

    q[j * n + i] = p[i * m + j];        tile of q: written along j, stored along i

Every iteration writes one element, the same in all its references.  As iterations that may run in any order write
different elements, each place of the tile belongs to one iteration, and all places of iterations that exist are stored.

Source: G. Ruetsch, P. Micikevicius, "Optimizing Matrix Transpose in CUDA", NVIDIA, 2009.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from orio_py.kernel.plan import Axis, StagedTile
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.buffers import Array
from orio_py.transformation.offload.element_accesses import ElementAccess
from orio_py.transformation.offload.tile_loads import Filling, TileReads
from orio_py.transformation.offload.tile_sides import lie_apart, parts_of


@dataclass(frozen=True, slots=True)
class WrittenElements:
    """What is known of the elements that iterations write.

    `certain` are the references, by identity, that every iteration makes, `atomic` the arrays whose elements several
    iterations update; `is_cut` says that queues run slices of the outermost axis.
    """

    certain: Set[int]
    atomic: Set[str]
    is_cut: bool

    def reads(
        self, uses: Sequence[ElementAccess], array: Array, widths: Sequence[tuple[Axis, int]]
    ) -> TileReads | None:
        """All references to an array, whose elements lie apart for neighbouring items; None where they need no tile.

        `widths` are the mapped axes, the fastest last, and how many iterations of each a group does in a step.
        """
        name = array.plan.name
        if name in self.atomic or not any(use.writes and id(use.node) in self.certain for use in uses):
            return None
        found: TileReads | None = None
        offsets: dict[int, tuple[int, ...]] = {}
        for use, flat in zip(uses, array.flats, strict=True):
            parts = None if flat is None else parts_of(flat, use, widths)
            if parts is None:
                return None
            sides, rest = parts
            found = found or TileReads(sides, rest, offsets)
            if [(s.axis.index, s.factor.key) for s in sides] != [
                (s.axis.index, s.factor.key) for s in found.sides
            ]:
                return None
            if rest.key != found.rest.key:
                return None
            offsets[id(use.node)] = (0,) * len(sides)
        assert found is not None
        every = len(found.sides) == len(widths) and all(side.axis.stride == 1 for side in found.sides)
        return found if every and lie_apart(found, widths) else None

    def tile(self, filling: Filling, uses: Sequence[ElementAccess], arithmetic: Arithmetic) -> StagedTile:
        """The tile, which is loaded only where something is read."""
        # What of an axis a queue does is known at run time alone.
        filled = {side.axis.index for side in filling.reads.sides if side.is_filled and not self.is_cut}
        return filling.own_tile(arithmetic, filled, is_read=any(use.reads for use in uses))
