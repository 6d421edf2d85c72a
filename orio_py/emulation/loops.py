"""Long loops are not followed to their end: as soon as iterations repeat, those that will be the same are counted.

Two times the same way through the code, with registers that change by the same amount both times, and conditions that
stay as they are for the next N times: these are not executed, and registers move by N times their change.  A half of
them is jumped over first, so that what was assumed is looked at again in the middle.  Where iterations differ every
other, third, … eighth time, that many together are what repeats.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from orio_py.emulation.lanes import MASK, Array, Lanes, signed
from orio_py.emulation.operands import DecodedInstruction, RegisterFile
from orio_py.emulation.trace import Entry
from orio_py.sass.registers import read, written

_LONGEST_PERIOD = 8
_PATIENCE = 64
"""After so many iterations without a jump, not every one is looked at."""

_FOR_EVER = 1 << 40
_WORTH = 2
"""How many repetitions are jumped over at least."""

Compared = tuple[int, Lanes, Lanes, bool]
"""A place in the entries, the two sides that were compared there, and whether as numbers with a sign."""


@dataclass(frozen=True, slots=True)
class _Snapshot:
    place: int
    values: dict[str, tuple[Lanes, ...]]


@dataclass(slots=True)
class LoopHistory:
    """The last arrivals of a group of threads at the start of a loop."""

    snapshots: list[_Snapshot] = field(default_factory=list[_Snapshot])
    has_probed: bool = False
    arrivals: int = 0
    needed: dict[tuple[int, ...], frozenset[tuple[str, int]]] = field(
        default_factory=dict[tuple[int, ...], frozenset[tuple[str, int]]]
    )

    def arrive(self, place: int, registers: RegisterFile) -> None:
        """The threads are at the start again."""
        self.arrivals += 1
        self.snapshots.append(_Snapshot(place, {k: tuple(v) for k, v in registers.values.items()}))
        del self.snapshots[: -2 * _LONGEST_PERIOD - 1]

    def jump(
        self,
        entries: Sequence[Entry],
        compared: Sequence[Compared],
        code: Sequence[DecodedInstruction | None],
    ) -> tuple[int, int, dict[tuple[str, int], Lanes]] | None:
        """How many entries repeat, how often, and the registers behind that; None when nothing does."""
        if self.arrivals > _PATIENCE and self.arrivals % _LONGEST_PERIOD:
            return None
        for period in range(1, _LONGEST_PERIOD + 1):
            if 2 * period >= len(self.snapshots):
                return None
            older, old, new = (self.snapshots[-1 - k * period] for k in (2, 1, 0))
            first, second = entries[older.place : old.place], entries[old.place : new.place]
            if len(first) != len(second) or list(first) != list(second):
                continue
            changes = _changes(older, old, new, self._needed(second, code))
            if changes is None:
                continue
            times = _unchanged(compared, older.place, old.place, new.place)
            if times is None or times < _WORTH:
                return None
            if not self.has_probed and times >= 4 * _WORTH:
                times //= 2
                self.has_probed = True
            return len(second), times, {k: _moved(v, d, times) for k, (v, d) in changes.items()}
        return None

    def _needed(
        self, entries: Sequence[Entry], code: Sequence[DecodedInstruction | None]
    ) -> frozenset[tuple[str, int]]:
        """As `_needed`; an iteration on a way that was gone before is not looked at again."""
        way = tuple(map(itemgetter(0), entries))
        if way not in self.needed:
            self.needed[way] = _needed(way, code)
        return self.needed[way]


def _needed(way: Sequence[int], code: Sequence[DecodedInstruction | None]) -> frozenset[tuple[str, int]]:
    """The registers that an iteration reads before it sets them, by the numbers of its instructions."""
    needed: set[tuple[str, int]] = set()
    done: set[tuple[str, int]] = set()
    for number in way:
        if number < 0:
            continue
        operation = code[number]
        assert operation is not None, number
        instruction = operation.instruction
        needed.update(place for place in read(instruction) if place not in done)
        if instruction.predicate is None:
            done.update(written(instruction))
        else:
            needed.update(place for place in written(instruction) if place not in done)
    return frozenset(needed)


def _changes(
    older: _Snapshot, old: _Snapshot, new: _Snapshot, needed: frozenset[tuple[str, int]]
) -> dict[tuple[str, int], tuple[Lanes, Array]] | None:
    """By how much each register changes in a period; None when that is not the same both times."""
    found: dict[tuple[str, int], tuple[Lanes, Array]] = {}
    for file, values in new.values.items():
        if not len(older.values[file]) == len(old.values[file]) == len(values):
            return None
        for number, value in enumerate(values):
            a, b = older.values[file][number], old.values[file][number]
            if (a is b and b is value) or (file != "local" and (file, number) not in needed):
                continue
            if not (_same(a.known, b.known) and _same(b.known, value.known)):
                return None
            if value.known is False:
                continue
            if file in ("P", "UP"):
                if not _equal(b.data, value.data, value.known):
                    return None
                continue
            change = signed((value.data - b.data) & MASK)
            if not _equal(change, signed((b.data - a.data) & MASK), value.known):
                return None
            if change.any():
                found[file, number] = (value, change)
    return found


def _unchanged(compared: Sequence[Compared], first: int, second: int, end: int) -> int | None:
    """For how many more periods all conditions stay as they are; None when both had not the same ones."""
    start, middle, stop = (bisect_left(compared, place, key=lambda c: c[0]) for place in (first, second, end))
    before, after = compared[start:middle], compared[middle:stop]
    if len(before) != len(after):
        return None
    least = _FOR_EVER
    for (_, a, b, has_sign), (_, c, d, _) in zip(before, after, strict=True):
        if a.known is False or b.known is False or c.known is False or d.known is False:
            continue
        least = min(least, _periods_until_equal(_distance(a, b, has_sign), _distance(c, d, has_sign)))
    return least - 1 if least < _FOR_EVER else None


def _distance(a: Lanes, b: Lanes, has_sign: bool) -> Array:
    return signed(a.data & MASK) - signed(b.data & MASK) if has_sign else a.data - b.data


def _periods_until_equal(before: Array, after: Array) -> int:
    """For how many periods a distance that changed so keeps its sign, and no number leaves its range."""
    change = after - before
    if not change.any():
        return _FOR_EVER
    size, speed = np.abs(after), np.maximum(np.abs(change), 1)
    approaches = (after > 0) == (change < 0)
    room = np.where(approaches, size - 1, (1 << 31) - np.minimum(size, (1 << 31) - 1)) // speed
    room = np.where(change == 0, _FOR_EVER, np.where(after == 0, 0, room))
    return int(room.min())


def _moved(value: Lanes, change: Array, times: int) -> Lanes:
    return Lanes((value.data + change * times) & MASK, value.known)


def _same(a: bool | Array, b: bool | Array) -> bool:
    return a is b or (not isinstance(a, bool) and not isinstance(b, bool) and bool((a == b).all()))


def _equal(a: Array, b: Array, known: bool | Array) -> bool:
    equal = a == b
    return bool(equal.all() if known is True else (equal | ~np.asarray(known)).all())
