"""Constraints that leave out the configurations of which a recipe is refused, found by trying their neighbours.

A refused configuration and a legal one differ in many parameters.  Those that do not matter are set to the legal one's
values, the larger half first, until each of the rest is needed for the refusal (A. Zeller, R. Hildebrandt, "Simplifying and
isolating failure-inducing input", IEEE Trans. Softw. Eng. 28(2), 2002).  A constraint over these few is suggested if it is right
for all combinations of their values that were tried.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from orio_py.core.expr import Value, show

Assignment = Mapping[str, Value]

_MOST_VALUES = 6
_MOST_COMBINATIONS = 30
_MOST_PARAMETERS = 4


@dataclass(frozen=True, slots=True)
class ConstraintHint:
    """A condition in the language of specifications, and what it says of a configuration."""

    text: str
    holds: Callable[[Assignment], bool]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What is known around a legal configuration: `is_refused` says whether one is refused in the way that matters.

    It is None for a configuration that is refused for another reason.
    """

    legal: Assignment
    values: Mapping[str, Sequence[Value]]
    is_refused: Callable[[Assignment], bool | None]

    def hint(self, refused: Assignment) -> ConstraintHint | None:
        """The constraint that a refused configuration suggests, if there is a short one that is right nearby."""
        names = self.blamed(refused)
        if not 1 <= len(names) <= _MOST_PARAMETERS:
            return None
        combinations = self._combinations(names, refused)
        outcomes = ((chosen, self.is_refused({**self.legal, **chosen})) for chosen in combinations)
        tried = [
            (self._only(names, refused), True),
            *((chosen, outcome) for chosen, outcome in outcomes if outcome is not None),
        ]
        right = (
            hint
            for hint in _candidates(names, tried)
            if all(hint.holds(chosen) != outcome for chosen, outcome in tried)
        )
        return next(right, None)

    def blamed(self, refused: Assignment) -> list[str]:
        """The parameters whose values are all needed for the refusal, where the others have those of `legal`."""
        names = [name for name in refused if refused[name] != self.legal[name]]
        current, size = dict(refused), max(1, len(names) // 2)
        while names:
            at = 0
            while at < len(names):
                chunk = names[at : at + size]
                changed = {**current, **self._only(chunk, self.legal)}
                if self.is_refused(changed):
                    current, names = changed, names[:at] + names[at + size :]
                else:
                    at += size
            if size == 1:
                break
            size //= 2
        return names

    def _only(self, names: Sequence[str], of: Assignment) -> dict[str, Value]:
        return {name: of[name] for name in names}

    def _combinations(self, names: Sequence[str], refused: Assignment) -> list[dict[str, Value]]:
        """Combinations of some values of a few parameters, those of the refused configuration among them."""
        some = [_some(self.values[name], refused[name]) for name in names]
        found = [dict(zip(names, chosen, strict=True)) for chosen in product(*some)]
        if len(found) > _MOST_COMBINATIONS:
            found = random.Random(0).sample(found, _MOST_COMBINATIONS)
        return found


def _some(values: Sequence[Value], needed: Value) -> list[Value]:
    """At most `_MOST_VALUES` of a list, spread over it, and `needed`."""
    step = max(1, -(-len(values) // _MOST_VALUES))
    return _distinct([*values[::step], needed])


def _candidates(names: Sequence[str], tried: Sequence[tuple[Assignment, bool]]) -> Iterator[ConstraintHint]:
    numeric = all(type(chosen[name]) is int for chosen, _ in tried for name in names)
    if len(names) == 1:
        yield from _of_one(names[0], tried, numeric=numeric)
    if len(names) == 2 and numeric:
        yield from _of_two(*names)
    if len(names) >= 2 and numeric:
        yield from _limits(names, tried)
    if len(names) == 2:
        one, two = names
        a, b = tried[0][0][one], tried[0][0][two]
        text = f"not ({one} == {show(a)} and {two} == {show(b)})"
        yield ConstraintHint(text, lambda c: not (c[one] == a and c[two] == b))


def _of_one(
    name: str, tried: Sequence[tuple[Assignment, bool]], *, numeric: bool
) -> Iterator[ConstraintHint]:
    allowed = _distinct([chosen[name] for chosen, refused in tried if not refused])
    excluded = _distinct([chosen[name] for chosen, refused in tried if refused])
    if len(allowed) == 1:
        yield ConstraintHint(f"{name} == {show(allowed[0])}", lambda c: c[name] == allowed[0])
    if len(excluded) == 1:
        yield ConstraintHint(f"{name} != {show(excluded[0])}", lambda c: c[name] != excluded[0])
    if numeric and allowed:
        yield from _limits([name], tried)


def _of_two(one: str, two: str) -> Iterator[ConstraintHint]:
    """Multiples, as of the sizes of two levels of tiles, and factors of which only one may be more than 1."""
    for a, b in ((one, two), (two, one)):
        yield ConstraintHint(
            f"{a} % {b} == 0", lambda c, a=a, b=b: c[b] != 0 and _int(c[a]) % _int(c[b]) == 0
        )
        yield ConstraintHint(
            f"{a} == 1 or {a} % {b} == 0",
            lambda c, a=a, b=b: c[a] == 1 or (c[b] != 0 and _int(c[a]) % _int(c[b]) == 0),
        )
        yield ConstraintHint(f"{a} <= {b}", lambda c, a=a, b=b: _int(c[a]) <= _int(c[b]))
    yield ConstraintHint(f"{one} == 1 or {two} == 1", lambda c: c[one] == 1 or c[two] == 1)


def _limits(names: Sequence[str], tried: Sequence[tuple[Assignment, bool]]) -> Iterator[ConstraintHint]:
    """The largest product that was legal as a limit."""

    def size(chosen: Assignment) -> int:
        return prod(_int(chosen[name]) for name in names)

    allowed = [size(chosen) for chosen, refused in tried if not refused]
    if allowed:
        most = max(allowed)
        yield ConstraintHint(f"{' * '.join(names)} <= {most}", lambda c: size(c) <= most)


def _int(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _distinct(values: Sequence[Value]) -> list[Value]:
    """The values without repetitions; lists among them cannot be keys."""
    found: list[Value] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found
