"""Tiles of arrays in local memory: a group copies once what several of its items read.

    q[i] = p[i - 1] + p[i + 1];         tile of p: items + 2 elements, from the group's first i - 1 on

An array is staged where the nest only reads it, each subscript is the same sum of mapped indices and steady
values but for whole numbers of them, and two items of a group read the same element.

Source: P. Micikevicius, "3D finite difference computation on GPUs using CUDA", GPGPU-2 2009, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
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
    sub,
    unary,
)
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.nodes import Node, c_ast
from orio_py.transform.offload.arithmetic import Arithmetic, as_long
from orio_py.transform.offload.buffers import Array
from orio_py.transform.offload.call import begin_name, place_name, start_name
from orio_py.transform.offload.elements import Element
from orio_py.transform.offload.plan import Axis, LaunchShape, ScalarPlan, StagedTile

_CELL, _ELEMENT, _ITEM = "orio_cell", "orio_element", "orio_item"

Offsets = tuple[int, ...]
"""What a subscript adds to each index of a tile."""


@dataclass(frozen=True, slots=True)
class Staging:
    """The tiles of a kernel, what stands in the body for references by identity, and scalars for the loads."""

    tiles: tuple[StagedTile, ...] = ()
    references: Mapping[int, Node] | None = None
    scalars: tuple[ScalarPlan, ...] = ()


@dataclass(frozen=True, slots=True)
class _Side:
    """One dimension of a tile: `factor` times the index of an axis, of which a group does `items` at a time."""

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


def staging(
    uses: Mapping[str, Sequence[Element]],
    arrays: Mapping[str, Array],
    axes: Sequence[Axis],
    launch: LaunchShape,
    arithmetic: Arithmetic,
) -> Staging:
    """Tiles for all arrays of which several items of a group read the same elements; perhaps none."""
    widths = list(zip(axes, reversed(launch.step), strict=True))
    tiles: list[StagedTile] = []
    references: dict[int, Node] = {}
    scalars: list[ScalarPlan] = []
    for name, found in uses.items():
        reads = _reads(found, arrays[name], widths)
        if reads is None or not _is_reused(reads, widths):
            continue
        count: Node = arrays[name].plan.count
        if literal_value(count) is None:
            scalar = f"orio_elements_{name}"
            scalars.append(ScalarPlan(scalar, "long", as_long(count), scalar))
            count = ident(scalar)
        tiles.append(_tile(arrays[name], reads, prod(launch.items), count, arithmetic))
        references |= {key: _reference(name, reads, offsets) for key, offsets in reads.offsets.items()}
    return Staging(tuple(tiles), references, tuple(scalars))


def tile_name(array: str) -> str:
    """The name of an array's tile."""
    return f"orio_tile_{array}"


def _reads(uses: Sequence[Element], array: Array, widths: Sequence[tuple[Axis, int]]) -> _Reads | None:
    """The references to an array, None where it is written or they do not differ by whole numbers alone."""
    sides: tuple[_Side, ...] = ()
    rest = Polynomial.constant(0)
    offsets: dict[int, Offsets] = {}
    for use, flat in zip(uses, array.flats, strict=True):
        parts = None if flat is None or use.writes else _parts(flat, use, widths)
        if parts is None:
            return None
        if not offsets:
            sides, (_, rest) = parts[0], _offsets(parts[1], parts[0])
        if [(s.axis.index, s.factor.key) for s in parts[0]] != [(s.axis.index, s.factor.key) for s in sides]:
            return None
        found, distance = _offsets(parts[1] - rest, sides)
        # One reference may be met in several cases of the conditions around it.
        if distance.terms or offsets.setdefault(id(use.node), found) != found:
            return None
    lows, highs = map(min, zip(*offsets.values(), strict=True)), map(max, zip(*offsets.values(), strict=True))
    wide = (
        _Side(s.axis, s.items, s.factor, low, high) for s, low, high in zip(sides, lows, highs, strict=True)
    )
    return _Reads(tuple(wide), rest, offsets) if sides else None


def _parts(
    flat: Polynomial, use: Element, widths: Sequence[tuple[Axis, int]]
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
    return any(_meet(one, two, reads.sides) for one, two in combinations(distinct, 2))


def _meet(one: Offsets, two: Offsets, sides: Sequence[_Side]) -> bool:
    """Whether some item reads with one offset what another item of its group reads with the other."""
    return all(
        (a - b) % side.axis.stride == 0 and abs(a - b) < side.items * abs(side.axis.stride)
        for a, b, side in zip(one, two, sides, strict=True)
    )


def _reference(name: str, reads: _Reads, offsets: Offsets) -> Node:
    """The element of the tile that an item reads with some offsets."""
    result: Node | None = None
    for side, offset in zip(reads.sides, offsets, strict=True):
        place = _place(side, offset - side.low)
        result = place if result is None else _plus(binary("*", result, side.extent), place)
    assert result is not None
    return index(tile_name(name), result)


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
    return add(place, offset) if side.axis.stride > 0 else sub((side.items - 1) * step + offset, place)


def _tile(array: Array, reads: _Reads, items: int, count: Node, arithmetic: Arithmetic) -> StagedTile:
    """The tile, which all items fill together, each every `items`-th element; none beyond the buffer."""
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
    copy = assign(index(tile_name(name), ident(_CELL)), index(name, ident(_ELEMENT)))
    load = for_(
        declare("int", _CELL, ident(_ITEM)),
        binary("<", ident(_CELL), elements),
        assign(_CELL, items, "+="),
        block(*declared, declare("const long", _ELEMENT, element), if_(inside, copy)),
    )
    return StagedTile(tile_name(name), array.plan.type, name, elements, (load,))


def _index(side: _Side, cell: Node) -> Node:
    """The value of an index that belongs to a place in the tile, in `long`."""
    axis, step = side.axis, abs(side.axis.stride)
    number = literal_value(axis.start)
    offset = side.low + (number or 0)
    begin = mul(ident(begin_name(axis)), step)
    first = ident(start_name(axis)) if number is None else None
    if axis.stride > 0:
        value = begin if first is None else add(first, begin)
    else:
        offset -= (side.items - 1) * step
        value = unary("-", begin) if first is None else sub(first, begin)
    return add(binary("+", value, cell), offset)
