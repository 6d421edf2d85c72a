"""What of each access is in a cache, from the addresses of one block and how they move from block to block.

Blocks that are on the chip together are taken to go through the code in step.  A sector that another warp of the
multiprocessor, or a block elsewhere, wants at the same instruction is brought once.  One that was wanted before is still
there when less has been brought since than the cache holds.  So the first-level cache is one of sectors for each
multiprocessor, and the second-level cache is filled by the blocks of all of them (docs/reference/emulation.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orio_py.emulation.access import SECTOR
from orio_py.emulation.lanes import Array
from orio_py.emulation.launch import BlockSample, KernelLaunch
from orio_py.emulation.trace import MemoryAccess

MOST_SECTORS = 2_000
"""How many sectors of one access are looked at; where there are more, these stand for all."""

_POINTER_BITS = 40
"""Pointers of a launch without values lie so far apart that the bits above tell them from each other."""


@dataclass(frozen=True, slots=True)
class AccessLevels:
    """How many sectors of a warp's request are moved to and from the caches behind the first, on average.

    `l2` go to the second-level cache, `dram` of them to memory; the others are how likely a request waits there.
    """

    sectors: float
    l2: float
    dram: float
    l2_chance: float
    dram_chance: float


@dataclass(frozen=True, slots=True)
class GlobalAccess:
    """An access to global memory: its place in the trace, how often a warp comes there, and what it does.

    `uses_l1` is false for stores, atomic operations, and loads that pass the first-level cache.
    """

    place: int
    times: float
    access: MemoryAccess
    writes: bool
    uses_l1: bool


@dataclass(frozen=True, slots=True)
class Residents:
    """Where blocks are: steps from the followed one to those of its multiprocessor, and to all that are on the chip."""

    near: Array
    all: Array

    @classmethod
    def of(cls, launch: KernelLaunch, slots: int, multiprocessors: int) -> Residents:
        """The hardware gives blocks to multiprocessors in turn, in the order of their numbers."""
        x, y, _ = launch.grid
        middle = np.array([n // 2 for n in launch.grid])
        number = int(middle[0] + x * (middle[1] + y * middle[2]))
        together = min(slots * multiprocessors, launch.blocks)
        first = min(number // together * together, launch.blocks - together)
        every = first + np.arange(together)
        own = every[(every - number) % multiprocessors == 0]
        return cls(*(np.stack([n % x, n // x % y, n // (x * y)], axis=1) - middle for n in (own, every)))


@dataclass(slots=True)
class _Found:
    """An access with its sectors: of one block, and how far they move along each axis; None where that differs."""

    what: GlobalAccess
    sectors: Array
    strides: tuple[int, int, int] | None


class _Cache:
    """Which sectors are held: those since whose last use less was brought than the cache has room for."""

    def __init__(self, capacity: float, sectors: int) -> None:
        self.capacity = capacity
        self.brought = 0.0
        self.used = np.full(sectors, -np.inf)
        self.written = np.full(sectors, -np.inf)

    def use(self, wanted: Array, weight: float, *, writes: bool = False) -> float:
        """The share of the sectors that has to be brought (or, of those that are written, written back)."""
        last = self.written if writes else self.used
        misses = self.brought - last[wanted] >= self.capacity
        share = float(misses.mean()) if len(wanted) else 0.0
        there = self.brought - self.used[wanted] >= self.capacity
        self.brought += float(there.sum()) * weight * SECTOR
        self.used[wanted] = self.brought
        if writes:
            self.written[wanted] = self.brought
        return share


def cache_levels(
    accesses: Sequence[GlobalAccess],
    sample: BlockSample,
    launch: KernelLaunch,
    residents: Residents,
    *,
    l1_bytes: float,
    l2_bytes: float,
) -> Mapping[int, AccessLevels]:
    """The levels of each access by its place; one whose addresses are not known goes to memory."""
    threads = launch.warps * 32
    found = [_look_at(what, sample, threads) for what in accesses]
    known = [one for one in found if one is not None]
    spread_near, spread_all = _Spread(residents.near), _Spread(residents.all)
    near = [spread_near(one) for one in known]
    wide = [spread_all(one) for one in known]
    shares = _first_level(known, near, l1_bytes)
    memory = _second_level(known, wide, l2_bytes)
    levels: dict[int, AccessLevels] = {}
    blocks = len(residents.all)
    for one, (_, _, own), (_, _, everywhere), share, missing in zip(
        known, near, wide, shares, memory, strict=True
    ):
        access = one.what.access
        warps, sectors = max(1, access.warps), access.sectors / max(1, access.warps)
        wanted = access.sectors * len(residents.near)
        to_l2 = min(1.0, share * own / max(1, wanted)) if one.what.uses_l1 else 1.0
        l2 = sectors * to_l2
        dram = min(l2, missing * everywhere / (blocks * warps))
        levels[one.what.place] = AccessLevels(sectors, l2, dram, to_l2, to_l2 * dram / l2 if l2 else 0.0)
    for what in accesses:
        if what.place not in levels:
            sectors = what.access.sectors / max(1, what.access.warps)
            levels[what.place] = AccessLevels(sectors, sectors, sectors, 1.0, 1.0)
    return _within_footprint(levels, accesses, launch, l2_bytes)


def _look_at(what: GlobalAccess, sample: BlockSample, threads: int) -> _Found | None:
    """The sectors of the followed block; None where addresses are not known."""
    access = what.access
    value = access.addresses
    if value.known is not True and not (np.asarray(value.known) | ~access.threads).all():
        return None
    rows = access.threads.reshape(-1, threads)
    block = int(rows.any(axis=1).argmax())
    data = np.broadcast_to(value.data, access.threads.shape).reshape(-1, threads)
    chosen = data[block][rows[block]]
    last = (chosen + access.size - 1) // SECTOR
    sectors = np.unique(np.concatenate([chosen // SECTOR, last]))
    return _Found(what, sectors, _strides(data, rows, block, sample))


def _strides(data: Array, rows: Array, block: int, sample: BlockSample) -> tuple[int, int, int] | None:
    """How many bytes an access moves from a block to the next one along each axis."""
    found: list[int] = []
    for axis, neighbour in enumerate(sample.neighbours):
        if neighbour is None or block != 0:
            found.append(0)
            continue
        both = rows[0] & rows[neighbour]
        moved = (data[neighbour] - data[0])[both]
        if not len(moved) or (moved != moved[0]).any():
            return None
        forward = sample.blocks[neighbour][axis] > sample.blocks[0][axis]
        found.append(int(moved[0]) * (1 if forward else -1))
    return found[0], found[1], found[2]


class _Spread:
    """Sectors of several blocks from those of one; accesses that lie alike are looked at once."""

    def __init__(self, steps: Array) -> None:
        self.steps = steps
        self.found: dict[tuple[bytes, tuple[int, int, int]], tuple[Array, float]] = {}

    def __call__(self, one: _Found) -> tuple[Array, float, float]:
        """The sectors, how many each stands for, and how many there are in all."""
        if one.strides is None:  # each block has sectors of its own: which ones matters to nobody else
            return one.sectors, float(len(self.steps)), float(len(one.sectors) * len(self.steps))
        start = one.sectors[0] if len(one.sectors) else 0
        relative = one.sectors - start
        key = (relative.tobytes(), one.strides)
        if key not in self.found:
            moves = np.unique(self.steps @ np.array(one.strides, np.int64))
            most = max(1, MOST_SECTORS // max(1, len(relative)))
            weight = len(moves) / min(len(moves), most)
            self.found[key] = (np.unique((relative[None] * SECTOR + moves[:most, None]) // SECTOR), weight)
        places, weight = self.found[key]
        return places + start, weight, weight * len(places)


def _numbered(sets: Sequence[tuple[Array, float, float]]) -> tuple[list[Array], int]:
    """The sectors of all accesses as numbers from 0 on."""
    if not sets:
        return [], 0
    every, inverse = np.unique(np.concatenate([s for s, _, _ in sets]), return_inverse=True)
    ends = np.cumsum([len(s) for s, _, _ in sets])[:-1]
    return list(np.split(inverse, ends)), len(every)


def _first_level(
    known: Sequence[_Found], sets: Sequence[tuple[Array, float, float]], capacity: float
) -> list[float]:
    numbered, count = _numbered(sets)
    cache = _Cache(capacity, count)
    return [
        cache.use(wanted, weight) if one.what.uses_l1 else 1.0
        for one, wanted, (_, weight, _) in zip(known, numbered, sets, strict=True)
    ]


def _second_level(
    known: Sequence[_Found], sets: Sequence[tuple[Array, float, float]], capacity: float
) -> list[float]:
    numbered, count = _numbered(sets)
    cache = _Cache(capacity, count)
    return [
        cache.use(wanted, weight, writes=one.what.writes)
        for one, wanted, (_, weight, _) in zip(known, numbered, sets, strict=True)
    ]


def _within_footprint(
    levels: dict[int, AccessLevels], accesses: Sequence[GlobalAccess], launch: KernelLaunch, l2_bytes: float
) -> Mapping[int, AccessLevels]:
    """Where all that a launch touches fits the second-level cache, nothing is brought twice and nothing has to be written back."""
    spans: dict[int, tuple[int, int]] = {}
    for what in accesses:
        value, threads = what.access.addresses, what.access.threads
        if value.known is not True and not (np.asarray(value.known) | ~threads).all():
            return levels
        data = np.broadcast_to(value.data, threads.shape)[threads]
        pointer = int(data[0]) >> _POINTER_BITS
        low, high = spans.get(pointer, (int(data.min()), 0))
        spans[pointer] = (min(low, int(data.min())), max(high, int(data.max()) + what.access.size))
    whole = sum(high - low for low, high in spans.values())
    if whole > l2_bytes:
        return levels
    brought = sum(
        levels[w.place].dram * w.times * max(1, w.access.warps) * launch.blocks * SECTOR
        for w in accesses
        if not w.writes
    )
    share = min(1.0, whole / brought) if brought else 1.0
    writes = {w.place for w in accesses if w.writes}
    return {
        place: AccessLevels(
            one.sectors, one.l2, 0.0 if place in writes else one.dram * share, one.l2_chance,
            0.0 if place in writes else one.dram_chance * share,
        )
        for place, one in levels.items()
    }  # fmt: skip
