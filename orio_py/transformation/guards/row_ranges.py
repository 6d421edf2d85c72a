"""The memory of matrices that are rows behind pointers, found by a loop that reads the pointers.

    for (i = 0; i < n; i++) for (j = 0; j < m; j++) c[i][j] = 0;         with `double **c`

touches the elements 0 to `m - 1` of the rows `c[0]` to `c[n - 1]`.  Where rows begin is known to memory alone, so that the
first byte and the one behind the last have to be looked for:

    unsigned long c_first = ~0UL, c_end = 0;
    for (long row = 0; row < n; row++) if (m > 0) { … smaller of c_first and c[row], larger of c_end and c[row] + m … }

Of `double ***c` the rows are `c[i][j]`, which two loops read.  A pointer is read only where the statement itself reads it
for certain, and only if nothing that the statement writes can be a pointer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from orio_py.core.names import NameSupply
from orio_py.ctree.build import as_long, assign, binary, block, declare, for_, ident, if_, index, unary
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import substitute
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.guards.row_facts import Fact
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.bounded_values import is_computed
from orio_py.transformation.offload.element_accesses import ElementAccess
from orio_py.transformation.offload.index_ranges import IndexRange, Unbounded, ends, simply_bounded

ADDRESS = "unsigned long"
"""The type of addresses as numbers, which C compares whatever objects they belong to."""
_MOST_ENDS = 8

Key = tuple[tuple[tuple[str, ...], int], ...]
Bounds = tuple[str, Key, Key]


def row_subscripts(declared: CDeclaration) -> int:
    """How many subscripts lead to a row behind pointers: 1 for `double **a` and `double *a[4]`; 0 where there is no row."""
    return max(declared.pointers + len(declared.dimensions) - 1, 0) if declared.pointers > 0 else 0


@dataclass(frozen=True, slots=True)
class RowScan:
    """Statements for each row that loops count, outermost first, and in which all `others`, the loops around an element, run.

    It `stops` where one of some conditions holds.
    """

    levels: tuple[IndexRange, ...]
    others: tuple[IndexRange, ...]
    updates: tuple[Node, ...]
    stops: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class RowRange:
    """The variables of the first address and of the one behind the last, and what finds their values."""

    first: str
    behind: str
    scans: tuple[RowScan, ...]

    def apart_from(self, objects: Sequence[tuple[Node, Node]], *, always: bool = False) -> RowRange | None:
        """The range where the scan reads on only as long as no row so far may lie in one of some objects.

        Of these the first byte and the one behind are given.  Where writing to rows may change how many there are, the
        statement comes to the next one for certain then.  None where several loops read pointers.  With `always` all
        pointers may be read at any time.
        """
        if always and not any(scan.levels for scan in self.scans):
            return self
        if len(self.scans) != 1 or len(self.scans[0].levels) > 1:
            return None
        (scan,) = self.scans
        meets = [
            binary("&&", binary("<", ident(self.first), end), binary("<", begin, ident(self.behind)))
            for begin, end in objects
        ]
        return replace(self, scans=(replace(scan, stops=tuple(meets) if scan.levels else ()),))


@dataclass(slots=True)
class _Rows:
    """The references to one row in each iteration of loops, or to a single one, of which one is certain.

    `row` are its subscripts, `levels` the loops that count it and those that their ends depend on, `others` the remaining
    loops around the certain reference.
    """

    row: tuple[Polynomial, ...]
    levels: tuple[IndexRange, ...]
    others: tuple[IndexRange, ...]
    uses: list[ElementAccess] = field(default_factory=list[ElementAccess])

    def covers(self, use: ElementAccess) -> bool:
        """Whether these rows are read for certain wherever a reference is made."""
        around = {bounds for level in use.whole if (bounds := _bounds(level)) is not None}
        needed = (*self.levels, *self.others)
        return use.subscripts[:-1] == self.row and all(_bounds(level) in around for level in needed)


def row_range(
    name: str,
    uses: Sequence[ElementAccess],
    known: Mapping[str, int],
    arithmetic: Arithmetic,
    context: Context,
    supply: NameSupply,
) -> RowRange | None:
    """The range of the rows that a statement uses; None where it cannot be found beforehand.

    `uses` are all references to them, as many subscripts each; `known` the least values of scalars.
    """
    groups = _groups(uses)
    if not groups:
        return None
    first, behind = supply.fresh(f"{name}_first"), supply.fresh(f"{name}_end")
    scans: list[RowScan] = []
    for group in groups:
        lowest = _columns(group, known, arithmetic, largest=False)
        highest = _columns(group, known, arithmetic, largest=True)
        if not lowest or not highest or len(lowest) + len(highest) > _MOST_ENDS:
            return None
        row = index(name, *map(arithmetic.exact, group.row))
        behinds = [end.shifted(1) for end in highest]
        updates = (
            *_updates(first, "<", row, lowest, arithmetic),
            *_updates(behind, ">", row, behinds, arithmetic),
        )
        scans.append(RowScan(group.levels, group.others, updates))
    return RowRange(first, behind, tuple(scans))


def _groups(uses: Sequence[ElementAccess]) -> list[_Rows] | None:
    """The references by the rows that they use; None where one uses rows that need not be read."""
    found: list[_Rows] = []
    for use in uses:
        group = _certain(use)
        if group is not None and not any(other.covers(use) for other in found):
            found.append(group)
    for use in uses:
        group = next((group for group in found if group.covers(use)), None)
        if group is None:
            return None
        group.uses.append(use)
    return found


def _certain(use: ElementAccess) -> _Rows | None:
    """The rows of a reference that is made in each iteration of loops whose bounds are known beforehand."""
    row = tuple(subscript for subscript in use.subscripts[:-1] if subscript is not None)
    used = {symbol for subscript in row for symbol in subscript.symbols}
    if len(row) + 1 < len(use.subscripts) or any(map(is_computed, used)):
        return None
    if not use.always or not use.is_exact or use.guards or len(use.whole) != len(use.levels):
        return None
    indices = {level.index for level in use.whole}
    for level in reversed(use.whole):
        # A loop that sets the ends of one that counts rows is run as well.
        bounds = _bounds(level) if level.index in used else None
        used.update(() if bounds is None else indices.intersection(_mentioned(bounds)))
    counted = tuple(level for level in use.whole if level.index in used)
    if len(indices) < len(use.whole) or any(abs(level.stride) != 1 for level in counted):
        return None
    others = tuple(other for other in use.whole if other not in counted)
    later = set(indices)
    for around in (*counted, *others):
        bounds = _bounds(around)
        if bounds is None or _mentions(later, bounds):
            return None
        if around in counted:
            later.remove(around.index)
    return _Rows(row, counted, others)


def _mentions(names: Iterable[str], bounds: Bounds) -> bool:
    return not _mentioned(bounds).isdisjoint(names)


def _mentioned(bounds: Bounds) -> set[str]:
    return {symbol for key in bounds[1:] for product, _ in key for symbol in product}


def _bounds(level: IndexRange) -> Bounds | None:
    """A loop by its index, its first and its last value; None for one with several bounds."""
    simple = simply_bounded(level)
    if len(simple.lowers) != 1 or len(simple.uppers) != 1:
        return None
    if any(map(is_computed, simple.lowers[0].symbols | simple.uppers[0].symbols)):
        return None
    return level.index, simple.lowers[0].key, simple.uppers[0].key


def _columns(
    group: _Rows, known: Mapping[str, int], arithmetic: Arithmetic, *, largest: bool
) -> list[Polynomial] | None:
    """The last elements, or the first ones, of a row; the indices that count rows may change them."""
    counted = {level.index for level in group.levels}
    found: list[Polynomial] = []
    for use in group.uses:
        levels = [simply_bounded(level) for level in use.levels if level.index not in counted]
        column = use.subscripts[-1]
        if column is None:
            return None
        try:
            found += ends(column, levels, 0, known, arithmetic, largest=largest)
        except Unbounded:
            return None
    return arithmetic.tightest(found, smallest=not largest, minimums=known)


def _updates(
    name: str, relation: str, row: Node, ends: Sequence[Polynomial], arithmetic: Arithmetic
) -> list[Node]:
    """The statements that put addresses of elements into a variable that are smaller, or larger, than it."""
    addresses = [as_long(arithmetic.moved(row, end), ADDRESS) for end in ends]
    return [if_(binary(relation, address, ident(name)), assign(name, address)) for address in addresses]


def preparation(
    ranges: Sequence[RowRange], arithmetic: Arithmetic, context: Context, supply: NameSupply
) -> list[Node]:
    """The statements that find ranges; rows of the same loop are read together."""
    if not ranges:
        return []
    nothing = unary("~", c_ast.Constant("unsigned long int", "0UL"))
    found: list[Node] = []
    for each in ranges:
        found += [declare(ADDRESS, each.first, nothing), declare(ADDRESS, each.behind, 0)]
    together: dict[object, list[RowScan]] = {}
    for scan in (scan for each in ranges for scan in each.scans):
        key = tuple(map(_bounds, scan.levels)), tuple(map(_bounds, scan.others))
        together.setdefault(key, []).append(scan)
    rows = [
        supply.fresh("row") for _ in range(max(len(scan.levels) for each in ranges for scan in each.scans))
    ]
    return found + [_loops(scans, rows, arithmetic, context) for scans in together.values()]


def _loops(scans: Sequence[RowScan], rows: Sequence[str], arithmetic: Arithmetic, context: Context) -> Node:
    """The loops over the rows of scans that have the same loops around them; `rows` are names for their indices."""
    levels = scans[0].levels
    distances = [simple.uppers[0] - simple.lowers[0] for simple in map(simply_bounded, scans[0].others)]
    counted = {level.index for level in levels}
    changing = [d for d in distances if any(not counted.isdisjoint(product) for product in d.terms)]
    stops = [
        if_(stop, c_ast.Break()) for stop in dict.fromkeys(stop for scan in scans for stop in scan.stops)
    ]
    body: Node = block(*dict.fromkeys(update for scan in scans for update in scan.updates), *stops)
    least = {level.index: level.lowers[0].value for level in levels}
    known = {name: value for name, value in least.items() if value is not None and value >= 0}
    open_tests = [distance for distance in changing if not arithmetic.is_natural(distance, known)]
    body = _where(open_tests, body, arithmetic, context)
    for level, row in reversed([*zip(levels, rows, strict=False)]):
        counter = declare("long", row, arithmetic.exact(level.lowers[0]))
        below = binary("<", ident(row), arithmetic.exact(level.uppers[0].shifted(1)))
        body = for_(counter, below, unary("p++", ident(row)), substitute(body, level.index, ident(row)))
    return _where([distance for distance in distances if distance not in changing], body, arithmetic, context)


def _where(distances: Sequence[Polynomial], body: Node, arithmetic: Arithmetic, context: Context) -> Node:
    """A statement where all loops run whose last and first index have these distances."""
    tests = [test for each in distances if (test := Fact.of(each, arithmetic, context).test) is not None]
    return if_(reduce(lambda one, two: binary("&&", one, two), tests), body) if tests else body
