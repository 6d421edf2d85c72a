"""The memory of matrices that are rows behind pointers, found by a loop that reads the pointers.

    for (i = 0; i < n; i++) for (j = 0; j < m; j++) c[i][j] = 0;         with `double **c`

touches the elements 0 to `m - 1` of the rows `c[0]` to `c[n - 1]`.  Where rows begin is known to memory alone, so that the
first byte and the one behind the last have to be looked for:

    unsigned long c_first = ~0UL, c_end = 0;
    for (long row = 0; row < n; row++) if (m > 0) { … smaller of c_first and c[row], larger of c_end and c[row] + m … }

A pointer is read only where the statement itself reads it for certain, and only if nothing that the statement writes can
be a pointer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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


def has_rows(declared: CDeclaration) -> bool:
    """Whether a name is a pointer to pointers, or an array of pointers, to elements."""
    return declared.pointers > 0 and declared.pointers + len(declared.dimensions) == 2


@dataclass(frozen=True, slots=True)
class RowScan:
    """Statements for each row that a loop counts and in which all `others`, the loops around an element, run."""

    level: IndexRange | None
    others: tuple[IndexRange, ...]
    updates: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class RowRange:
    """The variables of the first address and of the one behind the last, and what finds their values."""

    first: str
    behind: str
    scans: tuple[RowScan, ...]


@dataclass(slots=True)
class _Rows:
    """The references to one row in each iteration of a loop, or to a single one, of which one is certain.

    `row` is its subscript, `level` the loop that counts it, `others` the remaining loops around the certain reference.
    """

    row: Polynomial
    level: IndexRange | None
    others: tuple[IndexRange, ...]
    uses: list[ElementAccess] = field(default_factory=list[ElementAccess])

    def covers(self, use: ElementAccess) -> bool:
        """Whether these rows are read for certain wherever a reference is made."""
        around = {bounds for level in use.whole if (bounds := _bounds(level)) is not None}
        needed = (self.level, *self.others) if self.level is not None else self.others
        return use.subscripts[0] == self.row and all(_bounds(level) in around for level in needed)


def row_range(
    name: str,
    uses: Sequence[ElementAccess],
    known: Mapping[str, int],
    arithmetic: Arithmetic,
    context: Context,
    supply: NameSupply,
) -> RowRange | None:
    """The range of the rows that a statement uses; None where it cannot be found beforehand.

    `uses` are all references to them, with two subscripts each; `known` the least values of scalars.
    """
    groups = _groups(uses)
    if groups is None:
        return None
    first, behind = supply.fresh(f"{name}_first"), supply.fresh(f"{name}_end")
    scans: list[RowScan] = []
    for group in groups:
        lowest = _columns(group, known, arithmetic, largest=False)
        highest = _columns(group, known, arithmetic, largest=True)
        if not lowest or not highest or len(lowest) + len(highest) > _MOST_ENDS:
            return None
        row = index(name, arithmetic.exact(group.row))
        behinds = [end.shifted(1) for end in highest]
        updates = (
            *_updates(first, "<", row, lowest, arithmetic),
            *_updates(behind, ">", row, behinds, arithmetic),
        )
        scans.append(RowScan(group.level, group.others, updates))
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
    row = use.subscripts[0]
    if row is None or any(map(is_computed, row.symbols)):
        return None
    if not use.always or not use.is_exact or use.guards or len(use.whole) != len(use.levels):
        return None
    indices = {level.index for level in use.whole}
    counted = [level for level in use.whole if any(level.index in product for product in row.terms)]
    if len(counted) > 1 or len(indices) < len(use.whole):
        return None
    level = counted[0] if counted else None
    if level is not None and (row.terms.get((level.index,)) not in {1, -1} or abs(level.stride) != 1):
        return None
    if level is not None and any(len(product) > 1 and level.index in product for product in row.terms):
        return None
    others = tuple(other for other in use.whole if other is not level)
    free = indices - {level.index} if level is not None else indices
    for around in use.whole:
        bounds = _bounds(around)
        allowed = indices if around is level else free
        if bounds is None or _mentions(allowed, bounds):
            return None
    return _Rows(row, level, others)


def _mentions(names: Iterable[str], bounds: Bounds) -> bool:
    used = {symbol for key in bounds[1:] for product, _ in key for symbol in product}
    return not used.isdisjoint(names)


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
    """The last elements, or the first ones, of a row; the index that counts rows may change them."""
    row = group.level.index if group.level is not None else None
    found: list[Polynomial] = []
    for use in group.uses:
        levels = [simply_bounded(level) for level in use.levels if level.index != row]
        column = use.subscripts[1]
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
        key = scan.level and _bounds(scan.level), tuple(map(_bounds, scan.others))
        together.setdefault(key, []).append(scan)
    row = supply.fresh("row")
    return found + [_loop(scans, row, arithmetic, context) for scans in together.values()]


def _loop(scans: Sequence[RowScan], row: str, arithmetic: Arithmetic, context: Context) -> Node:
    """The loop over the rows of scans that have the same loops around them."""
    level = scans[0].level
    distances = [simple.uppers[0] - simple.lowers[0] for simple in map(simply_bounded, scans[0].others)]
    counted = {level.index} if level is not None else set[str]()
    changing = [d for d in distances if any(not counted.isdisjoint(product) for product in d.terms)]
    body: Node = block(*dict.fromkeys(update for scan in scans for update in scan.updates))
    least = level.lowers[0].value if level is not None else None
    known = {name: least for name in counted if least is not None and least >= 0}
    open_tests = [distance for distance in changing if not arithmetic.is_natural(distance, known)]
    body = _where(open_tests, body, arithmetic, context)
    if level is not None:
        counter = declare("long", row, arithmetic.exact(level.lowers[0]))
        below = binary("<", ident(row), arithmetic.exact(level.uppers[0].shifted(1)))
        body = for_(counter, below, unary("p++", ident(row)), substitute(body, level.index, ident(row)))
    return _where([distance for distance in distances if distance not in changing], body, arithmetic, context)


def _where(distances: Sequence[Polynomial], body: Node, arithmetic: Arithmetic, context: Context) -> Node:
    """A statement where all loops run whose last and first index have these distances."""
    tests = [test for each in distances if (test := Fact.of(each, arithmetic, context).test) is not None]
    return if_(reduce(lambda one, two: binary("&&", one, two), tests), body) if tests else body
