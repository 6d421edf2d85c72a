"""Tiles of arrays in local memory: a group copies once what several of its items read, and what lies apart.

    q[i] = p[i - 1] + p[i + 1];         tile of p: items + 2 elements, from the group's first i - 1 on

References are staged where the nest only reads the array, their subscripts are the same sum of mapped indices
and steady values but for whole numbers of them, and two items of a group read the same element.  In a loop that
runs in blocks the loop's index counts like a mapped one, and the tile is that of one block.

    q[i * n + j] = p[j * m + i];        tile of p: loaded along i, read along j

Neighbouring items that read elements which lie apart make a tile, too, where they can load neighbouring ones.

Source: P. Micikevicius, "3D finite difference computation on GPUs using CUDA", GPGPU-2 2009, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

from orio_py.ctree.build import (
    as_long,
    ident,
    index,
    literal_value,
)
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.nodes import Node
from orio_py.kernel.march import MarchPlan
from orio_py.kernel.plan import Axis, LaunchShape, ScalarPlan, StagedTile
from orio_py.kernel.types import WIDEST, element_bytes
from orio_py.transformation.base import Context, note, refuse
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.blocks import InnerLoop, InnerLoops, inner_loops
from orio_py.transformation.offload.body import certain_references
from orio_py.transformation.offload.buffers import Array
from orio_py.transformation.offload.element_accesses import ElementAccess
from orio_py.transformation.offload.marching import Marching, require_planes
from orio_py.transformation.offload.tile_loads import Filling, Offsets, TileReads, TileSide
from orio_py.transformation.offload.tile_sides import (
    is_reused,
    lie_apart,
    parts_of,
    place_in_tile,
    whole_offsets,
)
from orio_py.transformation.offload.written_tiles import WrittenElements

_WARP = 32
"""Threads that read from shared memory together (CUDA C++ Programming Guide, section 4.1)."""


@dataclass(frozen=True, slots=True)
class Staging:
    """The tiles of a kernel, what stands in the body for references by identity, and scalars for the loads.

    `loops` are those that have to run in blocks, in the order of the body, `march` is what is kept from plane to plane.
    """

    tiles: tuple[StagedTile, ...] = ()
    references: Mapping[int, Node] | None = None
    scalars: tuple[ScalarPlan, ...] = ()
    loops: tuple[InnerLoop, ...] = ()
    march: MarchPlan | None = None


@dataclass(frozen=True, slots=True)
class StagedNest:
    """A nest whose groups are to keep tiles: the body of an iteration, and what it uses of which arrays."""

    body: Node
    uses: Mapping[str, Sequence[ElementAccess]]
    arrays: Mapping[str, Array]
    axes: Sequence[Axis]
    launch: LaunchShape
    arithmetic: Arithmetic
    node: Node
    atomic: Set[str] = frozenset()

    def tiles(self, private: Sequence[str], context: Context, arguments: OffloadArguments) -> Staging:
        """The tiles; `private` are scalars that each item has for itself.  Raises Refusal: ORIO-T127, T130."""
        if not arguments.stage and arguments.march is None:
            return Staging()
        size = arguments.block or self.launch.block_size[0]
        single = self.launch.step == self.launch.block_size or self.launch.register_tile is not None
        loops = InnerLoops()
        if arguments.march is None:
            loops = inner_loops(
                self.body, size, private, self.arithmetic, arguments.what, context, single=single
            )
        certain = certain_references(self.body)
        found = staging(
            self.uses,
            self.arrays,
            self.axes,
            self.launch,
            self.arithmetic,
            loops.loops,
            pad=arguments.pads,
            certain=certain,
            written=WrittenElements(certain, self.atomic, is_cut=arguments.options.streams > 1),
            marches=None if arguments.march is None else arguments.stage,
        )
        if found.march is not None:
            require_planes(self.axes[0], found.march, self.node, arguments)
        _require_tiles(found, loops, self.node, context, arguments)
        return found


def _require_tiles(
    tiles: Staging, loops: InnerLoops, node: Node, context: Context, arguments: OffloadArguments
) -> None:
    """Tiles of the sizes that were asked for can be kept in local memory.  Raises Refusal: ORIO-T127, T130.

    Without sizes, where there is nothing to keep, the kernel is the one without tiles, which a remark tells.
    """
    notes = [note(reason, node) for reason in loops.reasons]
    if not tiles.tiles:
        reason = (
            f"{arguments.what} finds nothing to keep in {arguments.words.memory}: no two items of a group read the same "
            "element of an array that the loops only read, by subscripts that differ by whole numbers of mapped "
            "indices, and no neighbouring items touch elements that lie apart where others touch neighbouring ones"
        )
        if arguments.tile is None and arguments.block is None:
            told = "; ".join([reason, *loops.reasons])
            context.idle.add(f"cacheBlocks=True changes nothing: {told}")
            return
        refuse(
            "ORIO-T130",
            reason,
            node,
            notes=notes,
            help="leave `localTile` out, or map more loops with `nd`",
            argument="cacheBlocks",
        )
    if arguments.block is not None and not tiles.loops:
        refuse(
            "ORIO-T127",
            "the last number of `localTile` is the length of blocks of a loop inside an iteration, and no such "
            "loop needs a tile",
            node,
            notes=notes,
            help="give `localTile` one number per mapped loop",
            argument="localTile",
        )


def staging(
    uses: Mapping[str, Sequence[ElementAccess]],
    arrays: Mapping[str, Array],
    axes: Sequence[Axis],
    launch: LaunchShape,
    arithmetic: Arithmetic,
    loops: Sequence[InnerLoop] = (),
    *,
    pad: bool = False,
    certain: Set[int] = frozenset(),
    written: WrittenElements | None = None,
    marches: bool | None = None,
) -> Staging:
    """Tiles for all arrays of which several items of a group read the same elements, or some that lie apart; perhaps none.

    `loops` are the loops of the body that could run in blocks.  With `pad` rows have an odd number of elements
    where neighbouring items read from different rows, so that they do not meet in one bank of the memory; `certain`
    are the references by identity that every iteration makes.  Arrays that are written get tiles as `written` says.
    With `marches` a group goes along the slowest axis plane by plane; where that is False nothing is in local memory.
    """
    widths = list(zip(axes, reversed(launch.step), strict=True))
    march = None if marches is None else Marching(axes[0], widths, arithmetic, in_memory=marches)
    stager = _Stager(widths, launch, arithmetic, pad, certain, written, march)
    for name, found in uses.items():
        stager.add(name, found, arrays[name], loops)
    used = [loop for loop in loops if any(loop is other for _, other in stager.tiles)]
    placed = (replace(tile, block=None if loop is None else used.index(loop)) for tile, loop in stager.tiles)
    rings = () if march is None else march.tiles
    plan = None if march is None else march.plan
    return Staging((*placed, *rings), stager.references, tuple(stager.scalars), tuple(used), plan)


@dataclass(slots=True)
class _Stager:
    """The tiles that have been found, each with the loop whose blocks it is of; arguments as `staging` has them."""

    widths: Sequence[tuple[Axis, int]]
    launch: LaunchShape
    arithmetic: Arithmetic
    pad: bool
    certain: Set[int]
    written: WrittenElements | None
    march: Marching | None
    tiles: list[tuple[StagedTile, InnerLoop | None]] = field(
        default_factory=list[tuple[StagedTile, InnerLoop | None]]
    )
    references: dict[int, Node] = field(default_factory=dict[int, Node])
    scalars: list[ScalarPlan] = field(default_factory=list[ScalarPlan])

    def add(self, name: str, uses: Sequence[ElementAccess], array: Array, loops: Sequence[InnerLoop]) -> None:
        """The tiles of one array."""
        written, march = self.written, self.march
        if written is not None and march is None and self.launch.register_tile is None:
            own = written.reads(uses, array, self.widths)
            if own is not None:
                filling = self._filling(tile_name(name), array, own)
                self._keep(filling, written.tile(filling, uses, self.arithmetic), None)
                return
        groups = [
            (reads, loop)
            for reads, loop in _groups(uses, array, self.widths, loops)
            if is_reused(reads, self.widths) or lie_apart(reads, self.widths)
            if march is None or march.in_memory or march.takes(reads)
        ]
        count: Node = array.plan.count
        if groups and literal_value(count) is None:
            scalar = f"orio_elements_{name}"
            self.scalars.append(ScalarPlan(scalar, "long", as_long(count), scalar))
            count = ident(scalar)
        for number, (reads, loop) in enumerate(groups, start=1):
            filling = self._filling(tile_name(name, number), array, reads)
            if march is not None and march.takes(reads):
                self.references |= march.references(filling, count)
            else:
                sure = _certain(filling.reads, loop, self.certain)
                self._keep(filling, filling.tile(count, self.arithmetic, certain=sure), loop)

    def _filling(self, name: str, array: Array, reads: TileReads) -> Filling:
        block, fastest = self.launch.block_size, self.widths[-1][0]
        wide = self.launch.register_tile is not None
        gap = _padding(reads, fastest, block[0], array.plan.type, wide=wide) if self.pad else 0
        return Filling(name, array, replace(reads, pad=gap), prod(block))

    def _keep(self, filling: Filling, tile: StagedTile, loop: InnerLoop | None) -> None:
        reads = filling.reads
        self.tiles.append((tile, loop))
        for key, offsets in reads.offsets.items():
            self.references[key] = index(filling.name, place_in_tile(reads, offsets))


def tile_name(array: str, number: int = 1) -> str:
    """The name of an array's tile; there may be several."""
    return f"orio_tile_{array}" if number == 1 else f"orio_tile_{array}_{number}"


def _groups(
    uses: Sequence[ElementAccess],
    array: Array,
    widths: Sequence[tuple[Axis, int]],
    loops: Sequence[InnerLoop],
) -> list[tuple[TileReads, InnerLoop | None]]:
    """The references that differ by whole numbers alone, together; each with the loop whose blocks have tiles.

    None of an array that is written.  What fits nowhere is read from the array itself.
    """
    groups: list[_Group] = []
    lost: set[int] = set()
    for use, flat in zip(uses, array.flats, strict=True):
        if use.writes:
            return []
        parts = None if flat is None else _parts_in(flat, use, widths, loops)
        if parts is None or not parts[0]:
            lost.add(id(use.node))
            continue
        sides, rest, loop = parts
        group = next((g for g in groups if g.loop is loop and g.offsets_of(sides, rest) is not None), None)
        if group is None:
            group = _Group(sides, whole_offsets(rest, sides)[1], loop)
            groups.append(group)
        found = group.offsets_of(sides, rest)
        assert found is not None
        # One reference may be met in several cases of the conditions around it.
        met = [g.offsets[id(use.node)] for g in groups if id(use.node) in g.offsets]
        if any(offsets != found for offsets in met):
            lost.add(id(use.node))
        group.offsets[id(use.node)] = found
    return [(reads, group.loop) for group in groups if (reads := group.reads(lost)) is not None]


@dataclass(slots=True)
class _Group:
    """References whose subscripts are the same sum but for whole numbers: their offsets by identity."""

    sides: tuple[TileSide, ...]
    rest: Polynomial
    loop: InnerLoop | None
    offsets: dict[int, Offsets] = field(default_factory=dict[int, Offsets])

    def offsets_of(self, sides: Sequence[TileSide], rest: Polynomial) -> Offsets | None:
        """What a subscript adds to each index, None where it is not of this group."""
        if [(s.axis.index, s.factor.key) for s in sides] != [
            (s.axis.index, s.factor.key) for s in self.sides
        ]:
            return None
        found, distance = whole_offsets(rest - self.rest, self.sides)
        return None if distance.terms else found

    def reads(self, lost: Set[int]) -> TileReads | None:
        """The references but for those that are lost; None where there are no others."""
        offsets = {key: found for key, found in self.offsets.items() if key not in lost}
        if not offsets:
            return None
        columns = list(zip(*offsets.values(), strict=True))
        sides = (
            replace(side, low=min(column), high=max(column))
            for side, column in zip(self.sides, columns, strict=True)
        )
        return TileReads(tuple(sides), self.rest, offsets)


def _parts_in(
    flat: Polynomial, use: ElementAccess, widths: Sequence[tuple[Axis, int]], loops: Sequence[InnerLoop]
) -> tuple[tuple[TileSide, ...], Polynomial, InnerLoop | None] | None:
    """A subscript as `_parts` has it, with the loop whose index it needs beside the mapped ones."""
    if (parts := parts_of(flat, use, widths)) is not None:
        return (*parts, None)
    loop = next((loop for loop in loops if id(use.node) in loop.references), None)
    parts = None if loop is None else parts_of(flat, use, [*widths, (loop.axis, loop.size)])
    return None if parts is None else (*parts, loop)


def _certain(reads: TileReads, loop: InnerLoop | None, certain: Set[int]) -> bool:
    """Whether all elements of a tile are read, or lie between such, where no iteration of the group is missing."""
    made = certain if loop is None else loop.certain
    offsets = {found for key, found in reads.offsets.items() if key in made}
    return offsets.issuperset(product(*((side.low, side.high) for side in reads.sides)))


def _padding(reads: TileReads, fastest: Axis, items: int, kind: str, *, wide: bool) -> int:
    """The elements after each row that keep the items of a warp from reading from one bank: 1, or 0.

    A warp reads from one row where its items run along the row and fill it.  Rows that are read in wide pieces stay
    as well aligned as they are.
    """
    row = reads.sides[-1]
    along = row.axis.index == fastest.index and items >= _WARP
    if along or len(reads.sides) == 1:
        return 0
    piece = WIDEST // element_bytes(kind) if wide else 1
    return piece if row.extent % piece == 0 and wide else (row.extent + 1) % 2
