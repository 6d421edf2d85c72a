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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from orio_py.core.names import NameSupply
from orio_py.ctree.build import binary, declare, ident, index, literal_value, unary
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.dependence.names import AccessKey, names_of, references
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Node, Transform, c_ast
from orio_py.ctree.rewrite import Rewriter, assigned_names, declared_names, walk, walk_statements
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.guard import Guard
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.element_accesses import ElementAccess, accesses_in
from orio_py.transformation.offload.extents import factor_of, inner_extents
from orio_py.transformation.offload.index_ranges import IndexRange, Unbounded, ends, minimums
from orio_py.transformation.parallel.pragma_text import is_about_loop
from orio_py.transformation.pointed_bounds import PointedBounds
from orio_py.transformation.row_facts import Fact, is_steady, row_facts
from orio_py.transformation.verdicts import aliases_in

_MOST_TESTS = 128
_MOST_ENDS = 3
_LONGEST = 40
"""Letters of an address that stands in the test itself."""

Apply = Callable[[Transform, Context], Node]


@dataclass(slots=True)
class GuardedRecipe:
    """Applies the marked steps of a tree; those that are refused are tried once more behind guards.

    `apply` is one step; the guards that are left to try stand by the outermost step on their statement.
    """

    root: Node
    apply: Apply
    context: Context
    original: Callable[[Transform], Node]
    """What stands at a mark in the user's code."""
    _guards: dict[int, list[Guard]] = field(default_factory=dict[int, list[Guard]])
    _refusals: dict[int, Refusal] = field(default_factory=dict[int, Refusal])
    _outermost: dict[int, Transform] = field(default_factory=dict[int, Transform])

    def __post_init__(self) -> None:
        for node in walk_statements(self.root):
            if isinstance(node, Transform) and node.step not in self._outermost:
                for inner in walk_statements(node):
                    if isinstance(inner, Transform):
                        self._outermost[inner.step] = node

    def result(self, rewrite: Callable[[Apply], Node]) -> Node:
        """The tree that `rewrite` makes with what is to be done at each mark.  Raises Refusal."""
        while True:
            try:
                return rewrite(self._change)
            except _GuardNeeded:
                continue

    def _change(self, mark: Transform, context: Context) -> Node:
        outer = self._outermost[mark.step]
        guard = next(iter(self._guards.get(outer.step, ())), None)
        try:
            found = self.apply(mark, context if guard is None else guard.assumed(context))
        except Refusal as refusal:
            if guard is None:
                self._guards[outer.step] = guards(without_marks(outer), self.context)
                self._refusals[outer.step] = refusal
            else:
                del self._guards[outer.step][0]
                # What stands in the way where the conditions hold is the reason to tell.
                self._refusals[outer.step] = refusal
            if not self._guards[outer.step]:
                raise self._refusals[outer.step] from None
            raise _GuardNeeded from None
        if guard is None or mark.step != outer.step:
            return found
        if any(map(is_about_loop, context.pragmas)):
            raise self._refusals[outer.step]
        return guard.around(found, self.original(outer))


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
    if not _may_stand_twice(statement):
        return []
    apart, rows = _disjointness(statement, context), row_facts(statement, context)
    found = [] if apart is None else [apart]
    if rows:
        whole = Guard(facts=rows)
        found += [whole] if apart is None else [whole, whole.and_(apart)]
    return found


def _disjointness(statement: Node, context: Context) -> Guard | None:
    """The condition that arrays of a statement do not overlap which may do so; None if none can be tested."""
    if context.assumptions.noalias is True:
        return None
    accesses = _Accesses.of(statement, context)
    pairs = accesses.doubtful_pairs(context)
    if not pairs:
        return None
    extents = {name: accesses.extent(name) for name in sorted({name for pair in pairs for name in pair})}
    testable = {name for name, extent in extents.items() if extent is not None and extent.is_safe}
    names = {n for n in testable if all(testable.issuperset(pair) for pair in pairs if n in pair)}
    tested = [pair for pair in pairs if not names.isdisjoint(pair)]
    if not names or len(tested) > _MOST_TESTS:
        return None
    used = sorted({name for pair in tested for name in pair})
    followed = accesses.pointers.names
    if not followed.isdisjoint({name for pair in pairs for name in pair} - names):
        return None
    supply, declarations = context.names(statement), list[Node]()
    for name in used:
        # What is behind a pointer is read where the first tests hold only.
        if (extent := extents[name]) is not None and not followed:
            extents[name] = _Extent(
                _named(extent.first, f"{name}_first", supply, declarations),
                _named(extent.behind, f"{name}_end", supply, declarations),
            )
    tests = tuple(_apart(extents[one], extents[two]) for one, two in tested)
    return Guard(
        accesses.pointers.tests,
        accesses.signs(used),
        frozenset(names),
        tuple(tested),
        tests,
        tuple(declarations),
    )


def _named(address: Node, name: str, supply: NameSupply, declarations: list[Node]) -> Node:
    """A short address as it is, and a variable for a long one."""
    if len(emit_expression(address)) <= _LONGEST:
        return address
    own = supply.fresh(name)
    declarations.append(declare("const unsigned long", own, address))
    return ident(own)


@dataclass(frozen=True, slots=True)
class _Extent:
    """The addresses, as numbers, of the first byte that is touched and of the first one behind."""

    first: Node
    behind: Node

    @property
    def is_safe(self) -> bool:
        """Whether C computes both whatever the values: nothing is divided by what may be 0."""
        parts = (part for end in (self.first, self.behind) for part in walk(end))
        divisions = (part for part in parts if isinstance(part, c_ast.BinaryOp) and part.op in _PARTIAL)
        return all(literal_value(part.right) not in {None, 0} for part in divisions)


_PARTIAL = frozenset({"/", "%", "<<", ">>"})


def _may_stand_twice(statement: Node) -> bool:
    """Whether a program can hold a statement two times, and names in it that point to memory are those outside."""
    for part in walk_statements(statement):
        if isinstance(part, c_ast.Label):
            return False
        for decl in part.decls if isinstance(part, c_ast.DeclList) else [part]:
            if isinstance(decl, c_ast.Decl) and ("static" in decl.storage or _is_pointer(decl)):
                return False
    return True


def _is_pointer(decl: c_ast.Decl) -> bool:
    kind = decl.type
    while isinstance(kind, c_ast.ArrayDecl):
        kind = kind.type
    return isinstance(kind, c_ast.PtrDecl)


def _apart(one: _Extent | None, two: _Extent | None) -> Node:
    assert one is not None
    assert two is not None
    return binary("||", binary("<=", one.behind, two.first), binary("<=", two.behind, one.first))


@dataclass(frozen=True, slots=True)
class _Accesses:
    """The memory that a statement touches: by name, how deep, whether it is written, and the elements."""

    spots: Mapping[str, frozenset[AccessKey]]
    written: frozenset[AccessKey]
    nodes: Mapping[str, frozenset[int]]
    elements: Mapping[str, Sequence[ElementAccess]]
    arithmetic: Arithmetic
    pointers: PointedBounds
    changing: frozenset[str]
    context: Context

    def signs(self, names: Sequence[str]) -> tuple[Fact, ...]:
        """That the factors of indices in the subscripts of some arrays are not negative."""
        symbols = sorted({symbol for name in names for symbol in self._factors(name)})
        return tuple(Fact.of(Polynomial.symbol(symbol), self.arithmetic, self.context) for symbol in symbols)

    def _factors(self, name: str) -> set[str]:
        """The variables that indices are multiplied by in the subscripts of an array."""
        found: set[str] = set()
        for use in self.elements.get(name, ()):
            indices = {level.index for level in use.levels}
            for product in (
                p for subscript in use.subscripts if subscript is not None for p in subscript.terms
            ):
                if not indices.isdisjoint(product):
                    found.update(symbol for symbol in product if self._may_be_negative(symbol, use))
        return found - {level.index for use in self.elements.get(name, ()) for level in use.levels}

    def _may_be_negative(self, symbol: str, use: ElementAccess) -> bool:
        known = {*minimums(use.levels), *self.arithmetic.minimums}
        if symbol in known or self.arithmetic.is_never_negative(symbol):
            return False
        return symbol.lstrip("*") in self.pointers.names or is_steady(symbol, self.changing, self.context)

    @classmethod
    def of(cls, statement: Node, context: Context) -> _Accesses:
        """What a statement touches of memory that it does not declare itself."""
        names = names_of(statement, context.declarations)
        changing = frozenset(assigned_names(statement)) | declared_names(statement)
        arithmetic = Arithmetic(context, changing)
        spots: dict[str, set[AccessKey]] = {}
        nodes: dict[str, set[int]] = {}
        written: set[AccessKey] = set()
        for found, node, is_written in references(statement, names):
            if found.variable in names.local or not (found.subscripts or found.variable in context.exposed):
                declared = context.declarations.get(found.variable)
                if declared is None or not declared.is_array_like or found.variable in names.local:
                    continue
            spots.setdefault(found.variable, set()).add(found.spot)
            nodes.setdefault(found.variable, set()).add(id(node))
            written.update([found.spot] if is_written else ())
        pointers = PointedBounds.of(statement, changing, written, context)
        arithmetic.followed = pointers.names
        elements: dict[str, list[ElementAccess]] = {}
        for access in accesses_in(statement, arithmetic):
            elements.setdefault(access.name, []).append(access)
        return cls(
            {name: frozenset(found) for name, found in spots.items()},
            frozenset(written),
            {name: frozenset(found) for name, found in nodes.items()},
            elements,
            arithmetic,
            pointers,
            changing,
            context,
        )

    def doubtful_pairs(self, context: Context) -> list[tuple[str, str]]:
        """The names that may touch the same memory, of which one is written at least."""
        aliases = aliases_in(context)
        return [
            (one, two)
            for one, two in combinations(sorted(self.spots), 2)
            if any(
                aliases.may_overlap(first, second)
                for first in self.spots[one]
                for second in self.spots[two]
                if first in self.written or second in self.written
            )
        ]

    def extent(self, name: str) -> _Extent | None:
        """The addresses between which everything lies that is touched under a name; None where nobody knows."""
        declared = self.context.declarations.get(name)
        if declared is None or name in self.changing or not declared.type or "(" in declared.type:
            return None
        if self.spots[name] == frozenset({(name, 0)}):
            return None if declared.is_array_like else _scalar(name)
        return self._elements(name, declared)

    def _elements(self, name: str, declared: CDeclaration) -> _Extent | None:
        uses = self.elements.get(name, ())
        depth = max(len(declared.dimensions), 1)
        direct = declared.pointers == (0 if declared.dimensions else 1)
        # What is reached by other ways than subscripts was not collected.
        whole = self.nodes[name] <= {id(use.node) for use in uses}
        if not direct or not whole or any(len(use.subscripts) != depth for use in uses):
            return None
        inner, scalars = inner_extents(declared, self.context)
        sizes = {scalar.name: scalar.value for scalar in scalars}
        factors = [factor_of(extent, sizes, self.arithmetic) for extent in inner]
        bounds = [self._ends(uses, factors, largest=largest) for largest in (False, True)]
        if any(found is None or len(found) > _MOST_ENDS for found in bounds):
            return None
        lowest, highest = ([] if found is None else found for found in bounds)
        base: Node = ident(name)
        for _ in declared.dimensions[1:]:
            base = index(base, 0)
        first = self.arithmetic.extreme(lowest, largest=False)
        behind = self.arithmetic.extreme([end.shifted(1) for end in highest], largest=True)
        is_zero = all(end.value == 0 for end in lowest)
        return _Extent(
            _number(base if is_zero else binary("+", base, first)), _number(binary("+", base, behind))
        )

    def _ends(
        self, uses: Sequence[ElementAccess], factors: Sequence[Polynomial], *, largest: bool
    ) -> list[Polynomial] | None:
        found: list[Polynomial] = []
        known = {**dict.fromkeys(self._factors(uses[0].name), 0), **self.arithmetic.minimums}
        for use in uses:
            flat = use.subscripts[0]
            for factor, subscript in zip(factors, use.subscripts[1:], strict=True):
                flat = None if flat is None or subscript is None else flat * factor + subscript
            if flat is None:
                return None
            try:
                levels = [_simply(level) for level in use.levels]
                found += ends(flat, levels, 0, known, self.arithmetic, largest=largest)
            except Unbounded:
                return None
        return self.arithmetic.tightest(found, smallest=not largest, minimums=known)


def _simply(level: IndexRange) -> IndexRange:
    """The range with the bound that its header gives, which a loop with a larger step need not reach."""
    lowers, uppers = level.limit
    return replace(level, lowers=lowers or level.lowers, uppers=uppers or level.uppers)


def _scalar(name: str) -> _Extent:
    address = unary("&", ident(name))
    return _Extent(_number(address), _number(binary("+", address, 1)))


def _number(address: Node) -> Node:
    """An address as a number, which C compares whatever objects it belongs to."""
    kind = c_ast.TypeDecl(None, [], None, c_ast.IdentifierType(["unsigned", "long"]))
    return c_ast.Cast(c_ast.Typename(None, [], None, kind), address)
