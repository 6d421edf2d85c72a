"""Subscripts as sums over the sides of a tile: steady factors times indices, and a steady rest.

a[i * n + k + 1]      sides n * i and 1 * k, rest 1
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import combinations

from orio_py.ctree.build import add, binary, ident, mul, sub
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.nodes import Node, c_ast
from orio_py.kernel.call import place_name
from orio_py.kernel.plan import Axis
from orio_py.transformation.offload.element_accesses import ElementAccess
from orio_py.transformation.offload.tile_loads import Offsets, TileReads, TileSide


def parts_of(
    flat: Polynomial, use: ElementAccess, widths: Sequence[tuple[Axis, int]]
) -> tuple[tuple[TileSide, ...], Polynomial] | None:
    """A subscript as a sum of steady factors times axes, and the steady rest; None where it is none."""
    indices = {level.index for level in use.levels} | {axis.index for axis, _ in widths}
    rest = flat
    sides: list[TileSide] = []
    for axis, items in widths:
        factor = Polynomial.total(
            (tuple(s for s in monomial if s != axis.index), coefficient)
            for monomial, coefficient in flat.terms.items()
            if monomial.count(axis.index) == 1
        )
        if factor.terms:
            sides.append(TileSide(axis, items, factor))
            rest = rest - factor * Polynomial.symbol(axis.index)
    steady = (rest, *(side.factor for side in sides))
    if any(symbol in indices for value in steady for monomial in value.terms for symbol in monomial):
        return None
    # Neighbouring items load neighbouring elements.
    sides.sort(key=lambda side: leading(side.factor)[:2], reverse=True)
    return tuple(sides), rest


def whole_offsets(distance: Polynomial, sides: Sequence[TileSide]) -> tuple[Offsets, Polynomial]:
    """Whole numbers of the sides' factors that add up to a distance, and what they leave of it.

    The largest factor goes first, by the nearest number of it, as in `-64 + 1` for factors 64 and 1.
    """
    found = [0] * len(sides)
    order = sorted(range(len(sides)), key=lambda k: leading(sides[k].factor), reverse=True)
    for place in order:
        factor = sides[place].factor
        _, _, monomial = leading(factor)
        lead = factor.terms[monomial]
        found[place] = (2 * distance.terms.get(monomial, 0) + lead) // (2 * lead)
        distance = distance - factor.scaled(found[place])
    return tuple(found), distance


def leading(factor: Polynomial) -> tuple[int, int, tuple[str, ...]]:
    """The degree of a factor, the size of its leading coefficient, and the monomial of that."""
    monomial = max(factor.terms, key=lambda symbols: (len(symbols), symbols))
    return len(monomial), abs(factor.terms[monomial]), monomial


def is_reused(reads: TileReads, widths: Sequence[tuple[Axis, int]]) -> bool:
    """Whether two items of a group read one element."""
    used = {side.axis.index for side in reads.sides}
    if any(items > 1 for axis, items in widths if axis.index not in used):
        return True
    distinct = sorted(set(reads.offsets.values()))
    mapped = {axis.index for axis, _ in widths}
    return any(_meet(one, two, reads.sides, mapped) for one, two in combinations(distinct, 2))


def _meet(one: Offsets, two: Offsets, sides: Sequence[TileSide], mapped: Set[str]) -> bool:
    """Whether some item reads with one offset what another item of its group reads with the other."""
    another = any(a != b for a, b, side in zip(one, two, sides, strict=True) if side.axis.index in mapped)
    return another and all(
        (a - b) % side.axis.stride == 0 and abs(a - b) < side.items * abs(side.axis.stride)
        for a, b, side in zip(one, two, sides, strict=True)
    )


def lie_apart(reads: TileReads, widths: Sequence[tuple[Axis, int]]) -> bool:
    """Whether neighbouring items touch elements that lie apart, and items along another axis neighbouring ones.

    `widths` are the mapped axes, the fastest last, and how many iterations of each a group does in a step.
    """
    fastest, items = widths[-1]
    row, mapped = reads.sides[-1], {axis.index for axis, _ in widths}
    along = next((side for side in reads.sides if side.axis.index == fastest.index), None)
    if along is None or items == 1 or row.items == 1 or row.axis.index not in mapped:
        return False
    return row is not along and _is_unit(row) and not _is_unit(along)


def _is_unit(side: TileSide) -> bool:
    return abs((side.factor.value or 0) * side.axis.stride) == 1


def place_in_tile(reads: TileReads, offsets: Offsets) -> Node:
    """The place of the element that an item reads with some offsets."""
    result: Node | None = None
    for side, width, offset in zip(reads.sides, reads.widths, offsets, strict=True):
        place = _place(side, offset - side.low)
        result = place if result is None else plus(binary("*", result, width), place)
    assert result is not None
    return result


def plus(left: Node, right: Node) -> Node:
    """`left + right`, without parentheses around a sum on the right."""
    match right:
        case c_ast.BinaryOp(op="+" | "-" as op, left=first, right=second):
            return binary(op, binary("+", left, first), second)
        case _:
            return binary("+", left, right)


def _place(side: TileSide, offset: int) -> Node:
    """How far from the tile's first value an item's index is, plus an offset."""
    step = abs(side.axis.stride)
    place = mul(ident(place_name(side.axis)), step)
    return add(place, offset) if side.axis.upward else sub((side.items - 1) * step + offset, place)
