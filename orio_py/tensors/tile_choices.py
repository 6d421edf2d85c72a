"""The ways to tile a contraction for a processor, as values of tuning parameters, the most promising ones first.

What is decided and not searched: loops over neighbouring elements are joined, and the columns of a tile run over the
output's elements with unit stride, so that they are loaded and stored in one piece.  What is searched: the order of the
loops around a tile, its size, which operands are packed, unrolling, and prefetching.  The order of the lists is a rule's:
fewer bytes from beyond the first-level cache, and tiles that leave nothing over.  What takes many more loads and stores
along the columns than another value is left out before anything is measured: columns that do not fill vectors, and
operands that are loaded element by element again and again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod

from orio_py.tensors.contraction import Contraction, SubscriptForm, TensorProgram, TensorReference
from orio_py.tensors.statement_recipe import divisors

_LANES = 8
"""Numbers of type `double` in a register of AVX-512."""
_MOST_SUMS = 192
"""Sums in a tile: three quarters of the 32 registers of AVX-512, which leaves room for operands."""
_CACHE_BYTES = 32768
"""The smallest first-level cache in use."""
_MOST_ROWS = 8
_MOST_PACKED = 4096
"""Elements of a packed part of an operand at most, as `Contract` has it."""
_MOST_ACCESSES = 1.5
"""Loads and stores along the columns, as a multiple of the least, beyond which a number of columns is left out."""
_MOST_ORDERS = 6
_MOST_PERMUTED = 4


@dataclass(frozen=True, slots=True)
class Choices:
    """The values of the parameters of one statement, each list with the rule's own choice first."""

    flatten: tuple[tuple[str, ...], ...]
    orders: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, int] | tuple[()], ...]
    columns: tuple[tuple[str, int] | tuple[()], ...]
    packs: tuple[tuple[str, ...], ...]
    unrolls: tuple[int, ...]
    ahead: tuple[tuple[str, int] | tuple[()], ...]
    sums: tuple[str, ...]
    most_sums: int = _MOST_SUMS


def parameter_texts(choices: Choices, suffix: str) -> Mapping[str, str]:
    """The tuning parameters with their lists in the words of the specification language."""
    return {
        f"ORDER{suffix}": _lists(choices.orders),
        f"ROWS{suffix}": _pairs(choices.rows),
        f"COLUMNS{suffix}": _pairs(choices.columns),
        f"PACK{suffix}": _lists(choices.packs),
        f"UNROLL{suffix}": str(list(choices.unrolls)),
        f"AHEAD{suffix}": _pairs(choices.ahead),
        f"SUMS{suffix}": str(list(choices.sums)),
    }


def argument_texts(choices: Choices, suffix: str) -> Mapping[str, str]:
    """The arguments of `Contract` over these parameters."""
    return {
        "order": f"ORDER{suffix}",
        "flatten": _lists(choices.flatten),
        "rows": f"ROWS{suffix}",
        "columns": f"COLUMNS{suffix}",
        "pack": f"PACK{suffix}",
        "unroll": f"UNROLL{suffix}",
        "prefetch": f"AHEAD{suffix}",
        "sums": f"SUMS{suffix}",
    }


def tile_choices(
    statement: Contraction, program: TensorProgram, without: Sequence[str] = (), *, ranked: bool = True
) -> Choices:
    """The choices for a statement; the loops `without` stand around it and are left alone.

    Values that are `ranked` too low are left out.
    """
    return _Chooser(statement, program, tuple(without), ranked).choices()


def vector_accesses(extent: int, width: int, lanes: int) -> int:
    """How many loads a row of `extent` elements takes in pieces of `width`: whole vectors, then halves of them.

    >>> vector_accesses(12, 8, 8), vector_accesses(12, 12, 8), vector_accesses(12, 6, 8)
    (2, 2, 4)
    """

    def pieces(size: int) -> int:
        return size // lanes + (size % lanes).bit_count()

    return extent // width * pieces(width) + pieces(extent % width)


@dataclass(frozen=True, slots=True)
class TileLoops:
    """The loops of a statement after joining: the free ones, the fastest first, those for rows, and all extents."""

    free: tuple[str, ...]
    rows: tuple[str, ...]
    extents: Mapping[str, int]


def tile_loops(statement: Contraction, program: TensorProgram) -> TileLoops:
    """The loops that tiles are made of: columns run over the first free one."""
    return _Chooser(statement, program, ()).loops()


def most_sums(program: TensorProgram) -> int:
    """How many sums a tile has at most: in as many registers, twice as many of `float`."""
    return _MOST_SUMS if program.type == "double" else 2 * _MOST_SUMS


def flat_groups(
    statement: Contraction, program: TensorProgram, without: Sequence[str] = ()
) -> tuple[tuple[str, ...], ...]:
    """The free indices that go over neighbouring elements of every tensor that has them, the fastest first."""
    if program.access is SubscriptForm.MULTIDIMENSIONAL:
        return ()
    parts = (statement.output, *statement.operands)
    strides = [part.strides() for part in parts]
    groups: list[list[str]] = []
    for index in statement.output.fastest_first:
        if index in without:
            continue
        last = groups[-1][-1] if groups else None
        if last is not None and all(_follows(index, last, held, statement.extents) for held in strides):
            groups[-1].append(index)
        else:
            groups.append([index])
    return tuple(tuple(group) for group in groups if len(group) > 1)


def _follows(index: str, last: str, strides: Mapping[str, int], extents: Mapping[str, int]) -> bool:
    if index not in strides and last not in strides:
        return True
    return strides.get(index) == strides.get(last, 0) * extents[last] != 0


@dataclass(frozen=True, slots=True)
class _Chooser:
    statement: Contraction
    program: TensorProgram
    without: tuple[str, ...]
    ranked: bool = True

    @property
    def extents(self) -> Mapping[str, int]:
        """Of the loops that are left after joining."""
        groups = flat_groups(self.statement, self.program, self.without)
        gone = {index for group in groups for index in group[1:]}
        joined = {group[0]: prod(self.statement.extents[i] for i in group) for group in groups}
        left = (i for i in self.statement.extents if i not in gone and i not in self.without)
        return {index: joined.get(index, self.statement.extents[index]) for index in left}

    def loops(self) -> TileLoops:
        extents = self.extents
        free = [index for index in self.statement.output.fastest_first if index in extents]
        return TileLoops(tuple(free), tuple(self._row_loops(free)), extents)

    def choices(self) -> Choices:
        found = self.loops()
        extents, free, rows = found.extents, found.free, found.rows
        columns = self._columns(free[0]) if free else ((),)
        sizes = [size for index in rows for size in _heights(index, extents[index])]
        sizes = [size for size in sizes if size[1] > 1 or size[0] == rows[0]]
        heights = sorted(sizes, key=lambda size: self._rank(size, columns[0]))
        orders = self._orders(free, rows)
        summed = [index for index in self.statement.contracted if index in extents]
        return Choices(
            flat_groups(self.statement, self.program, self.without),
            orders,
            tuple(heights) or ((),),
            columns,
            self._packs(free, columns),
            _unrolls(extents[summed[-1]]) if summed else (1,),
            self._ahead(orders[0] if orders else (), columns[0], extents),
            ("scalars", "arrays") if summed and free else ("arrays",),
        )

    @property
    def _lanes(self) -> int:
        return _LANES if self.program.type == "double" else 2 * _LANES

    def _row_loops(self, free: Sequence[str]) -> list[str]:
        """Loops along which an operand's columns are used again: those that it does not have, the fastest first."""
        if len(free) < 2:
            return []
        with_columns = [o for o in self.statement.operands if free[0] in o.indices]
        again = [i for i in free[1:] if not all(i in o.indices for o in with_columns)]
        return (again or list(free[1:]))[:2]

    def _rank(
        self, rows: tuple[str, int] | tuple[()], columns: tuple[str, int] | tuple[()]
    ) -> tuple[int, int]:
        if not rows:
            return (1, 0)
        sums = rows[1] * (columns[1] if columns else 1)
        rest = self.extents[rows[0]] % rows[1]
        return (int(bool(rest)), abs(2 * _MOST_SUMS // 3 - sums))

    def _columns(self, index: str) -> tuple[tuple[str, int], ...]:
        """Numbers of columns without those that take many more loads and stores than another."""
        extent = self.extents[index]
        widths = _widths(index, extent, self._lanes)
        loads = [vector_accesses(extent, width, self._lanes) for _, width in widths]
        most = min(loads) * _MOST_ACCESSES if self.ranked else max(loads)
        return tuple(width for width, count in zip(widths, loads, strict=True) if count <= most)

    def _packs(
        self, free: Sequence[str], columns: Sequence[tuple[str, int] | tuple[()]]
    ) -> tuple[tuple[str, ...], ...]:
        """Operands whose columns do not stand one behind the other, then none, then all that the tile reads.

        Where a packed part of such operands fits on the stack and is used again, not to pack them is left out.
        """
        if not free:
            return ((),)
        names = [operand.tensor.name for operand in self.statement.operands]
        fit = [o for o in self.statement.operands if names.count(o.tensor.name) == 1 and o.indices]
        scattered = tuple(o.tensor.name for o in fit if o.strides().get(free[0], 1) != 1)
        strided = tuple(o.tensor.name for o in fit if self.statement.contracted and len(o.indices) > 1)
        again = [o for o in fit if o.tensor.name in scattered]
        widest = max(size[1] for size in columns if size)
        is_better = self.ranked and all(self._is_reused(o, widest) for o in again)
        return tuple(
            dict.fromkeys((scattered, strided) if scattered and is_better else (scattered, (), strided))
        )

    def _is_reused(self, operand: TensorReference, columns: int) -> bool:
        """Whether a tile's part of an operand is certainly packed, and several tiles or rows read it."""
        summed = [
            self.extents[i] for i in set(operand.indices) & self.extents.keys() - set(self.statement.free)
        ]
        is_small = prod(summed) * columns * _MOST_ROWS <= _MOST_PACKED
        return is_small and bool(summed) and any(i not in operand.indices for i in self.statement.free)

    def _orders(self, free: Sequence[str], rows: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Orders that keep the loops of a tile inside, those with fewer bytes first."""
        tile = list(dict.fromkeys([*rows[:1], *free[:1]]))
        outer = [index for index in free[::-1] if index not in tile]
        around = list(permutations(outer)) if len(outer) <= _MOST_PERMUTED else [tuple(outer)]
        ranked = sorted(around, key=lambda order: self._bytes((*order, *tile)))[: _MOST_ORDERS // 2]
        return tuple(dict.fromkeys((*order, *inside) for order in ranked for inside in (tile, tile[::-1])))

    def _bytes(self, order: Sequence[str]) -> int:
        """About how many bytes a nest reads from beyond the first-level cache, by the loops that fit into it."""
        extents = self.extents
        width = 8 if self.program.type == "double" else 4
        parts = (self.statement.output, *self.statement.operands)

        def footprint(part: TensorReference, depth: int) -> int:
            return width * prod(extents[i] for i in part.indices if i in extents and i not in order[:depth])

        fitting = (
            d for d in range(len(order) + 1) if sum(footprint(p, d) for p in parts[1:]) <= _CACHE_BYTES
        )
        depth = next(fitting, len(order))
        around = order[:depth]
        return sum(footprint(part, depth) * self._loads(part, around) for part in parts)

    def _loads(self, part: TensorReference, around: Sequence[str]) -> int:
        """How often the part that is in the cache changes: not in the inner loops that the tensor does not have."""
        while around and around[-1] not in part.indices:
            around = around[:-1]
        return prod(self.extents[index] for index in around)

    def _ahead(
        self, order: Sequence[str], columns: tuple[str, int] | tuple[()], extents: Mapping[str, int]
    ) -> tuple[tuple[str, int] | tuple[()], ...]:
        """One step ahead in the loop that statements share, two tiles in the columns, one step in other loops, or nothing."""
        found: list[tuple[str, int] | tuple[()]] = [(index, 1) for index in self.without[-1:]]
        if columns and extents[columns[0]] // columns[1] > 3:
            found.append((columns[0], 2))
        inner = [
            index for index in order[::-1] if extents[index] > 1 and (not columns or index != columns[0])
        ]
        found += [(index, 1) for index in inner[:2]]
        return (*found, ())


def _widths(index: str, extent: int, lanes: int) -> tuple[tuple[str, int], ...]:
    """Numbers of columns: divisors first, whole registers before others."""
    least = min(extent, lanes // 2)
    whole = [d for d in divisors(extent) if least <= d <= 8 * lanes]
    wishes = [size for size in (lanes, 2 * lanes, 4 * lanes) if size <= extent]
    sizes = sorted(
        dict.fromkeys([*whole, *wishes]), key=lambda s: (s % lanes > 0, extent % s > 0, abs(s - 2 * lanes))
    )
    return tuple((index, size) for size in sizes[:3]) or ((index, extent),)


def _heights(index: str, extent: int) -> list[tuple[str, int]]:
    whole = [size for size in divisors(extent) if size <= _MOST_ROWS]
    return [(index, size) for size in sorted({*whole, *(size for size in (4, 6) if size <= extent)})]


def _unrolls(extent: int) -> tuple[int, ...]:
    """Factors that leave nothing over: compilers unroll the short body of a tile themselves, so that 1 comes first."""
    wishes = (1, 4, 3, extent) if extent <= 16 else (1, 4, 3)
    return tuple(dict.fromkeys(factor for factor in wishes if extent % factor == 0))


def _lists(values: Sequence[Sequence[str]]) -> str:
    return "[" + ", ".join("[" + ", ".join(f"'{name}'" for name in value) + "]" for value in values) + "]"


def _pairs(values: Sequence[tuple[str, int] | tuple[()]]) -> str:
    return "[" + ", ".join(f"('{value[0]}', {value[1]})" if value else "()" for value in values) + "]"
