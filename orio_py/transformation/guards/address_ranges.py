"""The memory that a statement touches under each name, as addresses between which everything lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from orio_py.core.names import NameSupply
from orio_py.ctree.build import as_long, binary, ident, index, unary
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.dependence.names import AccessKey, names_of
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import assigned_names, declared_names, walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.guards.address_range import (
    AddressRange,
    bytes_of,
    inspected_range,
    is_total,
    object_range,
)
from orio_py.transformation.guards.fixed_reads import reads_are_fixed
from orio_py.transformation.guards.pointed_bounds import PointedBounds, evaluated_at_entry
from orio_py.transformation.guards.row_facts import Fact, is_steady, strongest
from orio_py.transformation.guards.row_ranges import ADDRESS, preparation, row_range, row_subscripts
from orio_py.transformation.guards.spots import Spots
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.bounded_values import (
    ComparedSum,
    Quotient,
    is_computed,
    together,
    with_sums,
)
from orio_py.transformation.offload.element_accesses import ElementAccess, accesses_in
from orio_py.transformation.offload.extents import factor_of, inner_extents
from orio_py.transformation.offload.index_ranges import IndexRange, Unbounded, ends, minimums, simply_bounded
from orio_py.transformation.parallel.compaction import spaced_writes
from orio_py.transformation.verdicts import aliases_in

_MOST_ENDS = 8
_MOST_TOGETHER = 2
"""Ends that one expression compares: each more makes it twice as long."""


@dataclass(frozen=True, slots=True)
class _End:
    """An end of a range, and the least values of scalars wherever anything of the range is touched."""

    value: Polynomial
    inside: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TouchedMemory:
    """The memory that a statement touches: by name, how deep, whether it is written, and the elements."""

    spots: Mapping[str, frozenset[AccessKey]]
    written: frozenset[AccessKey]
    nodes: Mapping[str, frozenset[int]]
    elements: Mapping[str, Sequence[ElementAccess]]
    arithmetic: Arithmetic
    pointers: PointedBounds
    changing: frozenset[str]
    indices: frozenset[str]
    calls: bool
    addresses: frozenset[str]
    context: Context
    statement: Node

    def signs(self, names: Sequence[str]) -> tuple[Fact, ...]:
        """That the factors of indices in the subscripts of some arrays are not negative, and what divides indices is positive."""
        symbols = sorted({symbol for name in names for symbol in self._factors(name)})
        needed = [Polynomial.symbol(symbol) for symbol in symbols]
        needed += [each.least for name in names for each in self._quotients(name) if each.by.value is None]
        facts = [Fact.of(value, self.arithmetic, self.context) for value in needed]
        return strongest(facts)

    def _quotients(self, name: str) -> list[Quotient]:
        """The quotients of indices in the subscripts of an array and in the bounds around it."""
        waiting = [part for use in self.elements.get(name, ()) for part in _parts(use)]
        found: dict[str, Quotient] = {}
        while waiting:
            for symbol in waiting.pop().symbols & self.arithmetic.quotients.keys() - found.keys():
                found[symbol] = self.arithmetic.quotients[symbol]
                waiting.append(found[symbol].value)
        return list(found.values())

    def _factors(self, name: str) -> set[str]:
        """The variables that indices are multiplied by in the subscripts of an array."""
        found: set[str] = set()
        for use in self.elements.get(name, ()):
            indices = {level.index for level in use.levels} | self.arithmetic.quotients.keys()
            for product in (
                p for subscript in use.subscripts if subscript is not None for p in subscript.terms
            ):
                if not indices.isdisjoint(product):
                    found.update(symbol for symbol in product if self._may_be_negative(symbol, use))
        own = {level.index for use in self.elements.get(name, ()) for level in use.levels}
        return {symbol for symbol in found - own if not is_computed(symbol)}

    def _may_be_negative(self, symbol: str, use: ElementAccess) -> bool:
        known = {*minimums(use.levels), *self.arithmetic.minimums}
        if symbol in known or self.arithmetic.is_never_negative(symbol):
            return False
        return symbol.lstrip("*") in self.pointers.names or is_steady(symbol, self.changing, self.context)

    @classmethod
    def of(cls, statement: Node, context: Context) -> TouchedMemory:
        """What a statement touches of memory that it does not declare itself; what counters place, wherever they may."""
        statement = spaced_writes(statement, context)
        changing = frozenset(assigned_names(statement)) | declared_names(statement)
        arithmetic = Arithmetic(context, changing)
        touched = Spots.of(statement, context)
        pointers = PointedBounds.of(statement, changing, touched.written, context)
        arithmetic.followed = pointers.names
        arithmetic.names = names_of(statement, context.declarations)
        arithmetic.takes_quotients = True
        elements: dict[str, list[ElementAccess]] = {}
        for access in accesses_in(statement, arithmetic):
            elements.setdefault(access.name, []).append(access)
        return cls(
            touched.found,
            touched.written,
            touched.nodes,
            elements,
            arithmetic,
            pointers,
            changing,
            arithmetic.names.indices,
            bool(context.effects(statement).calls),
            touched.addresses,
            context,
            statement,
        )

    def extent(self, name: str, supply: NameSupply) -> AddressRange | None:
        """The addresses between which everything lies that is touched under a name; None where nobody knows.

        `supply` gives names to variables that have to hold them.
        """
        declared = self.context.declarations.get(name)
        if declared is None or name in self.indices or not declared.type or "(" in declared.type:
            return None
        if self.spots.get(name) == frozenset({(name, 0)}):
            return None if declared.is_array_like else object_range(unary("&", ident(name)))
        if name in self.changing:
            return None
        found = (
            self._rows(name, declared, supply) if row_subscripts(declared) else self._elements(name, declared)
        )
        is_whole = bool(declared.dimensions) and all(declared.dimensions) and declared.scope != "parameter"
        if found is None and self.context.inspects and not row_subscripts(declared):
            found = self._inspected(name, declared, supply)
        if found is None and is_whole and not declared.pointers and "register" not in declared.storage:
            # Whatever is touched of an array lies in it.
            return object_range(unary("&", ident(name)))
        return found

    def _rows(self, name: str, declared: CDeclaration, supply: NameSupply) -> AddressRange | None:
        """The range of rows behind pointers, which are read where nothing may set them."""
        uses = self.elements.get(name, ())
        leading = row_subscripts(declared)
        is_set = any((name, taken + 1) in self.written for taken in range(leading))
        if is_set or self.calls or not self._are_all(uses, name):
            return None
        if any(len(use.subscripts) != leading + 1 for use in uses):
            return None
        found = row_range(name, uses, self._known(name), self.arithmetic, self.context, supply)
        if found is None:
            return None
        statements = preparation([found], self.arithmetic, self.context, NameSupply())
        if not is_total(statements) or self.pointers.names:
            return None
        threatened = self._threatened(statements) - {name, found.first, found.behind}
        if name in self.context.exposed and self._writers(name):
            threatened |= {name}
        if threatened:
            objects = self._objects(threatened, name)
            is_inside = bool(declared.dimensions) and declared.scope != "parameter" and leading == 1
            found = None if objects is None else found.apart_from(objects, always=is_inside)
            if found is None:
                return None
        pointers = None
        if leading == 1:
            pointers = self._range(
                ident(name), [replace(use, subscripts=use.subscripts[:1]) for use in uses], []
            )
        ends = (ident(found.first),), (ident(found.behind),)
        return AddressRange(*ends, found, pointers, doubtful=threatened)

    def _objects(self, names: Set[str], rows: str) -> list[tuple[Node, Node]] | None:
        """The first byte of numbers, and the one behind, that some rows alone may change; None where others may.

        The pointer to the rows may be one of them.
        """
        found: list[tuple[Node, Node]] = []
        for name in sorted(names):
            declared = self.context.declarations.get(name)
            is_fit = declared is not None and (name == rows or declared.is_scalar) and not declared.width
            if not is_fit or self._writers(name) != {rows}:
                return None
            memory = object_range(unary("&", ident(name)))
            found.append((memory.first[0], memory.behind[0]))
        return found

    def _writers(self, name: str) -> set[str]:
        """The names under which something is written that may be a variable, a pointer to rows or a number."""
        aliases = aliases_in(self.context)
        declared = self.context.declarations.get(name)
        is_rows = declared is not None and row_subscripts(declared) > 0
        spots = {(name, 0)} if is_rows else self.spots[name]
        return {
            written[0]
            for written in self.written
            if any(aliases.may_overlap(spot, written) for spot in spots)
            or (is_rows and written[0] == name and aliases.may_hold_pointers(written))
        }

    def preparation(self, ranges: Sequence[AddressRange], supply: NameSupply) -> list[Node]:
        """The statements that find out ranges."""
        rows = [found.rows for found in ranges if found.rows is not None]
        statements = preparation(rows, self.arithmetic, self.context, supply)
        return [*statements, *(statement for found in ranges for statement in found.before)]

    def _threatened(self, statements: Sequence[Node]) -> frozenset[str]:
        """What statements read that may be the same memory as something that is written."""
        aliases = aliases_in(self.context)
        read = {part.name for node in statements for part in walk(node) if isinstance(part, c_ast.ID)}
        return frozenset(
            name
            for name in read
            for spot in self.spots.get(name, ())
            for written in self.written
            if aliases.may_overlap(spot, written)
        )

    def _elements(self, name: str, declared: CDeclaration) -> AddressRange | None:
        uses = self.elements.get(name, ())
        depth = max(len(declared.dimensions), 1)
        direct = declared.pointers == (0 if declared.dimensions else 1)
        if not direct or not uses or any(len(use.subscripts) != depth for use in uses):
            return None
        if not self._are_all(uses, name):
            return None
        inner, scalars = inner_extents(declared, self.context)
        sizes = {scalar.name: scalar.value for scalar in scalars}
        factors = [factor_of(extent, sizes, self.arithmetic) for extent in inner]
        base: Node = ident(name)
        for _ in declared.dimensions[1:]:
            base = index(base, 0)
        return self._range(base, uses, factors)

    def _inspected(self, name: str, declared: CDeclaration, supply: NameSupply) -> AddressRange | None:
        """The range that loops find out before the test, where nothing that is written may be what they read."""
        if self.calls or declared.pointers + len(declared.dimensions) != max(1, len(declared.dimensions)):
            return None
        found = inspected_range(
            declared, self.statement, self.addresses, self.arithmetic.computes_unsigned, self.context, supply
        )
        if found is None or found.known is None or not is_total(found.before):
            return None
        if self.pointers.names:
            return None
        threatened = self._threatened(found.before)
        if threatened and not all(reads_are_fixed(part, threatened) for part in found.before):
            return None
        return replace(found, doubtful=threatened)

    def _are_all(self, uses: Sequence[ElementAccess], name: str) -> bool:
        """Whether everything that is touched under a name was collected, as what is reached by subscripts."""
        parts = (nodes for part, nodes in self.nodes.items() if f"{part}.".startswith(f"{name}."))
        return frozenset[int]().union(*parts) <= {id(use.node) for use in uses}

    def _range(
        self, base: Node, uses: Sequence[ElementAccess], factors: Sequence[Polynomial]
    ) -> AddressRange | None:
        """The range of the elements behind a pointer that some accesses touch; subscripts count by `factors`.

        None where C may not compute it before the statement does.
        """
        bounds = [self._either_ends(uses, factors, largest=largest) for largest in (False, True)]
        if any(found is None for found in bounds):
            return None
        lowest, highest = ([] if found is None else found for found in bounds)
        is_zero = all(end.value == 0 for end in lowest)
        first = (as_long(base, ADDRESS),) if is_zero else self._addresses(base, lowest, largest=False)
        behind = self._addresses(base, [end.shifted(1) for end in highest], largest=True)
        is_safe = is_total((*first, *behind), evaluated_at_entry(self.statement))
        return AddressRange(first, behind) if is_safe else None

    def _addresses(self, base: Node, ends: Sequence[Polynomial], *, largest: bool) -> tuple[Node, ...]:
        groups = [ends[i : i + _MOST_TOGETHER] for i in range(0, len(ends), _MOST_TOGETHER)]
        if isinstance(base, c_ast.ID) and base.name in self.addresses:
            # Compilers take it that a pointer is not null to which C adds a number.
            offsets = [self.arithmetic.extreme(group, largest=largest) for group in groups]
            return tuple(binary("+", as_long(base, ADDRESS), bytes_of(base, offset)) for offset in offsets)
        places = [
            self.arithmetic.moved(base, group[0])
            if len(group) == 1
            else binary("+", base, self.arithmetic.extreme(group, largest=largest))
            for group in groups
        ]
        return tuple(as_long(place, ADDRESS) for place in places)

    def _known(self, name: str) -> dict[str, int]:
        """The least values of scalars that the subscripts of an array use."""
        return {**dict.fromkeys(self._factors(name), 0), **self.arithmetic.minimums}

    def _either_ends(
        self, uses: Sequence[ElementAccess], factors: Sequence[Polynomial], *, largest: bool
    ) -> list[Polynomial] | None:
        """The ends of what is touched; where there are too many or none, of all that simpler loops come to."""
        found = self._ends(uses, factors, largest=largest, compared=True)
        if found is not None and len(found) <= _MOST_ENDS:
            return found
        without = [replace(use, levels=use.whole) for use in uses]
        single = [replace(use, levels=tuple(map(_with_single_ends, use.whole))) for use in uses]
        for each in (uses, without, single):
            found = self._ends(each, factors, largest=largest)
            if found is not None and len(found) <= _MOST_ENDS:
                return found
        return None

    def _ends(
        self,
        uses: Sequence[ElementAccess],
        factors: Sequence[Polynomial],
        *,
        largest: bool,
        compared: bool = False,
    ) -> list[Polynomial] | None:
        """The ends of what is touched; with `compared` by what conditions say of several indices together."""
        found: list[_End] = []
        known = self._known(uses[0].name)
        for use in uses:
            flat = use.subscripts[0]
            for factor, subscript in zip(factors, use.subscripts[1:], strict=True):
                flat = None if flat is None or subscript is None else flat * factor + subscript
            if flat is None:
                return None
            levels = [simply_bounded(level) for level in use.levels]
            try:
                flat, sums = with_sums(flat, together(use.sums)) if compared else (flat, ())
                levels += [self._level(each, levels, known) for each in sums]
                inside = {**minimums(levels), **known}
                own = ends(flat, levels, 0, inside, self.arithmetic, largest=largest)
                found += [_End(end, inside) for end in own]
            except Unbounded:
                return None
        return self._outermost(found, largest=largest)

    def _outermost(self, found: Sequence[_End], *, largest: bool) -> list[Polynomial]:
        """The ends without those that others are beyond wherever what they belong to is touched at all."""

        def is_beyond(one: _End, two: _End) -> bool:
            distance = one.value - two.value if largest else two.value - one.value
            return self.arithmetic.is_natural(distance, two.inside)

        # Many accesses come to the same ends.
        distinct = {(end.value.key, tuple(sorted(end.inside.items()))): end for end in found}
        kept, left_out = list(distinct.values()), list[_End]()
        for end in distinct.values():
            others = [other for other in kept if other is not end]
            if all(any(is_beyond(other, each) for other in others) for each in (end, *left_out)):
                kept = others
                left_out.append(end)
        return [end.value for end in kept]

    def _level(
        self, compared: ComparedSum, levels: Sequence[IndexRange], known: Mapping[str, int]
    ) -> IndexRange:
        """The range of a sum: what conditions say, and on the side of which they say nothing what its indices do."""
        lowers, uppers = (
            given or (self._end(ends(compared.value, levels, 0, known, self.arithmetic, largest=up), up),)
            for given, up in ((compared.lowers, False), (compared.uppers, True))
        )
        return IndexRange(compared.symbol, lowers, uppers)

    def _end(self, found: Sequence[Polynomial], largest: bool) -> Polynomial:
        return found[0] if len(found) == 1 else self.arithmetic.chosen(found, largest=largest)


def _parts(use: ElementAccess) -> Iterator[Polynomial]:
    """All that the range of a reference depends on."""
    yield from (subscript for subscript in use.subscripts if subscript is not None)
    for level in (*use.levels, *use.whole):
        yield from (*level.lowers, *level.uppers, *level.limit[0], *level.limit[1])
    yield from (each.value for each in use.sums)


def _with_single_ends(level: IndexRange) -> IndexRange:
    """A range that holds another one and has one lower and one upper end."""
    limit = level.limit[0][:1], level.limit[1][:1]
    return replace(level, lowers=level.lowers[:1], uppers=level.uppers[:1], limit=limit)
