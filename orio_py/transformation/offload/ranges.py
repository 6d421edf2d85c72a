"""The elements of an array that a nest may touch, as the host copies them: from which one on, and how many.

References under conditions, and in loops inside an iteration, may not be made at all.  What they touch counts only
where they are, so that nobody copies what lies beyond a shorter array:

    if (i > 0) y[i] = x[i - 1]; else y[i] = x[i + 5];       of x the elements from 0 to  n > 1 && n - 2 > 5 ? n - 2 : 5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NoReturn

from orio_py.ctree.build import as_long, binary, const, literal_value, ternary
from orio_py.ctree.dependence.affine import Polynomial, least_values
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.nodes import Node
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import note, refuse
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.element_accesses import ElementAccess, in_both_branches
from orio_py.transformation.offload.execution_condition import (
    ExecutionCondition,
    all_hold,
    is_none_without,
    presence,
)
from orio_py.transformation.offload.index_ranges import IndexRange, Unbounded, ends, minimums

_MOST_GROUPS = 4
"""Of references that are made under different conditions, none of which holds wherever another does."""


@dataclass(frozen=True, slots=True)
class Range:
    """The flat subscripts of an array: from the smallest of `lowers` to the largest of `uppers`.

    There are none unless `condition` holds, None for always.
    """

    lowers: tuple[Polynomial, ...]
    uppers: tuple[Polynomial, ...]
    condition: Node | None = None

    @property
    def ends(self) -> int:
        """How many values the first or the last subscript is the smallest or largest of."""
        return max(len(self.lowers), len(self.uppers))

    @property
    def size(self) -> Polynomial | None:
        """The number of elements, 0 or less where there are none, if it is one polynomial."""
        if len(self.lowers) != 1 or len(self.uppers) != 1:
            return None
        return (self.uppers[0] - self.lowers[0]).shifted(1)

    def of_places(self, number: int) -> Range:
        """The range of the places of what has so many of them each."""
        lowers = tuple(low.scaled(number) for low in self.lowers)
        uppers = tuple(high.scaled(number).shifted(number - 1) for high in self.uppers)
        return replace(self, lowers=lowers, uppers=uppers)

    def written(self, arithmetic: Arithmetic) -> tuple[Node | None, Node]:
        """The first flat subscript (None: 0) and the number of elements, in C."""
        first, count = self._unconditional(arithmetic)
        return first, count if self.condition is None else ternary(self.condition, count, const(0))

    def _unconditional(self, arithmetic: Arithmetic) -> tuple[Node | None, Node]:
        if not self.lowers:
            return None, const(0)
        if len(self.lowers) == len(self.uppers) == 1:
            low, high = self.lowers[0], self.uppers[0]
            first = None if low.value == 0 else arithmetic.expression(low)
            return first, arithmetic.expression((high - low).shifted(1))
        low = arithmetic.extreme(self.lowers, largest=False)
        high = arithmetic.extreme([end.shifted(1) for end in self.uppers], largest=True)
        if literal_value(low) == 0:
            return None, high
        return low, binary("-", as_long(high), low)


@dataclass(frozen=True, slots=True)
class _Group:
    """References that are made where the same guards are at least 0, with the ends of what they touch."""

    guards: tuple[Polynomial, ...]
    lowers: tuple[Polynomial, ...]
    uppers: tuple[Polynomial, ...]


class _Groups:
    """Compares what groups of references touch."""

    def __init__(self, arithmetic: Arithmetic, known: Mapping[str, int]) -> None:
        self.arithmetic = arithmetic
        self.known = known

    def lowest(self, values: Sequence[Polynomial]) -> tuple[Polynomial, ...]:
        """The values that may be the smallest."""
        return tuple(self.arithmetic.tightest(values, smallest=True, minimums=self.known))

    def highest(self, values: Sequence[Polynomial]) -> tuple[Polynomial, ...]:
        """The values that may be the largest."""
        return tuple(self.arithmetic.tightest(values, smallest=False, minimums=self.known))

    def follow(self, guards: Sequence[Polynomial], others: Sequence[Polynomial]) -> bool:
        """Whether guards hold wherever the others do."""
        return all(any(self.arithmetic.is_natural(g - o, self.known) for o in others) for g in guards)

    def covers(self, one: _Group, two: _Group) -> bool:
        """Whether the first group touches all that the second does, wherever that is made."""
        return (
            self.follow(one.guards, two.guards)
            and _are_among(self.lowest([*one.lowers, *two.lowers]), one.lowers)
            and _are_among(self.highest([*one.uppers, *two.uppers]), one.uppers)
        )

    def joined(self, groups: Sequence[_Group]) -> list[_Group]:
        """The groups less those that others cover; those with the same guards as one."""
        found: dict[tuple[object, ...], _Group] = {}
        for group in groups:
            key = tuple(guard.key for guard in group.guards)
            before = found.get(key, _Group(group.guards, (), ()))
            lowers = self.lowest([*before.lowers, *group.lowers])
            found[key] = _Group(group.guards, lowers, self.highest([*before.uppers, *group.uppers]))
        kept: list[_Group] = []
        for group in sorted(found.values(), key=lambda group: len(group.guards)):
            if not any(self.covers(other, group) for other in kept):
                kept = [*(other for other in kept if not self.covers(group, other)), group]
        return kept

    def range(self, groups: Sequence[_Group]) -> Range:
        """What all groups touch together; `groups` are joined, and not too many."""
        if not groups:
            return Range((), ())
        base = next((g for g in groups if all(self.follow(g.guards, o.guards) for o in groups)), None)
        if len(groups) == 1:
            (one,) = groups
            return Range(one.lowers, one.uppers, self._needed(one))
        if base is None:
            ends = (self.arithmetic.opaque(self._end_of_any(groups, largest=way)) for way in (False, True))
            low, high = ends
            tests = [self._test(group) for group in groups]
            return Range((low,), (high,), reduce(lambda a, b: binary("||", a, b), tests))
        lowers, uppers = base.lowers, base.uppers
        for group in groups:
            if group is not base:
                lowers = self._with(lowers, group, group.lowers, base.lowers, largest=False)
                uppers = self._with(uppers, group, group.uppers, base.uppers, largest=True)
        return Range(lowers, uppers, all_hold(base.guards, self.arithmetic))

    def _test(self, group: _Group) -> Node:
        test = all_hold(group.guards, self.arithmetic)
        assert test is not None
        return test

    def _end_of_any(self, groups: Sequence[_Group], *, largest: bool) -> Node:
        """The smallest or largest end of those groups that are made; anything where none is."""
        ends = [group.uppers if largest else group.lowers for group in groups]
        first = self.lowest(sum(ends, ())) if not largest else self.highest(sum(ends, ()))
        if all(_are_among(first, end) for end in ends):
            return self.arithmetic.extreme(first, largest=largest)
        found, made = self.arithmetic.extreme(ends[0], largest=largest), self._test(groups[0])
        for group, values in zip(groups[1:], ends[1:], strict=True):
            test, end = self._test(group), self.arithmetic.extreme(values, largest=largest)
            further = binary(">" if largest else "<", found, end)
            found = ternary(test, ternary(binary("&&", made, further), found, end), found)
            made = binary("||", made, test)
        return found

    def _with(
        self,
        found: tuple[Polynomial, ...],
        group: _Group,
        values: tuple[Polynomial, ...],
        base: tuple[Polynomial, ...],
        *,
        largest: bool,
    ) -> tuple[Polynomial, ...]:
        """An end with that of a group where it is made; `base` is that of the group that always is."""
        extreme = self.highest if largest else self.lowest
        if _are_among(extreme([*base, *values]), base):
            return found
        if all(self._is_inside(value, group, base, largest=largest) for value in values):
            return extreme([*found, *values])
        before, end = (self.arithmetic.extreme(ends, largest=largest) for ends in (found, values))
        known = {**self.known, **least_values(group.guards)}
        further = self.arithmetic.tightest([*found, *values], smallest=not largest, minimums=known)
        if not _are_among(further, values):
            end = self.arithmetic.extreme([*found, *values], largest=largest)
        return (self.arithmetic.opaque(ternary(self._test(group), end, before)),)

    def _is_inside(
        self, value: Polynomial, group: _Group, base: tuple[Polynomial, ...], *, largest: bool
    ) -> bool:
        """Whether an end of a group lies among those of another one wherever the group is not made."""
        ways = [value - end if largest else end - value for end in base]
        return all(
            any(is_none_without(way, guard, self.arithmetic, self.known) for way in ways)
            for guard in group.guards
        )

    def _needed(self, group: _Group) -> Node | None:
        """The condition of a group, less a guard without which the number of elements is 0 anyway."""
        size = Range(group.lowers, group.uppers).size
        guards = list(group.guards)
        for guard in group.guards if size is not None else ():
            others = [other for other in guards if other is not guard]
            known = {**self.known, **least_values(others)}
            if size is not None and is_none_without(size, guard, self.arithmetic, known):
                guards = others
                break
        return all_hold(guards, self.arithmetic)


def touched(
    uses: Sequence[ElementAccess],
    flats: Sequence[Polynomial | None],
    axes: Sequence[IndexRange],
    arithmetic: Arithmetic,
    declared: CDeclaration,
    what: str,
) -> Range:
    """The elements that the nest may touch.  Raises Refusal: ORIO-T122."""
    known = {**minimums(axes), **arithmetic.minimums}
    groups = _Groups(arithmetic, known)
    settled: list[_Group] = []
    doubtful: list[tuple[ElementAccess, _Group]] = []
    for use, flat in zip(in_both_branches(uses, flats), flats, strict=True):
        if flat is None:
            _refuse_extent(declared, use, "it is not known over which elements this subscript runs", what)
        where = presence(use.levels, axes, arithmetic, known, use.guards)
        if not where.possible:
            continue
        group = _group(where, flat, use, axes, known, arithmetic, declared, what)
        if use.is_exact and where.is_exact and not any(level.loose for level in use.levels):
            settled.append(group)
        else:
            doubtful.append((use, group))
    found = groups.joined(settled)
    for use, group in doubtful:
        if not any(groups.covers(other, group) for other in found):
            reason = "a condition or step keeps the loops from all elements of the range, and it is not known where"
            _refuse_extent(declared, use, reason, what)
    if len(found) > _MOST_GROUPS:
        reason = "there are too many conditions under which other elements are used"
        _refuse_extent(declared, uses[0], reason, what)
    return groups.range(found)


def _group(
    where: ExecutionCondition,
    flat: Polynomial,
    use: ElementAccess,
    axes: Sequence[IndexRange],
    known: Mapping[str, int],
    arithmetic: Arithmetic,
    declared: CDeclaration,
    what: str,
) -> _Group:
    """What one reference touches.  Raises Refusal: ORIO-T122."""
    try:
        low, high = (
            ends(flat, where.levels, len(axes), known, arithmetic, largest=largest)
            for largest in (False, True)
        )
    except Unbounded as problem:
        _refuse_extent(declared, use, f"the range of this subscript is not known: {problem.reason}", what)
    return _Group(where.guards, tuple(low), tuple(high))


def _are_among(values: Sequence[Polynomial], others: Sequence[Polynomial]) -> bool:
    keys = {other.key for other in others}
    return all(value.key in keys for value in values)


def _refuse_extent(declared: CDeclaration, use: ElementAccess, reason: str, what: str) -> NoReturn:
    refuse(
        "ORIO-T122",
        f"{what} has to know which elements of `{declared.name}` to copy: {reason}",
        use.node,
        notes=[note(f"`{emit_expression(use.node)}` stands here", use.node)],
        help=f"declare `{declared.name}` as an array with its extents where the nest can see it; for a parameter, "
        f"`{declared.name}[static n]`, or `decl dynamic {declared.type} {declared.name}[n]` in the specification, "
        "promises that there are n elements",
    )
