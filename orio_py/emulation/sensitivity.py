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

from orio_py.emulation.core import Core, Multiprocessor, StepTable, Work
from orio_py.emulation.outcome import ClassCycles, LaunchPrediction
from orio_py.emulation.prediction import Emulator, all_blocks
from orio_py.emulation.program import RESOURCES, with_dependences
from orio_py.emulation.trace import Item
from orio_py.machine.timing import Resource

CHANGE = 0.25
"""By which share a parameter is changed, up and down."""

_WORTH_A_LOOK = 0.05

_TELLS = 0.2
"""The least sensitivity that makes a bottleneck; below, none stands out."""

_IDLE = 0.05
"""Gaps of resources that take requests for less of the time are not looked at."""

_ALMOST_ALL = 0.9


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
    """Change latency and gap of each resource that the kernel uses, one after the other."""
    probe = _Probe(emulator, core)
    used = [r for r in RESOURCES if prediction.utilization.get(r, 0.0) > 0]
    found = [
        Sensitivity(resource, bound, probe.sensitivity(resource, bound))
        for resource in used
        for bound in ResourceBound
        if bound is ResourceBound.LATENCY or prediction.utilization[resource] >= _IDLE
    ]
    found.sort(key=lambda one: -one.value)
    looked_at = tuple(
        replace(one, halved=1 + probe.change(one.resource, one.bound, 0.5)) if place < 3 else one
        for place, one in enumerate(found)
    )
    first = looked_at[0] if looked_at and looked_at[0].value >= _TELLS else None
    regions: dict[int | None, float] = {}
    if first is not None and len(prediction.regions) > 1:
        for region in prediction.regions:
            number = 0 if region.header is None else 1 + emulator.loops.headers.index(region.header)
            regions[region.header] = probe.sensitivity(first.resource, first.bound, number)
    share = prediction.utilization.get(first.resource, 0.0) if first is not None else 0.0
    return SensitivityReport(looked_at, LimitingResource(first, share, regions), 1 + probe.twice_issued())


class _Probe:
    """The time of a kernel with other parameters, as a share of what it is with its own.

    Of the loop that takes longest, what more iterations take is looked at; of the rest, short blocks one behind the other.
    """

    def __init__(self, emulator: Emulator, core: Core) -> None:
        self.emulator, self.core = emulator, core
        traces = emulator.traces[0]
        whole = emulator.class_cycles(traces)
        self.loop, self.share = _longest(whole)
        short = emulator.short_times(traces)
        self.blocks = self._table(traces, short)
        self.less = self.more = None
        if self.loop is not None:
            self.less = self._first(traces, short)
            self.more = self._first(traces, {**short, self.loop: 2 * short[self.loop]})
        self.base = self._times(emulator.machine)

    def _table(self, traces: Sequence[Sequence[Item]], times: Mapping[int, int]) -> tuple[StepTable, Work]:
        steps, work = self.emulator.table(traces, times)
        return with_dependences(steps, self.emulator.kernel.function, sorted(set(work.first))), work

    def _first(self, traces: Sequence[Sequence[Item]], times: Mapping[int, int]) -> tuple[StepTable, Work]:
        steps, work = self._table(traces, times)
        return steps, replace(work, blocks=work.slots)

    def _times(self, machine: Multiprocessor) -> tuple[float, float]:
        """Cycles of all blocks with short loops, and of iterations of the longest one."""
        blocks = iterations = 0.0
        if self.share < _ALMOST_ALL:
            steps, work = self.blocks
            blocks = all_blocks(self.core(steps, machine, work), work, self.emulator.kernel.blocks_each)[0]
        if self.less is not None and self.more is not None and self.share > 1 - _ALMOST_ALL:
            iterations = self.core(self.more[0], machine, self.more[1]).cycles
            iterations -= self.core(self.less[0], machine, self.less[1]).cycles
        return blocks, iterations

    def sensitivity(self, resource: Resource, bound: ResourceBound, region: int | None = None) -> float:
        """By which share of the parameter's change the time changes, upwards and downwards: the smaller of both.

        Which warp goes first changes with every parameter, and with it the time a little: by chance the two do not agree.
        """
        slower = self.change(resource, bound, 1 + CHANGE, region) / CHANGE
        if slower < _WORTH_A_LOOK:
            return max(0.0, slower)
        return max(0.0, min(slower, -self.change(resource, bound, 1 - CHANGE, region) / CHANGE))

    def change(
        self, resource: Resource, bound: ResourceBound, factor: float, region: int | None = None
    ) -> float:
        """By which share the time changes; in one region of the code alone, where that is named."""
        machine = self.emulator.machine
        latency, gap = machine.latency.copy(), machine.gap.copy()
        rows = slice(None) if region is None else slice(region, region + 1)
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
