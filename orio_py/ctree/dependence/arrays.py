"""Linearised subscripts `A[i*n + j]` as the subscripts `A[i][j]` that they stand for.

`i*n + j` is not affine, but where `j` provably lies in `0 … n-1`, or in all accesses in `1 … n`, two such
subscripts are equal exactly if `i` and `j` are.  The strides (here `n` and 1) are read off the accesses to an array; the rows need not
be declared anywhere.  Nothing is taken for granted of a size in a stride, which may be 0.  Where strides do not divide
each other, as in `i*sample + n*(j*sample + m*k)`, the subscripts are taken apart into `blocks`.
Where nobody can prove it, `row_conditions` says what has to hold: that is for tests at run time.

Source: T. Grosser, J. Ramanujam, L.-N. Pouchet, P. Sadayappan, S. Pop, "Optimistic delinearization of
parametrically sized arrays", ICS 2015.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, product
from math import gcd

from orio_py.ctree.dependence.access import Instance
from orio_py.ctree.dependence.affine import Polynomial, is_fixed
from orio_py.ctree.dependence.blocks import in_blocks
from orio_py.ctree.dependence.conditions import Sufficient, without_iterations
from orio_py.ctree.dependence.scope import Constraint
from orio_py.ctree.dependence.terms import Proof

_ONE = Polynomial.constant(1)
_NEVER = Polynomial.constant(-1)
"""At least 0 only where nothing is: under constraints that contradict each other."""
_FIRST_COLUMNS = (Polynomial.constant(0), Polynomial.constant(1))
"""Where rows begin: loops that count from 1 use `1 … n` of each, and the element behind a row is the next one's first."""

_MOST_OFFSETS = 4
"""Values from which all subscripts of an array may begin, as in `y[first + i*step]`, that are tried as well."""


def delinearised(
    instances: Sequence[Instance],
    proof: Proof,
    outer: tuple[Constraint, ...] = (),
) -> tuple[Instance, ...]:
    """The accesses with affine subscripts only; subscripts that resist become None, with the reason.

    `outer` is what is known of the loops around the nest.
    """

    def proven(value: Polynomial, domain: Sequence[Constraint]) -> tuple[Constraint, ...] | None:
        if proof(value, domain) or without_iterations(value, domain, proof, outer) == ():
            return ()
        return None

    return tuple(found for group in _by_name(instances) for found in _array(group, proven, outer).instances)


def row_conditions(
    instances: Sequence[Instance],
    proof: Proof,
    outer: tuple[Constraint, ...] = (),
) -> tuple[tuple[Constraint, ...], ...]:
    """What has to hold of values that the nest does not change for all subscripts of arrays to be affine.

    Several ways to be so, likely ones first.  Arrays that no condition helps ask for nothing, and neither do, but for the
    last way, those whose subscripts are affine anyway: that `j` lies in its row of `i*100 + j`.
    """

    def sufficient(value: Polynomial, domain: Sequence[Constraint]) -> tuple[Constraint, ...] | None:
        return () if proof(value, domain) else without_iterations(value, domain, proof, outer)

    few: list[Constraint] = []
    fine: list[Constraint] = []
    plain: list[Constraint] = []
    fixed: list[Constraint] = []
    for group in _by_name(delinearised(instances, proof, outer)):
        if not _failures(group):
            fixed += _fixed_rows(group, sufficient, outer)
            continue
        names = {instance.name for instance in group}
        array = [instance for instance in instances if instance.name in names]
        attempts = [_array(array, sufficient, outer, coarse=coarse) for coarse in (True, False)]
        # In `i*n + j` with `j` from `i` on, the columns of all values of `j` are asked for, not of those that are counted.
        by_value = _array(array, sufficient, outer, coarse=True, leading=True)
        plain += by_value.conditions if not _failures(by_value.instances) else ()
        right = [a for a in attempts if not _failures(a.instances) and not proof(_NEVER, a.conditions)]
        if right:
            few += min(right, key=lambda attempt: attempt.cost).conditions
            fine += right[-1].conditions
    ways = (_strongest(few), _strongest(fine), _strongest([*few, *plain]), _strongest([*few, *fixed]))
    return tuple({tuple(c.key for c in way): tuple(way) for way in ways if way}.values())


def _fixed_rows(
    instances: list[Instance], holds: Sufficient, outer: tuple[Constraint, ...]
) -> tuple[Constraint, ...]:
    """When the columns of affine subscripts `i*100 + j` stay in rows of so many elements; nothing where no condition says so."""
    place = max(len(instance.subscripts) for instance in instances) - 1
    known = [i.subscripts[place] for i in instances if 0 <= place < len(i.subscripts)]
    subscripts = [subscript for subscript in known if subscript is not None]
    strides = _fixed_strides(subscripts)
    if len(strides) == 1:
        return ()
    # Of parts that begin at several places it would be asked that these are the same.
    begins = {begin.key: begin for begin in map(_begin, subscripts)}
    if len(begins) > 1:
        return ()
    (begin,) = begins.values()
    attempts: list[_Attempt] = []
    for first in _FIRST_COLUMNS:
        rows = _Rows(place, strides, begin + first)
        splits = [_split(instance, rows, outer, holds) for instance in instances]
        attempts.append(_Attempt([i for i, _ in splits], tuple(c for _, made in splits for c in made)))
    best = min(attempts, key=lambda attempt: (attempt.cost, -attempt.slack))
    return () if best.cost[0] else best.conditions


def _begin(subscript: Polynomial) -> Polynomial:
    """What stays the same in a subscript, without numbers."""
    parts = subscript.iteration_coefficients()
    steady = Polynomial({}) if parts is None else parts[1]
    return Polynomial({product: factor for product, factor in steady.terms.items() if product})


def _fixed_strides(subscripts: Sequence[Polynomial]) -> tuple[Polynomial, ...]:
    """The numbers by which iterations are multiplied to which others are added, largest first and ending in 1.

    That alone if they do not divide each other.
    """
    parts = [subscript.iteration_coefficients() for subscript in subscripts]
    factors = {c.value for part in parts if part is not None and len(part[0]) > 1 for c in part[0].values()}
    sizes = sorted({abs(factor) for factor in factors if factor is not None} - {1})
    if None in factors or any(large % small for small, large in pairwise(sizes)):
        return (_ONE,)
    return (*map(Polynomial.constant, reversed(sizes)), _ONE)


def _by_name(instances: Iterable[Instance]) -> Iterator[list[Instance]]:
    ordered = sorted(instances, key=lambda instance: instance.name)
    return (list(group) for _, group in groupby(ordered, key=lambda instance: instance.name))


def _strongest(conditions: Iterable[Constraint]) -> list[Constraint]:
    """Each condition once; of those that differ by a number only, the one that implies the others."""
    found: dict[object, Constraint] = {}
    for condition in conditions:
        key = tuple(item for item in condition.key if item[0])
        other = found.get(key)
        if other is None or condition.terms.get((), 0) < other.terms.get((), 0):
            found[key] = condition
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The accesses to one array with their subscripts split, and the conditions under which that is right."""

    instances: list[Instance]
    conditions: tuple[Constraint, ...] = ()

    @property
    def cost(self) -> tuple[int, int]:
        """How many accesses are not split, and how many conditions the others need."""
        return _failures(self.instances), len({condition.key for condition in self.conditions})

    @property
    def slack(self) -> int:
        """How much the conditions leave to their values, of attempts that ask for the same of these."""
        return sum(condition.terms.get((), 0) for condition in self.conditions)

    def is_better(self, other: _Attempt, *, is_usual: bool) -> bool:
        """Whether more accesses are split than in another attempt; rows that begin elsewhere than usual may need fewer conditions instead."""
        return self.cost[0] < other.cost[0] or (not is_usual and self.cost < other.cost)


def _array(
    instances: list[Instance],
    holds: Sufficient,
    outer: tuple[Constraint, ...],
    *,
    coarse: bool = False,
    leading: bool = False,
) -> _Attempt:
    """The accesses to an array with subscripts split; `coarse` takes blocks for rows where they need fewer conditions.

    `leading` tries first the strides that are the first terms of coefficients.
    """
    conditions: tuple[Constraint, ...] = ()
    depth = max(len(instance.subscripts) for instance in instances)
    for place in reversed(range(depth)):
        column = [i.subscripts[place] for i in instances if place < len(i.subscripts)]
        if any(s is not None and s.linear() is None for s in column):
            known = [s for s in column if s is not None]
            found: _Attempt | None = None
            # In `i*n + i` the stride is not n+1 but n, if another access is `j*n + j - 1`.
            for first, leads in product((*_FIRST_COLUMNS, *_offsets(known)), (leading, not leading)):
                strides = _strides(known, leading=leads)
                rows = _Rows(place, strides, first)
                splits = [_split(instance, rows, outer, holds) for instance in instances]
                attempt = _Attempt([i for i, _ in splits], tuple(c for _, made in splits for c in made))
                if found is None or attempt.is_better(found, is_usual=first in _FIRST_COLUMNS):
                    found = attempt
                if found.cost == (0, 0):
                    break
            assert found is not None
            if _failures(found.instances) and (whole := _with_fixed_products(instances, place)) is not None:
                found = _Attempt(whole)
            if (
                _failures(found.instances)
                and (blocks := in_blocks(instances, place, outer, holds, coarse=coarse)) is not None
            ):
                found = _Attempt(*blocks)
            instances, conditions = found.instances, conditions + found.conditions
    return _Attempt(instances, conditions)


def _with_fixed_products(instances: list[Instance], place: int) -> list[Instance] | None:
    """The accesses with `i*n` as one value where `i` is the index of a loop around the nest; None if others are left."""
    result: list[Instance] = []
    for instance in instances:
        value = instance.subscripts[place] if place < len(instance.subscripts) else None
        if value is None:
            return None
        terms = [
            (("*".join(m),) if len(m) > 1 and all(map(is_fixed, m)) else m, c) for m, c in value.terms.items()
        ]
        whole = Polynomial.total(terms)
        if whole.linear() is None:
            return None
        subscripts = (*instance.subscripts[:place], whole, *instance.subscripts[place + 1 :])
        result.append(replace(instance, subscripts=subscripts))
    return result


def _failures(instances: list[Instance]) -> int:
    return sum(None in instance.subscripts for instance in instances)


def _offsets(subscripts: list[Polynomial]) -> list[Polynomial]:
    """The fixed parts of the subscripts of an array in which more than numbers stand."""
    found: dict[object, Polynomial] = {}
    for subscript in subscripts:
        parts = subscript.iteration_coefficients()
        if parts is not None and any(parts[1].terms):
            found[parts[1].key] = parts[1]
    return list(found.values())[:_MOST_OFFSETS]


def _strides(subscripts: list[Polynomial], *, leading: bool = False) -> tuple[Polynomial, ...] | None:
    """The strides of an array, largest first and ending in 1, each a multiple of the next.

    `leading` takes only the first term of each coefficient: the others belong to the column.
    """
    multiples: dict[tuple[object, ...], int] = {}
    shapes: dict[tuple[object, ...], Polynomial] = {}
    rests: list[Polynomial] = []
    for subscript in subscripts:
        parts = subscript.iteration_coefficients()
        if parts is None:
            return None
        rests.append(parts[1])
        for coefficient in parts[0].values():
            if coefficient.value is None:
                if leading:
                    coefficient = Polynomial({coefficient.leading()[0]: 1})
                content = gcd(*coefficient.terms.values())
                content = -content if coefficient.leading()[1] < 0 else content
                shape = Polynomial({m: c // content for m, c in coefficient.terms.items()})
                shapes[shape.key] = shape
                multiples[shape.key] = gcd(multiples.get(shape.key, 0), content)
    for key, shape in shapes.items():
        offsets = (rest.terms.get(shape.leading()[0], 0) for rest in rests)
        multiples[key] = gcd(multiples[key], *offsets)
    candidates = [shape.scaled(multiples[key]) for key, shape in shapes.items()]
    candidates.sort(key=lambda c: (len(c.leading()[0]), len(c.terms), sum(map(abs, c.terms.values())), c.key))
    return _chain(candidates)


def _chain(candidates: Iterable[Polynomial]) -> tuple[Polynomial, ...] | None:
    """The candidates that the others are sums of; None if they do not divide each other."""
    strides = [_ONE]
    for candidate in candidates:
        rest = candidate
        for stride in strides[:-1]:
            quotient, remaining = rest.divided(stride)
            if quotient.value is not None:
                rest = remaining
        if rest.value is not None:
            continue
        if strides[0] is not _ONE and candidate.divided(strides[0])[1].terms:
            return None
        strides.insert(0, candidate)
    return tuple(strides)


@dataclass(frozen=True, slots=True)
class _Rows:
    """How the subscripts at a place are split: by these strides, with columns numbered from `first`."""

    place: int
    strides: tuple[Polynomial, ...] | None
    first: Polynomial

    def parts(
        self, subscript: Polynomial, domain: Sequence[Constraint], holds: Sufficient
    ) -> _Coordinates | None:
        """The coordinates of a subscript, or None if one may leave its range."""
        if self.strides is None:
            return None
        found = _parts(subscript - self.first, self.strides, domain, holds)
        if found is None:
            return None
        return replace(found, values=(*found.values[:-1], found.values[-1] + self.first))


def _split(
    instance: Instance, rows: _Rows, known: tuple[Constraint, ...], holds: Sufficient
) -> tuple[Instance, tuple[Constraint, ...]]:
    place, strides = rows.place, rows.strides
    if place >= len(instance.subscripts):
        return instance, ()
    subscript = instance.subscripts[place]
    parts = None if subscript is None else rows.parts(subscript, instance.domain + known, holds)
    count = 1 if strides is None else len(strides)
    why = instance.why
    if parts is None and why is None:
        why = "its linearised subscript cannot be split into rows and columns that stay in their range"
    new = (None,) * count if parts is None else parts.values
    before, after = instance.subscripts[:place], instance.subscripts[place + 1 :]
    split = replace(instance, subscripts=before + new + after, why=why)
    return split, () if parts is None else parts.conditions


@dataclass(frozen=True, slots=True)
class _Coordinates:
    """The coordinates of a subscript, outermost first, and the conditions under which none leaves its range."""

    values: tuple[Polynomial, ...]
    conditions: tuple[Constraint, ...] = ()


def _parts(
    subscript: Polynomial, strides: tuple[Polynomial, ...], domain: Sequence[Constraint], holds: Sufficient
) -> _Coordinates | None:
    """The coordinates of a subscript, or None if one may leave its range."""
    stride = strides[0]
    if len(strides) == 1:
        return _Coordinates((subscript,)) if subscript.linear() is not None else None
    row, rest = subscript.divided_by_iterations(stride)
    if row.linear() is None:
        return None
    best: _Coordinates | None = None
    for shift in (0, -1, 1):
        below = rest + stride.scaled(shift)
        inner = _parts(below, strides[1:], domain, holds)
        conditions = None if inner is None else _fits(inner, strides, domain, holds)
        if inner is not None and conditions is not None:
            found = _Coordinates((row.shifted(-shift), *inner.values), inner.conditions + conditions)
            if best is None or len(found.conditions) < len(best.conditions):
                best = found
            if not best.conditions:
                break
    return best


def _fits(
    inner: _Coordinates, strides: tuple[Polynomial, ...], domain: Sequence[Constraint], holds: Sufficient
) -> tuple[Constraint, ...] | None:
    """When the next coordinate lies in its row: the rest then lies below the stride."""
    extent, left = strides[0].divided(strides[1])
    if left.terms:
        return None
    conditions: list[Constraint] = []
    for value in (inner.values[0], (extent - inner.values[0]).shifted(-1)):
        needed = holds(value, domain)
        if needed is None:
            return None
        conditions += needed
    return tuple(conditions)
