"""What conditions around an array reference say of the ranges of indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.nodes import MIRRORED, NEGATED, Node, c_ast
from orio_py.transformation.offload.arithmetic import Arithmetic, ValueEnvironment
from orio_py.transformation.offload.bounded_values import ComparedSum, is_computed
from orio_py.transformation.offload.conversions import compares_numbers
from orio_py.transformation.offload.index_ranges import IndexRange, bounded, least

_MOST_CASES = 8


@dataclass(frozen=True, slots=True)
class RangeCase:
    """Levels as a condition leaves them, whether they say all that it says of indices, and what it says of scalars.

    All `guards`, polynomials of steady scalars, are at least 0 in this case; `sums` are those of several indices.
    """

    levels: tuple[IndexRange, ...]
    is_exact: bool = True
    guards: tuple[Polynomial, ...] = ()
    sums: tuple[ComparedSum, ...] = ()

    def and_(self, narrow: RangeCase) -> RangeCase:
        """The case that holds together with another one, which has restricted its levels."""
        return RangeCase(
            narrow.levels,
            self.is_exact and narrow.is_exact,
            (*self.guards, *narrow.guards),
            (*self.sums, *narrow.sums),
        )


def restricted(
    levels: tuple[IndexRange, ...],
    condition: Node,
    truth: bool,
    arithmetic: Arithmetic,
    known: ValueEnvironment,
) -> list[RangeCase]:
    """The cases in which a condition holds, or does not: in each iteration at least one of them."""
    match condition:
        case c_ast.UnaryOp(op="!", expr=inner):
            return restricted(levels, inner, not truth, arithmetic, known)
        case c_ast.BinaryOp(op="&&" | "||" as op, left=left, right=right):
            first = restricted(levels, left, truth, arithmetic, known)
            if (op == "&&") != truth:
                found = [*first, *restricted(levels, right, truth, arithmetic, known)]
                return found if len(found) <= _MOST_CASES else [RangeCase(levels, False)]
            found = [
                wide.and_(narrow)
                for wide in first
                for narrow in restricted(wide.levels, right, truth, arithmetic, known)
            ]
            return found if len(found) <= _MOST_CASES else [RangeCase(levels, False)]
        case c_ast.BinaryOp(op=op, left=left, right=right) if op in MIRRORED:
            relation = op if truth else NEGATED[op]
            one, two = arithmetic.polynomial(left, known), arithmetic.polynomial(right, known)
            if (
                one is not None
                and two is not None
                and compares_numbers(condition, least(levels, arithmetic), arithmetic, known)
            ):
                return _compared(levels, one - two, relation)
        case _:
            pass
    return [RangeCase(levels, not _mentions_index(condition, levels, known))]


def _compared(levels: tuple[IndexRange, ...], distance: Polynomial, relation: str) -> list[RangeCase]:
    """The levels where `distance relation 0` holds, for `!=` in two cases where its value may be an end of them."""
    names = distance.symbols
    used = [place for place, level in enumerate(levels) if level.index in names]
    computed = {name for name in names if is_computed(name)}
    if not used and not computed:
        return [RangeCase(levels, guards=guards) for guards in _guards(distance, relation)]
    if len(used) != 1 or computed:
        found = ComparedSum.of(distance, relation, {*(levels[place].index for place in used), *computed})
        return [RangeCase(levels, False, sums=() if found is None else (found,))]
    level = levels[used[0]]
    factor = distance.terms.get((level.index,), 0)
    rest = distance - Polynomial.symbol(level.index).scaled(factor)
    if factor not in {1, -1} or any(level.index in monomial for monomial in rest.terms):
        return [RangeCase(levels, False)]
    if factor == -1:
        relation = MIRRORED[relation]
    cases = _tightened(level, rest.scaled(-factor), relation)
    return [RangeCase((*levels[: used[0]], new, *levels[used[0] + 1 :])) for new in cases]


def _guards(distance: Polynomial, relation: str) -> list[tuple[Polynomial, ...]]:
    """What is at least 0 where `distance relation 0` holds, in each case of it."""
    above, below = distance, distance.scaled(-1)
    match relation:
        case "<":
            return [(below.shifted(-1),)]
        case "<=":
            return [(below,)]
        case ">":
            return [(above.shifted(-1),)]
        case ">=":
            return [(above,)]
        case "==":
            return [(above, below)]
        case _:
            return [(below.shifted(-1),), (above.shifted(-1),)]


def _tightened(level: IndexRange, end: Polynomial, relation: str) -> list[IndexRange]:
    match relation:
        case "<" | "<=":
            return [bounded(level, end.shifted(-1 if relation == "<" else 0), upper=True)]
        case ">" | ">=":
            return [bounded(level, end.shifted(1 if relation == ">" else 0), upper=False)]
        case "==":
            return [bounded(bounded(level, end, upper=False), end, upper=True)]
        case _:
            step = abs(level.stride)
            lowers = tuple(low.shifted(step) if (low - end).value == 0 else low for low in level.lowers)
            uppers = tuple(high.shifted(-step) if (high - end).value == 0 else high for high in level.uppers)
            if (lowers, uppers) != (level.lowers, level.uppers):
                return [replace(level, lowers=lowers, uppers=uppers, trips=None)]
            return [*_tightened(level, end, "<"), *_tightened(level, end, ">")]


def _mentions_index(condition: Node, levels: Sequence[IndexRange], known: ValueEnvironment) -> bool:
    """Whether a condition compares an index, or something computed from one, outside of subscripts."""
    indices = {level.index for level in levels}
    stack: list[Node] = [condition]
    while stack:
        node = stack.pop()
        if isinstance(node, c_ast.ArrayRef):
            continue
        if isinstance(node, c_ast.ID) and (node.name in indices or node.name in known):
            return True
        stack.extend(node)
    return False
