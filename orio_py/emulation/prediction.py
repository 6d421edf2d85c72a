"""How long a launch takes on a GPU, from its trace: emulated blocks, counted waves, shortened loops.

Blocks of each kind are emulated by `BlockRuns`; what they ask of the units and of memory is counted here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from orio_py.emulation.block_runs import BlockRuns, block_traces, different, order_of
from orio_py.emulation.caches import AccessLevels, GlobalAccess, Residents, cache_levels
from orio_py.emulation.core import Core, Multiprocessor, Schedule
from orio_py.emulation.lanes import Array
from orio_py.emulation.outcome import (
    ClassCycles,
    CodeRegion,
    EmulatedKernel,
    IssuedInstruction,
    LaunchPrediction,
)
from orio_py.emulation.program import RESOURCES, LoopRegions, step_rows
from orio_py.machine.timing import SECTOR_BYTES, Resource
from orio_py.sass.resources import resource_of

_SMALL_CLASS = 0.002
"""Blocks at the ends of the grid that are fewer than this share are taken for inner ones."""

LOADED = 1.3
"""How much longer than a chain of pointers many blocks wait for device memory.

Fitted with `Multiprocessor.refill` to times of streams on an A100 (RRZE-HPC/gpu-benches, gpu-stream/a100_80.txt) alone.
"""

_LOADS = ("LDG", "LD")
_PASSES_L1 = frozenset({"STRONG", "SYS_", "BYPASS"})


class Emulator:
    """A kernel that is emulated several times: as it is, and with other latencies and gaps."""

    def __init__(self, kernel: EmulatedKernel, core: Core) -> None:
        self.kernel, self.core = kernel, core
        self.loops = LoopRegions.of(kernel.function)
        self.traces = {block: block_traces(kernel, block) for block in (0, *_classes(kernel))}
        self.levels = self._levels()
        self.rows = step_rows(kernel.function, kernel.trace, self.loops, kernel.timing, self.levels)
        self.machine = multiprocessor(kernel, regions=len(self.loops.headers) + 1)
        self.runs = {block: BlockRuns(kernel, trees, self.rows) for block, trees in self.traces.items()}
        self.inner = self.runs[0]

    @cached_property
    def counts(self) -> Mapping[int, float]:
        """How often a warp of a middle block comes to each entry of the trace, on average."""
        total: dict[int, float] = {}
        alike = Counter(id(tree) for tree in self.traces[0])
        for tree in different(self.traces[0]):
            share = alike[id(tree)] / len(self.traces[0])
            for place, count in tree.counts({}, executed=True).items():
                total[place] = total.get(place, 0.0) + count * share
        return total

    @cached_property
    def places(self) -> Array:
        """The entries in `counts`."""
        return np.fromiter(self.counts, np.int64, len(self.counts))

    @cached_property
    def how_often(self) -> Array:
        """The numbers in `counts`."""
        return np.fromiter(self.counts.values(), np.float64, len(self.counts))

    def _levels(self) -> Mapping[int, AccessLevels]:
        kernel = self.kernel
        found: list[GlobalAccess] = []
        for place, access in kernel.trace.accesses.items():
            instruction = kernel.function.instructions[kernel.trace.entries[place][0]]
            opcode, words = instruction.opcode, set(instruction.modifiers)
            if resource_of(instruction) is not Resource.L1 or opcode in ("LDL", "STL"):
                continue
            loads = opcode in _LOADS or opcode == "LDGSTS"
            found.append(
                GlobalAccess(
                    place, self.counts.get(place, 0.0), access, not loads, loads and not words & _PASSES_L1
                )
            )
        l1 = l1_bytes(kernel)
        l2 = kernel.timing.l2_kib.value * 1024
        residents = Residents.of(kernel.launch, kernel.slots, kernel.multiprocessors)
        return cache_levels(found, kernel.sample, kernel.launch, residents, l1_bytes=l1, l2_bytes=l2)

    def predict(self) -> LaunchPrediction:
        """The time of the whole launch."""
        whole = max(1, sum(self.kernel.sample.counts.values()))
        cycles = block_cycles = error = 0.0
        schedule: Schedule | None = None
        for block, runs in self.runs.items():
            share = self.kernel.sample.counts[block] / whole
            found = self.middle if block == 0 else runs.cycles(self.core, self.machine)
            cycles += share * found.cycles
            block_cycles += share * found.block
            error += share * found.error
            schedule = schedule or found.schedule
        others = 1 - sum(self.kernel.sample.counts[block] for block in self.traces) / whole
        assert schedule is not None
        waits = self._waits(schedule)
        scale = 1 / max(1e-9, 1 - others)
        return LaunchPrediction(
            self.kernel, cycles * scale, block_cycles * scale, error * scale,
            self._utilization(cycles * scale), self._issue_share(cycles * scale), self._regions(waits), waits,
        )  # fmt: skip

    @cached_property
    def middle(self) -> ClassCycles:
        """What a launch would take if all its blocks were like the one in the middle."""
        return self.inner.cycles(self.core, self.machine)

    def timeline(self, most: int) -> tuple[IssuedInstruction, ...]:
        """The first instructions of the first blocks, in the order of their issue."""
        work = self.inner.first_blocks(self.inner.short_times())
        schedule = self.core(self.rows, self.machine, work, most_events=most)
        pipes: list[int] = self.rows.take(order_of(work)).pipe.tolist()
        return tuple(
            IssuedInstruction(e.time, e.warp, RESOURCES[pipes[e.step]] if pipes[e.step] >= 0 else None)
            for e in schedule.events
        )

    @cached_property
    def asked(self) -> Array:
        """For how many cycles a warp of a middle block asks for each resource, in each region of the code (its row)."""
        busy = np.zeros((self.machine.gap.shape[0], len(RESOURCES)))
        gap, rows, machine = self.machine.gap[0], self.rows, self.machine
        places, counts = self.places, self.how_often
        pipe, second = rows.pipe[places], rows.second[places]
        # A row for each place: the sums are made in the order of the places.
        units = np.stack(
            [pipe, second, np.full_like(pipe, machine.l2), np.full_like(pipe, machine.dram)], axis=1
        )
        asks = counts[:, None] * gap[units]
        asks *= np.stack(
            [rows.amount[places], np.ones(len(places)), rows.l2[places], rows.dram[places]], axis=1
        )
        regions = np.broadcast_to(rows.region[places][:, None], units.shape)
        there = units >= 0
        np.add.at(busy, (regions[there], units[there]), asks[there])
        return busy

    def _utilization(self, cycles: float) -> dict[Resource, float]:
        """The share of the time in which resources take requests, from what all blocks ask of them."""
        busy = self.asked.sum(axis=0)
        busy *= self.kernel.launch.warps * self.kernel.launch.blocks / self.kernel.multiprocessors
        parts = np.where(self.machine.once, 1, self.machine.schedulers)
        shares = busy / parts / max(1.0, cycles)
        return {r: float(share) for r, share in zip(RESOURCES, shares, strict=True) if share > 0}

    def _issue_share(self, cycles: float) -> float:
        """The share of the issue slots that are used."""
        issued = self.inner.issued
        slots = cycles * self.machine.schedulers * self.machine.width
        return issued * self.kernel.launch.blocks / self.kernel.multiprocessors / max(1.0, slots)

    def _waits(self, schedule: Schedule) -> dict[int, float]:
        """The share of the waiting that each instruction has, where loops have all their iterations."""
        (every, is_there), (some, is_short) = (
            self._site_counts({}),
            self._site_counts(self.inner.short_times()),
        )
        waits: dict[int, float] = {}
        for site in np.nonzero(schedule.site_wait > 0)[0].tolist():
            all_times = float(every[site]) if is_there[site] else 1.0
            some_times = float(some[site]) if is_short[site] else 1.0
            waits[site] = float(schedule.site_wait[site]) * all_times / some_times
        total = sum(waits.values()) or 1.0
        return {site: wait / total for site, wait in waits.items()}

    def _site_counts(self, times: Mapping[int, int]) -> tuple[Array, Array]:
        """How often the warps of a block come to each instruction, and to which at all."""
        total = np.zeros(len(self.kernel.function.instructions))
        is_there = np.zeros(len(total), np.bool_)
        for tree in different(self.traces[0]):
            counts = tree.counts(times)
            places = np.fromiter(counts, np.int64, len(counts))
            sites = self.rows.site[places]
            np.add.at(total, sites, np.fromiter(counts.values(), np.float64, len(counts)))
            is_there[sites] = True
        return total, is_there

    def _regions(self, waits: Mapping[int, float]) -> tuple[CodeRegion, ...]:
        issued = dict.fromkeys(range(len(self.loops.headers) + 1), 0.0)
        for region, count in zip(
            self.rows.region[self.places].tolist(), self.how_often.tolist(), strict=True
        ):
            issued[region] += count
        found: list[CodeRegion] = []
        for number, count in issued.items():
            sites = np.nonzero(self.loops.region == number)[0]
            if not count:
                continue
            code = [self.kernel.function.instructions[int(site)] for site in sites]
            lines = sorted({i.line for i in code if i.line is not None})
            wait = sum(waits.get(int(site), 0.0) for site in sites)
            found.append(
                CodeRegion(self.loops.headers[number - 1] if number else None, tuple(lines), count, wait)
            )
        return tuple(found)


def l1_bytes(kernel: EmulatedKernel) -> float:
    """What the first-level cache has: what shared memory of the resident blocks leaves, in the configurations that there are."""
    model = kernel.timing.model
    whole = kernel.timing.l1_kib.value * 1024
    if not kernel.timing.has_one_memory:
        return whole
    needed = kernel.slots * (kernel.shared_bytes + model.shared_reserved_bytes if kernel.shared_bytes else 0)
    sizes = [size for size in model.shared_configurations_bytes if size >= needed]
    return max(whole - (min(sizes) if sizes else needed), 8192.0)


def multiprocessor(kernel: EmulatedKernel, regions: int) -> Multiprocessor:
    """Latencies and gaps of the product, for each region of the code; a multiprocessor has its share of the chip's bandwidth."""
    timing = kernel.timing
    latency = np.array([timing.resources[r].latency.value for r in RESOURCES])
    latency[RESOURCES.index(Resource.DRAM)] *= LOADED
    gap = np.array([timing.resources[r].gap.value for r in RESOURCES])
    clock = timing.clock_mhz.value * 1e6
    for resource, bandwidth in ((Resource.L2, timing.l2_gb_per_s), (Resource.DRAM, timing.dram_gb_per_s)):
        number = RESOURCES.index(resource)
        share = SECTOR_BYTES * clock * kernel.multiprocessors / (bandwidth.value * 1e9)
        gap[number] = max(gap[number], share)
    turn = [Resource.SHARED if r is Resource.L1 and timing.has_one_memory else r for r in RESOURCES]
    return Multiprocessor(
        np.tile(latency, (regions, 1)), np.tile(gap, (regions, 1)),
        np.array([r.is_shared_by_partitions for r in RESOURCES], np.int32), np.array([RESOURCES.index(r) for r in turn], np.int32),
        int(timing.schedulers.value), int(timing.issue_width.value),
        RESOURCES.index(Resource.L2), RESOURCES.index(Resource.DRAM), RESOURCES.index(Resource.BARRIER),
        kernel.policy,
    )  # fmt: skip


def _classes(kernel: EmulatedKernel) -> list[int]:
    """The blocks at the ends of the grid that go another way than the one in the middle, and are not few."""
    warps = kernel.launch.warps
    whole = sum(kernel.sample.counts.values())
    groups = np.stack([np.asarray(group) for group in kernel.trace.groups])
    middle = groups[:, :warps].tobytes()
    found: list[int] = []
    for block, count in kernel.sample.counts.items():
        other = groups[:, block * warps : (block + 1) * warps]
        if block and other.tobytes() != middle and count >= _SMALL_CLASS * whole:
            found.append(block)
    return found
