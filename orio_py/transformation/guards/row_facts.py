"""What has to hold at run time for subscripts such as `image[i * stride + j]` to be rows and columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from orio_py.ctree.build import binary, const, ident
from orio_py.ctree.dependence.access import Unanalysable
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.dependence.names import names_of, references
from orio_py.ctree.dependence.scope import Constraint
from orio_py.ctree.dependence.sets import Undecided
from orio_py.ctree.dependence.verdict import nest_of
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node
from orio_py.ctree.rewrite import assigned_names, declared_names
from orio_py.transformation.base import Context
from orio_py.transformation.certain_conditions import is_always_true
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.guards.pointed_bounds import PointedBounds
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.verdicts import aliases_in, dependence_context

_MOST_FACTS = 16


@dataclass(frozen=True, slots=True)
class Fact:
    """A polynomial over integer variables that is at least 0 where a test in C holds; None where it always is."""

    value: Constraint
    test: Node | None

    @classmethod
    def of(cls, value: Constraint, arithmetic: Arithmetic, context: Context) -> Fact:
        """The fact with a test in which nothing is subtracted."""
        if _is_certain(value, context):
            return cls(value, None)
        more = Polynomial({product: c for product, c in value.terms.items() if c > 0 and product})
        less = Polynomial({product: -c for product, c in value.terms.items() if c < 0 and product})
        offset = value.terms.get((), 0)
        if not less.terms:
            test = binary(">=", arithmetic.expression(more), const(-offset))
            return cls(value, None if is_always_true(test, context) else test)
        if not more.terms:
            return cls(value, binary("<=", arithmetic.expression(less), const(offset)))
        if offset == -1:
            return cls(value, binary("<", arithmetic.expression(less), arithmetic.expression(more)))
        more, less = (more.shifted(offset), less) if offset > 0 else (more, less.shifted(-offset))
        left, right = (arithmetic.expression(side, wide=() in side.terms) for side in (less, more))
        return cls(value, binary("<=", left, right))


def _is_certain(value: Constraint, context: Context) -> bool:
    """Whether a sum of unsigned variables is never negative; compilers warn of a test of it."""
    return _is_unsigned(value, context) and min(value.terms.values(), default=0) >= 0


def _is_impossible(value: Constraint, context: Context) -> bool:
    """Whether a sum is always negative: of unsigned variables, each taken away."""
    never_more = max(value.terms.values(), default=0) <= 0
    return value.terms.get((), 0) < 0 and never_more and _is_unsigned(value, context)


def _is_unsigned(value: Constraint, context: Context) -> bool:
    known = (context.declarations.get(symbol) for product in value.terms for symbol in product)
    return all(each is not None and each.is_unsigned for each in known)


def strongest(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Of facts that differ by a number only, the one that implies the others."""
    found: dict[object, Fact] = {}
    for fact in facts:
        key = tuple(item for item in fact.value.key if item[0])
        other = found.get(key)
        if other is None or fact.value.terms.get((), 0) < other.value.terms.get((), 0):
            found[key] = fact
    return tuple(found.values())


RowFacts = tuple[tuple[Fact, ...], tuple[Node, ...]]
"""Conditions, and the tests before those."""


def row_facts(statement: Node, context: Context) -> tuple[RowFacts, ...]:
    """The conditions that columns of linearised subscripts stay in their rows, in several ways.

    None where there are too many or one never holds, and none that read what the statement changes.
    """
    if context.effects(statement).calls:
        return ()
    names = names_of(statement, context.declarations, aliases_in(context).may_overlap)
    written = [found.spot for found, _, is_written in references(statement, names) if is_written]
    changing = frozenset(assigned_names(statement)) | declared_names(statement)
    pointers = PointedBounds.of(statement, changing, written, context)

    def is_known(symbol: str) -> bool:
        return is_steady(symbol, names.varying, context) or (
            symbol[:1] == "*" and symbol[1:] in pointers.names - names.varying
        )

    arithmetic = Arithmetic(context, names.varying)
    result: list[RowFacts] = []
    for conditions in _all_ways(statement, context):
        known = {c.key: c for c in conditions if all(map(is_known, _symbols(c)))}.values()
        if known and len(known) <= _MOST_FACTS and not any(_is_impossible(c, context) for c in known):
            follows = any(symbol[:1] == "*" for condition in known for symbol in _symbols(condition))
            facts = tuple(Fact.of(condition, arithmetic, context) for condition in known)
            result.append((facts, pointers.tests if follows else ()))
    return tuple(result)


def _symbols(value: Constraint) -> Iterator[str]:
    return (symbol for product in value.terms for symbol in product)


def _all_ways(statement: Node, context: Context) -> Iterator[list[Constraint]]:
    """The ways for whole nests, and then those for the loops inside them alone, whose iterations a recipe may be about."""
    outermost = list(_outermost_loops(statement))
    whole = list(_ways([_row_conditions(loop, context) for loop in outermost]))
    yield from whole
    inner = [loop for outer in outermost for loop in _outermost_loops(outer.body)]
    for conditions in _ways([_row_conditions(loop, context) for loop in inner]):
        yield [*(whole[-1] if whole else ()), *conditions]


def _ways(loops: Sequence[Sequence[Sequence[Constraint]]]) -> Iterator[list[Constraint]]:
    """The conditions of all loops together: the first ways of each, then the next, as far as one has more."""
    loops = [each for each in loops if each]
    for number in range(max(map(len, loops), default=0)):
        yield [condition for each in loops for condition in each[min(number, len(each) - 1)]]


def _outermost_loops(node: Node) -> Iterator[CanonicalLoop]:
    loop = CanonicalLoop.match(node)
    if loop is not None:
        yield loop
    else:
        for child in node:
            yield from _outermost_loops(child)


def _row_conditions(loop: CanonicalLoop, context: Context) -> tuple[tuple[Constraint, ...], ...]:
    try:
        return nest_of([loop], dependence_context(context)).row_conditions()
    except (Unanalysable, Undecided):
        return ()


def is_steady(symbol: str, varying: frozenset[str], context: Context) -> bool:
    """Whether a symbol is an integer variable that has one value throughout the statement, or names a number."""
    declared = context.declarations.get(symbol)
    if declared is None and symbol in {*context.macros, *context.enumerators}:
        return expression_type(ident(symbol), context) is not None
    known = symbol in context.sizes or (declared is not None and declared.is_scalar and declared.is_integer)
    return known and symbol not in varying
