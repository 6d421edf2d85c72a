"""The condition that the arrays of a statement do not overlap, nor what is written the pointers that lead to them.

(unsigned long)(y + n) <= (unsigned long)x || (unsigned long)(x + n) <= (unsigned long)y
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate

from orio_py.core.names import NameSupply
from orio_py.ctree.build import binary, block, declare, ident, if_
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Node, c_ast
from orio_py.transformation.base import Context, KnownRange
from orio_py.transformation.guards.address_range import AddressRange, doubtful_arrays, object_range
from orio_py.transformation.guards.address_ranges import TouchedMemory
from orio_py.transformation.guards.guard import Guard, different
from orio_py.transformation.guards.pointed_bounds import tests_before_following
from orio_py.transformation.guards.single_members import SingleMembers
from orio_py.transformation.guards.single_reads import SteadyMemory
from orio_py.transformation.guards.spots import Spots

_MOST_TESTS = 128
_LONGEST = 40
"""Letters of an address that stands in the test itself."""


def disjointness(statement: Node, context: Context, needed: frozenset[str] = frozenset()) -> Guard | None:
    """The condition that arrays of a statement do not overlap which may do so; None if none can be tested.

    Nothing else may be written that is in `needed`, nor the pointers to these arrays.
    """
    if context.assumptions.noalias is True:
        return None
    spots, plain = Spots.of(statement, context), SingleMembers.of(statement, context)
    found = [tuple(map(plain.array_of, pair)) for pair in spots.doubtful_pairs(context)]
    pairs = sorted({(min(pair), max(pair)) for pair in found})
    if not (pairs or needed) or any(one == two for one, two in pairs):
        return None
    supply = plain.context.names(statement)
    arrays = _Arrays.of(
        frozenset(name for pair in pairs for name in pair) | needed, spots, plain, context, supply
    )
    names = arrays.testable(pairs)
    tested = [pair for pair in pairs if not names.isdisjoint(pair)]
    is_known = names.issuperset(doubtful_arrays(arrays.extents, tested, arrays.own)) and names >= needed
    if not names or not is_known or len(tested) > _MOST_TESTS:
        return None
    used = sorted({name for pair in tested for name in pair} | needed)
    followed = arrays.accesses.pointers.names
    if not followed.isdisjoint({name for pair in pairs for name in pair} - names):
        return None
    members = [arrays.own[name] for name in used]
    runs = tests_before_following(statement, plain.pointers_of(members), plain.context)
    if runs is None:
        return None
    preparation = arrays.preparation(used, runs, supply)
    signs = arrays.accesses.signs(members)
    return Guard(
        runs=(*runs, *map(plain.restored, arrays.accesses.pointers.tests)),
        facts=tuple(replace(s, test=None if s.test is None else plain.restored(s.test)) for s in signs),
        names=frozenset(names),
        pairs=(*tested, *((name, name) for name in sorted(needed) if name in (arrays.threats[name] or ()))),
        apart=different(tuple(map(plain.restored, arrays.tests(used, tested)))),
        preparation=tuple(map(plain.restored, preparation)),
        steady=tuple(
            replace(each, node=plain.restored(each.node))
            for each in arrays.steady(names, spots, plain.context)
        ),
        ranges={name: known for name in used if (known := arrays.known(name)) is not None},
    )


@dataclass(frozen=True, slots=True)
class _Arrays:
    """Names that may touch the same memory, and what is known of it.

    By name: the variable that stands for it (`own`), what is written and may be a pointer that leads to it (`threats`, None
    where no test tells), the address of the structure that has it (`holders`) and the addresses that are touched (`extents`).
    """

    accesses: TouchedMemory
    own: dict[str, str]
    threats: dict[str, frozenset[str] | None]
    holders: dict[str, Node | None]
    extents: dict[str, AddressRange | None]

    @classmethod
    def of(
        cls, names: frozenset[str], spots: Spots, plain: SingleMembers, context: Context, supply: NameSupply
    ) -> _Arrays:
        """What is known of the names in a statement."""
        accesses = TouchedMemory.of(plain.node, plain.context)
        doubtful = sorted(names)
        own = {name: plain.names.get(name, name) for name in doubtful}
        threats = {
            name: frozenset[str]()
            if plain.are_rows(name)
            else None
            if (found := spots.threats(name, plain.members(name), context)) is None
            else frozenset(map(plain.array_of, found))
            for name in doubtful
        }
        holders = {name: plain.holder(own[name]) for name in doubtful}
        extents = {
            name: None if threats[name] is None else _extent(own[name], holders[name], accesses, supply)
            for name in doubtful
        }
        return cls(accesses, own, threats, holders, extents)

    def testable(self, pairs: Sequence[tuple[str, str]]) -> set[str]:
        """The names whose memory can be compared with that of all names that may share it."""
        found = {name for name, extent in self.extents.items() if extent is not None}
        found -= {name for name in found if self.threats[name] and not self._holders(name)}
        found -= {name for name in found if not found.issuperset(self.threats[name] or ())}
        return {name for name in found if all(found.issuperset(pair) for pair in pairs if name in pair)}

    def preparation(self, used: Sequence[str], runs: Sequence[Node], supply: NameSupply) -> list[Node]:
        """The statements before the tests, which give long addresses names."""
        given = [extent for name in used if (extent := self.extents[name]) is not None]
        found = _where(runs, self.accesses.preparation(given, supply))
        for name in used:
            # What is behind a pointer is read where the first tests hold only.
            if (extent := self.extents[name]) is not None and not self.accesses.pointers.names and not runs:
                self.extents[name] = _with_short_ends(extent, self.own[name], supply, found)
        return found

    def tests(self, used: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Iterator[Node]:
        """The comparisons of pairs, and of what is written with the pointers that it may be."""
        for one, two in pairs:
            yield _apart(self.extents[one], self.extents[two])
        for name in used:
            for threat in sorted(self.threats[name] or ()):
                for holder in self._holders(name):
                    yield _apart(holder, self.extents[threat])

    def steady(self, names: Set[str], spots: Spots, context: Context) -> Iterator[SteadyMemory]:
        """What is read under some names that nothing writes: numbers of structures, and pointers that writes could change."""
        written = {spot[0] for spot in spots.written}
        for name in sorted(names):
            declared = context.declarations.get(self.own[name])
            outer = set(accumulate(name.split("."), "{}.{}".format)) - {name}
            if declared is None or not outer.isdisjoint(written):
                continue
            is_number = declared.is_scalar and self.holders[name] is not None and name not in written
            if is_number or self.threats[name]:
                yield SteadyMemory(ident(self.own[name]), declared)

    def known(self, name: str) -> KnownRange | None:
        """What the preparation finds out of an array."""
        extent = self.extents[name]
        return None if extent is None else extent.known

    def _holders(self, name: str) -> list[AddressRange]:
        """The memory of the pointers that lead to an array: a structure and those to its rows; none where nobody knows it."""
        structure, extent = self.holders[name], self.extents[name]
        rows = None if extent is None else extent.rows
        pointers = None if extent is None else extent.pointers
        if rows is not None and pointers is None:
            return []
        found = [] if structure is None else [object_range(structure)]
        return found if pointers is None else [*found, pointers]


def _where(runs: Sequence[Node], preparation: list[Node]) -> list[Node]:
    """Statements that follow pointers where the loops run that follow them, behind the declarations of what they set."""
    declared = [each for each in preparation if isinstance(each, c_ast.Decl)]
    if not runs or len(declared) == len(preparation):
        return preparation
    test = reduce(lambda a, b: binary("&&", a, b), runs)
    return [*declared, if_(test, block(*(each for each in preparation if not isinstance(each, c_ast.Decl))))]


def _extent(
    name: str, holder: Node | None, accesses: TouchedMemory, supply: NameSupply
) -> AddressRange | None:
    """The memory that is touched under a name; for a number of a structure all of that, so that one test does for several."""
    declared = accesses.context.declarations.get(name)
    if holder is not None and declared is not None and declared.is_scalar and "(" not in declared.type:
        return object_range(holder)
    return accesses.extent(name, supply)


def _with_short_ends(
    extent: AddressRange, name: str, supply: NameSupply, declarations: list[Node]
) -> AddressRange:
    """The range, with variables for long addresses."""
    return replace(
        extent,
        first=tuple(_named(end, f"{name}_first", supply, declarations) for end in extent.first),
        behind=tuple(_named(end, f"{name}_end", supply, declarations) for end in extent.behind),
    )


def _named(address: Node, name: str, supply: NameSupply, declarations: list[Node]) -> Node:
    """A short address as it is, and a variable for a long one."""
    if len(emit_expression(address)) <= _LONGEST:
        return address
    own = supply.fresh(name)
    declarations.append(declare("const unsigned long", own, address))
    return ident(own)


def _apart(one: AddressRange | None, two: AddressRange | None) -> Node:
    assert one is not None
    assert two is not None
    return binary("||", _all_before(one.behind, two.first), _all_before(two.behind, one.first))


def _all_before(ends: Sequence[Node], starts: Sequence[Node]) -> Node:
    tests = [binary("<=", end, start) for end in ends for start in starts]
    return reduce(lambda one, two: binary("&&", one, two), tests)
