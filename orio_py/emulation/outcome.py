"""What is emulated, and what is predicted of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from orio_py.core.units import Bytes, Seconds
from orio_py.emulation.core import Policy, Schedule
from orio_py.emulation.launch import BlockSample, KernelLaunch
from orio_py.emulation.trace import Trace
from orio_py.machine.occupancy import Occupancy
from orio_py.machine.timing import GpuTiming, Resource
from orio_py.sass.instruction import SassFunction, SourceLine


@dataclass(frozen=True, slots=True)
class EmulatedKernel:
    """What is emulated: the code, the launch with its occupancy, what its threads did, and the GPU.

    `sample` are the blocks that were followed.
    """

    function: SassFunction
    launch: KernelLaunch
    sample: BlockSample
    trace: Trace
    occupancy: Occupancy
    timing: GpuTiming
    shared_bytes: Bytes
    policy: Policy = Policy.GREEDY_THEN_OLDEST

    @property
    def multiprocessors(self) -> int:
        """How many multiprocessors get a block."""
        return min(int(self.timing.multiprocessors.value), self.launch.blocks)

    @property
    def slots(self) -> int:
        """How many blocks are on a multiprocessor at a time."""
        return min(self.occupancy.blocks, self.blocks_each)

    @property
    def blocks_each(self) -> int:
        """How many blocks the busiest multiprocessor gets."""
        return ceil(self.launch.blocks / self.multiprocessors)


@dataclass(frozen=True, slots=True)
class CodeRegion:
    """A part of the code, the innermost loop that begins at an address, or (None) what is in none: its time and lines."""

    header: int | None
    lines: tuple[SourceLine, ...]
    instructions: float
    wait_share: float


@dataclass(frozen=True, slots=True)
class LaunchPrediction:
    """The outcome: cycles of the whole launch, and what they are made of.

    `block_cycles` is what a block adds once the multiprocessors are full.  `error` is by which share of the time the
    iterations that were left out may be wrong.  `utilization` is the share of the time that a resource takes requests
    in, `issue_share` that of the issue slots which are used, `site_waits` how the waiting is spread over instructions.
    """

    kernel: EmulatedKernel
    cycles: float
    block_cycles: float
    error: float
    utilization: Mapping[Resource, float]
    issue_share: float
    regions: tuple[CodeRegion, ...]
    site_waits: Mapping[int, float]

    @property
    def seconds(self) -> Seconds:
        """The time at the product's clock; what the host needs to launch the kernel is not in it."""
        return Seconds(self.cycles / (self.kernel.timing.clock_mhz.value * 1e6))


@dataclass(frozen=True, slots=True)
class ClassCycles:
    """Cycles of a launch whose blocks are all alike, and of one more block; by which share the former may be wrong.

    `loops` are the cycles of iterations that were left out of `schedule`, for each loop.
    """

    cycles: float
    block: float
    error: float
    loops: Mapping[int, float]
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class IssuedInstruction:
    """An instruction that a warp of the multiprocessor issued at a time in cycles; its unit, None where it needs none."""

    time: float
    warp: int
    resource: Resource | None
