"""The parts of arrays that a nest touches, as data clauses of directives name them.

    for (i = 0; i < n; i++)             x[1:n]        elements 1 to n of x, read
      y[i] += A[i][0] * x[i + 1];       A[0:n]        the first n rows of A, read
                                        y[0:n]        read and written

An array whose extents the compiler knows is named as a whole.  Source: OpenMP API 5.2, section 3.2.5 (array
sections); The OpenACC Application Programming Interface 3.2, section 2.7.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from orio_py.ctree.build import binary, literal_value, ternary
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.symbols import CDeclaration
from orio_py.kernel.plan import Direction
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.offload.buffers import Array, array, direction, structures_array
from orio_py.transformation.offload.device_nest import DeviceNest
from orio_py.transformation.offload.element_accesses import ElementAccess
from orio_py.transformation.offload.extents import (
    declared_count,
    factor_of,
    first_extent,
    inner_extents,
)
from orio_py.transformation.offload.index_ranges import minimums
from orio_py.transformation.offload.ranges import Range, touched
from orio_py.transformation.types import declaration


@dataclass(frozen=True, slots=True)
class ArraySection:
    """`count` elements of an array's first dimension from number `first` on, or the whole array without `count`.

    `count` is never negative, but where `needs_iterations` and a mapped loop does not run.
    """

    name: str
    direction: Direction
    first: Node | None = None
    count: Node | None = None
    needs_iterations: bool = False

    @property
    def text(self) -> str:
        """The section as clauses write it.

        >>> from orio_py.ctree.build import const, ident
        >>> ArraySection("x", Direction.IN, const(1), ident("n")).text, ArraySection("y", Direction.OUT).text
        ('x[1:n]', 'y')
        """
        if self.count is None:
            return self.name
        first = "0" if self.first is None else _bound(self.first)
        return f"{self.name}[{first}:{_bound(self.count)}]"


def _bound(node: Node) -> str:
    """A bound; the colons of choices stand in parentheses."""
    text = emit_expression(node)
    return f"({text})" if isinstance(node, c_ast.TernaryOp) else text


def sections(nest: DeviceNest, what: str) -> tuple[ArraySection, ...]:
    """What a nest touches of each array, in the order of the source.  Raises Refusal: ORIO-T122, T124."""
    return tuple(_Sections(nest, what).of(name, uses) for name, uses in nest.uses.items())


class _Sections:
    def __init__(self, nest: DeviceNest, what: str) -> None:
        self._nest = nest
        self._what = what
        self._known = {**minimums(nest.axes), **nest.arithmetic.minimums}

    @property
    def _context(self) -> Context:
        return self._nest.plain.context

    def of(self, name: str, uses: Sequence[ElementAccess]) -> ArraySection:
        """What the nest touches of one array.  Raises Refusal: ORIO-T122, T124."""
        declared = declaration(name, self._context)
        assert declared is not None
        flat = self._array(name, uses)
        is_part = name in self._nest.plain.parts
        if not is_part and declared_count(declared, self._nest.arithmetic, self._context) is not None:
            return ArraySection(name, flat.plan.direction)
        rows = self._rows(declared, uses, flat)
        if isinstance(rows, ArraySection):
            return rows
        first, count = rows.written(self._nest.arithmetic)
        found = self._direction(declared, uses, flat, rows.size)
        if literal_value(count) is not None or self._is_natural(rows, self._nest.arithmetic.minimums):
            return ArraySection(name, found, first, count)
        if self._is_natural(rows, self._known):
            return ArraySection(name, found, first, count, needs_iterations=True)
        return ArraySection(name, found, first, ternary(binary(">", count, 0), count, 0))

    def _array(self, name: str, uses: Sequence[ElementAccess]) -> Array:
        """The array as a flat buffer: which of its elements are touched, and how."""
        nest, what = self._nest, self._what
        if (mixed := nest.plain.mixed.get(name)) is not None:
            return structures_array(
                mixed.declared, mixed.record, uses, nest.axes, nest.arithmetic, what, self._context
            )
        return array(name, uses, nest.axes, nest.arithmetic, what, self._context)

    def _rows(
        self, declared: CDeclaration, uses: Sequence[ElementAccess], flat: Array
    ) -> Range | ArraySection:
        """The first subscripts, or a section of as many rows as are promised.  Raises Refusal: ORIO-T122."""
        first = [use.subscripts[0] for use in uses]
        try:
            return touched(uses, first, self._nest.axes, self._nest.arithmetic, declared, self._what)
        except Refusal:
            if not declared.promised:
                raise
        whole = Direction.IN if flat.plan.direction is Direction.IN else Direction.INOUT
        return ArraySection(declared.name, whole, None, first_extent(declared))

    def _direction(
        self,
        declared: CDeclaration,
        uses: Sequence[ElementAccess],
        flat: Array,
        rows: Polynomial | None,
    ) -> Direction:
        """Whole rows are copied back only where each of their elements is written."""
        if flat.plan.direction is not Direction.OUT or not flat.inner:
            return flat.plan.direction
        arithmetic = self._nest.arithmetic
        inner, scalars = inner_extents(declared, self._context)
        sizes = {scalar.name: scalar.value for scalar in scalars}
        width = prod((factor_of(extent, sizes, arithmetic) for extent in inner), start=Polynomial.constant(1))
        size = None if rows is None else rows * width
        return direction(uses, flat.flats, len(self._nest.axes), size)

    def _is_natural(self, rows: Range, known: dict[str, int]) -> bool:
        """Whether the number of rows is known to be at least 0; where its condition does not hold it is 0."""
        return rows.size is not None and self._nest.arithmetic.is_natural(rows.size, known)
