"""The loops around an array reference as ranges of their indices, and the range of a subscript over them.

Each level says between which values an index lies, in terms of indices further out and of steady scalars.
The range of a subscript follows by putting in, from the innermost level outwards, the end of the range at
which the subscript is smallest or largest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from orio_py.ctree.build import add, binary, literal_value, ternary
from orio_py.ctree.dependence.affine import Polynomial, least_values
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node
from orio_py.transformation.offload.arithmetic import (
    Arithmetic,
    ValueEnvironment,
    as_long,
    operands,
)
from orio_py.transformation.offload.bounded_values import Quotient, positive

_MAXIMUM_ENDS = 8


class Unbounded(Exception):
    """The range of a subscript cannot be written down: why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class IndexRange:
    """A loop around a reference: its index lies between all `lowers` and all `uppers`.

    `limit` is what the header says of a loop with a larger step, whose last index is one of the ends.  `loose` says
    that it need not reach them; `trips` is the number of iterations of a loop with step 1 or -1 and single bounds;
    `stride` is the signed step.
    """

    index: str
    lowers: tuple[Polynomial, ...]
    uppers: tuple[Polynomial, ...]
    loose: bool = False
    trips: Polynomial | None = None
    limit: tuple[tuple[Polynomial, ...], tuple[Polynomial, ...]] = ((), ())
    stride: int = 1


def simply_bounded(level: IndexRange) -> IndexRange:
    """The range with the bound that its header gives, which a loop with a larger step need not reach."""
    if abs(level.stride) == 1:
        return level
    lowers, uppers = level.limit
    return replace(level, lowers=lowers or level.lowers, uppers=uppers or level.uppers)


def level_of(
    loop: CanonicalLoop, arithmetic: Arithmetic, known: ValueEnvironment, *, runs: bool
) -> IndexRange:
    """What a loop's header says about its index; `runs` says that the loop has an iteration."""
    step, strict = abs(loop.stride), loop.relation in {"<", ">"}
    starts = _values(operands(loop.start, smallest=not loop.upward), arithmetic, known)
    bounds = _values(operands(loop.bound, smallest=loop.upward), arithmetic, known)
    inward = (-1 if loop.upward else 1) if strict else 0
    ends = tuple(bound.shifted(inward) for bound in bounds)
    loose, trips = False, None
    limit = ((), ends) if loop.upward else (ends, ())
    if step > 1:
        last = _last(loop, starts, bounds, arithmetic, runs=runs)
        ends, loose = ((last,), False) if last is not None else (ends, True)
    elif len(starts) == len(ends) == 1:
        distance = ends[0] - starts[0] if loop.upward else starts[0] - ends[0]
        trips = distance.shifted(1)
    lowers, uppers = (starts, ends) if loop.upward else (ends, starts)
    return IndexRange(loop.index, lowers, uppers, loose, trips, limit, loop.stride)


def _values(nodes: Sequence[Node], arithmetic: Arithmetic, known: ValueEnvironment) -> tuple[Polynomial, ...]:
    found = (arithmetic.polynomial(node, known) for node in nodes)
    return tuple(value for value in found if value is not None)


def _last(
    loop: CanonicalLoop,
    starts: Sequence[Polynomial],
    bounds: Sequence[Polynomial],
    arithmetic: Arithmetic,
    *,
    runs: bool,
) -> Polynomial | None:
    """The index in the last iteration of a loop with a larger step, where start and bound are steady.

    Where there is no iteration it is the bound, as for a loop with step 1: C rounds towards zero, and would
    give indices that lie on the wrong side of it.
    """
    if len(starts) != 1 or len(bounds) != 1:
        return None
    if arithmetic.polynomial(loop.start, {}) is None or arithmetic.polynomial(loop.bound, {}) is None:
        return None
    step = abs(loop.stride)
    strict = int(loop.relation in {"<", ">"})
    distance = bounds[0] - starts[0] if loop.upward else starts[0] - bounds[0]
    if (number := distance.value) is not None:
        number -= strict
        way = number // step * step if number >= 0 else number
        return starts[0].shifted(way if loop.upward else -way)
    low, high = (loop.start, loop.bound) if loop.upward else (loop.bound, loop.start)
    span = as_long(high) if literal_value(low) == 0 else binary("-", as_long(high), low)
    room = add(span, -strict)
    rounded = binary("*", binary("/", room, step), step)
    way = arithmetic.opaque(rounded if runs else ternary(binary("<", room, 0), room, rounded))
    return starts[0] + way if loop.upward else starts[0] - way


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of scalars: `always`, and where the loops and conditions around a reference let it be made.

    Only what is always so may decide between two ends of a range, as one that is never reached must not make
    the range larger.  Signs may depend on more: where they are wrong, nothing is touched.
    """

    always: Mapping[str, int]
    inside: Mapping[str, int]
    arithmetic: Arithmetic


def ends(
    value: Polynomial,
    levels: Sequence[IndexRange],
    axes: int,
    always: Mapping[str, int],
    arithmetic: Arithmetic,
    *,
    largest: bool,
) -> list[Polynomial]:
    """Steady values of which the largest (or smallest) is at least (at most) a subscript's.

    The first `axes` levels have an iteration at least; `always` are the least values, at least 0, of scalars.
    Raises Unbounded.
    """
    facts = _Facts(always, {**minimums(levels), **always}, arithmetic)
    found = [value]
    for place in range(len(levels), -1, -1):
        if place < len(levels):
            level, outer = levels[place], [other.index for other in levels[:place]]
            runs = place < axes
            found = [
                end
                for item in found
                for end in _without(item, level, outer, facts, runs=runs, largest=largest)
            ]
        for symbol, quotient in reversed(arithmetic.quotients.items()):
            if any(symbol in item.symbols for item in found):
                own = _quotient_range(symbol, quotient, levels, always, arithmetic)
                found = [
                    end
                    for item in found
                    for end in _without(item, own, (), facts, runs=True, largest=largest)
                ]
        found = arithmetic.tightest(found, smallest=not largest, minimums=always)
        if len(found) > _MAXIMUM_ENDS:
            raise Unbounded("it is one of too many expressions")
    return found


def _quotient_range(
    symbol: str,
    quotient: Quotient,
    levels: Sequence[IndexRange],
    always: Mapping[str, int],
    arithmetic: Arithmetic,
) -> IndexRange:
    """The bounds of a quotient where its `least` is not negative and all loops run.  Raises Unbounded."""
    first = ends(quotient.value, levels, 0, always, arithmetic, largest=False)
    inside = {**minimums(levels), **always}
    natural = all(arithmetic.is_natural(end, inside) for end in first)
    if not natural and (quotient.unsigned or quotient.operator == ">>"):
        raise Unbounded("what is divided or shifted may be below 0")
    zero = Polynomial.constant(0)
    match quotient.operator:
        case "&":
            return IndexRange(symbol, (zero,), (quotient.by,))
        case "%":
            last = quotient.by.shifted(-1)
            return IndexRange(symbol, (zero if natural else last.scaled(-1),), (last,))
        case _:
            pass
    last = ends(quotient.value, levels, 0, always, arithmetic, largest=True)
    lower, upper = (
        arithmetic.opaque(binary("/", arithmetic.extreme(each, largest=largest), positive(quotient.divisor)))
        for each, largest in ((first, False), (last, True))
    )
    return IndexRange(symbol, (zero if natural else lower,), (upper,))


def _without(
    value: Polynomial, level: IndexRange, outer: Sequence[str], facts: _Facts, *, runs: bool, largest: bool
) -> list[Polynomial]:
    """The value at the ends of an index; `runs` says that there is an iteration."""
    coefficient, rest = _split(value, level.index)
    if not coefficient.terms:
        return [value]
    sign = _sign(coefficient, facts)
    if sign is None:
        lower, upper = (_end(level, outer, facts, upper=upper) for upper in (False, True))
        if not runs:
            # Of a loop without iterations the last index lies before the first one, and so would the buffer.
            upper = _at_least(upper, lower, level, outer, facts)
        return [rest + coefficient * end for end in (upper, lower)]
    return [rest + coefficient * _end(level, outer, facts, upper=(sign > 0) == largest)]


def _at_least(
    upper: Polynomial, lower: Polynomial, level: IndexRange, outer: Sequence[str], facts: _Facts
) -> Polynomial:
    """The larger of two ends.  Raises Unbounded where an index further out changes one of them."""
    found = facts.arithmetic.tightest([upper, lower], smallest=False, minimums=facts.always)
    if len(found) == 1:
        return found[0]
    if any(name in outer for end in found for monomial in end.terms for name in monomial):
        raise Unbounded(
            f"the loop `{level.index}` may have no iteration, and the factor of `{level.index}` any sign"
        )
    return facts.arithmetic.chosen(found, largest=True)


def _split(value: Polynomial, index: str) -> tuple[Polynomial, Polynomial]:
    """The factor of an index, and the rest.  Raises Unbounded where the index is multiplied by itself."""
    factor: list[tuple[tuple[str, ...], int]] = []
    rest: list[tuple[tuple[str, ...], int]] = []
    for monomial, coefficient in value.terms.items():
        uses = monomial.count(index)
        if uses > 1:
            raise Unbounded(f"it is not linear in `{index}`")
        if uses:
            factor.append((tuple(symbol for symbol in monomial if symbol != index), coefficient))
        else:
            rest.append((monomial, coefficient))
    return Polynomial.total(factor), Polynomial.total(rest)


def _end(level: IndexRange, outer: Sequence[str], facts: _Facts, *, upper: bool) -> Polynomial:
    """One end of an index's range, rather one that no other index changes."""
    given = level.uppers if upper else level.lowers
    found = facts.arithmetic.tightest(given, smallest=upper, minimums=facts.always)
    steady = [end for end in found if not any(name in outer for monomial in end.terms for name in monomial)]
    if len(steady) > 1:
        return facts.arithmetic.chosen(steady, largest=not upper)
    if steady or len(found) == 1:
        return (steady or found)[0]
    raise Unbounded(f"the bounds of the loop `{level.index}` are not linear")


def minimums(levels: Sequence[IndexRange]) -> dict[str, int]:
    """The least values, at least 0, of scalars wherever all loops run: 1 for `n` where `0 <= i < n`."""
    distances: list[Polynomial] = []
    for level in levels:
        lowers, uppers = (*level.lowers, *level.limit[0]), (*level.uppers, *level.limit[1])
        lowest = max((end.value for end in lowers if end.value is not None), default=-1)
        distances += [end.shifted(-lowest) for end in uppers if lowest >= 0]
    return least_values(distances)


def least(levels: Sequence[IndexRange], arithmetic: Arithmetic) -> dict[str, int]:
    """`minimums` with 0 for the indices that are at least that."""
    found = {**minimums(levels), **arithmetic.minimums}
    for level in levels:
        if any(arithmetic.is_natural(end, found) for end in level.lowers):
            found[level.index] = 0
    return found


def _sign(value: Polynomial, facts: _Facts) -> int | None:
    """1 for a coefficient that is known to be at least 0, -1 for one that is at most 0, None for others."""
    signs = {1 if coefficient > 0 else -1 for coefficient in value.terms.values()}
    symbols = {symbol for monomial in value.terms for symbol in monomial}
    sure = all(symbol in facts.inside or facts.arithmetic.is_unsigned(symbol) for symbol in symbols)
    return signs.pop() if len(signs) == 1 and sure else None


def bounded(level: IndexRange, end: Polynomial, *, upper: bool) -> IndexRange:
    """The level with one end more; that of a loop with a larger step is moved to an index that it reaches."""
    step, starts = abs(level.stride), level.lowers if level.stride > 0 else level.uppers
    if step > 1:
        distance = (end - starts[0]).value if starts else None
        if distance is None:
            level = replace(level, loose=True)
        else:
            end = end.shifted(-(distance % step) if upper else -distance % step)
    if upper:
        return replace(level, uppers=(*level.uppers, end), trips=None)
    return replace(level, lowers=(*level.lowers, end), trips=None)
