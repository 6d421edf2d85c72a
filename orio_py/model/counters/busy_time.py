"""What operations cost, learned from one profiled run, and the time that a kernel with other counters would take.

A profile tells how far each part of the device was in use and how many operations kept it so: their quotient is
what an operation costs on that device.  The counters that a model predicts for a configuration, at these costs, give
an estimate of its time; what no part was in use for is put down to latency, which is hidden the better the more
warps there are.  Not in the paper, whose scores (`orio_py.model.counters.reaction`) look at one profiled run and at
the direction of changes alone: costs add up over a whole search and compare candidates that are far apart.

For processors no stress is counted.  There the costs are in the proportions of KCachegrind's cycle estimation
(https://kcachegrind.github.io, "CEst"): 10 per miss of the first level and per mispredicted branch, 100 per miss of
the last level; but 1/4 per instruction instead of 1, for processors issue four in a cycle (A. Yasin, "A Top-Down Method
for Performance Analysis and Counters Architecture", ISPASS 2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orio_py.core.units import Seconds
from orio_py.machine.timing import SECTOR_BYTES, GpuTiming, Resource, gpu_timings
from orio_py.model.counters.bottlenecks import WARP
from orio_py.model.counters.model import Array
from orio_py.model.counters.table import GpuCounter, generation_of, read_profile

_C = GpuCounter

LEAST_LATENCY = 0.05
"""However busy the parts of the device were, so much of the time counts as latency."""
LEAST_SHARE = 1e-2
"""Smaller shares of the time do not tell configurations apart."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a device: the counters of its operations, and the stress counter with its value at the peak."""

    name: str
    operations: tuple[str, ...]
    stress: str
    peak: float


GPU_PARTS: tuple[Part, ...] = (
    Part("global memory", (_C.DRAM_RT, _C.DRAM_WT), _C.DRAM_U, 10.0),
    Part("L2 cache", (_C.L2_RT, _C.L2_WT), _C.L2_U, 10.0),
    Part("texture and data cache", (_C.TEX_RWT,), _C.TEX_U, 10.0),
    Part("shared memory", (_C.SHR_LT, _C.SHR_WT), _C.SHR_U, 10.0),
    Part("issue of instructions", (_C.INST_EXE,), _C.INST_ISSUE_U, 100.0),
)
LATENCY = "latency"

CPU_CYCLES: Mapping[str, float] = {
    "instructions": 0.25,
    "l1_instruction_misses": 10.0,
    "l1_data_misses": 10.0,
    "branch_misses": 10.0,
    "last_level_misses": 100.0,
    "cache_misses": 100.0,
}
"""Cycles per event, by the names of our counters (see the top of this file)."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds per operation of a part, whose operations are the sum of some counters.

    With `is_hidden`, more warps hide it: operations count divided by the occupancy.
    """

    name: str
    operations: tuple[str, ...]
    seconds: float
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class OperationCosts:
    """What the operations of a kernel cost on a device."""

    costs: tuple[Cost, ...]

    def times(self, names: Sequence[str], predicted: Array) -> Array:
        """The seconds of each part, a row per row of counters, whose columns have `names`; a column per cost."""
        columns = {name: predicted[:, place] for place, name in enumerate(names)}
        found = np.zeros((len(predicted), len(self.costs)))
        for place, cost in enumerate(self.costs):
            for name in cost.operations:
                if name in columns:
                    found[:, place] += cost.seconds * columns[name]
            if cost.is_hidden:
                found[:, place] /= np.maximum(columns.get(_C.OCCUPANCY, np.full(len(predicted), 100.0)), 1.0)
        return found


def operation_costs(
    seconds: Seconds, counted: Mapping[str, float], known: Sequence[str]
) -> OperationCosts | None:
    """The costs by a profiled run; None where its counters tell none.

    `known` are the counters that a model predicts: others do not help, since nothing is known of candidates.
    """
    if seconds <= 0:
        return None
    found = (
        _cpu_costs(seconds, counted, known)
        if generation_of(counted) is None
        else _gpu_costs(seconds, counted, known)
    )
    return OperationCosts(found) if found else None


def typical_costs(known: Sequence[str]) -> OperationCosts | None:
    """What operations cost on a GPU, or processor, of no particular kind; None where no counter in `known` has a cost.

    Of GPUs these are the geometric means of what they reach at the best, over all that `orio_py.machine.timing` has from Volta
    on.  They differ by a factor of three, the proportions by less: enough to tell which of two kernels is faster, not by how much.
    """
    if any(name in known for part in GPU_PARTS for name in part.operations):
        gpus = [_least_costs(gpu) for gpu in gpu_timings().values() if gpu.has_one_memory]
        logarithms = np.log(np.array(gpus)).mean(axis=0)
        found = tuple(
            Cost(part.name, part.operations, float(seconds))
            for part, seconds in zip(GPU_PARTS, np.exp(logarithms), strict=True)
        )
        return OperationCosts(found)
    costs = tuple(Cost(name, (name,), cycles) for name, cycles in CPU_CYCLES.items() if name in known)
    return OperationCosts(costs) if costs else None


def _least_costs(gpu: GpuTiming) -> tuple[float, ...]:
    """Seconds per operation of each of `GPU_PARTS` where all multiprocessors do nothing else."""
    cycle = 1e-6 / (gpu.multiprocessors.value * gpu.clock_mhz.value)
    request = max(gpu.resources[Resource.L1].gap.value, WARP / gpu.load_lanes.value)
    return (
        SECTOR_BYTES / (gpu.dram_gb_per_s.value * 1e9),
        SECTOR_BYTES / (gpu.l2_gb_per_s.value * 1e9),
        cycle * request,
        cycle * gpu.resources[Resource.SHARED].gap.value,
        cycle / (gpu.schedulers.value * gpu.issue_width.value),
    )


def _gpu_costs(seconds: float, counted: Mapping[str, float], known: Sequence[str]) -> tuple[Cost, ...]:
    profile = read_profile(counted)
    found: list[Cost] = []
    used = 0.0
    for part in GPU_PARTS:
        operations = sum(profile.get(_C(name), 0.0) for name in part.operations if name in known)
        stress = min(1.0, max(0.0, profile.get(_C(part.stress), 0.0) / part.peak))
        if operations > 0 and stress > 0:
            found.append(Cost(part.name, part.operations, seconds * stress / operations))
            used += stress
    instructions = profile.get(_C.INST_EXE, 0.0)
    if found and instructions > 0 and _C.INST_EXE in known:
        occupancy = max(profile.get(_C.OCCUPANCY, 100.0), 1.0)
        rest = seconds * max(LEAST_LATENCY, 1.0 - used)
        found.append(Cost(LATENCY, (_C.INST_EXE,), rest * occupancy / instructions, is_hidden=True))
    return tuple(found)


def _cpu_costs(seconds: float, counted: Mapping[str, float], known: Sequence[str]) -> tuple[Cost, ...]:
    cycles = {name: each for name, each in CPU_CYCLES.items() if counted.get(name, 0.0) > 0 and name in known}
    total = sum(each * counted[name] for name, each in cycles.items())
    return tuple(Cost(name, (name,), seconds * each / total) for name, each in cycles.items())


_LAUNCH = (_C.BLOCK, _C.THREADS, _C.OCCUPANCY)


def counter_features(times: Array, names: Sequence[str], predicted: Array) -> Array:
    """What distinguishes configurations by their counters: a row each, the columns with mean 0 and spread 1.

    The shares of the parts in the time, the shape of the launch, and the instructions of all kinds together, each as
    logarithms.  Columns in which all are alike are left out.
    """
    total = times.sum(axis=1, keepdims=True)
    columns = [np.log(times / total + LEAST_SHARE)]
    logarithms = np.log1p(predicted)
    columns += [logarithms[:, [place]] for place, name in enumerate(names) if name in _LAUNCH]
    kinds = [place for place, name in enumerate(names) if name.startswith("INST_") and name != _C.INST_EXE]
    if kinds:
        columns.append(logarithms[:, kinds].sum(axis=1, keepdims=True))
    found = np.concatenate(columns, axis=1)
    spread = found.std(axis=0)
    return ((found - found.mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 1e-9]


_OF_ANY_SIZE = (_C.BLOCK, _C.OCCUPANCY, _C.LOC_O)


def distances(names: Sequence[str], counted: Mapping[str, float], predicted: Array) -> Array:
    """How far each row of predicted counters is from what was counted: squared differences of logarithms, in spreads of each column.

    A factor that all counters of work have in common does not count: other sizes of the input have one.
    """
    logarithms = np.log1p(predicted)
    spread = logarithms.std(axis=0)
    apart = np.log1p(np.array([counted[name] for name in names])) - logarithms
    is_work = np.array([name not in _OF_ANY_SIZE for name in names], dtype=np.bool_)
    if is_work.any():
        apart[:, is_work] -= np.median(apart[:, is_work], axis=1, keepdims=True)
    return np.square(apart[:, spread > 0] / spread[spread > 0]).sum(axis=1)
