"""The blocks of one kind on a multiprocessor: counted waves, shortened loops.

A multiprocessor is emulated for the first blocks that it gets and for some that follow; the others take as long as these did (the
paper multiplies the time of the first ones, Hong et al. 2018, section 4.3).  Loops are emulated with a few iterations and
with twice as many; the difference counts for those that are left out, and a third length tells how far that is to be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import ceil

import numpy as np

from orio_py.emulation.core import Core, Multiprocessor, Schedule, StepTable, Work
from orio_py.emulation.lanes import Array
from orio_py.emulation.loop_tree import LoopTree
from orio_py.emulation.outcome import ClassCycles, EmulatedKernel
from orio_py.emulation.program import folded
from orio_py.emulation.trace import warp_classes, warp_items

_LEAST_STEPS = 160
_WHOLE = 640
"""Loops are emulated with so many iterations that they have as many steps as this, and with two at least; short ones as they are."""

_WAVES = 3
"""How often the blocks of a multiprocessor are replaced in an emulation, where there are that many."""

_ISSUED = 30_000
"""Short kernels are emulated for more waves, up to so many instructions."""

_MOSTLY_LOOPS = 8
"""With so many times more iterations than are emulated, blocks are emulated for one wave."""

_UNEVEN, _MOST_LONGER = 0.05, 16
"""Loops are emulated longer while differences disagree by more than this, so many times more iterations at most."""


Times = Mapping[int, int]
"""With how many iterations at most the loops are emulated that begin at these instructions."""


def block_traces(kernel: EmulatedKernel, block: int) -> tuple[LoopTree, ...]:
    """The traces of a block's warps; those that are the same are one object."""
    warps = kernel.launch.warps
    first = block * warps
    found: dict[int, LoopTree] = {}
    for one, members in warp_classes(kernel.trace, range(first, first + warps)).items():
        tree = LoopTree.of(folded(warp_items(kernel.trace, one)), len(kernel.trace.entries))
        found.update(dict.fromkeys(members, tree))
    return tuple(found[warp] for warp in sorted(found))


def different(traces: Sequence[LoopTree]) -> Sequence[LoopTree]:
    """Each trace once."""
    return list({id(tree): tree for tree in traces}.values())


@dataclass(frozen=True)
class BlockRuns:
    """Blocks whose warps have these traces, steps of which are rows of a table."""

    kernel: EmulatedKernel
    traces: Sequence[LoopTree]
    rows: StepTable

    @cached_property
    def issued(self) -> float:
        """How many instructions the warps of a block issue, loops with all their iterations."""
        of = {id(tree): sum(tree.counts({}).values()) for tree in self.different}
        return sum(of[id(tree)] for tree in self.traces)

    @cached_property
    def different(self) -> Sequence[LoopTree]:
        """Each trace once."""
        return different(self.traces)

    def short_times(self, least: int = 2) -> dict[int, int]:
        """With how many iterations each loop is emulated: so many at least."""
        found: dict[int, int] = {}
        for tree in self.different:
            for loop in tree.loops():
                times, size = loop.times, loop.size
                some = times if times * size <= _WHOLE else max(least, ceil(_LEAST_STEPS / max(1, size)))
                found[loop.header] = max(found.get(loop.header, 0), some)
        return found

    def work(self, times: Times) -> Work:
        """The steps of the warps of a block, equal ones once: rows of the table."""
        made: dict[int, tuple[int, int]] = {}  # warps that do the same share one object
        orders: list[Array] = []
        length = 0
        for tree in self.different:
            steps = tree.steps(times)
            made[id(tree)] = (length, len(steps))
            orders.append(steps)
            length += len(steps)
        first, count = zip(*(made[id(tree)] for tree in self.traces), strict=True)
        whole = sum(count) * self.kernel.slots
        waves = min(max(_WAVES, _ISSUED // whole), 4 * _WAVES)
        if self.issued > _MOSTLY_LOOPS * sum(count):  # what is emulated here is the smallest part of the time
            waves = 1
        blocks = min(self.kernel.blocks_each, waves * self.kernel.slots)
        return Work(first, count, self.kernel.slots, blocks, np.concatenate(orders).astype(np.int32))

    def first_blocks(self, times: Times) -> Work:
        """Of those steps, the blocks that a multiprocessor has at a time, without others behind them."""
        work = self.work(times)
        return replace(work, blocks=work.slots)

    def cycles(self, core: Core, machine: Multiprocessor) -> ClassCycles:
        """What a launch would take if all its blocks were like these."""
        short = self.short_times()
        left = {header: some for header in short if (some := self._left_out(short, header)) > 0}
        work = self.work(short)
        first: Schedule | None = None
        slopes: dict[int, tuple[float, float]] = {}
        for header in left:
            slopes[header], first = self._slopes(short, header, first, core, machine)
        if first is None or work.blocks > work.slots:
            first = core(self.rows, machine, work)
        cycles, block = all_blocks(first, work, self.kernel.blocks_each)
        error = 0.0
        loops: dict[int, float] = {}
        for header, (before, slope) in slopes.items():
            loops[header] = left[header] * slope * self.kernel.blocks_each / self.kernel.slots
            cycles += loops[header]
            block += left[header] * slope / self.kernel.slots
            error += left[header] * abs(slope - before) * self.kernel.blocks_each / self.kernel.slots
        return ClassCycles(cycles, block, error / max(1.0, cycles), loops, first)

    def _slopes(
        self, short: Times, header: int, first: Schedule | None, core: Core, machine: Multiprocessor
    ) -> tuple[tuple[float, float], Schedule]:
        """What an iteration of a loop takes by the last two differences; and the emulation with `short` loops."""
        lengths = [short]
        factor = 2
        while factor <= _MOST_LONGER:
            lengths.append({**short, header: factor * short[header]})
            factor *= 2
        added = [self._added(less, more, header) for less, more in pairwise(lengths)]
        usual = 3 if added[1] > 0 else 2  # lengths that are looked at in any case
        works = [self.first_blocks(times) for times in lengths[:usual]]
        runs = list(
            emulate_together([self.rows] * usual, machine, works, [order_of(work) for work in works], core)
        )
        before = slope = 0.0
        for number, more in enumerate(added, start=1):
            if number > 1 and more <= 0:
                break
            if number == len(runs):
                runs.append(core(self.rows, machine, self.first_blocks(lengths[number])))
            before, slope = slope, max(0.0, runs[number].cycles - runs[number - 1].cycles) / max(1e-9, more)
            if number == 1:
                before = slope
            elif abs(slope - before) <= _UNEVEN * slope:
                break
        return (before, slope), runs[0]

    def _left_out(self, short: Times, header: int) -> float:
        """How many iterations of a loop are not emulated, where outer ones are all there."""
        return self._more({h: n for h, n in short.items() if h == header}, {}, header)

    def _added(self, less: Times, more: Times, header: int) -> float:
        return self._more(less, more, header)

    def _more(self, less: Times, more: Times, header: int) -> float:
        """How many more iterations of a loop there are with other lengths."""
        return max(
            tree.repetitions(more).get(header, 0.0) - tree.repetitions(less).get(header, 0.0)
            for tree in self.different
        )


def emulate_together(
    steps: Sequence[StepTable],
    machine: Multiprocessor,
    works: Sequence[Work],
    orders: Sequence[Array],
    core: Core,
) -> Sequence[Schedule]:
    """Emulations of the same blocks with longer and longer loops; `orders` tell the steps of each from those of the others.

    They go alike until a warp comes to a step that the longest one does not have there.  Steps of several kinds of warps stand in
    other places of the tables, by which it is drawn what finds its sectors in a cache: they do not go alike.
    """
    shared = [_alike(order, orders[-1]) for order in orders[:-1]]
    rises = all(a <= b for a, b in pairwise(shared))
    fits = all(0 < n < work.count[0] for n, work in zip(shared, works[:-1], strict=True))
    if len(works) > 1 and rises and fits and not any(any(work.first) for work in works):
        return core.together(steps, machine, works, shared)
    return [core(table, machine, work) for table, work in zip(steps, works, strict=True)]


def _alike(a: Array, b: Array) -> int:
    """How many steps two begin with."""
    least = min(len(a), len(b))
    differs = a[:least] != b[:least]
    return int(differs.argmax()) if differs.any() else least


def order_of(work: Work) -> Array:
    """The rows of the steps."""
    assert work.order is not None
    return work.order


def all_blocks(schedule: Schedule, work: Work, blocks: int) -> tuple[float, float]:
    """The time of all blocks, when those that were not emulated follow as the last ones did; and that of one block."""
    ends = np.sort(schedule.block_end)
    slots, count = work.slots, len(ends)
    if count < 3 * slots:  # all of them, or one wave for all
        return float(ends[-1]) * blocks / count, float(ends[-1]) / min(slots, count)
    # From the end of the first blocks to where the last ones begin: at both, others are on their way.
    each = float(ends[count - slots - 1] - ends[slots - 1]) / (count - 2 * slots)
    return float(ends[-1]) + (blocks - count) * each, each
