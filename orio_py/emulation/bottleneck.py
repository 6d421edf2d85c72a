"""What limits a variant, as counters of a trial: what a search by bottlenecks reads.

Of each resource that is used: the share of the time in which it takes requests, the cycles that all requests take, and
how sensitive the time is to its latency and its gap; and the occupancy, with the least one at which the time is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from orio_py.emulation.block_runs import all_blocks
from orio_py.emulation.core import Core
from orio_py.emulation.outcome import LaunchPrediction
from orio_py.emulation.prediction import Emulator
from orio_py.emulation.sensitivity import BOTTLENECK, ResourceBound, SensitivityReport
from orio_py.machine.timing import Resource
from orio_py.record.trial import CounterSource, CounterValue

SENSITIVITY, UTILIZATION, CYCLES = "sensitivity", "utilization", "cycles"
OCCUPANCY, OCCUPANCY_NEEDED = "emulated_occupancy", "occupancy_needed"

_SHOWN = 0.005
"""What is less than this is not told."""

_AS_FAST = 1.1
"""With fewer blocks at a time a kernel is as fast if it takes no longer than this factor."""


@dataclass(frozen=True, slots=True)
class EmulatedBottleneck:
    """One launch, made `times` times, and what limits it; `occupancy_needed` is the least at which it is as fast."""

    prediction: LaunchPrediction
    report: SensitivityReport
    occupancy_needed: float
    times: int

    @property
    def cycles(self) -> float:
        """The cycles of all these launches."""
        return self.times * self.prediction.cycles


@dataclass(frozen=True, slots=True)
class BottleneckProfile:
    """What the counters of a trial tell: of resources by name, and of occupancy.

    `cycles` are those that all requests to a resource take: what is asked of it, in units of its gap.
    """

    sensitivity: Mapping[tuple[Resource, ResourceBound], float]
    utilization: Mapping[Resource, float]
    cycles: Mapping[Resource, float]
    occupancy: float
    occupancy_needed: float

    @classmethod
    def of(cls, counters: Mapping[str, float]) -> BottleneckProfile | None:
        """The profile that counters hold; None where they are others."""
        if OCCUPANCY not in counters:
            return None
        return cls(
            {
                (r, b): counters[name]
                for r in Resource
                for b in ResourceBound
                if (name := _name(SENSITIVITY, r, b)) in counters
            },
            {r: counters[name] for r in Resource if (name := _name(UTILIZATION, r)) in counters},
            {r: counters[name] for r in Resource if (name := _name(CYCLES, r)) in counters},
            counters[OCCUPANCY],
            counters.get(OCCUPANCY_NEEDED, counters[OCCUPANCY]),
        )

    @property
    def bottleneck(self) -> tuple[Resource, ResourceBound] | None:
        """What the time is most sensitive to; None where nothing stands out."""
        if not self.sensitivity:
            return None
        first = max(self.sensitivity, key=lambda pair: self.sensitivity[pair])
        return first if self.sensitivity[first] >= BOTTLENECK else None


def bottleneck_counters(launches: Iterable[EmulatedBottleneck]) -> tuple[CounterValue, ...]:
    """The counters of a variant with these launches; shares are weighted with the time of each."""
    found = list(launches)
    whole = sum(one.cycles for one in found)
    if whole <= 0:
        return ()
    values: dict[str, float] = {}

    def add(name: str, value: float) -> None:
        values[name] = values.get(name, 0.0) + value

    for one in found:
        share = one.cycles / whole
        for tell in one.report.sensitivities:
            add(_name(SENSITIVITY, tell.resource, tell.bound), share * tell.value)
        for resource, busy in one.prediction.utilization.items():
            add(_name(UTILIZATION, resource), share * busy)
            add(_name(CYCLES, resource), one.cycles * busy)
        add(OCCUPANCY, share * one.prediction.kernel.occupancy.share)
        add(OCCUPANCY_NEEDED, share * one.occupancy_needed)
    return tuple(
        CounterValue(name, value, "", CounterSource.EMULATED)
        for name, value in sorted(values.items())
        if value >= _SHOWN
    )


def utilization_counters(predictions: Iterable[tuple[LaunchPrediction, int]]) -> tuple[CounterValue, ...]:
    """The share of the time in which each resource takes requests, of launches with their numbers."""
    found = [(prediction, times * prediction.cycles) for prediction, times in predictions]
    whole = sum(cycles for _, cycles in found)
    values: dict[str, float] = {}
    for prediction, cycles in found if whole > 0 else ():
        for resource, busy in prediction.utilization.items():
            name = _name(UTILIZATION, resource)
            values[name] = values.get(name, 0.0) + busy * cycles / whole
    return tuple(
        CounterValue(name, value, "", CounterSource.EMULATED)
        for name, value in sorted(values.items())
        if value >= _SHOWN
    )


def occupancy_needed(emulator: Emulator, core: Core) -> float:
    """The least share of the warps that a multiprocessor can hold at which a kernel is as fast as with all that fit.

    Fewer blocks are put on it at a time, as if each needed more registers (Hong et al. 2018, Algorithm 3, lines 26 and 27).
    """
    work = emulator.inner.work(emulator.inner.short_times(least=1))

    def time(slots: int) -> float:
        some = replace(work, slots=slots, blocks=max(slots, work.blocks * slots // work.slots))
        return all_blocks(core(emulator.rows, emulator.machine, some), some, emulator.kernel.blocks_each)[0]

    most, least = work.slots, 1
    limit = _AS_FAST * time(most)
    while least < most:
        middle = (least + most) // 2
        if time(middle) <= limit:
            most = middle
        else:
            least = middle + 1
    occupancy = emulator.kernel.occupancy
    return occupancy.share * most / max(1, occupancy.blocks)


def _name(what: str, resource: Resource, bound: ResourceBound | None = None) -> str:
    return f"{what}_{resource}" if bound is None else f"{what}_{resource}_{bound}"
