"""Where a reference is made at all: what must hold of scalars so that loops and conditions leave it an iteration.

    for (j = i; j < m; j++)             of  0 <= i <= n - 1  remains  i <= m - 1,  and a reference inside is made
      if (j > 2) ... p[i + j]           where  m > 0  and  m > 3

Indices are eliminated from the innermost outwards: an end of a range that lies beyond the other one for some index
further out says between which values that one lies.

Source: for the elimination A. Schrijver, "Theory of Linear and Integer Programming", 1986, section 12.2 (Fourier,
Motzkin); it is exact for whole numbers where the factors of indices are 1 or -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orio_py.ctree.build import binary
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.nodes import Node
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.index_ranges import IndexRange, Unbounded, bounded, ends


@dataclass(frozen=True, slots=True)
class ExecutionCondition:
    """The levels around a reference with no values that are left out further in, and its `guards`.

    The reference is made only where all guards are at least 0, and there if `is_exact`; nowhere if it is not
    `possible`.
    """

    levels: tuple[IndexRange, ...]
    guards: tuple[Polynomial, ...]
    is_exact: bool = True
    possible: bool = True


def presence(
    levels: Sequence[IndexRange],
    axes: Sequence[IndexRange],
    arithmetic: Arithmetic,
    known: Mapping[str, int],
    given: Sequence[Polynomial] = (),
) -> ExecutionCondition:
    """Where a reference inside `levels` is made; the `axes` have an iteration, `known` are least values of scalars.

    What is `given` is at least 0 wherever the conditions around it hold.
    """
    found = list(levels)
    guards = [guard for guard in given if not arithmetic.is_natural(guard, known)]
    is_exact = True
    for place in range(len(found) - 1, -1, -1):
        level = found[place]
        for low in level.lowers:
            for high in level.uppers:
                room = high - low
                if _is_axis(place, low, high, axes) or _holds(room, found[:place], arithmetic, known):
                    continue
                outer = _innermost(room, found[:place])
                if outer is None:
                    guards.append(room)
                elif (tighter := _tighter(found[outer], room, arithmetic, known)) is not None:
                    found[outer] = tighter
                else:
                    is_exact = False
    if any(guard.value is not None for guard in guards):
        return ExecutionCondition(tuple(found), (), possible=False)
    needed = arithmetic.tightest(guards, smallest=True, minimums=known)
    return ExecutionCondition(tuple(found), tuple(sorted(needed, key=lambda guard: str(guard.key))), is_exact)


def _is_axis(place: int, low: Polynomial, high: Polynomial, axes: Sequence[IndexRange]) -> bool:
    """Whether these are the ends of a mapped loop, which runs wherever a kernel does."""
    if place >= len(axes):
        return False
    lows, highs = ({end.key for end in ends} for ends in (axes[place].lowers, axes[place].uppers))
    return low.key in lows and high.key in highs


def _holds(
    room: Polynomial, outer: Sequence[IndexRange], arithmetic: Arithmetic, known: Mapping[str, int]
) -> bool:
    """Whether a distance is known to be at least 0 wherever the loops around have an iteration."""
    if arithmetic.is_natural(room, known):
        return True
    try:
        least = ends(room, outer, len(outer), known, arithmetic, largest=False)
    except Unbounded:
        return False
    return all(arithmetic.is_natural(value, known) for value in least)


def _innermost(room: Polynomial, outer: Sequence[IndexRange]) -> int | None:
    names = {symbol for monomial in room.terms for symbol in monomial}
    return next((place for place in reversed(range(len(outer))) if outer[place].index in names), None)


def _tighter(
    level: IndexRange, room: Polynomial, arithmetic: Arithmetic, known: Mapping[str, int]
) -> IndexRange | None:
    """The level where a distance is at least 0; None where that is no end that its index reaches."""
    factor = room.terms.get((level.index,), 0)
    rest = room - Polynomial.symbol(level.index).scaled(factor)
    if factor not in {1, -1} or any(level.index in monomial for monomial in rest.terms):
        return None
    bound = rest.scaled(-factor)
    upper = factor == -1
    given = (*level.uppers, *level.limit[1]) if upper else (*level.lowers, *level.limit[0])
    if any(arithmetic.is_natural(bound - end if upper else end - bound, known) for end in given):
        return level
    tighter = bounded(level, bound, upper=upper)
    return None if tighter.loose else tighter


def all_hold(guards: Sequence[Polynomial], arithmetic: Arithmetic) -> Node | None:
    """In C: all guards are at least 0; None where there are none."""
    found: Node | None = None
    for guard in guards:
        test = _holds_in_c(guard, arithmetic)
        found = test if found is None else binary("&&", found, test)
    return found


def _holds_in_c(guard: Polynomial, arithmetic: Arithmetic) -> Node:
    """`n - 3` is at least 0 where `n > 2`: nothing is subtracted that could wrap."""
    symbols = {monomial: factor for monomial, factor in guard.terms.items() if monomial}
    left = Polynomial.total((m, factor) for m, factor in symbols.items() if factor > 0)
    right = Polynomial.total((m, -factor) for m, factor in symbols.items() if factor < 0)
    number = guard.terms.get((), 0)
    if number >= 0:
        return binary(">=", arithmetic.expression(left.shifted(number)), arithmetic.expression(right))
    return binary(">", arithmetic.expression(left), arithmetic.expression(right.shifted(-number - 1)))


def is_none_without(
    count: Polynomial, guard: Polynomial, arithmetic: Arithmetic, known: Mapping[str, int]
) -> bool:
    """Whether a number of elements is at most 0 wherever a guard is below 0.

    With `t` for the guard plus 1, which is at most 0 then, it is where the number is `a * t - b` with `a` and `b`
    that are known to be at least 0.
    """
    t = guard.shifted(1)
    for (symbol, *more), factor in ((m, f) for m, f in t.terms.items() if m):
        if more or factor != 1 or sum(symbol in monomial for monomial in t.terms) > 1:
            continue
        others = t - Polynomial.symbol(symbol)
        powers: dict[int, Polynomial] = {0: Polynomial.constant(0), 1: Polynomial.constant(0)}
        for monomial, coefficient in count.terms.items():
            uses = monomial.count(symbol)
            if uses > 1:
                return False
            rest = Polynomial.total([(tuple(s for s in monomial if s != symbol), coefficient)])
            powers[uses] = powers[uses] + rest
        # count = a * symbol + r = a * (t - others) + r
        beyond = powers[1] * others - powers[0]
        if arithmetic.is_natural(powers[1], known) and arithmetic.is_natural(beyond, known):
            return True
    return False
