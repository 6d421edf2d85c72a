"""The ways to map a contraction to the kernels of a device, as values of tuning parameters, the likeliest first.

A kernel's items do a *tile* of the output each: some rows by some columns, whose sums stay in registers.  Columns run
over the output's elements with unit stride, so that neighbouring items, or the lanes of vectors, touch neighbouring
elements; rows over a loop along which an operand's columns are used again; a third loop is mapped, and what is left
stays inside the kernel around the sum.

Processors (OpenCL): one tile per item, of vectors, in few groups; their registers are vectors, and their items loops.
GPUs: many threads with small tiles of neighbouring elements.  Sources: `docs/reference/tensor.md`; for tiles of several
results per thread V. Volkov, J. Demmel, "Benchmarking GPUs to tune dense linear algebra", SC 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from orio_py.tensors.contraction import Contraction, TensorProgram
from orio_py.tensors.statement_recipe import divisors
from orio_py.tensors.tile_choices import TileLoops, flat_groups, most_sums, tile_loops

_MAPPED = 3
_MOST_ORDERS = 6
_MOST_SHAPES = 8


@dataclass(frozen=True, slots=True)
class KernelChoices:
    """The values of the parameters of one statement, each list with the rule's own choice first.

    `depth` loops are mapped, the outermost ones of each order; `extent` and `lines` are the numbers of columns and of rows
    of the output.
    """

    flatten: tuple[tuple[str, ...], ...]
    depth: int
    extent: int
    lines: int
    orders: tuple[tuple[str, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    widths: tuple[int, ...]
    unrolls: tuple[int, ...]
    stages: tuple[bool, ...]
    most_sums: int

    def parameters(self, number: int) -> Mapping[str, str]:
        """The tuning parameters that leave a choice, with their values in the words of the specification."""
        lists = {
            "ORDER": [list(order) for order in self.orders],
            "GROUP": [list(group) for group in self.groups],
            "ROWS": list(self.rows),
            "COLUMNS": list(self.columns),
            "WIDTH": list(self.widths),
            "UNROLL": list(self.unrolls),
            "STAGE": list(self.stages),
        }
        return {f"{name}{number}": str(values) for name, values in lists.items() if len(values) > 1}

    def constraints(self, number: int) -> Iterator[str]:
        """What restricts them: tiles leave nothing over along the columns, items have rows to do, and sums fit into registers."""
        wide = [self.value(name, number) for name in ("WIDTH", "COLUMNS")]
        tile = " * ".join(text for text in wide if text != "1")
        if tile:
            group = self.value("GROUP", number)
            yield f"whole{number} = {self.extent} % ({tile} * {group}[0]) == 0 or {tile} == 1"
            yield f"registers{number} = {tile} * {self.value('ROWS', number)} <= {self.most_sums}"
        if len(self.rows) > 1 and any(group[1] > 1 for group in self.groups):
            rows, group = self.value("ROWS", number), self.value("GROUP", number)
            yield f"rows{number} = {rows} * {group}[1] <= {self.lines} or {rows} == 1"

    def value(self, name: str, number: int) -> str:
        """A parameter, or its only value."""
        listed = {
            "ORDER": self.orders,
            "GROUP": self.groups,
            "ROWS": self.rows,
            "COLUMNS": self.columns,
            "WIDTH": self.widths,
            "UNROLL": self.unrolls,
            "STAGE": self.stages,
        }[name]
        only = listed[0]
        return f"{name}{number}" if len(listed) > 1 else str(list(only) if isinstance(only, tuple) else only)


def kernel_choices(
    statement: Contraction, program: TensorProgram, *, has_vectors: bool
) -> KernelChoices | None:
    """The choices for a statement on a device, with vectors or with threads; None where its output has no index."""
    loops = tile_loops(statement, program)
    if not loops.free:
        return None
    orders = _orders(loops)
    depth = min(_MAPPED, len(loops.free))
    extent = loops.extents[loops.free[0]]
    rows = {order[depth - 2] for order in orders} if depth > 1 else set[str]()
    lines = max((loops.extents[index] for index in rows), default=1)
    heights = sorted({h for index in rows for h in divisors(loops.extents[index]) if h <= 8}, key=_near(4))
    lanes = _lane_counts(statement, program, loops, extent) if has_vectors else (1,)
    summed = [statement.extents[index] for index in statement.contracted]
    return KernelChoices(
        flatten=flat_groups(statement, program),
        depth=depth,
        extent=extent,
        lines=lines,
        orders=orders,
        groups=_item_groups(extent, depth) if has_vectors else _thread_groups(extent, lines, depth),
        rows=tuple(heights) or (1,),
        columns=_columns(extent, lanes),
        widths=lanes,
        unrolls=tuple(f for f in (1, 2, 4, 8) if summed and summed[-1] % f == 0) or (1,),
        stages=(False, True) if not has_vectors and depth == len(loops.free) and summed else (False,),
        most_sums=most_sums(program) if has_vectors else 32,
    )


def _near(wish: int) -> Callable[[int], tuple[int, int]]:
    """What sorts sizes by their distance from one."""

    def distance(size: int) -> tuple[int, int]:
        return abs(size - wish), size

    return distance


def _orders(loops: TileLoops) -> tuple[tuple[str, ...], ...]:
    """The mapped loops, those of rows and of columns last of them, then the others from the slowest to the fastest.

    Each of the others may be mapped, the slowest first.
    """
    columns, *others = loops.free
    found: list[tuple[str, ...]] = []
    for row in loops.rows or [""]:
        left = [index for index in reversed(others) if index != row]
        tile = [index for index in (row, columns) if index]
        for outer in left or [""]:
            inside = [index for index in left if index != outer]
            first = [outer] if outer else []
            found += [(*first, *tile, *order) for order in (inside, inside[::-1])]
    return tuple(dict.fromkeys(found))[:_MOST_ORDERS]


def _lane_counts(
    statement: Contraction, program: TensorProgram, loops: TileLoops, extent: int
) -> tuple[int, ...]:
    """Lengths of vectors that leave nothing over; 1 where an operand's elements lie apart along the columns."""
    index = loops.free[0]
    apart = any(operand.strides().get(index, 1) != 1 for operand in statement.operands)
    wishes = (8, 4, 2) if program.type == "double" else (16, 8, 4)
    return (*((width for width in wishes if extent % width == 0) if not apart else ()), 1)


def _columns(extent: int, lanes: tuple[int, ...]) -> tuple[int, ...]:
    """How many vectors, or single columns, a tile has."""
    wide = [size for size in divisors(extent // lanes[0]) if size <= 6] if extent % lanes[0] == 0 else [1]
    return tuple(sorted(wide, key=_near(2)))


def _item_groups(extent: int, depth: int) -> tuple[tuple[int, ...], ...]:
    """Groups along the columns alone."""
    rest = (1,) * (depth - 1)
    return tuple((size, *rest) for size in (1, 4, 2, 16, 64) if size <= extent)


def _thread_groups(extent: int, lines: int, depth: int) -> tuple[tuple[int, ...], ...]:
    """Blocks of 256 threads and less; along the columns no more than there are, and no more lines than there are."""
    if depth == 1:
        return tuple((size,) for size in (256, 128, 64, 32))
    along = dict.fromkeys(min(extent, size) for size in (16, 32, 64, 256))
    shapes = dict.fromkeys((x, max(1, min(size // x, lines))) for size in (256, 128, 64) for x in along)
    return tuple((*shape, *(1,) * (depth - 2)) for shape in shapes)[:_MOST_SHAPES]
