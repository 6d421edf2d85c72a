"""Bytes that have to be fetched into each level of the caches, by the reuse that loops leave.

A reference that goes on by less than a line, or stays where it is, along a loop is reused from one iteration to the next
if what one iteration touches fits in the cache.  So the traffic of references is counted at the outermost loop around
them one iteration of which fits: the bytes of the lines that one execution of that loop touches, for each execution.

Source: S. Carr, K. S. McKinley and C.-W. Tseng, "Compiler Optimizations for Improving Data Locality", ASPLOS 1994
(RefCost, LoopCost); M. E. Wolf and M. S. Lam, "A Data Locality Optimizing Algorithm", PLDI 1991 (groups of references
that are generated uniformly).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log2

from orio_py.features.family import Feature, FeatureFamily, FeatureValues, StaticVariant
from orio_py.features.profile import MachineTraits, WorkProfile

_LEVELS = 3


@dataclass(frozen=True, slots=True)
class ReferenceGroup:
    """Accesses of one array in one loop that differ by constants: their offsets in bytes, and slopes in common."""

    loop: int
    size: int
    offsets: tuple[float, ...]
    slopes: tuple[tuple[int, float], ...]

    def bytes_of(self, trips: Sequence[tuple[int, float]], line_bytes: int) -> float:
        """The bytes of the lines that it touches while loops make `trips` iterations (number of loop, iterations)."""
        slopes = dict(self.slopes)
        span, pieces = float(self.size), 1.0
        moves = sorted((abs(slopes.get(loop, 0.0)), count) for loop, count in trips)
        for move, count in moves:
            if not move or count <= 1:
                continue
            if not isfinite(move):
                pieces *= count
            elif move <= max(span, line_bytes):
                span += move * (count - 1)
            else:
                pieces *= count
        runs = 1
        for before, after in zip(self.offsets, self.offsets[1:], strict=False):
            gap = after - before
            if gap <= max(span, line_bytes):
                span += 0.0 if gap <= 0 else min(gap, line_bytes)
            else:
                runs += 1
        return runs * pieces * max(span, float(line_bytes))


def groups_of(profile: WorkProfile) -> list[ReferenceGroup]:
    """The groups of all references; offsets that are not known count as one."""
    found: dict[tuple[str, int, int, tuple[tuple[int, float], ...]], set[float]] = defaultdict(set)
    for site in profile.accesses:
        key = (site.array, site.loop, site.size, tuple(sorted(site.slopes.items())))
        found[key].add(site.offset if isfinite(site.offset) else 0.0)
    return [
        ReferenceGroup(loop, size, tuple(sorted(offsets)), slopes)
        for (_, loop, size, slopes), offsets in found.items()
    ]


class Footprints:
    """What loops touch: the bytes of one execution, and of one iteration."""

    def __init__(self, profile: WorkProfile, line_bytes: int) -> None:
        self._profile, self._line = profile, line_bytes
        self.groups = groups_of(profile)
        self.chains = {
            group.loop: [loop.number for loop in profile.around(group.loop)] for group in self.groups
        }
        self._execution: dict[tuple[int, int], float] = {}
        self.iteration: dict[int, float] = defaultdict(float)
        for place, group in enumerate(self.groups):
            chain = self.chains[group.loop]
            for depth, number in enumerate(chain):
                inside = [(n, profile.loops[n].trips) for n in chain[:depth]]
                self.iteration[number] += group.bytes_of(inside, line_bytes)
                inside.append((number, profile.loops[number].trips))
                self._execution[place, number] = group.bytes_of(inside, line_bytes)

    def execution(self, place: int, number: int) -> float:
        """The bytes that group number `place` touches while loop `number` runs once."""
        return self._execution[place, number]

    def traffic(self, capacity: float) -> float:
        """The bytes that come into a cache of so many bytes."""
        total = 0.0
        for place, group in enumerate(self.groups):
            chain = self.chains[group.loop]
            if not chain:
                total += group.bytes_of((), self._line) * self._profile.loops[0].runs
                continue
            level = chain[0]
            for number in chain:
                if self.iteration[number] > capacity:
                    break
                level = number
            total += self._profile.loops[level].runs * self._execution[place, level]
        return total

    @property
    def whole(self) -> float:
        """The bytes that all touch together."""
        return sum(
            self._execution[place, self.chains[group.loop][-1]] if self.chains[group.loop] else self._line
            for place, group in enumerate(self.groups)
        )


def _locality(variant: StaticVariant) -> FeatureValues:
    profile, machine = variant.host, variant.machine
    work = max(profile.operations, 1.0)
    prints = Footprints(profile, machine.line_bytes)
    levels = _capacities(machine)
    traffic = [prints.traffic(capacity) for capacity in levels]
    innermost = [loop.number for loop in profile.innermost if loop.number]
    distances = [prints.iteration[number] for number in innermost] or [0.0]
    return {
        **{f"cache_{k + 1}_bytes": bytes_in / work for k, bytes_in in enumerate(traffic)},
        "touched": prints.whole,
        "intensity": work / max(traffic[-1], 1.0),
        "reuse_distance": sum(log2(max(d, 1.0)) for d in distances) / len(distances),
    }


def _capacities(machine: MachineTraits) -> list[float]:
    caches = [float(size) for size in machine.caches[:_LEVELS]]
    return [*caches, *([caches[-1]] * (_LEVELS - len(caches)))]


ENTRY = FeatureFamily(
    "locality",
    False,
    (
        *(
            Feature(f"cache_{k + 1}_bytes", "B", f"bytes into the cache of level {k + 1}, per operation")
            for k in range(_LEVELS)
        ),
        Feature("touched", "B", "bytes of all lines that are touched"),
        Feature("intensity", "1/B", "operations per byte from memory"),
        Feature("reuse_distance", "", "bytes between two uses in the innermost loops (logarithm to base 2)"),
    ),
    _locality,
)
