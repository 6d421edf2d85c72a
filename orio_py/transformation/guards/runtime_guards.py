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

from orio_py.ctree.loops import stray_case
from orio_py.ctree.nodes import Node, Transform, c_ast
from orio_py.ctree.rewrite import Rewriter, walk_statements
from orio_py.ctree.symbols import declaration_of
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.guards.disjointness import disjointness
from orio_py.transformation.guards.guard import Guard, different
from orio_py.transformation.guards.number_facts import number_facts
from orio_py.transformation.guards.pointed_bounds import tests_before_following
from orio_py.transformation.guards.row_facts import Fact, RowFacts, row_facts
from orio_py.transformation.guards.single_members import SingleMembers
from orio_py.transformation.guards.single_reads import with_single_reads
from orio_py.transformation.parallel.pragma_text import is_about_loop
from orio_py.transformation.sites import outermost_marks, repeated_steps

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
    _repeated: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        around = {d.name: declaration_of(d) for d in _declared_outside_marks(self.root)}
        self.context = replace(self.context, declarations={**around, **self.context.declarations})
        self._repeated = repeated_steps(self.root)
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
        return guard.around(with_single_reads(found, guard.steady, context), self.original(outer))

    def _next_guard(self, outer: Transform, guard: Guard, refusal: Refusal) -> None:
        """Go on to the next guard of a statement.  Raises Refusal where there is none."""
        if outer.step in self._repeated:
            raise refusal
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
    apart = disjointness(statement, context)
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


def _rows(statement: Node, context: Context) -> Sequence[RowFacts]:
    """As `row_facts`; where members of structures are strides, pointers to these are followed where the loops do."""
    found = context.answers.to(row_facts, statement, context)
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
    return known, different((*before, *map(plain.restored, runs)))


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
