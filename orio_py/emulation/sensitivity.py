"""What limits a kernel: how its time changes with the latency and the gap of each resource.

The measure is that of Hong et al. 2018, section 3.3: by how many percent the time grows when a parameter grows by one
percent.  Where the latency of a resource tells, the kernel is bound by latency (more warps or more independent instructions
help); where its gap tells, by throughput (fewer requests help).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from orio_py.emulation.block_runs import all_blocks, emulate_together, order_of
from orio_py.emulation.core import Core, Kind, Multiprocessor, Schedule, StepTable, Work
from orio_py.emulation.lanes import Array
from orio_py.emulation.outcome import ClassCycles, LaunchPrediction
from orio_py.emulation.prediction import Emulator
from orio_py.emulation.program import RESOURCES, RegisterUses, with_dependences
from orio_py.machine.timing import Resource

CHANGE = 0.25
"""By which share a parameter is changed, up and down."""

_WORTH_A_LOOK = 0.05

BOTTLENECK = 0.2
"""The least sensitivity that makes a bottleneck; below, none stands out."""

_IDLE = 0.05
"""Gaps of resources that take requests for less of the time are not looked at."""

_ALMOST_ALL = 0.9

_NOTHING = 0.02
"""Sensitivities that cannot be larger than this are not looked at."""

_ALONE = 0.3
"""Parameters that may tell so much are changed one by one."""


class ResourceBound(StrEnum):
    """Which parameter of a resource tells."""

    LATENCY = "latency"
    THROUGHPUT = "throughput"


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How the time depends on a resource: by the share that it changes for the same share of the parameter.

    `halved` is the time with half of the latency or gap, as a share of the time with the whole; None where it was not looked at.
    """

    resource: Resource
    bound: ResourceBound
    value: float
    halved: float | None = None


@dataclass(frozen=True, slots=True)
class LimitingResource:
    """What limits a kernel: None where nothing stands out; the share of the time in which it takes requests is evidence."""

    sensitivity: Sensitivity | None
    utilization: float
    regions: Mapping[int | None, float]


@dataclass(frozen=True, slots=True)
class SensitivityReport:
    """The sensitivities of a prediction, largest first, and what follows from them.

    `twice_issued` is the time with schedulers that issue twice as many instructions in a cycle, as a share of the time.
    """

    sensitivities: tuple[Sensitivity, ...]
    bottleneck: LimitingResource
    twice_issued: float


def sensitivity(emulator: Emulator, prediction: LaunchPrediction, core: Core) -> SensitivityReport:
    """Change latency and gap of the resources that may tell, the likeliest first.

    All latencies, gaps and stalls twice as long make all of it twice as long: the sensitivities add up to 1 (Euler's
    theorem on homogeneous functions).  So the others are not looked at when those that were leave next to nothing.
    """
    probe = _Probe(emulator, core)
    values = _values(probe, _likely(emulator, prediction))
    used = [r for r in RESOURCES if prediction.utilization.get(r, 0.0) > 0]
    found = [
        Sensitivity(resource, bound, values.get((resource, bound), 0.0))
        for resource in used
        for bound in ResourceBound
        if bound is ResourceBound.LATENCY or prediction.utilization[resource] >= _IDLE
    ]
    found.sort(key=lambda one: -one.value)
    looked_at = tuple(
        replace(one, halved=1 + probe.change([(one.resource, one.bound)], 0.5))
        if place < 3 and one.value >= _WORTH_A_LOOK
        else one
        for place, one in enumerate(found)
    )
    first = looked_at[0] if looked_at and looked_at[0].value >= BOTTLENECK else None
    regions = (
        _of_regions(probe, prediction, first) if first is not None and len(prediction.regions) > 1 else {}
    )
    share = prediction.utilization.get(first.resource, 0.0) if first is not None else 0.0
    return SensitivityReport(looked_at, LimitingResource(first, share, regions), 1 + probe.twice_issued())


_Parameter = tuple[Resource, ResourceBound]


def _likely(emulator: Emulator, prediction: LaunchPrediction) -> dict[_Parameter, float]:
    """What each sensitivity is at most, the largest first; those that cannot tell are left out.

    A gap tells no more than the resource is busy; a latency no more than a warp would wait if it waited for each result.
    """
    machine, rows = emulator.machine, emulator.rows
    places, counts = emulator.places, emulator.how_often
    latency = machine.latency.max(axis=0)
    asked = np.zeros(len(RESOURCES))
    pipe = rows.pipe[places]
    np.add.at(asked, pipe[pipe >= 0], (counts * latency[pipe])[pipe >= 0])
    for number, chance in ((machine.l2, rows.l2_chance), (machine.dram, rows.dram_chance)):
        asked[number] += (counts * chance[places] * latency[number]).sum()
    asked[machine.barrier] += counts[rows.kind[places] == Kind.SYNCHRONISE].sum() * latency[machine.barrier]
    waits: dict[Resource, float] = dict(zip(RESOURCES, asked.tolist(), strict=True))
    lives = max(1.0, prediction.block_cycles * emulator.kernel.slots)
    found: dict[_Parameter, float] = {}
    for resource in RESOURCES:
        busy = prediction.utilization.get(resource, 0.0)
        if busy >= _IDLE:
            found[resource, ResourceBound.THROUGHPUT] = min(1.0, busy)
        found[resource, ResourceBound.LATENCY] = min(1.0, waits[resource] / lives)
    likely = {parameter: most for parameter, most in found.items() if most >= _NOTHING}
    return dict(sorted(likely.items(), key=lambda item: -item[1]))


def _values(probe: _Probe, likely: Mapping[_Parameter, float]) -> dict[_Parameter, float]:
    """The sensitivities of the parameters; those that are unlikely to tell are changed together until they do."""
    values: dict[_Parameter, float] = {}
    groups = [[parameter] for parameter, most in likely.items() if most >= _ALONE]
    rest = [parameter for parameter, most in likely.items() if most < _ALONE]
    waiting = [*groups, rest] if rest else groups
    while waiting and sum(values.values()) < 1 - _WORTH_A_LOOK:
        group = waiting.pop(0)
        is_sure = min(likely[one] for one in group) > _ALMOST_ALL and group[0][1] is ResourceBound.THROUGHPUT
        value = probe.sensitivity(group, is_sure=is_sure)
        if len(group) == 1:
            values[group[0]] = value
        elif value >= BOTTLENECK:  # else none of them makes one
            half = len(group) // 2
            waiting[:0] = [group[:half], group[half:]]
    return values


def _of_regions(probe: _Probe, prediction: LaunchPrediction, first: Sensitivity) -> dict[int | None, float]:
    """How much of a sensitivity each region of the code has, until what is left is next to nothing."""
    headers = probe.emulator.loops.headers
    asks = probe.emulator.asked[:, RESOURCES.index(first.resource)]
    numbers = {r.header: 0 if r.header is None else 1 + headers.index(r.header) for r in prediction.regions}
    regions: dict[int | None, float] = dict.fromkeys(numbers, 0.0)
    left = first.value
    for header, number in sorted(numbers.items(), key=lambda item: -asks[item[1]]):
        if left < _WORTH_A_LOOK:
            break
        alone = asks[number] >= (1 - _WORTH_A_LOOK) * asks.sum() > 0
        regions[header] = first.value if alone else probe.sensitivity([(first.resource, first.bound)], number)
        left -= regions[header]
    return regions


class _Probe:
    """The time of a kernel with other parameters, as a share of what it is with its own.

    Of the loop that takes longest, what more iterations take is looked at; of the rest, short blocks one behind the other.
    """

    def __init__(self, emulator: Emulator, core: Core) -> None:
        self.emulator, self.core = emulator, core
        self.loop, self.share = _longest(emulator.middle)
        sites = {max(0, entry[0]) for entry in emulator.kernel.trace.entries}
        self._uses = RegisterUses.of(emulator.kernel.function, sites)
        short = emulator.inner.short_times(least=1)
        work = emulator.inner.work(short)
        self.blocks = self._table(work)
        self.looks_at_blocks = self.share < _ALMOST_ALL
        self.lengths: list[tuple[StepTable, Work]] = []
        self.orders: list[Array] = []
        if self.loop is not None and self.share > 1 - _ALMOST_ALL:
            longer = emulator.inner.work({**short, self.loop: 2 * short[self.loop]})
            self.lengths = [self.blocks, self._table(longer)]
            self.orders = [order_of(work), order_of(longer)]
        self.base = self._times(emulator.machine)

    def _table(self, work: Work) -> tuple[StepTable, Work]:
        """The steps as a table of their own, with those of fixed latency that each needs."""
        steps = self.emulator.rows.take(order_of(work))
        return with_dependences(steps, self._uses, sorted(set(work.first))), replace(work, order=None)

    def _times(self, machine: Multiprocessor) -> tuple[float, float]:
        """Cycles of all blocks with short loops, and of iterations of the longest one."""
        blocks = iterations = 0.0
        steps, work = self.blocks
        first: Schedule | None = None
        if self.lengths:
            tables = [table for table, _ in self.lengths]
            works = [replace(one, blocks=one.slots) for _, one in self.lengths]
            first, longer = emulate_together(tables, machine, works, self.orders, self.core)
            iterations = longer.cycles - first.cycles
        if self.looks_at_blocks:
            if first is None or work.blocks > work.slots:
                first = self.core(steps, machine, work)
            blocks = all_blocks(first, work, self.emulator.kernel.blocks_each)[0]
        return blocks, iterations

    def sensitivity(
        self, parameters: Sequence[_Parameter], region: int | None = None, *, is_sure: bool = False
    ) -> float:
        """By which share of the parameters' change the time changes, upwards and downwards: the smaller of both.

        Which warp goes first changes with every parameter, and with it the time a little: by chance the two do not agree.
        Of a resource that is busy all the time it `is_sure` that its gap tells, and upwards is enough.
        """
        slower = self.change(parameters, 1 + CHANGE, region) / CHANGE
        if slower < _WORTH_A_LOOK or (is_sure and slower > _ALMOST_ALL):
            return min(max(0.0, slower), 1.0)
        return max(0.0, min(slower, -self.change(parameters, 1 - CHANGE, region) / CHANGE))

    def change(self, parameters: Sequence[_Parameter], factor: float, region: int | None = None) -> float:
        """By which share the time changes; in one region of the code alone, where that is named."""
        machine = self.emulator.machine
        latency, gap = machine.latency.copy(), machine.gap.copy()
        rows = slice(None) if region is None else slice(region, region + 1)
        for resource, bound in parameters:
            (latency if bound is ResourceBound.LATENCY else gap)[rows, RESOURCES.index(resource)] *= factor
        return self._share_of(replace(machine, latency=latency, gap=gap))

    def twice_issued(self) -> float:
        """By which share the time changes when schedulers issue twice as much."""
        machine = self.emulator.machine
        return self._share_of(replace(machine, width=2 * machine.width))

    def _share_of(self, machine: Multiprocessor) -> float:
        blocks, iterations = self._times(machine)
        parts = [
            (share, new / old - 1)
            for share, new, old in (
                (1 - self.share, blocks, self.base[0]),
                (self.share, iterations, self.base[1]),
            )
            if old > 0
        ]
        whole = sum(share for share, _ in parts)
        return float(np.dot([s for s, _ in parts], [c for _, c in parts]) / whole) if whole else 0.0


def _longest(whole: ClassCycles) -> tuple[int | None, float]:
    """The loop whose iterations take longest, and their share of the time."""
    if not whole.loops:
        return None, 0.0
    loop = max(whole.loops, key=lambda header: whole.loops[header])
    return loop, whole.loops[loop] / max(1.0, whole.cycles)
