"""What a kernel waits for, in the field's terms: bandwidth, latency, computing, or the front end.

Of GPU kernels this is the largest of the bottlenecks that the paper's formulas tell (`orio_py.model.counters.bottlenecks`), or,
where they were emulated, what their time is most sensitive to (`orio_py.emulation.sensitivity`): that is a cause, not a sign.
Of C code, whose profilers tell no utilisation, it is the largest part of the estimated cycles
(`orio_py.model.counters.busy_time`).  The categories are those of A. Yasin, "A Top-Down Method for Performance
Analysis and Counters Architecture", ISPASS 2014, with memory divided into bandwidth and latency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from orio_py.core.units import Seconds
from orio_py.emulation.bottleneck import BottleneckProfile
from orio_py.emulation.sensitivity import BOTTLENECK, ResourceBound
from orio_py.machine.timing import Resource
from orio_py.model.counters.bottlenecks import INSTRUCTIONS, Bottleneck, bottlenecks
from orio_py.model.counters.busy_time import CPU_CYCLES
from orio_py.model.counters.table import generation_of, read_profile


class Bound(StrEnum):
    """What a kernel is bound by."""

    BANDWIDTH = "bandwidth-bound"
    LATENCY = "latency-bound"
    COMPUTE = "compute-bound"
    FRONT_END = "front-end-bound"


class Measure(StrEnum):
    """What the parts of a diagnosis are."""

    SHARES = "shares of the estimated cycles"
    UTILISATIONS = "utilisations"
    SENSITIVITIES = "sensitivities of the time"


OVERLAPPED: Mapping[str, Seconds] = {
    "last_level_misses": Seconds(30e-9),
    "cache_misses": Seconds(30e-9),
    "l1_data_misses": Seconds(10e-9),
}
"""Where a miss takes less of the time than this, misses overlap, and bandwidth is what limits.

A miss that is waited for takes 60 ns and more if it goes to memory (U. Drepper, "What Every Programmer Should Know About
Memory", 2007, section 3.3, has 200 cycles), and 15 ns and more if the last level has it.
"""

_MEMORY_MISSES = ("last_level_misses", "cache_misses")
_CPU_BOUNDS: Mapping[str, Bound] = {
    "instructions": Bound.COMPUTE,
    "branch_misses": Bound.FRONT_END,
    "l1_instruction_misses": Bound.FRONT_END,
}
_GPU_BOUNDS: Mapping[Bottleneck, Bound] = {
    **dict.fromkeys((kind for kind, _ in INSTRUCTIONS), Bound.COMPUTE),
    Bottleneck.ISSUE: Bound.FRONT_END,
    Bottleneck.IDLE_PROCESSORS: Bound.LATENCY,
    Bottleneck.FEW_THREADS: Bound.LATENCY,
}
_LEAST = 0.4
"""Where no part of a GPU is used more than this, the kernel waits for none of them but for latency."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a kernel is bound by, and the parts that it uses, from 0 to 1, the largest first.

    Shares sum to 1; a utilisation is each part's own; a sensitivity says by how many percent the time grows when a
    latency or a gap grows by one.
    """

    bound: Bound
    parts: Mapping[str, float]
    measure: Measure


def diagnose(seconds: Seconds, counted: Mapping[str, float]) -> Diagnosis | None:
    """What the counters of one execution, which took some seconds, tell; None where they tell nothing."""
    emulated = BottleneckProfile.of(counted)
    if emulated is not None and emulated.sensitivity:
        return _of_emulation(emulated)
    generation = generation_of(counted)
    if generation is None:
        return _of_processor(seconds, counted)
    found = bottlenecks(read_profile(counted), generation)
    order = sorted(found, key=lambda name: -found[name])
    bound = _GPU_BOUNDS.get(order[0], Bound.BANDWIDTH) if found[order[0]] >= _LEAST else Bound.LATENCY
    parts = {str(name): found[name] for name in order if found[name] > 0}
    return Diagnosis(bound, parts, Measure.UTILISATIONS)


_MEMORIES = frozenset({Resource.DRAM, Resource.L2, Resource.L1, Resource.SHARED, Resource.CONSTANT})
_FRONT_END = frozenset({Resource.BRANCH, Resource.UNIFORM, Resource.SPECIAL, Resource.BARRIER})


def _of_emulation(found: BottleneckProfile) -> Diagnosis:
    order = sorted(found.sensitivity, key=lambda pair: -found.sensitivity[pair])
    sums = dict.fromkeys(Bound, 0.0)
    for resource, limit in order:
        sums[_bound(resource, limit)] += found.sensitivity[resource, limit]
    bound = max(sums, key=lambda one: sums[one])
    parts = {f"{limit} of {resource.label}": found.sensitivity[resource, limit] for resource, limit in order}
    return Diagnosis(
        bound if sums[bound] >= BOTTLENECK else Bound.LATENCY,
        {name: value for name, value in parts.items() if value > 0},
        Measure.SENSITIVITIES,
    )


def _bound(resource: Resource, limit: ResourceBound) -> Bound:
    if limit is ResourceBound.LATENCY:
        return Bound.LATENCY
    if resource in _MEMORIES:
        return Bound.BANDWIDTH
    return Bound.FRONT_END if resource in _FRONT_END else Bound.COMPUTE


def _of_processor(seconds: Seconds, counted: Mapping[str, float]) -> Diagnosis | None:
    # Two names of one event would count it twice.
    memory = next((name for name in _MEMORY_MISSES if name in counted), None)
    cycles = {
        name: each * counted[name]
        for name, each in CPU_CYCLES.items()
        if name in counted and (name not in _MEMORY_MISSES or name == memory)
    }
    total = sum(cycles.values())
    if "instructions" not in cycles or total <= 0 or seconds <= 0:
        return None
    parts = {name: cycles[name] / total for name in sorted(cycles, key=lambda name: -cycles[name])}
    first = next(iter(parts))
    if (limit := OVERLAPPED.get(first)) is None:
        return Diagnosis(_CPU_BOUNDS[first], parts, Measure.SHARES)
    is_overlapped = seconds / counted[first] < limit
    return Diagnosis(Bound.BANDWIDTH if is_overlapped else Bound.LATENCY, parts, Measure.SHARES)
