"""The arrays of a nest as flat buffers: their types, extents and directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orio_py.ctree.build import add, as_long, binary, const, ident, index, literal_value, sub, unary
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration
from orio_py.kernel.plan import BufferPlan, Direction, ScalarPlan
from orio_py.kernel.records import RecordPlan
from orio_py.kernel.types import element_type
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.element_accesses import ElementAccess
from orio_py.transformation.offload.extents import declared_count, factor_of, inner_extents, promised_count
from orio_py.transformation.offload.index_ranges import IndexRange, minimums
from orio_py.transformation.offload.ranges import Range, touched
from orio_py.transformation.offload.slices import slice_plan
from orio_py.transformation.types import declaration

_INT_MAX = 2**31 - 1
_MOST_ENDS = 2
"""Of which the first element is the smallest, where a promise tells how many there are: expressions double with each."""


@dataclass(frozen=True, slots=True)
class Array:
    """An array of the nest: how its subscripts become one.

    `inner` are the extents of all dimensions but the first, as the kernel sees them; `first` is the flat
    subscript of the buffer's first element, None for 0; `scalars` what the kernel is given for both.
    `flats` are the flat subscripts of the references to it, before `first` is taken off.  `declared` says that
    the buffer is the array of a declaration, whatever the subscripts.  The elements of one with a `record` are
    structures, and the last subscript is the place of a number in one.  Where the device holds it by columns, the
    last subscript comes first, and `inner` is the number of rows.
    """

    plan: BufferPlan
    inner: tuple[Node, ...]
    first: Node | None
    scalars: tuple[ScalarPlan, ...]
    flats: tuple[Polynomial | None, ...]
    declared: bool = False
    record: RecordPlan | None = None

    def element(self, name: Node, subscripts: Sequence[Node]) -> Node:
        """What a reference to the array is in the kernel."""
        if self.record is None:
            return index(name, self.flat(subscripts))
        return self.record.reference(index(name, self.flat(subscripts[:-1])), subscripts[-1])

    def flat(self, subscripts: Sequence[Node]) -> Node:
        """One subscript for several."""
        if self.plan.rows is not None:
            subscripts = subscripts[::-1]
        result = subscripts[0]
        wide = not self._is_small()
        for extent, subscript in zip(self.inner, subscripts[1:], strict=True):
            left = as_long(result) if wide else result
            wide = wide and literal_value(result) == 0
            whole = None if literal_value(result) == 0 else binary("*", left, extent)
            result = simplify(subscript if whole is None else _sum(whole, subscript))
        if self.first is None:
            return result
        number = literal_value(self.first)
        return simplify(sub(result, self.first if number is None else number))

    def _is_small(self) -> bool:
        size = literal_value(self.plan.count)
        return not self.inner or (size is not None and size <= _INT_MAX)


def _sum(left: Node, right: Node) -> Node:
    """`left + right` without parentheses around a sum on the right: both are subscripts."""
    match right:
        case c_ast.BinaryOp(op="+" | "-" as op, left=first, right=second):
            return binary(op, _sum(left, first), second)
        case _:
            value = literal_value(right)
            return add(left, right if value is None else value)


def array(
    name: str,
    uses: Sequence[ElementAccess],
    axes: Sequence[IndexRange],
    arithmetic: Arithmetic,
    what: str,
    context: Context,
    *,
    by_columns: bool = False,
    in_vectors: bool = False,
    in_structures: bool = False,
    outer: CanonicalLoop | None = None,
    span: Range | None = None,
) -> Array:
    """What becomes of one array; one of two dimensions may be held `by_columns`.

    The last subscript may be a place `in_structures`, `in_vectors` says that neighbouring iterations are done together, `outer` is the outermost axis if it is cut in
    slices.  The elements that are used are those of `span`, where the code does not tell.

    Raises Refusal: ORIO-T122, T124.
    """
    declared = declaration(name, context)
    assert declared is not None
    _require_elements(declared, uses, what)
    if in_vectors:
        uses = [_blended(use) for use in uses]
    if by_columns and len(declared.dimensions) == 2:
        return _columns(declared, uses, axes, arithmetic, what, context)
    return _rows(
        declared, uses, axes, arithmetic, what, context, outer=outer, in_structures=in_structures, span=span
    )


def _blended(use: ElementAccess) -> ElementAccess:
    """Of vectors, what a condition does not let be assigned is assigned what was there."""
    return replace(use, reads=True) if use.writes and not use.always else use


def structures_array(
    declared: CDeclaration,
    record: RecordPlan,
    uses: Sequence[ElementAccess],
    axes: Sequence[IndexRange],
    arithmetic: Arithmetic,
    what: str,
    context: Context,
    *,
    outer: CanonicalLoop | None = None,
    span: Range | None = None,
) -> Array:
    """What becomes of an array of structures with members of several types: a buffer of them.

    The last subscripts of `uses` are places of members.  Raises Refusal: ORIO-T122, T124.
    """
    _require_elements(declared, uses, what, record=record)
    whole = [replace(use, subscripts=use.subscripts[:-1]) for use in uses]
    found = _rows(declared, whole, axes, arithmetic, what, context, outer=outer, span=span)
    # Members that the loops do not assign, and what lies between them, keep what is there.
    kept = Direction.INOUT if found.plan.direction is Direction.OUT else found.plan.direction
    return replace(found, plan=replace(found.plan, direction=kept, record=record), record=record)


def _rows(
    declared: CDeclaration,
    uses: Sequence[ElementAccess],
    axes: Sequence[IndexRange],
    arithmetic: Arithmetic,
    what: str,
    context: Context,
    *,
    outer: CanonicalLoop | None,
    in_structures: bool = False,
    span: Range | None = None,
) -> Array:
    """An array that the device holds as C does; the last subscript may be a place `in_structures`."""
    name = declared.name
    inner, scalars = inner_extents(declared, context)
    sizes = {scalar.name: scalar.value for scalar in scalars}
    extents = [factor_of(extent, sizes, arithmetic) for extent in inner]
    flats = [_flat(use, extents) for use in uses]
    whole = declared_count(declared, arithmetic, context)
    found = span
    if whole is None and span is None:
        found, whole = _touched(declared, uses, flats, axes, extents, arithmetic, what, in_structures)
    if found is None:
        assert whole is not None
        count = arithmetic.expression(whole)
        first: Node | None = None
    else:
        first, count = found.written(arithmetic)
    scalars = list(scalars)
    zero: Node = ident(name)
    for _ in inner:
        zero = index(zero, 0)
    address = zero if not inner else unary("&", index(zero, 0))
    least = {**minimums(axes), **arithmetic.minimums}
    origin = first, found.lowers[0] if found is not None and len(found.lowers) == 1 else None
    slices = (
        None
        if outer is None or span is not None
        else slice_plan(uses, flats, outer, len(axes), origin, arithmetic, least)
    )
    if first is not None:
        address = unary("&", index(name, first)) if not inner else binary("+", address, first)
        if literal_value(first) is None:
            offset = f"orio_first_{name}"
            scalars.append(ScalarPlan(offset, "long", as_long(first), offset))
            first = ident(offset)
    way = direction(uses, flats, len(axes), whole if found is None else found.size)
    plan = BufferPlan(name, declared.type, address, count, way, slices=slices)
    return Array(plan, tuple(inner), first, tuple(scalars), tuple(flats), found is None)


def _touched(
    declared: CDeclaration,
    uses: Sequence[ElementAccess],
    flats: Sequence[Polynomial | None],
    axes: Sequence[IndexRange],
    extents: Sequence[Polynomial],
    arithmetic: Arithmetic,
    what: str,
    in_structures: bool,
) -> tuple[Range | None, Polynomial | None]:
    """The elements that are touched, or else how many are promised.  Raises Refusal: ORIO-T122."""
    promised = promised_count(declared, extents, arithmetic)
    try:
        found = touched(uses, flats, axes, arithmetic, declared, what)
    except Refusal:
        places = extents[-1].value if in_structures and promised is None else None
        if places is None:
            if promised is None:
                raise
            return None, promised
        # A structure of which a member is used is there as a whole.
        heads = [replace(use, subscripts=use.subscripts[:-1]) for use in uses]
        numbers = [_flat(use, extents[:-1]) for use in heads]
        return touched(heads, numbers, axes, arithmetic, declared, what).of_places(places), None
    if promised is not None and found.ends > _MOST_ENDS:
        return None, promised
    return found, None


def _columns(
    declared: CDeclaration,
    uses: Sequence[ElementAccess],
    axes: Sequence[IndexRange],
    arithmetic: Arithmetic,
    what: str,
    context: Context,
) -> Array:
    """An array of two dimensions as whole rows that the device holds column by column."""
    name = declared.name
    (width,), widths = inner_extents(declared, context)
    factor = factor_of(width, {scalar.name: scalar.value for scalar in widths}, arithmetic)
    length = width if not widths else widths[0].value
    flats = [_flat(use, [factor]) for use in uses]
    whole = declared_count(declared, arithmetic, context)
    first: Node | None = None
    size: Polynomial | None = whole
    if whole is not None:
        count = arithmetic.expression(whole)
        rows: Node = binary("/", as_long(count), length)
        number, wide = whole.value, factor.value
        rows = const(number // wide) if number is not None and wide else rows
    else:
        found = touched(uses, [use.subscripts[0] for use in uses], axes, arithmetic, declared, what)
        first, rows = found.written(arithmetic)
        height = found.size
        size = None if height is None else height * factor
        count = binary("*", as_long(rows), length)
    given = ScalarPlan(f"orio_rows_{name}", "long", as_long(rows), f"orio_rows_{name}")
    scalars = [given]
    address = unary("&", index(name, 0 if first is None else first, 0))
    if first is not None and literal_value(first) is None:
        offset = f"orio_first_{name}"
        scalars.append(ScalarPlan(offset, "long", as_long(first), offset))
        first = ident(offset)
    height = arithmetic.extent(given.name, rows)
    turned = [_flat(replace(use, subscripts=use.subscripts[::-1]), [height]) for use in uses]
    way = direction(uses, flats, len(axes), size)
    plan = BufferPlan(name, declared.type, address, count, way, rows=given.name)
    return Array(plan, (ident(given.name),), first, tuple(scalars), tuple(turned), whole is not None)


def _require_elements(
    declared: CDeclaration, uses: Sequence[ElementAccess], what: str, *, record: RecordPlan | None = None
) -> None:
    """Each reference is to an element of a type that devices have.  Raises Refusal: ORIO-T124."""
    depth = max(len(declared.dimensions), 1) + (record is not None)
    if record is None and element_type(declared) is None:
        refuse(
            "ORIO-T124",
            f"{what} needs elements of a type that devices have; `{declared.name}` is of type `{declared.type}`",
            uses[0].node,
        )
    if "volatile" in declared.qualifiers:
        refuse("ORIO-T124", f"{what} cannot copy the volatile array `{declared.name}`", uses[0].node)
    for use in uses:
        if len(use.subscripts) != depth:
            refuse(
                "ORIO-T124",
                f"{what} needs single elements of `{declared.name}`, with {depth} subscripts each",
                use.node,
            )


def _flat(use: ElementAccess, inner: Sequence[Polynomial]) -> Polynomial | None:
    result: Polynomial | None = use.subscripts[0]
    for extent, subscript in zip(inner, use.subscripts[1:], strict=True):
        if result is None or subscript is None:
            return None
        result = result * extent + subscript
    return result


def direction(
    uses: Sequence[ElementAccess],
    flats: Sequence[Polynomial | None],
    axes: int,
    size: Polynomial | None,
) -> Direction:
    """Which way a buffer of `size` elements is copied, whose elements have the subscripts `flats` in `uses`."""
    if not any(use.writes for use in uses):
        return Direction.IN
    if any(use.reads for use in uses):
        return Direction.INOUT
    for use, flat in zip(uses, flats, strict=True):
        if size is not None and flat is not None and use.always and _fills(flat, use.levels, axes, size):
            return Direction.OUT
    return Direction.INOUT


def _fills(flat: Polynomial, levels: Sequence[IndexRange], axes: int, size: Polynomial) -> bool:
    """Whether a subscript takes as many values as the buffer has elements, and each in some iteration.

    It does where the loops count as the digits of a number do: the fastest by 1, the next by the number
    of iterations of the fastest, and so on.  A loop that is no axis may not run at all, so there may be one
    of those: where it does not run, the size is 0 or less too.  Axes that do not change the subscript repeat that.
    """
    if len(levels) > axes + 1:
        return False
    weight = Polynomial.constant(1)
    remaining = [level for place, level in enumerate(levels) if place >= axes or level.index in flat.symbols]
    while remaining:
        level = next((level for level in remaining if _counts(flat, level, weight)), None)
        if level is None or level.trips is None:
            return False
        weight = weight * level.trips
        remaining.remove(level)
    return not (weight - size).terms


def _counts(flat: Polynomial, level: IndexRange, weight: Polynomial) -> bool:
    """Whether the factor of a level's index is the weight, or its opposite."""
    factor = Polynomial.total(
        (tuple(symbol for symbol in monomial if symbol != level.index), coefficient)
        for monomial, coefficient in flat.terms.items()
        if level.index in monomial
    )
    return factor.key in {weight.key, weight.scaled(-1).key}
