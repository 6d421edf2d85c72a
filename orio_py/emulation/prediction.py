"""How long a launch takes on a GPU, from its trace: emulated blocks, counted waves, shortened loops.

A multiprocessor is emulated for the first blocks that it gets and for some that follow; the others take as long as these did (the
paper multiplies the time of the first ones, Hong et al. 2018, section 4.3).  LoopRegions are emulated with a few iterations and
with twice as many; the difference counts for those that are left out, and a third length tells how far that is to be trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil

import numpy as np

from orio_py.emulation.caches import AccessLevels, GlobalAccess, Residents, cache_levels
from orio_py.emulation.core import Core, Multiprocessor, Schedule, StepTable, Work
from orio_py.emulation.lanes import Array
from orio_py.emulation.outcome import (
    ClassCycles,
    CodeRegion,
    EmulatedKernel,
    IssuedInstruction,
    LaunchPrediction,
)
from orio_py.emulation.program import (
    RESOURCES,
    LoopRegions,
    expanded,
    folded,
    place_counts,
    repetitions,
    step_rows,
)
from orio_py.emulation.trace import Item, warp_classes, warp_items
from orio_py.machine.timing import SECTOR_BYTES, Resource
from orio_py.sass.resources import resource_of

_LEAST_STEPS = 160
_WHOLE = 640
"""Loops are emulated with so many iterations that they have as many steps as this, and with two at least; short ones as they are."""

_WAVES = 3
"""How often the blocks of a multiprocessor are replaced in an emulation, where there are that many."""

_ISSUED = 30_000
"""Short kernels are emulated for more waves, up to so many instructions."""

_MOSTLY_LOOPS = 8
"""With so many times more iterations than are emulated, blocks are emulated for one wave."""

_SMALL_CLASS = 0.002
"""Blocks at the ends of the grid that are fewer than this share are taken for inner ones."""

LOADED = 1.3
"""How much longer than a chain of pointers many blocks wait for device memory.

Fitted with `Multiprocessor.refill` to times of streams on an A100 (RRZE-HPC/gpu-benches, gpu-stream/a100_80.txt) alone.
"""

_UNEVEN, _MOST_LONGER = 0.05, 16
"""Loops are emulated longer while differences disagree by more than this, so many times more iterations at most."""

_LOADS = ("LDG", "LD")
_PASSES_L1 = frozenset({"STRONG", "SYS_", "BYPASS"})


class Emulator:
    """A kernel that is emulated several times: as it is, and with other latencies and gaps."""

    def __init__(self, kernel: EmulatedKernel, core: Core) -> None:
        self.kernel, self.core = kernel, core
        self._instructions: dict[int, float] = {}
        self.loops = LoopRegions.of(kernel.function)
        self.traces = {block: _block_traces(kernel, block) for block in (0, *_classes(kernel))}
        self.levels = self._levels()
        self.entries = len(kernel.trace.entries)
        self.rows = step_rows(kernel.function, kernel.trace, self.loops, kernel.timing, self.levels)
        self.machine = multiprocessor(kernel, regions=len(self.loops.headers) + 1)

    @cached_property
    def counts(self) -> Mapping[int, float]:
        """How often a warp of a middle block comes to each entry of the trace, on average."""
        total: dict[int, float] = {}
        alike = Counter(id(items) for items in self.traces[0])
        for items in {id(items): items for items in self.traces[0]}.values():
            share = alike[id(items)] / len(self.traces[0])
            for place, count in place_counts(items, {}, executed=True).items():
                total[place] = total.get(place, 0.0) + count * share
        return total

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
        for block, traces in self.traces.items():
            share = self.kernel.sample.counts[block] / whole
            found = self.middle if block == 0 else self.class_cycles(traces)
            cycles += share * found.cycles
            block_cycles += share * found.block
            error += share * found.error
            schedule = schedule or found.schedule
        others = 1 - sum(self.kernel.sample.counts[block] for block in self.traces) / whole
        assert schedule is not None
        scale = 1 / max(1e-9, 1 - others)
        return LaunchPrediction(
            self.kernel, cycles * scale, block_cycles * scale, error * scale,
            self._utilization(cycles * scale), self._issue_share(cycles * scale), self._regions(schedule), self._waits(schedule),
        )  # fmt: skip

    def short_times(self, traces: Sequence[Sequence[Item]], least: int = 2) -> dict[int, int]:
        """With how many iterations each loop is emulated: so many at least."""
        found: dict[int, int] = {}
        for items in {id(items): items for items in traces}.values():
            for header, size, times in _loops(items):
                some = times if times * size <= _WHOLE else max(least, ceil(_LEAST_STEPS / max(1, size)))
                found[header] = max(found.get(header, 0), some)
        return found

    @cached_property
    def middle(self) -> ClassCycles:
        """What a launch would take if all its blocks were like the one in the middle."""
        return self.class_cycles(self.traces[0])

    def class_cycles(self, traces: Sequence[Sequence[Item]]) -> ClassCycles:
        """What a launch would take if all its blocks were like these."""
        short = self.short_times(traces)
        cycles, block, schedule = self.run(traces, short)
        error = 0.0
        slots = self.kernel.slots
        loops: dict[int, float] = {}
        once = self.first_blocks(traces, short)
        for header in short:
            left = self._left_out(traces, short, header)
            if left <= 0:
                continue
            before, slope = self._slopes(traces, short, header, once)
            loops[header] = left * slope * self.kernel.blocks_each / slots
            cycles += loops[header]
            block += left * slope / slots
            error += left * abs(slope - before) * self.kernel.blocks_each / slots
        return ClassCycles(cycles, block, error / max(1.0, cycles), loops, schedule)

    def _slopes(
        self, traces: Sequence[Sequence[Item]], short: Mapping[int, int], header: int, once: float
    ) -> tuple[float, float]:
        """What an iteration of a loop takes by the last two differences; `once` are the cycles with `short` loops."""
        times, cycles = short, once
        before = slope = 0.0
        factor = 2
        while factor <= _MOST_LONGER:
            longer = {**short, header: factor * short[header]}
            added = self._added(traces, times, longer, header)
            if factor > 2 and added <= 0:
                break
            found = self.first_blocks(traces, longer)
            before, slope = slope, max(0.0, found - cycles) / max(1e-9, added)
            times, cycles = longer, found
            if factor == 2:
                before = slope
            elif abs(slope - before) <= _UNEVEN * slope:
                break
            factor *= 2
        return before, slope

    def _left_out(self, traces: Sequence[Sequence[Item]], short: Mapping[int, int], header: int) -> float:
        """How many iterations of a loop are not emulated, where outer ones are all there."""
        full = {h: n for h, n in short.items() if h == header}
        return max(
            repetitions(items, {}).get(header, 0.0) - repetitions(items, full).get(header, 0.0)
            for items in traces
        )

    def _added(
        self,
        traces: Sequence[Sequence[Item]],
        short: Mapping[int, int],
        longer: Mapping[int, int],
        header: int,
    ) -> float:
        return max(
            repetitions(items, longer).get(header, 0.0) - repetitions(items, short).get(header, 0.0)
            for items in traces
        )

    def table(self, traces: Sequence[Sequence[Item]], times: Mapping[int, int]) -> tuple[StepTable, Work]:
        """The steps of the warps of a block, equal ones once."""
        made: dict[int, tuple[int, int]] = {}  # warps that do the same share one object
        order: list[int] = []
        for items in traces:
            if id(items) not in made:
                steps = expanded(items, times, self.entries)
                made[id(items)] = (len(order), len(steps))
                order += steps
        first = [made[id(items)][0] for items in traces]
        count = [made[id(items)][1] for items in traces]
        whole = sum(count) * self.kernel.slots
        waves = min(max(_WAVES, _ISSUED // whole), 4 * _WAVES)
        every = sum(self._issued(items) for items in traces)
        if every > _MOSTLY_LOOPS * sum(count):  # what is emulated here is the smallest part of the time
            waves = 1
        blocks = min(self.kernel.blocks_each, waves * self.kernel.slots)
        work = Work(tuple(first), tuple(count), self.kernel.slots, blocks)
        return self.rows.take(np.array(order, np.int64)), work

    def _issued(self, items: Sequence[Item]) -> float:
        """How many instructions a warp issues, loops with all their iterations."""
        if id(items) not in self._instructions:
            self._instructions[id(items)] = sum(place_counts(items, {}).values())
        return self._instructions[id(items)]

    def run(
        self, traces: Sequence[Sequence[Item]], times: Mapping[int, int]
    ) -> tuple[float, float, Schedule]:
        """Cycles of the busiest multiprocessor for all its blocks, of one more block, and the emulation."""
        steps, work = self.table(traces, times)
        schedule = self.core(steps, self.machine, work)
        return *all_blocks(schedule, work, self.kernel.blocks_each), schedule

    def first_blocks(self, traces: Sequence[Sequence[Item]], times: Mapping[int, int]) -> float:
        """Cycles of the blocks that a multiprocessor has at a time, without others behind them."""
        steps, work = self.table(traces, times)
        return self.core(steps, self.machine, replace(work, blocks=work.slots)).cycles

    def timeline(self, most: int) -> tuple[IssuedInstruction, ...]:
        """The first instructions of the first blocks, in the order of their issue."""
        steps, work = self.table(self.traces[0], self.short_times(self.traces[0]))
        schedule = self.core(steps, self.machine, replace(work, blocks=work.slots), most_events=most)
        pipes: list[int] = steps.pipe.tolist()
        return tuple(
            IssuedInstruction(e.time, e.warp, RESOURCES[pipes[e.step]] if pipes[e.step] >= 0 else None)
            for e in schedule.events
        )

    @cached_property
    def asked(self) -> Array:
        """For how many cycles a warp of a middle block asks for each resource, in each region of the code (its row)."""
        busy = np.zeros((self.machine.gap.shape[0], len(RESOURCES)))
        gap, rows = self.machine.gap[0], self.rows
        for place, count in self.counts.items():
            region = int(rows.region[place])
            pipe, second = int(rows.pipe[place]), int(rows.second[place])
            if pipe >= 0:
                busy[region, pipe] += count * gap[pipe] * rows.amount[place]
            if second >= 0:
                busy[region, second] += count * gap[second]
            for resource, column in ((self.machine.l2, rows.l2), (self.machine.dram, rows.dram)):
                busy[region, resource] += count * gap[resource] * column[place]
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
        traces = self.traces[0]
        issued = sum(self._issued(items) for items in traces)
        slots = cycles * self.machine.schedulers * self.machine.width
        return issued * self.kernel.launch.blocks / self.kernel.multiprocessors / max(1.0, slots)

    def _waits(self, schedule: Schedule) -> dict[int, float]:
        """The share of the waiting that each instruction has, where loops have all their iterations."""
        short = self.short_times(self.traces[0])
        every = self._site_counts({})
        some = self._site_counts(short)
        waits = {
            int(site): float(schedule.site_wait[site]) * every.get(int(site), 1.0) / some.get(int(site), 1.0)
            for site in np.nonzero(schedule.site_wait > 0)[0]
        }
        total = sum(waits.values()) or 1.0
        return {site: wait / total for site, wait in waits.items()}

    def _site_counts(self, times: Mapping[int, int]) -> dict[int, float]:
        found: dict[int, float] = {}
        for items in {id(items): items for items in self.traces[0]}.values():
            for place, count in place_counts(items, times).items():
                number = self.kernel.trace.entries[place][0]
                found[number] = found.get(number, 0.0) + count
        return found

    def _regions(self, schedule: Schedule) -> tuple[CodeRegion, ...]:
        waits = self._waits(schedule)
        issued = dict.fromkeys(range(len(self.loops.headers) + 1), 0.0)
        for place, count in self.counts.items():
            issued[int(self.loops.region[self.kernel.trace.entries[place][0]])] += count
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


def _block_traces(kernel: EmulatedKernel, block: int) -> list[tuple[Item, ...]]:
    """The traces of a block's warps; those that are the same are one object."""
    warps = kernel.launch.warps
    first = block * warps
    found: dict[int, tuple[Item, ...]] = {}
    for one, members in warp_classes(kernel.trace, range(first, first + warps)).items():
        found.update(dict.fromkeys(members, folded(warp_items(kernel.trace, one))))
    return [found[warp] for warp in sorted(found)]


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


def all_blocks(schedule: Schedule, work: Work, blocks: int) -> tuple[float, float]:
    """The time of all blocks, when those that were not emulated follow as the last ones did; and that of one block."""
    ends = np.sort(schedule.block_end)
    slots, count = work.slots, len(ends)
    if count < 3 * slots:  # all of them, or one wave for all
        return float(ends[-1]) * blocks / count, float(ends[-1]) / min(slots, count)
    # From the end of the first blocks to where the last ones begin: at both, others are on their way.
    each = float(ends[count - slots - 1] - ends[slots - 1]) / (count - 2 * slots)
    return float(ends[-1]) + (blocks - count) * each, each


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


def _loops(items: Sequence[Item]) -> Iterator[tuple[int, int, int]]:
    """Each loop, how many steps its body has, those of inner loops counted once, and how often it is repeated."""
    for item in items:
        if not isinstance(item, tuple):
            yield item.header, len(item.body), item.times
            yield from _loops(item.body)
