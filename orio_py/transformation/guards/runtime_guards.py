"""Tests at run time for what a recipe needs and the code does not say.

    if (width <= stride && ((unsigned long)(y + n) <= (unsigned long)x || (unsigned long)(x + n) <= (unsigned long)y))
      the transformed loops
    else
      the loops as they were

Arrays do not overlap, and the columns of `image[i * stride + j]` stay in their rows.

Source: for the idea, T. Grosser, A. Groesslinger, C. Lengauer, "Polly - performing polyhedral optimizations on a
low-level intermediate representation", Parallel Processing Letters 22(4), 2012, and J. Doerfert, T. Grosser, S. Hack,
"Optimistic loop optimization", CGO 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from orio_py.core.names import NameSupply
from orio_py.ctree.build import binary, block, declare, flat_block, ident, if_
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import stray_case
from orio_py.ctree.nodes import Comment, Compound, Node, Transform, c_ast
from orio_py.ctree.rewrite import Rewriter, walk_statements
from orio_py.ctree.symbols import declaration_of
from orio_py.transformation.base import Context, KnownRange, Refusal
from orio_py.transformation.guards.address_range import AddressRange, doubtful_arrays, object_range
from orio_py.transformation.guards.address_ranges import TouchedMemory
from orio_py.transformation.guards.number_facts import number_facts
from orio_py.transformation.guards.pointed_bounds import tests_before_following
from orio_py.transformation.guards.row_facts import Fact, RowFacts, row_facts, strongest
from orio_py.transformation.guards.single_members import SingleMembers
from orio_py.transformation.guards.spots import Spots
from orio_py.transformation.parallel.pragma_text import is_about_loop
from orio_py.transformation.sites import outermost_marks


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition at run time, and what is known where it holds."""

    runs: tuple[Node, ...] = ()
    """That loops run whose bodies follow pointers, which the other tests do, too."""
    headers: tuple[Node, ...] = ()
    """What has to hold for the loops to be those that the recipe sees."""
    facts: tuple[Fact, ...] = ()
    names: frozenset[str] = frozenset()
    """Arrays that share memory with nothing else."""
    pairs: tuple[tuple[str, str], ...] = ()
    """The names that are compared for that."""
    apart: tuple[Node, ...] = ()
    """The comparisons of these."""
    preparation: tuple[Node, ...] = ()
    """The statements before the test: they find the ends of arrays that it mentions, and count iterations."""
    after: tuple[Node, ...] = ()
    """What follows the transformed version: last values of indices that it does not set."""

    ranges: Mapping[str, KnownRange] = field(default_factory=dict[str, KnownRange])
    """What the preparation finds out of arrays."""

    def and_(self, other: Guard) -> Guard:
        """The condition that both hold."""
        return Guard(
            runs=_different(self.runs + other.runs),
            headers=self.headers + other.headers,
            facts=strongest(self.facts + other.facts),
            names=self.names | other.names,
            pairs=self.pairs + other.pairs,
            apart=self.apart + other.apart,
            preparation=self.preparation + other.preparation,
            ranges={**self.ranges, **other.ranges},
            after=self.after + other.after,
        )

    def assumed(self, context: Context) -> Context:
        """The context where the condition holds."""
        given = context.assumptions
        known = given.noalias if isinstance(given.noalias, frozenset) else frozenset[str]()
        apart = replace(given, noalias=known | self.names) if self.names else given
        facts = context.facts + tuple(f.value for f in self.facts)
        taken = {name for found in self.ranges.values() for name in (found.first, found.last)}
        return replace(
            context,
            assumptions=apart,
            facts=facts,
            ranges={**context.ranges, **self.ranges},
            reserved=context.reserved | taken,
        )

    def around(self, transformed: Node, original: Node) -> Node:
        """Both versions of a statement, and which of them runs."""
        tests = (*self.runs, *self.headers, *self._facts_tested(), *self.apart)
        version = flat_block(transformed, *self.after) if self.after else transformed
        if not tests:
            return block(*self.preparation, version) if self.preparation else version
        test = reduce(lambda a, b: binary("&&", a, b), tests)
        chosen = if_(test, _in_block(version), _in_block(original))
        return block(Comment(f"/* {self._remark()} */"), *self.preparation, chosen)

    def _facts_tested(self) -> list[Node]:
        return [fact.test for fact in self.facts if fact.test is not None]

    def _remark(self) -> str:
        shown = (*self.headers, *self._facts_tested())
        tested = " and ".join(f"`{emit_expression(test)}`" for test in shown)
        listed = ", ".join(f"`{one}` and `{two}`" for one, two in self.pairs)
        if not tested:
            return f"Runs unless arrays overlap ({listed}); then the original code does."
        unless = f", unless arrays overlap ({listed})" if listed else ""
        return f"Runs where {tested}{unless}; else the original code does."


def _different(tests: Sequence[Node]) -> tuple[Node, ...]:
    return tuple({emit_expression(test): test for test in tests}.values())


def _in_block(statement: Node) -> Node:
    return statement if isinstance(statement, Compound) else block(statement)


_MOST_TESTS = 128
_LONGEST = 40
"""Letters of an address that stands in the test itself."""

Apply = Callable[[Transform, Context], Node]


@dataclass(slots=True)
class GuardedRecipe:
    """Applies the marked steps of a tree; those that are refused are tried once more behind guards.

    `apply` is one step; the guards that are left to try stand by the outermost step on their statement.  `needed` are
    those without which the tree is not what the user wrote.
    """

    root: Node
    apply: Apply
    context: Context
    original: Callable[[Transform], Node]
    """What stands at a mark in the user's code."""
    needed: Mapping[int, Guard] = field(default_factory=dict[int, Guard])
    _guards: dict[int, list[Guard]] = field(default_factory=dict[int, list[Guard]])
    _refusals: dict[int, Refusal] = field(default_factory=dict[int, Refusal])
    _outermost: dict[int, Transform] = field(default_factory=dict[int, Transform])

    def __post_init__(self) -> None:
        around = {d.name: declaration_of(d) for d in _declared_outside_marks(self.root)}
        self.context = replace(self.context, declarations={**around, **self.context.declarations})
        for outer in outermost_marks(self.root):
            self._guards[outer.step] = [self.needed.get(outer.step, _NO_GUARD)]
            for inner in walk_statements(outer):
                if isinstance(inner, Transform):
                    self._outermost[inner.step] = outer

    def result(self, rewrite: Callable[[Apply], Node]) -> Node:
        """The tree that `rewrite` makes with what is to be done at each mark.  Raises Refusal."""
        while True:
            try:
                return rewrite(self._change)
            except _GuardNeeded:
                continue

    def _change(self, mark: Transform, context: Context) -> Node:
        outer = self._outermost[mark.step]
        guard = self._guards[outer.step][0]
        try:
            found = self.apply(mark, guard.assumed(context))
        except Refusal as refusal:
            self._next_guard(outer, guard, refusal)
            raise _GuardNeeded from None
        if mark.step != outer.step or guard is _NO_GUARD:
            return found
        refused = self._refusals.get(outer.step)
        if refused is not None and any(map(is_about_loop, context.pragmas)):
            raise refused
        return guard.around(found, self.original(outer))

    def _next_guard(self, outer: Transform, guard: Guard, refusal: Refusal) -> None:
        """Go on to the next guard of a statement.  Raises Refusal where there is none."""
        left = self._guards[outer.step]
        if outer.step not in self._refusals:
            further = guards(without_marks(outer), guard.assumed(self.context))
            left += [guard.and_(each) for each in further]
        # What stands in the way where the conditions hold is the reason to tell.
        self._refusals[outer.step] = refusal
        del left[0]
        if not left:
            raise refusal


def _declared_outside_marks(node: Node) -> Iterator[c_ast.Decl]:
    """The declarations around marks, which the tree may have got with them."""
    if isinstance(node, Transform):
        return
    if isinstance(node, c_ast.Decl) and node.name:
        yield node
    for child in node:
        yield from _declared_outside_marks(child)


_NO_GUARD = Guard()


class _GuardNeeded(Exception):
    """A step is possible where a condition holds that was found now."""


def without_marks(mark: Transform) -> Node:
    """The statement that is marked, without marks in it."""
    return _Unmarking().rewrite(mark)


class _Unmarking(Rewriter):
    def visit_Transform(self, node: Transform) -> Node:
        return self.rewrite(node.stmt)


def guards(statement: Node, context: Context) -> list[Guard]:
    """The conditions that may make a recipe legal, the weaker ones first."""
    if not may_stand_twice(statement):
        return []
    apart = _disjointness(statement, context)
    found = [] if apart is None else [apart]
    found += [Guard(runs=runs, facts=rows) for rows, runs in _rows(statement, context)]
    if apart is not None:
        # Arrays that are read only ask for nothing where they overlap no other one.
        further = _rows(statement, apart.assumed(context))
        found += [Guard(runs=runs, facts=rows).and_(apart) for rows, runs in further]
    if numbers := number_facts(statement, context):
        known = Guard(facts=numbers)
        found += [known] if apart is None else [known, known.and_(apart)]
    return found


def _rows(statement: Node, context: Context) -> list[RowFacts]:
    """As `row_facts`; where members of structures are strides, pointers to these are followed where the loops do."""
    found = row_facts(statement, context)
    plain = SingleMembers.of(statement, context)
    if found or not plain.parts:
        return found
    return [
        known for facts in row_facts(plain.node, plain.context) if (known := _behind(plain, facts, statement))
    ]


def _behind(plain: SingleMembers, given: RowFacts, statement: Node) -> RowFacts | None:
    """Conditions on members of structures as the code has them, behind tests that their pointers may be followed."""
    facts, runs = given
    used = {symbol for fact in facts for product in fact.value.terms for symbol in product}
    before = tests_before_following(statement, plain.pointers_of(used & plain.parts.keys()), plain.context)
    if before is None:
        return None
    tests = [None if fact.test is None else plain.restored(fact.test) for fact in facts]
    values = [plain.of_members(fact.value) for fact in facts]
    known = tuple(map(Fact, values, tests))
    return known, _different((*before, *map(plain.restored, runs)))


def _disjointness(statement: Node, context: Context) -> Guard | None:
    """The condition that arrays of a statement do not overlap which may do so; None if none can be tested."""
    if context.assumptions.noalias is True:
        return None
    spots, plain = Spots.of(statement, context), SingleMembers.of(statement, context)
    found = [tuple(map(plain.array_of, pair)) for pair in spots.doubtful_pairs(context)]
    pairs = sorted({(min(pair), max(pair)) for pair in found})
    if not pairs or any(one == two for one, two in pairs):
        return None
    accesses = TouchedMemory.of(plain.node, plain.context)
    supply = plain.context.names(statement)
    doubtful = sorted({name for pair in pairs for name in pair})
    own = {name: plain.names.get(name, name) for name in doubtful}
    threats = {
        name: None
        if (found := spots.threats(name, plain.members(name), context)) is None
        else frozenset(map(plain.array_of, found))
        for name in doubtful
    }
    holders = {name: plain.holder(own[name]) for name in doubtful}
    extents = {
        name: None if threats[name] is None else _extent(own[name], holders[name], accesses, supply)
        for name in doubtful
    }
    testable = {name for name, extent in extents.items() if extent is not None}
    testable -= {name for name in testable if threats[name] and _holder(holders[name], extents[name]) is None}
    testable -= {name for name in testable if not testable.issuperset(threats[name] or ())}
    names = {n for n in testable if all(testable.issuperset(pair) for pair in pairs if n in pair)}
    tested = [pair for pair in pairs if not names.isdisjoint(pair)]
    is_known = names.issuperset(doubtful_arrays(extents, tested, own))
    if not names or not is_known or len(tested) > _MOST_TESTS:
        return None
    used = sorted({name for pair in tested for name in pair})
    followed = accesses.pointers.names
    if not followed.isdisjoint({name for pair in pairs for name in pair} - names):
        return None
    runs = tests_before_following(statement, plain.pointers_of([own[name] for name in used]), plain.context)
    if runs is None:
        return None
    found_out = [extent for name in used if (extent := extents[name]) is not None]
    preparation = _where(runs, accesses.preparation(found_out, supply))
    for name in used:
        # What is behind a pointer is read where the first tests hold only.
        if (extent := extents[name]) is not None and not followed and not runs:
            extents[name] = _with_short_ends(extent, own[name], supply, preparation)
    held = [(_holder(holders[n], extents[n]), threat) for n in used for threat in sorted(threats[n] or ())]
    tests = [_apart(extents[one], extents[two]) for one, two in tested]
    tests += [_apart(holder, extents[threat]) for holder, threat in held]
    signs = accesses.signs([own[name] for name in used])
    return Guard(
        runs=(*runs, *map(plain.restored, accesses.pointers.tests)),
        facts=tuple(replace(s, test=None if s.test is None else plain.restored(s.test)) for s in signs),
        names=frozenset(names),
        pairs=tuple(tested),
        apart=_different(tuple(map(plain.restored, tests))),
        preparation=tuple(map(plain.restored, preparation)),
        ranges={
            n: extent.known for n in used if (extent := extents[n]) is not None and extent.known is not None
        },
    )


def _where(runs: Sequence[Node], preparation: list[Node]) -> list[Node]:
    """Statements that follow pointers where the loops run that follow them, behind the declarations of what they set."""
    declared = [each for each in preparation if isinstance(each, c_ast.Decl)]
    if not runs or len(declared) == len(preparation):
        return preparation
    test = reduce(lambda a, b: binary("&&", a, b), runs)
    return [*declared, if_(test, block(*(each for each in preparation if not isinstance(each, c_ast.Decl))))]


def _holder(structure: Node | None, extent: AddressRange | None) -> AddressRange | None:
    """The memory of the pointers that lead to an array: a structure, or those to its rows."""
    if structure is not None:
        return object_range(structure)
    return None if extent is None else extent.pointers


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


def may_stand_twice(statement: Node) -> bool:
    """Whether a program can hold a statement two times, and names in it that point to memory are those outside."""
    for part in walk_statements(statement):
        if isinstance(part, c_ast.Label):
            return False
        for decl in part.decls if isinstance(part, c_ast.DeclList) else [part]:
            if isinstance(decl, c_ast.Decl) and ("static" in decl.storage or _is_pointer(decl)):
                return False
    return stray_case(statement) is None


def _is_pointer(decl: c_ast.Decl) -> bool:
    kind = decl.type
    while isinstance(kind, c_ast.ArrayDecl):
        kind = kind.type
    return isinstance(kind, c_ast.PtrDecl)


def _apart(one: AddressRange | None, two: AddressRange | None) -> Node:
    assert one is not None
    assert two is not None
    return binary("||", _all_before(one.behind, two.first), _all_before(two.behind, one.first))


def _all_before(ends: Sequence[Node], starts: Sequence[Node]) -> Node:
    tests = [binary("<=", end, start) for end in ends for start in starts]
    return reduce(lambda one, two: binary("&&", one, two), tests)
