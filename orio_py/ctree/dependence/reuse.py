"""Whether two references can name the same memory while the loops around them stand still.

Keeping an array element in a scalar or a buffer needs two answers: can accesses through different names
overlap (`may_overlap`, by C's rules for types, arrays and pointers), and can two subscripts of one array be
equal in the same iteration of the outer loops (`Elements.may_coincide`, decided exactly for affine ones).
C99 6.5p7 (accesses through other types) and 6.7.3.1 (`restrict`) are the rules behind the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orio_py.ctree.build import call, literal_value
from orio_py.ctree.dependence.access import Instance
from orio_py.ctree.dependence.affine import Linear, Polynomial
from orio_py.ctree.dependence.arrays import delinearised
from orio_py.ctree.dependence.names import Names
from orio_py.ctree.dependence.schedule import enter
from orio_py.ctree.dependence.sets import Solver, Undecided
from orio_py.ctree.dependence.terms import Constraint, Level, Scope, Terms
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import INCREMENTS, For, Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.ctree.symbols import CDeclaration

POINTER = "*"
"""The element type of memory that holds pointers."""

_FLOATING = frozenset({"float", "double", "long double", "double long"})
_BUILTIN = frozenset({"short", "int", "long", "signed", "unsigned"})


@dataclass(frozen=True, slots=True)
class MemoryObject:
    """The memory that accesses through a name with some number of subscripts may touch.

    `element` is the type of what is accessed, None where it is not known.  `is_named` says that it is the
    variable's own memory, not reached through a pointer, or only by one that nothing but allocations has set; `rows` counts the pointers that lie in memory
    themselves on the way (one for `a[i][j]` with `double **a`).
    """

    name: str
    element: str | None
    is_named: bool
    is_declared: bool
    restrict: bool = False
    is_local_pointer: bool = False
    rows: int = 0


def storage_of(name: str, depth: int, declaration: CDeclaration | None) -> MemoryObject:
    """What `depth` subscripts to a variable, whose declaration may be unknown, lead to."""
    if declaration is None or "." in name:
        return MemoryObject(name, None, is_named=declaration is None, is_declared=declaration is not None)
    extents, whole = declaration.dimensions, len(declaration.dimensions) + declaration.pointers
    is_array = bool(extents) and bool(extents[0]) and not declaration.is_parameter
    stars = declaration.pointers + (1 if extents and not is_array else 0)
    if depth == whole:
        element: str | None = declaration.type
    else:
        element = POINTER if depth < whole else None
    is_named = depth <= len(extents) if is_array else depth <= (1 if declaration.allocated else 0)
    rows = 0 if is_named else (declaration.pointers if is_array else stars - 1)
    return MemoryObject(
        name,
        element,
        is_named,
        is_declared=True,
        restrict="restrict" in declaration.qualifiers and stars == 1 and not is_array,
        is_local_pointer=not is_named and declaration.scope == "local" and not declaration.is_parameter,
        rows=rows,
    )


def may_overlap(first: MemoryObject, second: MemoryObject, noalias: bool | frozenset[str] = False) -> bool:
    """Whether accesses through two names may touch the same memory.

    Declared arrays that are not parameters are memory of their own, and so is what has no visible
    declaration.  `noalias` names the pointers and array parameters that are promised to overlap nothing.
    """
    if first.name == second.name:
        return True
    if not (first.is_declared and second.is_declared) or (first.is_named and second.is_named):
        return False
    if _promised(first, noalias) or _promised(second, noalias):
        return False
    # What a local pointer points to may be derived from a `restrict` pointer, which is allowed.
    if first.restrict and (second.restrict or not second.is_local_pointer):
        return False
    if second.restrict and not first.is_local_pointer:
        return False
    return compatible(first.element, second.element)


def _promised(storage: MemoryObject, noalias: bool | frozenset[str]) -> bool:
    return noalias if isinstance(noalias, bool) else storage.name in noalias


def compatible(first: str | None, second: str | None) -> bool:
    """Whether an object of one type may be accessed as the other; types that are not known may."""
    if first is None or second is None:
        return True
    one, two = _kind(first), _kind(second)
    return one is None or two is None or one == two


def _kind(element: str) -> object:
    """Types of different kinds never share an object; None for a type that may be any."""
    if element == POINTER or element in _FLOATING:
        return "long double" if element == "double long" else element
    words = element.split()
    if words and set(words) <= _BUILTIN:
        return words.count("long"), "short" in words
    return None


@dataclass(frozen=True, slots=True)
class Place:
    """What is known where a statement stands: the loops around it.

    `sure` are those constraints that hold in C's arithmetic too, where an unsigned difference wraps.
    """

    scope: Scope
    sure: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True)
class Header:
    """A loop as the questions need it; `start` is its first index value where that is known.

    `trusted` says that its header computes without wrapping around and compares numbers of one sign.
    """

    node: For
    index: str | None
    start: Node | None
    stride: int
    trusted: bool
    view: CanonicalLoop | None = None


class EnclosingLoops:
    """What the loops around some statements say of their indices, which stand still there.

    `outer` are loops around the whole tree, outermost first; `names` are the facts about the tree.
    """

    def __init__(self, outer: Sequence[Header], names: Names, solver: Solver) -> None:
        self._terms = Terms(names, solver.is_nonnegative, "@@")
        self.place = Place(Scope())
        for header in outer:
            self.place = self.inside(header, self.place)

    def inside(self, header: Header, place: Place) -> Place:
        """The body of a loop around the statements."""
        place = _entered(header, self._terms, place)
        scope = place.scope
        fixed = Scope(values=scope.values, domain=scope.domain, fixed=frozenset(scope.values))
        return Place(fixed, place.sure)


class Elements:
    """Answers about the references inside some statements, for fixed iterations of the loops around them.

    `place` is where the statements stand, `names` are the facts about the statements themselves.  The
    iterations of loops among them have symbols that begin with `prefix`.
    """

    def __init__(self, place: Place, names: Names, solver: Solver, prefix: str = "@") -> None:
        self._solver = solver
        self._terms = Terms(names, solver.is_nonnegative, prefix)
        self._empty: dict[object, tuple[Sequence[Constraint], bool]] = {}
        self._known: dict[tuple[int, int], tuple[Node, Place, Polynomial | None]] = {}
        self.place = place

    def inside(self, header: Header, place: Place) -> Place:
        """The body of a loop among the statements."""
        return _entered(header, self._terms, place)

    def subscripts(self, nodes: Iterable[Node], place: Place) -> tuple[Polynomial | None, ...]:
        """Subscripts as polynomials; None for one that is not known."""
        return tuple([self._subscript(node, place) for node in nodes])

    def _subscript(self, node: Node, place: Place) -> Polynomial | None:
        # Copies of a statement share most of their subscripts.
        key = id(node), id(place)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = node, place, self._terms.polynomial(node, place.scope)[0]
        return known[2]

    def may_coincide(
        self,
        first: Sequence[Polynomial | None],
        second: Sequence[Polynomial | None],
        domain: Sequence[Constraint] = (),
    ) -> bool:
        """Whether two references to an array, with these subscripts, can be the same element."""
        if len(first) != len(second):
            return True
        equal: list[Linear] = []
        for left, right in zip(first, second, strict=True):
            row = None if left is None or right is None else (left - right).linear()
            if row is None or not row:
                continue
            if not any(row.keys()):
                return False
            equal.append(row)
        return not equal or not self._is_empty(equal, domain)

    def split(
        self,
        references: Sequence[tuple[Sequence[Polynomial | None], Place]],
    ) -> list[tuple[Polynomial | None, ...]]:
        """The subscripts of all references to one array, `a[i*n + j]` as the `a[i][j]` that it stands for."""
        made = [
            Instance("a", c_ast.ID(str(number)), False, tuple(s), _NO_LEVELS, place.scope.domain, (), None)
            for number, (s, place) in enumerate(references)
        ]
        found = delinearised(made, self._solver.is_nonnegative)
        return [instance.subscripts for instance in found]

    def holds(self, condition: Node, place: Place, assumed: Node | None = None) -> bool:
        """Whether a condition of comparisons is certain at a place, where `assumed` may hold too."""
        if isinstance(condition, c_ast.BinaryOp) and condition.op == "&&":
            return all(self.holds(part, place, assumed) for part in (condition.left, condition.right))
        if not isinstance(condition, c_ast.BinaryOp) or condition.op not in {"<", "<=", ">", ">="}:
            return False
        less, more = condition.left, condition.right
        if condition.op in {">", ">="}:
            less, more = more, less
        gap = 1 if condition.op in {"<", ">"} else 0
        sure = place.sure
        if assumed is not None:
            before = len(place.scope.domain)
            sure = (*sure, *self._terms.condition(assumed, place.scope).domain[before:])
        return self.is_at_least(more, less, gap, place, sure)

    def is_at_least(
        self, more: Node, less: Node, gap: int, place: Place, sure: Sequence[Constraint] | None = None
    ) -> bool:
        """Whether `more - less >= gap` is certain at a place."""
        known = place.sure if sure is None else sure
        low = self._leaves(less, place, smallest=False)
        high = self._leaves(more, place, smallest=True)
        return all(
            h is not None and lo is not None and self.is_nonnegative((h - lo).shifted(-gap), known)
            for h in high
            for lo in low
        )

    def is_at_most_apart(self, more: Node, less: Node, distance: int, place: Place) -> bool:
        """Whether `more - less <= distance` is certain, of a minimum or maximum by one of its operands."""
        low = self._leaves(less, place, smallest=False)
        high = self._leaves(more, place, smallest=True)
        return any(
            self.is_nonnegative((lo - h).shifted(distance), place.sure)
            for h in high
            for lo in low
            if h is not None and lo is not None
        )

    def distance(self, more: Node, less: Node, place: Place) -> int | None:
        """The number that `more - less` is at most, where that shows without the loops around."""
        low = self._leaves(less, place, smallest=False)
        high = self._leaves(more, place, smallest=True)
        apart = ((h - lo).value for h in high for lo in low if h is not None and lo is not None)
        return min((value for value in apart if value is not None), default=None)

    def is_nonnegative(self, value: Polynomial, known: Sequence[Constraint]) -> bool:
        """Whether a value is certain to be at least 0."""
        if value.value is not None:
            return value.value >= 0
        return self._solver.is_nonnegative(value, known)

    def _leaves(self, node: Node, place: Place, *, smallest: bool) -> list[Polynomial | None]:
        leaves = self._terms.extremes(_as_extreme(node, self._terms, place.scope), place.scope, smallest)
        values = [self._terms.polynomial(leaf, place.scope)[0] for leaf in leaves]
        return [value if value is not None and value.linear() is not None else None for value in values]

    def _is_empty(self, equal: Sequence[Linear], domain: Sequence[Constraint]) -> bool:
        key = (tuple(tuple(sorted(row.items())) for row in equal), id(domain))
        known = self._empty.get(key)
        if known is None:
            rows = [row for row in (constraint.linear() for constraint in domain) if row is not None]
            try:
                known = domain, self._solver.is_empty(equal, rows)
            except Undecided:
                known = domain, False
            self._empty[key] = known
        return known[1]


_NO_LEVELS: tuple[Level, ...] = ()


def _entered(header: Header, terms: Terms, place: Place) -> Place:
    before = len(place.scope.domain)
    view = header.view
    if view is not None:
        bound = _as_extreme(view.bound, terms, place.scope)
        scope = enter(view if bound is view.bound else replace(view, bound=bound), terms, place.scope)
    else:
        scope = _counted(header, terms, place.scope)
    sure = (*place.sure, *scope.domain[before:]) if header.trusted else place.sure
    return Place(scope, sure)


def _as_extreme(node: Node, terms: Terms, scope: Scope) -> Node:
    """A conditional that is a minimum or maximum of integers, such as `n - i < 8 ? n : i + 7`, as a call of it.

    `Terms` knows those whose test compares the two results themselves; here they may differ by 1.
    """
    if (
        not isinstance(node, c_ast.TernaryOp)
        or not isinstance(node.cond, c_ast.BinaryOp)
        or node.cond.op != "<"
    ):
        return node
    values = [
        terms.polynomial(part, scope)[0]
        for part in (node.cond.left, node.cond.right, node.iftrue, node.iffalse)
    ]
    left, right, first, second = values
    if left is None or right is None or first is None or second is None:
        return node
    gap = (left - right).shifted(1).key
    parts = (_as_extreme(part, terms, scope) for part in (node.iftrue, node.iffalse))
    if gap == (first - second).key:
        return call("min", *parts)
    return call("max", *parts) if gap == (second - first).key else node


def _counted(header: Header, terms: Terms, scope: Scope) -> Scope:
    """The body of a loop such as the parts of an unrolled one: `for (; n > 3 && i < n - 3; i += 4)`."""
    if header.index is None:
        return scope
    value = terms.fresh()
    start: Polynomial | None = None
    if header.start is not None and header.stride:
        start, scope = terms.polynomial(header.start, scope)
    scope = replace(scope, values={**scope.values, header.index: value})
    if start is not None:
        scope = scope.restricted([(value - start).scaled(1 if header.stride > 0 else -1)], None)
    return scope if header.node.cond is None else terms.condition(header.node.cond, scope)


def stepped(node: For) -> tuple[str, int] | None:
    """The variable that the last part of a `for` header steps, and by how much, if that is a constant."""
    step: Any = node.next
    match step:
        case c_ast.UnaryOp(op=op, expr=c_ast.ID(name=name)) if op in INCREMENTS:
            return name, 1 if "+" in op else -1
        case c_ast.Assignment(op="+=" | "-=" as op, lvalue=c_ast.ID(name=name), rvalue=amount):
            value = literal_value(amount)
            return None if not value else (name, value if op == "+=" else -value)
        case _:
            return None


def started(node: For) -> tuple[str, Node] | None:
    """The variable that the first part of a `for` header sets, and its value."""
    match node.init:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
            return name, value
        case c_ast.DeclList(decls=[c_ast.Decl(name=str(name), init=Node() as value)]):
            return name, value
        case _:
            return None


def mentions(node: Node, names: Iterable[str]) -> bool:
    """Whether one of the names occurs in an expression."""
    wanted = frozenset(names)
    return any(isinstance(part, c_ast.ID) and part.name in wanted for part in walk(node))
