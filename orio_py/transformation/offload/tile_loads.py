"""How the items of a group fill a tile of an array in local memory together.

    for (int orio_cell = orio_item; orio_cell < 512; orio_cell += 256) {
      const long i = orio_begin_i + orio_cell / 8;
      const long k = orio_begin_k + orio_cell % 8;
      const long orio_element = i * n + k;
      if (orio_element >= 0 && orio_element < orio_elements_a)
        orio_tile_a[orio_cell] = a[orio_element];
    }

Neighbouring items load neighbouring elements, and store them likewise where iterations write to the tile.  Where the items of a group are whole rows of the tile, each stays in
its column, so that only the row has to be computed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from math import prod

from orio_py.ctree.build import (
    add,
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
from orio_py.ctree.nodes import Compound, Node
from orio_py.kernel.call import begin_name, start_name, trips_name
from orio_py.kernel.plan import Axis, StagedTile
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.buffers import Array

_CELL, _ROW, _ABOVE, _COLUMN = "orio_cell", "orio_row", "orio_above", "orio_column"
_ELEMENT, _FIRST, _ITEM = "orio_element", "orio_first", "orio_item"

_Copy = Callable[[Node, Sequence[Node]], Node]
"""The statement that copies the element at a place in the tile, which is so far along each side."""

Offsets = tuple[int, ...]
"""What a subscript adds to each index of a tile."""


@dataclass(frozen=True, slots=True)
class TileSide:
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

    @property
    def is_filled(self) -> bool:
        """Whether no iteration of the axis is ever missing in a group."""
        trips = literal_value(self.axis.trips)
        return trips is not None and trips % self.items == 0


@dataclass(frozen=True, slots=True)
class TileReads:
    """The references to one array: `sides`, to whose indices each adds its offsets, by identity, and `rest`."""

    sides: tuple[TileSide, ...]
    rest: Polynomial
    offsets: Mapping[int, Offsets]
    pad: int = 0

    @property
    def widths(self) -> tuple[int, ...]:
        """The elements from one value of each side to the next one of the side before it: extents, with gaps."""
        return (*(side.extent for side in self.sides[:-1]), self.sides[-1].extent + self.pad)


@dataclass(frozen=True, slots=True)
class Filling:
    """The tile `name` of an array, which `items` items fill for the references of `reads`.

    `steady` are indices that the rest of the references is made of.
    """

    name: str
    array: Array
    reads: TileReads
    items: int
    steady: frozenset[str] = frozenset()

    def tile(self, count: Node, arithmetic: Arithmetic, *, certain: bool) -> StagedTile:
        """The tile, loaded from the `count` elements of the buffer.

        `certain` says that all elements are in the buffer where no iteration is missing.
        """
        whole = (self._load(None, arithmetic),) if certain else None
        return StagedTile(*self._place, (self._load(count, arithmetic),), whole=whole)

    def own_tile(self, arithmetic: Arithmetic, filled: Set[str], *, is_read: bool) -> StagedTile:
        """The tile of elements each of which belongs to one iteration: it is stored, and loaded where it `is_read`.

        No iteration is missing along the axes of `filled`.
        """
        array, element = self.array.plan.name, ident(_ELEMENT)

        def load(place: Node, cells: Sequence[Node]) -> Node:
            return self._existing(assign(index(self.name, place), index(array, element)), cells, filled)

        def store(place: Node, cells: Sequence[Node]) -> Node:
            return self._existing(assign(index(array, element), index(self.name, place)), cells, filled)

        loads = (self._each(load, arithmetic),) if is_read else ()
        return StagedTile(*self._place, loads, store=(self._each(store, arithmetic),))

    def plane(self, slot: Node, count: Node, arithmetic: Arithmetic) -> Node:
        """The statement that fills the tile from an element on, from the `count` elements of the buffer."""
        return self._each(lambda place, _: self._copy(add(slot, place), count), arithmetic)

    def cell(self, number: int, element: str, place: str, arithmetic: Arithmetic) -> list[Node]:
        """The declarations of the element of the buffer and the place in the tile of an item's cell of some number."""
        extents = [side.extent for side in self.reads.sides]
        cell = add(ident(_ITEM), number * self.items)
        gaps = mul(binary("/", ident(_CELL), extents[-1]), self.reads.pad) if self.reads.pad else 0
        return [
            declare("int", place),
            declare("long", element),
            block(
                declare("const int", _CELL, cell),
                *self._indices(_cells(extents)),
                assign(element, self._element(arithmetic)),
                assign(place, add(ident(_CELL), gaps)),
            ),
        ]

    @property
    def cells(self) -> int:
        """The elements of the tile that are loaded."""
        return prod(side.extent for side in self.reads.sides)

    @property
    def size(self) -> int:
        """The elements of the tile, with the gaps between rows."""
        return self._place[3]

    @property
    def _place(self) -> tuple[str, str, str, int]:
        """The tile's name, type and array, and its elements with the gaps between rows."""
        elements, row = prod(side.extent for side in self.reads.sides), self.reads.sides[-1].extent
        return (
            self.name,
            self.array.plan.type,
            self.array.plan.name,
            elements + elements // row * self.reads.pad,
        )

    def _existing(self, statement: Node, cells: Sequence[Node], filled: Set[str]) -> Node:
        """A statement for the places of iterations that exist."""
        tests = [
            binary("<", add(ident(begin_name(side.axis)), cell), ident(trips_name(side.axis)))
            for side, cell in zip(self.reads.sides, cells, strict=True)
            if side.axis.index not in filled
        ]
        return if_(reduce(lambda one, two: binary("&&", one, two), tests), statement) if tests else statement

    def _load(self, count: Node | None, arithmetic: Arithmetic) -> Node:
        """The statement that fills the tile; of elements of the buffer alone, where their number is given."""
        return self._each(lambda place, _: self._copy(place, count), arithmetic)

    def _each(self, copy: _Copy, arithmetic: Arithmetic) -> Node:
        """The statement that copies every element of the tile."""
        extents = [side.extent for side in self.reads.sides]
        row, elements = extents[-1], prod(extents)
        if len(extents) == 2 and elements > self.items and not (self.items % row or elements % self.items):
            return self._each_row(copy, elements // row, arithmetic)
        gaps = mul(binary("/", ident(_CELL), row), self.reads.pad) if self.reads.pad else 0
        cells = _cells(extents)
        element = declare("const long", _ELEMENT, self._element(arithmetic))
        body = block(*self._indices(cells), element, copy(add(ident(_CELL), gaps), cells))
        return _each_cell(elements, self.items, body)

    def _each_row(self, copy: _Copy, rows: int, arithmetic: Arithmetic) -> Node:
        """The element of an item's column in each of its rows, of which all items have as many."""
        width, side = self.reads.sides[-1].extent, self.reads.sides[0]
        column = declare("const int", _COLUMN, binary("%", ident(_ITEM), width))
        row = declare("const int", _ROW, add(binary("/", ident(_ITEM), width), ident(_ABOVE)))
        below = arithmetic.expression(side.factor * Polynomial.symbol(_ROW), kept=frozenset({_ROW}))
        element = declare("const long", _ELEMENT, add(ident(_FIRST), below))
        place = add(mul(ident(_ROW), width + self.reads.pad), ident(_COLUMN))
        step = assign(_ABOVE, self.items // width, "+=")
        header = declare("int", _ABOVE, 0), binary("<", ident(_ABOVE), rows), step
        return block(
            column,
            *self._indices([0, ident(_COLUMN)]),
            declare("const long", _FIRST, self._element(arithmetic)),
            for_(*header, block(row, element, copy(place, [ident(_ROW), ident(_COLUMN)]))),
        )

    def _indices(self, cells: Sequence[Node | int]) -> list[Node]:
        """The indices of the sides' elements at some places in the tile."""
        sides = zip(self.reads.sides, cells, strict=True)
        return [declare("const long", side.axis.index, _index(side, cell)) for side, cell in sides]

    def _copy(self, place: Node, count: Node | None) -> Node:
        """An element to its place, if it is one of the buffer."""
        copy, number = (
            assign(index(self.name, place), index(self.array.plan.name, ident(_ELEMENT))),
            ident(_ELEMENT),
        )
        if count is None:
            return copy
        return if_in_buffer(number, count, copy)

    def _element(self, arithmetic: Arithmetic) -> Node:
        """The number in the buffer of the element that the indices name."""
        flat = self.reads.rest
        for side in self.reads.sides:
            flat = flat + side.factor * Polynomial.symbol(side.axis.index)
        names = {*self.steady, *(side.axis.index for side in self.reads.sides)}
        return element_number(self.array, flat, names, arithmetic)


def element_number(array: Array, flat: Polynomial, names: Set[str], arithmetic: Arithmetic) -> Node:
    """The number in the buffer of the element with a flat subscript, which is made of indices of these names."""
    element = arithmetic.expression(flat, kept=frozenset({*names, *(s.name for s in array.scalars)}))
    if array.first is None:
        return element
    number = literal_value(array.first)
    return sub(element, array.first if number is None else number)


def if_in_buffer(number: Node, count: Node, statement: Node) -> Node:
    """A statement for an element that is one of the buffer."""
    return if_(binary("&&", binary(">=", number, 0), binary("<", number, count)), statement)


def _cells(extents: Sequence[int]) -> list[Node]:
    """The place along each side of the element with a number."""
    found: list[Node] = []
    weight = elements = prod(extents)
    for extent in extents:
        whole = weight
        weight //= extent
        cell: Node = ident(_CELL) if weight == 1 else binary("/", ident(_CELL), weight)
        found.append(cell if whole == elements else binary("%", cell, extent))
    return found


def _index(side: TileSide, cell: Node | int) -> Node:
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
    return add(add(value, cell), offset)


def _each_cell(elements: int, items: int, body: Compound) -> Node:
    """A statement for each element of a tile, by the items of a group: one at most each where there are so few."""
    cell = ident(_CELL)
    if elements > items:
        step = assign(_CELL, items, "+=")
        return for_(declare("int", _CELL, ident(_ITEM)), binary("<", cell, elements), step, body)
    rest = statements(body) if elements == items else [if_(binary("<", cell, elements), body)]
    return block(declare("const int", _CELL, ident(_ITEM)), *rest)
