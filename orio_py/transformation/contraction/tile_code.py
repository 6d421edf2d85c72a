"""The code of a contraction in register tiles, as C text with the loops from the outside in.

A tile is a block of elements of the target, some values of one axis (its *rows*) by some of another (its *columns*).
Loops over columns have literal bounds.  Sums are in local arrays, one for each row, inside the summed loops, or in
scalars with the summed loops inside the one over columns: a compiler that vectorises that loop as a whole has the scalars
in registers, where some store arrays again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from orio_py.ctree.build import add, const, ident, mul
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with
from orio_py.ctree.simplify import simplify
from orio_py.transformation.contraction.sum_nest import SumAxis, SumNest

CACHE_LINE_BYTES = 64
"""On x86-64 and most ARM processors."""


@dataclass(frozen=True, slots=True)
class TileNames:
    """What variables of the code are called; `indices` and `counters` by the indices of the nest.

    The indices `declared` are variables that are there already.
    """

    indices: Mapping[str, str]
    counters: Mapping[str, str]
    declared: frozenset[str]
    sums: tuple[str, ...]
    """For each row of a tile."""
    column: str
    ahead: str


@dataclass(frozen=True, slots=True)
class Packing:
    """A copy of the part of an array that the loops inside `depth` outer ones read."""

    name: str
    type: str
    source: Node
    """The access that the copy stands for."""
    depth: int
    axes: tuple[SumAxis, ...]
    """Those that the copy has, the slowest first; an axis in blocks counts as long as a block inside its loop."""


@dataclass(frozen=True, slots=True)
class TilePlan:
    """What the code is to look like; names of axes are indices of the nest."""

    nest: SumNest
    order: tuple[str, ...]
    """The free axes, outermost first."""
    blocks: Mapping[str, int]
    """How many values of an axis are in a tile; 1 for the others."""
    rows: str | None
    columns: str | None
    names: TileNames
    packings: tuple[Packing, ...] = ()
    unroll: int = 1
    prefetch: tuple[str, int] | None = None
    around: SumAxis | None = None
    """The loop of `prefetch`, where it is none of the nest but one around it."""
    parallel: bool = False
    element_bytes: int = 8
    by_columns: bool = False
    """Whether each column of a tile has its sums by itself, in scalars, rather than each row its sums in an array."""


def tile_text(plan: TilePlan) -> str:
    """The code as C text."""
    return "\n".join(_Writer(plan).around(0, {}))


@dataclass(frozen=True, slots=True)
class _Writer:
    plan: TilePlan

    def around(self, depth: int, sizes: Mapping[str, int]) -> Iterator[str]:
        """The loops from a depth on; `sizes` has the values in a block of the axes whose loops are open."""
        plan = self.plan
        for packing in plan.packings:
            if packing.depth == depth:
                yield from self._copying(packing, sizes)
        if depth == len(plan.order):
            yield from self._tile(sizes)
            return
        axis = self._axis(plan.order[depth])
        block = min(plan.blocks.get(axis.index, 1), axis.extent)
        name = plan.names.indices[axis.index]
        rest = axis.extent % block
        step = f"{name}++" if block == 1 else f"{name} += {block}"
        if depth == 0 and plan.parallel:
            yield "#pragma omp parallel for"
        yield f"for ({self._set(axis)} = {axis.start}; {name} < {axis.end - rest}; {step}) {{"
        yield from self.around(depth + 1, {**sizes, axis.index: block})
        yield "}"
        if rest:
            constant = "" if axis.index in plan.names.declared else "const "
            yield f"{{ {constant}{self._set(axis)} = {axis.end - rest};"
            yield from self.around(depth + 1, {**sizes, axis.index: rest})
            yield "}"

    def _set(self, axis: SumAxis) -> str:
        """The left-hand side of what sets an index, with its declaration if it has none."""
        name = self.plan.names.indices[axis.index]
        return name if axis.index in self.plan.names.declared else f"{axis.type} {name}"

    def _axis(self, index: str) -> SumAxis:
        axis = self.plan.nest.axis(index)
        assert axis is not None
        return axis

    def _copying(self, packing: Packing, sizes: Mapping[str, int]) -> Iterator[str]:
        """The declaration of a packed part and the loops that fill it, the fastest index innermost."""
        extents = [sizes.get(axis.index, axis.extent) for axis in packing.axes]
        yield f"{packing.type} {packing.name}[{prod(extents)}];"
        counters = {axis.index: self.plan.names.counters[axis.index] for axis in packing.axes}
        for axis, extent in zip(packing.axes, extents, strict=True):
            name = counters[axis.index]
            yield f"for (int {name} = 0; {name} < {extent}; {name}++)"
        values = {
            axis.index: add(
                ident(self.plan.names.indices[axis.index]) if axis.index in sizes else axis.start, ident(name)
            )
            for axis, name in ((axis, counters[axis.index]) for axis in packing.axes)
        }
        places = [ident(counters[axis.index]) for axis in packing.axes]
        place = emit_expression(_linear(list(zip(places, extents, strict=True))))
        yield f"{packing.name}[{place}] = {self._text(packing.source, values)};"

    def _tile(self, sizes: Mapping[str, int]) -> Iterator[str]:
        plan, nest = self.plan, self.plan.nest
        rows, columns = (1 if a is None else sizes[a] for a in (plan.rows, plan.columns))
        column = plan.names.column if columns > 1 else ""
        inside = [self._offsets({plan.rows: const(row), plan.columns: column}) for row in range(rows)]
        targets = [self._text(nest.target, values) for values in inside]
        yield from self._prefetches(rows, columns)
        if not nest.summed:
            statements = [
                f"{target} {nest.operator} {self._value(values, sizes)};"
                for target, values in zip(targets, inside, strict=True)
            ]
            yield from self._for_columns(column, columns, statements)
            return
        if column and plan.by_columns:
            yield f"for (int {column} = 0; {column} < {columns}; {column}++) {{"
            yield from self._summed(inside, targets, sizes, "", 1)
            yield "}"
            return
        yield from self._summed(inside, targets, sizes, column, columns)

    def _summed(
        self,
        inside: Sequence[Mapping[str, Node]],
        targets: Sequence[str],
        sizes: Mapping[str, int],
        column: str,
        columns: int,
    ) -> Iterator[str]:
        """The sums of some elements, those of each row at its values of indices `inside`: begun, formed and stored."""
        plan, nest = self.plan, self.plan.nest
        dimension = f"[{columns}]" if column else ""
        sums = plan.names.sums[: len(inside)]
        places = [f"{total}[{column}]" if column else total for total in sums]
        begins = targets if nest.initial is None else [self._text(nest.initial, values) for values in inside]
        yield f"{nest.type} {', '.join(total + dimension for total in sums)};"
        first = [f"{place} = {begin};" for place, begin in zip(places, begins, strict=True)]
        yield from self._for_columns(column, columns, first)

        def body(values: Mapping[str, Node]) -> Iterator[str]:
            parts = [self._value({**tile, **values}, sizes) for tile in inside]
            added = [f"{place} {nest.operator} {part};" for place, part in zip(places, parts, strict=True)]
            yield from self._for_columns(column, columns, added)

        yield from self._sums(nest.summed, {}, body)
        last = [f"{target} = {place};" for target, place in zip(targets, places, strict=True)]
        yield from self._for_columns(column, columns, last)

    def _for_columns(self, column: str, columns: int, statements: Sequence[str]) -> Iterator[str]:
        if column:
            yield f"for (int {column} = 0; {column} < {columns}; {column}++) {{"
        yield from statements
        if column:
            yield "}"

    def _sums(
        self,
        axes: Sequence[SumAxis],
        values: Mapping[str, Node],
        body: Callable[[Mapping[str, Node]], Iterator[str]],
    ) -> Iterator[str]:
        """The loops over the summed axes around `body` at their values, the innermost one unrolled."""
        if not axes:
            yield from body(values)
            return
        axis, *inner = axes
        name = self.plan.names.indices[axis.index]
        copies = min(self.plan.unroll, axis.extent) if not inner else 1
        rest = axis.extent % copies
        if copies < axis.extent:
            step = f"{name}++" if copies == 1 else f"{name} += {copies}"
            yield f"for ({self._set(axis)} = {axis.start}; {name} < {axis.end - rest}; {step}) {{"
            for copy in range(copies):
                yield from self._sums(inner, {**values, axis.index: add(ident(name), copy)}, body)
            yield "}"
        else:
            rest = axis.extent
        for number in range(axis.end - rest, axis.end):
            yield from self._sums(inner, {**values, axis.index: const(number)}, body)

    def _value(self, values: Mapping[str, Node], sizes: Mapping[str, int]) -> str:
        """The product at some values of indices, with packed parts in place of arrays."""
        packed: dict[str, Node] = {}
        for packing in self.plan.packings:
            place = _linear([self._packed(axis, values, sizes, packing) for axis in packing.axes])
            packed[emit_expression(packing.source)] = c_ast.ArrayRef(ident(packing.name), place)
        return self._text(self.plan.nest.value, values, packed)

    def _packed(
        self, axis: SumAxis, values: Mapping[str, Node], sizes: Mapping[str, int], packing: Packing
    ) -> tuple[Node, int]:
        """Where a value of an axis is in a packed part, and how many values the part has."""
        plan, name = self.plan, self.plan.names.indices[axis.index]
        value = values.get(axis.index, ident(name))
        if axis.index in plan.order[: packing.depth]:
            return _Placed({name: const(0)}, {}).rewrite(value), sizes[axis.index]
        return add(value, const(-axis.start)) if axis.start else value, axis.extent

    def _prefetches(self, rows: int, columns: int) -> Iterator[str]:
        """Requests for the tile some blocks ahead, or for this one where there is none: each address is one in use."""
        if self.plan.prefetch is None:
            return
        index, distance = self.plan.prefetch
        axis, name = self.plan.around or self._axis(index), self.plan.names.indices.get(index, index)
        block = min(self.plan.blocks.get(index, 1), axis.extent)
        ahead = distance * block
        last = axis.end - ahead - block
        if last < axis.start:
            return
        there = f"{name} <= {last} ? {name} + {ahead} : {name}"
        far = self.plan.names.ahead
        yield f"const {axis.type} {far} = {there};"
        step = max(1, CACHE_LINE_BYTES // self.plan.element_bytes)
        for row in range(rows):
            for column in range(0, columns, step):
                parts = {self.plan.rows: const(row), self.plan.columns: const(column)}
                values = dict(self._offsets(parts))
                values[index] = _Placed({name: ident(far)}, {}).rewrite(values.get(index, ident(name)))
                yield f"__builtin_prefetch(&{self._text(self.plan.nest.target, values)}, 1, 3);"

    def _offsets(self, parts: Mapping[str | None, str | Node]) -> Mapping[str, Node]:
        """The values of the tile's axes at a place in it."""
        return {
            index: add(ident(self.plan.names.indices[index]), ident(part) if isinstance(part, str) else part)
            for index, part in parts.items()
            if index is not None and part
        }

    def _text(self, node: Node, values: Mapping[str, Node], packed: Mapping[str, Node] | None = None) -> str:
        """An expression of the nest at some values of its indices."""
        names = {index: ident(name) for index, name in self.plan.names.indices.items()}
        return emit_expression(_Placed({**names, **values}, packed or {}).rewrite(node))


class _Placed(Rewriter):
    """Puts values in place of variables, and other accesses in place of those of some texts."""

    def __init__(self, values: Mapping[str, Node], accesses: Mapping[str, Node]) -> None:
        self._values = values
        self._accesses = accesses

    def visit_ID(self, node: c_ast.ID) -> Node:
        return self._values.get(node.name, node)

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        if (other := self._accesses.get(emit_expression(node))) is not None:
            return other
        new = self.generic(node)
        return copy_with(new, subscript=simplify(new.subscript))


def _linear(parts: Sequence[tuple[Node, int]]) -> Node:
    """The place in an array of one dimension: a value and an extent for each index, the slowest first."""
    result: Node = const(0)
    for number, (value, extent) in enumerate(parts):
        result = value if number == 0 else add(value, mul(extent, result))
    return simplify(result)
