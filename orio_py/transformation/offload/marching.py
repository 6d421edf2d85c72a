"""`march`: groups that do iterations of the slowest loop one after the other, and keep what they have read of arrays.

    q[k][j][i] = p[k - 1][j][i]         queue of p: the elements of iterations k - 1, k and k + 1, in scalars
               + p[k][j][i - 1]         ring of p: the plane of iteration k, in local memory
               + p[k + 1][j][i]

Of each array one column is kept in scalars: that which most planes are read of.  All planes of which something else is
read are in local memory, in a ring whose oldest plane makes room for the next one.  So each plane is loaded once.

Source: P. Micikevicius, "3D finite difference computation on GPUs using CUDA", GPGPU-2 2009, section 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from orio_py.ctree.build import add, assign, binary, block, declare, ident, if_, index, literal_value
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.nodes import Node
from orio_py.kernel.call import start_name
from orio_py.kernel.march import PLANE, MarchPlan, PlaneRing, ValueQueue, queue_name, slot_name
from orio_py.kernel.plan import Axis, LaunchShape, StagedTile
from orio_py.transformation.base import refuse
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.tile_loads import (
    Filling,
    Offsets,
    TileReads,
    element_number,
    if_in_buffer,
)
from orio_py.transformation.offload.tile_sides import is_reused, place_in_tile, plus

_MOST_CELLS = 8
"""Elements of a plane that an item loads without counting: their places are in registers."""


def require_march(arguments: OffloadArguments, launch: LaunchShape, node: Node) -> None:
    """`march` goes with the other arguments.  Raises Refusal: ORIO-T127."""
    if arguments.march is None:
        return
    items = launch.block_size
    others = (
        ("localTile", arguments.tile is not None or arguments.block is not None),
        ("registerTile", arguments.registers is not None),
        ("vectorWidth", arguments.vector > 1),
        ("coarsen", arguments.coarsen > 1),
        ("streamCount", arguments.options.streams > 1),
        ("rowThreads", arguments.row is not None),
        (arguments.words.items, launch.driver_chosen),
    )
    name = next((name for name, given in others if given), None)
    problem = None
    if name is not None:
        problem = f"`{name}` says otherwise which iterations an item does, or in which order"
    elif len(items) == 1:
        name, problem = "march", "it needs two or three mapped loops, and one is mapped"
    elif items[-1] != 1:
        name = arguments.words.items
        problem = f"`{name}` gives a group {items[-1]} items along the slowest loop, and each group goes along it plane by plane"
    if problem is not None:
        message = f"`march` is the number of iterations of the slowest loop that a group does one after the other: {problem}"
        refuse("ORIO-T127", message, node, argument=name)


def require_planes(axis: Axis, march: MarchPlan, node: Node, arguments: OffloadArguments) -> None:
    """Something is kept from iteration to iteration.  Raises Refusal: ORIO-T127, T130."""
    if axis.stride != 1:
        message = f"`march` needs a loop that counts up in steps of 1, and the one over `{axis.index}` counts in steps of {axis.stride}"
        refuse("ORIO-T127", message, node, argument="march")
    if march.rings or march.queues:
        return
    where = (
        ""
        if arguments.stage
        else ", or `cacheBlocks=True`, with which planes are kept for all items of a group"
    )
    refuse(
        "ORIO-T130",
        f"`march` finds nothing to keep: no iteration reads elements of an array that the loops only read for which other "
        f"iterations of the loop over `{axis.index}` have the same subscripts but for whole numbers",
        node,
        help=f"leave `march` out{where}",
        argument="march",
    )


@dataclass(slots=True)
class Marching:
    """The rings and queues of a kernel that marches along an axis; `widths` are the axes with a group's iterations."""

    axis: Axis
    widths: Sequence[tuple[Axis, int]]
    arithmetic: Arithmetic
    in_memory: bool
    rings: list[PlaneRing] = field(default_factory=list[PlaneRing])
    queues: list[ValueQueue] = field(default_factory=list[ValueQueue])
    tiles: list[StagedTile] = field(default_factory=list[StagedTile])

    @property
    def plan(self) -> MarchPlan:
        """What has been found."""
        return MarchPlan(tuple(self.rings), tuple(self.queues))

    def takes(self, reads: TileReads) -> bool:
        """Whether these references move along the axis, plane by plane."""
        return len(reads.sides) > 1 and self.axis.index in {side.axis.index for side in reads.sides}

    def references(self, filling: Filling, count: Node) -> dict[int, Node]:
        """What stands for references, by identity, from now on; those that nothing is gained for stay as they are."""
        reads = filling.reads
        along = next(k for k, side in enumerate(reads.sides) if side.axis.index == self.axis.index)
        columns: dict[Offsets, dict[int, int]] = {}
        for key, offsets in reads.offsets.items():
            columns.setdefault((*offsets[:along], *offsets[along + 1 :]), {})[key] = offsets[along]
        middle = max(columns, key=lambda c: (len({*columns[c].values()}), -sum(map(abs, c)), c))
        is_queued = len({*columns[middle].values()}) > 1
        found: dict[int, Node] = {}
        if self.in_memory:
            found = self._ring(filling, along, columns, middle if is_queued else None, count)
        if is_queued and not found.keys() >= columns[middle].keys():
            found |= self._queue(filling, along, middle, columns[middle], count)
        return found

    def _ring(
        self,
        filling: Filling,
        along: int,
        columns: Mapping[Offsets, Mapping[int, int]],
        middle: Offsets | None,
        count: Node,
    ) -> dict[int, Node]:
        """The references to planes of which more than the middle column is read, if that is kept by itself."""
        planes = {plane for column, keys in columns.items() if column != middle for plane in keys.values()}
        if not planes:
            return {}
        low, high = min(planes), max(planes)
        inside = {
            key: (column, plane)
            for column, keys in columns.items()
            for key, plane in keys.items()
            if low <= plane <= high
        }
        reads = filling.reads
        sides = [side for place, side in enumerate(reads.sides) if place != along]
        ends = list(zip(*(column for column, _ in inside.values()), strict=True))
        plane = replace(
            reads,
            sides=tuple(replace(s, low=min(c), high=max(c)) for s, c in zip(sides, ends, strict=True)),
            offsets={key: column for key, (column, _) in inside.items()},
        )
        if low == high and not is_reused(
            plane, [(axis, n) for axis, n in self.widths if axis is not self.axis]
        ):
            return {}
        whole = replace(filling, reads=plane)
        last = ident(slot_name(filling.name, high - low))
        before, load = self._plane(whole, reads.sides[along].factor, last, count)
        self.rings.append(PlaneRing(filling.name, whole.size, high - low + 1, low, load, before))
        array = filling.array.plan
        self.tiles.append(StagedTile(filling.name, array.type, array.name, (high - low + 2) * whole.size, ()))
        return {
            key: index(
                filling.name,
                plus(ident(slot_name(filling.name, number - low)), place_in_tile(plane, column)),
            )
            for key, (column, number) in inside.items()
        }

    def _plane(
        self, filling: Filling, factor: Polynomial, slot: Node, count: Node
    ) -> tuple[tuple[Node, ...], Node]:
        """The statement that loads a plane at a slot, and where an item's elements lie in all planes, if they are few."""
        ahead = factor * Polynomial.symbol(self.axis.index)
        number = -(-filling.cells // filling.items)
        if number > _MOST_CELLS:
            rest = filling.reads.rest + ahead
            whole = replace(
                filling, reads=replace(filling.reads, rest=rest), steady=frozenset({self.axis.index})
            )
            return (), block(self._index(), whole.plane(slot, count, self.arithmetic))
        kept = frozenset({self.axis.index, *(scalar.name for scalar in filling.array.scalars)})
        above, element = ident("orio_above"), ident("orio_element")
        before: list[Node] = []
        copies: list[Node] = []
        for cell in range(number):
            short = filling.name.removeprefix("orio_")
            at, place = ident(f"orio_at_{short}_{cell}"), ident(f"orio_to_{short}_{cell}")
            before += filling.cell(cell, at.name, place.name, self.arithmetic)
            copy = assign(index(filling.name, add(slot, place)), index(filling.array.plan.name, element))
            load = block(
                declare("const long", element.name, add(at, above)), if_in_buffer(element, count, copy)
            )
            first = cell * filling.items
            is_last = first + filling.items > filling.cells
            copies.append(
                if_(binary("<", add(ident("orio_item"), first), filling.cells), load) if is_last else load
            )
        steps = declare("const long", above.name, self.arithmetic.expression(ahead, kept=kept))
        return tuple(before), block(self._index(), steps, *copies)

    def _queue(
        self, filling: Filling, along: int, column: Offsets, keys: Mapping[int, int], count: Node
    ) -> dict[int, Node]:
        """The references to one column."""
        reads, array = filling.reads, filling.array
        low, high = min(keys.values()), max(keys.values())
        name = filling.name.replace("orio_tile_", "orio_queue_")
        offsets = (*column[:along], 0, *column[along:])
        flat = reads.rest
        for side, offset in zip(reads.sides, offsets, strict=True):
            flat = flat + side.factor * Polynomial.symbol(side.axis.index).shifted(offset)
        names = {side.axis.index for side in reads.sides}
        element = ident("orio_element")
        last = ident(queue_name(name, high - low))
        copy = assign(last.name, index(array.plan.name, element))
        load = block(
            self._index(),
            declare("const long", element.name, element_number(array, flat, names, self.arithmetic)),
            if_in_buffer(element, count, copy),
        )
        self.queues.append(ValueQueue(name, array.plan.type, high - low + 1, low, load))
        return {key: ident(queue_name(name, number - low)) for key, number in keys.items()}

    def _index(self) -> Node:
        """The declaration of the index in the iteration whose plane is loaded."""
        number, start = ident(PLANE), literal_value(self.axis.start)
        value = binary("+", ident(start_name(self.axis)), number) if start is None else add(number, start)
        return declare("const long", self.axis.index, value)
