"""Tiles of arrays in local memory: a group copies once what several of its items read.

    q[i] = p[i - 1] + p[i + 1];         tile of p: items + 2 elements, from the group's first i - 1 on

References are staged where the nest only reads the array, their subscripts are the same sum of mapped indices
and steady values but for whole numbers of them, and two items of a group read the same element.  In a loop that
runs in blocks the loop's index counts like a mapped one, and the tile is that of one block.

Source: P. Micikevicius, "3D finite difference computation on GPUs using CUDA", GPGPU-2 2009, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import prod

from orio_py.ctree.build import (
    add,
    as_long,
    assign,
    binary,
    block,
    declare,
    for_,
    ident,
    if_,
    index,
    literal_value,
    mul,
    statements,
    sub,
    unary,
)
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.kernel.call import begin_name, place_name, start_name
from orio_py.kernel.plan import Axis, LaunchShape, ScalarPlan, StagedTile
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.blocks import InnerLoop
from orio_py.transformation.offload.buffers import Array
from orio_py.transformation.offload.element_accesses import ElementAccess

_WARP = 32
"""Threads that read from shared memory together (CUDA C++ Programming Guide, section 4.1)."""

_CELL, _ELEMENT, _ITEM = "orio_cell", "orio_element", "orio_item"

Offsets = tuple[int, ...]
"""What a subscript adds to each index of a tile."""


@dataclass(frozen=True, slots=True)
class Staging:
    """The tiles of a kernel, what stands in the body for references by identity, and scalars for the loads.

    `loops` are those that have to run in blocks, in the order of the body.
    """

    tiles: tuple[StagedTile, ...] = ()
    references: Mapping[int, Node] | None = None
    scalars: tuple[ScalarPlan, ...] = ()
    loops: tuple[InnerLoop, ...] = ()


@dataclass(frozen=True, slots=True)
class _Side:
    """One dimension of a tile: `factor` times the index of an axis, of which a group does `items` at a time.

    The axis may be a loop that runs in blocks, `items` then the size of a block.
    """

    axis: Axis
    items: int
    factor: Polynomial
    low: int = 0
    high: int = 0

    @property
    def extent(self) -> int:
        """The number of values that the index takes in a group, the halo included."""
        return (self.items - 1) * abs(self.axis.stride) + 1 + self.high - self.low


@dataclass(frozen=True, slots=True)
class _Reads:
    """The references to one array: `sides`, to whose indices each adds its offsets, by identity, and `rest`."""

    sides: tuple[_Side, ...]
    rest: Polynomial
    offsets: Mapping[int, Offsets]
    pad: int = 0

    @property
    def widths(self) -> tuple[int, ...]:
        """The elements from one value of each side to the next one of the side before it: extents, with gaps."""
        return (*(side.extent for side in self.sides[:-1]), self.sides[-1].extent + self.pad)


def staging(
    uses: Mapping[str, Sequence[ElementAccess]],
    arrays: Mapping[str, Array],
    axes: Sequence[Axis],
    launch: LaunchShape,
    arithmetic: Arithmetic,
    loops: Sequence[InnerLoop] = (),
    *,
    pad: bool = False,
) -> Staging:
    """Tiles for all arrays of which several items of a group read the same elements; perhaps none.

    `loops` are the loops of the body that could run in blocks.  With `pad` rows have an odd number of elements
    where neighbouring items read from different rows, so that they do not meet in one bank of the memory.
    """
    widths = list(zip(axes, reversed(launch.step), strict=True))
    tiles: list[tuple[StagedTile, InnerLoop | None]] = []
    references: dict[int, Node] = {}
    scalars: list[ScalarPlan] = []
    for name, found in uses.items():
        groups = [
            (reads, loop)
            for reads, loop in _groups(found, arrays[name], widths, loops)
            if _is_reused(reads, widths)
        ]
        if not groups:
            continue
        count: Node = arrays[name].plan.count
        if literal_value(count) is None:
            scalar = f"orio_elements_{name}"
            scalars.append(ScalarPlan(scalar, "long", as_long(count), scalar))
            count = ident(scalar)
        for number, (reads, loop) in enumerate(groups, start=1):
            tile = tile_name(name, number)
            reads = replace(reads, pad=_padding(reads, axes[-1], launch.block_size[0])) if pad else reads
            tiles.append((_tile(tile, arrays[name], reads, prod(launch.block_size), count, arithmetic), loop))
            references |= {key: _reference(tile, reads, offsets) for key, offsets in reads.offsets.items()}
    used = [loop for loop in loops if any(loop is other for _, other in tiles)]
    placed = (replace(tile, block=None if loop is None else used.index(loop)) for tile, loop in tiles)
    return Staging(tuple(placed), references, tuple(scalars), tuple(used))


def tile_name(array: str, number: int = 1) -> str:
    """The name of an array's tile; there may be several."""
    return f"orio_tile_{array}" if number == 1 else f"orio_tile_{array}_{number}"


def _groups(
    uses: Sequence[ElementAccess],
    array: Array,
    widths: Sequence[tuple[Axis, int]],
    loops: Sequence[InnerLoop],
) -> list[tuple[_Reads, InnerLoop | None]]:
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
            group = _Group(sides, _offsets(rest, sides)[1], loop)
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

    sides: tuple[_Side, ...]
    rest: Polynomial
    loop: InnerLoop | None
    offsets: dict[int, Offsets] = field(default_factory=dict[int, Offsets])

    def offsets_of(self, sides: Sequence[_Side], rest: Polynomial) -> Offsets | None:
        """What a subscript adds to each index, None where it is not of this group."""
        if [(s.axis.index, s.factor.key) for s in sides] != [
            (s.axis.index, s.factor.key) for s in self.sides
        ]:
            return None
        found, distance = _offsets(rest - self.rest, self.sides)
        return None if distance.terms else found

    def reads(self, lost: Set[int]) -> _Reads | None:
        """The references but for those that are lost; None where there are no others."""
        offsets = {key: found for key, found in self.offsets.items() if key not in lost}
        if not offsets:
            return None
        columns = list(zip(*offsets.values(), strict=True))
        sides = (
            replace(side, low=min(column), high=max(column))
            for side, column in zip(self.sides, columns, strict=True)
        )
        return _Reads(tuple(sides), self.rest, offsets)


def _parts_in(
    flat: Polynomial, use: ElementAccess, widths: Sequence[tuple[Axis, int]], loops: Sequence[InnerLoop]
) -> tuple[tuple[_Side, ...], Polynomial, InnerLoop | None] | None:
    """A subscript as `_parts` has it, with the loop whose index it needs beside the mapped ones."""
    if (parts := _parts(flat, use, widths)) is not None:
        return (*parts, None)
    loop = next((loop for loop in loops if id(use.node) in loop.references), None)
    parts = None if loop is None else _parts(flat, use, [*widths, (loop.axis, loop.size)])
    return None if parts is None else (*parts, loop)


def _parts(
    flat: Polynomial, use: ElementAccess, widths: Sequence[tuple[Axis, int]]
) -> tuple[tuple[_Side, ...], Polynomial] | None:
    """A subscript as a sum of steady factors times axes, and the steady rest; None where it is none."""
    indices = {level.index for level in use.levels} | {axis.index for axis, _ in widths}
    rest = flat
    sides: list[_Side] = []
    for axis, items in widths:
        factor = Polynomial.total(
            (tuple(s for s in monomial if s != axis.index), coefficient)
            for monomial, coefficient in flat.terms.items()
            if monomial.count(axis.index) == 1
        )
        if factor.terms:
            sides.append(_Side(axis, items, factor))
            rest = rest - factor * Polynomial.symbol(axis.index)
    steady = (rest, *(side.factor for side in sides))
    if any(symbol in indices for value in steady for monomial in value.terms for symbol in monomial):
        return None
    # Neighbouring items load neighbouring elements.
    sides.sort(key=lambda side: _leading(side.factor)[:2], reverse=True)
    return tuple(sides), rest


def _offsets(distance: Polynomial, sides: Sequence[_Side]) -> tuple[Offsets, Polynomial]:
    """Whole numbers of the sides' factors that add up to a distance, and what they leave of it.

    The largest factor goes first, by the nearest number of it, as in `-64 + 1` for factors 64 and 1.
    """
    found = [0] * len(sides)
    order = sorted(range(len(sides)), key=lambda k: _leading(sides[k].factor), reverse=True)
    for place in order:
        factor = sides[place].factor
        _, _, monomial = _leading(factor)
        lead = factor.terms[monomial]
        found[place] = (2 * distance.terms.get(monomial, 0) + lead) // (2 * lead)
        distance = distance - factor.scaled(found[place])
    return tuple(found), distance


def _leading(factor: Polynomial) -> tuple[int, int, tuple[str, ...]]:
    """The degree of a factor, the size of its leading coefficient, and the monomial of that."""
    monomial = max(factor.terms, key=lambda symbols: (len(symbols), symbols))
    return len(monomial), abs(factor.terms[monomial]), monomial


def _is_reused(reads: _Reads, widths: Sequence[tuple[Axis, int]]) -> bool:
    """Whether two items of a group read one element."""
    used = {side.axis.index for side in reads.sides}
    if any(items > 1 for axis, items in widths if axis.index not in used):
        return True
    distinct = sorted(set(reads.offsets.values()))
    mapped = {axis.index for axis, _ in widths}
    return any(_meet(one, two, reads.sides, mapped) for one, two in combinations(distinct, 2))


def _meet(one: Offsets, two: Offsets, sides: Sequence[_Side], mapped: Set[str]) -> bool:
    """Whether some item reads with one offset what another item of its group reads with the other."""
    another = any(a != b for a, b, side in zip(one, two, sides, strict=True) if side.axis.index in mapped)
    return another and all(
        (a - b) % side.axis.stride == 0 and abs(a - b) < side.items * abs(side.axis.stride)
        for a, b, side in zip(one, two, sides, strict=True)
    )


def _reference(tile: str, reads: _Reads, offsets: Offsets) -> Node:
    """The element of the tile that an item reads with some offsets."""
    result: Node | None = None
    for side, width, offset in zip(reads.sides, reads.widths, offsets, strict=True):
        place = _place(side, offset - side.low)
        result = place if result is None else _plus(binary("*", result, width), place)
    assert result is not None
    return index(tile, result)


def _padding(reads: _Reads, fastest: Axis, items: int) -> int:
    """1 where rows of an even length would make the items of a warp read from one bank, else 0.

    A warp reads from one row where its items run along the row and fill it.
    """
    row = reads.sides[-1]
    along = row.axis.index == fastest.index and items >= _WARP
    return 0 if along or len(reads.sides) == 1 or row.extent % 2 else 1


def _plus(left: Node, right: Node) -> Node:
    """`left + right`, without parentheses around a sum on the right."""
    match right:
        case c_ast.BinaryOp(op="+" | "-" as op, left=first, right=second):
            return binary(op, binary("+", left, first), second)
        case _:
            return binary("+", left, right)


def _place(side: _Side, offset: int) -> Node:
    """How far from the tile's first value an item's index is, plus an offset."""
    step = abs(side.axis.stride)
    place = mul(ident(place_name(side.axis)), step)
    return add(place, offset) if side.axis.upward else sub((side.items - 1) * step + offset, place)


def _tile(
    tile: str, array: Array, reads: _Reads, items: int, count: Node, arithmetic: Arithmetic
) -> StagedTile:
    """The tile of that name, which all items fill together, each every `items`-th element; none beyond the buffer."""
    name = array.plan.name
    elements = prod(side.extent for side in reads.sides)
    declared: list[Node] = []
    flat, weight = reads.rest, elements
    for side in reads.sides:
        whole = weight
        weight //= side.extent
        cell: Node = ident(_CELL) if weight == 1 else binary("/", ident(_CELL), weight)
        cell = cell if whole == elements else binary("%", cell, side.extent)
        declared.append(declare("const long", side.axis.index, _index(side, cell)))
        flat = flat + side.factor * Polynomial.symbol(side.axis.index)
    kept = frozenset({*(side.axis.index for side in reads.sides), *(s.name for s in array.scalars)})
    element = arithmetic.expression(flat, kept=kept)
    if array.first is not None:
        number = literal_value(array.first)
        element = sub(element, array.first if number is None else number)
    inside = binary("&&", binary(">=", ident(_ELEMENT), 0), binary("<", ident(_ELEMENT), count))
    row = reads.sides[-1].extent
    place: Node = ident(_CELL)
    if reads.pad:
        place = binary("+", place, binary("/", ident(_CELL), row))
    copy = assign(index(tile, place), index(name, ident(_ELEMENT)))
    load = _each_cell(
        elements, items, block(*declared, declare("const long", _ELEMENT, element), if_(inside, copy))
    )
    room = elements + elements // row * reads.pad
    return StagedTile(tile, array.plan.type, name, room, (load,))


def _index(side: _Side, cell: Node) -> Node:
    """The value of an index that belongs to a place in the tile, in `long`."""
    axis, step = side.axis, abs(side.axis.stride)
    number = literal_value(axis.start)
    offset = side.low + (number or 0)
    begin = mul(ident(begin_name(axis)), step)
    first = ident(start_name(axis)) if number is None else None
    if axis.upward:
        value = begin if first is None else add(first, begin)
    else:
        offset -= (side.items - 1) * step
        value = unary("-", begin) if first is None else sub(first, begin)
    return add(binary("+", value, cell), offset)


def _each_cell(elements: int, items: int, body: Compound) -> Node:
    """A statement for each element of a tile, by the items of a group: one at most each where there are so few."""
    cell = ident(_CELL)
    if elements > items:
        step = assign(_CELL, items, "+=")
        return for_(declare("int", _CELL, ident(_ITEM)), binary("<", cell, elements), step, body)
    rest = statements(body) if elements == items else [if_(binary("<", cell, elements), body)]
    return block(declare("const int", _CELL, ident(_ITEM)), *rest)
