"""The kernels of a CUDA variant on a GPU that need not be there: its launches, emulated one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from orio_py.build.cuda import CudaBinary
from orio_py.build.disassembler import Disassembler
from orio_py.build.launch_emulation import MachineCode
from orio_py.codegen.device import ArgumentKind, slices_of
from orio_py.core.units import Seconds
from orio_py.emulation.bottleneck import (
    EmulatedBottleneck,
    bottleneck_counters,
    occupancy_needed,
    utilization_counters,
)
from orio_py.emulation.launch import USUAL_POLICY, DataPolicy, KernelLaunch, Shape
from orio_py.emulation.outcome import LaunchPrediction
from orio_py.emulation.prediction import Emulator
from orio_py.emulation.sensitivity import sensitivity
from orio_py.emulation.signature import pointer_address
from orio_py.machine.timing import GpuTiming
from orio_py.measure.cuda.emulated_counters import EmulatedProfile, profile_counters
from orio_py.measure.offload.arrays import value_of
from orio_py.measure.offload.host import Launch
from orio_py.record.cuda import KernelUsage
from orio_py.record.trial import CounterValue


@dataclass(frozen=True, slots=True)
class EmulatedLaunch:
    """A launch of a kernel of a variant that is made `times` times; what it uses, and what emulates it."""

    kernel: str
    usage: KernelUsage
    emulator: Emulator
    times: int


@dataclass(frozen=True, slots=True)
class EmulatedVariant:
    """The emulated time of a variant's kernels, without copies between host and device, and counters of what limits them."""

    seconds: Seconds
    counters: tuple[CounterValue, ...] = ()


@dataclass(slots=True)
class LaunchEmulation:
    """Emulates launches of the variants of one task: equal launches of equal machine code once.

    `place` is what messages begin with.  With `has_lines` instructions have their lines of source.
    """

    timing: GpuTiming
    disassembler: Disassembler
    place: str
    policy: DataPolicy = USUAL_POLICY
    has_lines: bool = False
    _codes: dict[bytes, MachineCode] = field(default_factory=dict[bytes, MachineCode])

    def launches(
        self, binaries: Sequence[CudaBinary], launches: Sequence[Launch]
    ) -> Iterator[EmulatedLaunch]:
        """Each kernel with each launch shape and set of arguments, in the order of the first of them.

        Raises DiagnosticError as `MachineCode.of` and `MachineCode.emulator`.
        """
        counted: Counter[_Launched] = Counter()
        for launch in launches:
            if not launch.is_empty:
                counted.update(_launched(launch))
        self.read([binaries[one.program].cubin for one in counted])
        for one, times in counted.items():
            binary = binaries[one.program]
            usage = binary.kernel(one.kernel)
            launch = KernelLaunch(one.grid, one.block, dict(one.arguments))
            emulator = self._codes[binary.cubin].emulator(usage, launch, self.policy)
            yield EmulatedLaunch(one.kernel, usage, emulator, times)

    def read(self, cubins: Sequence[bytes]) -> None:
        """Disassemble cubins that are not known yet, all at once.  Raises as `MachineCode.of`."""
        fresh = [cubin for cubin in dict.fromkeys(cubins) if cubin not in self._codes]
        if self.has_lines:
            made = [MachineCode.of(one, self.timing, self.disassembler, self.place) for one in fresh]
        else:
            made = MachineCode.without_lines(fresh, self.timing, self.disassembler, self.place)
        self._codes.update(zip(fresh, made, strict=True))

    def variant(
        self, binaries: Sequence[CudaBinary], launches: Sequence[Launch], *, bottlenecks: bool
    ) -> EmulatedVariant:
        """All kernels of a call, and what they do and what limits them where `bottlenecks` are wanted.

        Kernels of several streams are taken to run one behind the other.  Raises as `launches`.
        """
        seconds = 0.0
        limits: list[EmulatedBottleneck] = []
        profiles: list[EmulatedProfile] = []
        predictions: list[tuple[LaunchPrediction, int]] = []
        for one in self.launches(binaries, launches):
            prediction, core = one.emulator.predict(), one.emulator.core
            seconds += one.times * prediction.seconds
            predictions.append((prediction, one.times))
            if bottlenecks:
                report = sensitivity(one.emulator, prediction, core)
                needed = occupancy_needed(one.emulator, core)
                limits.append(EmulatedBottleneck(prediction, report, needed, one.times))
                profiles.append(EmulatedProfile(one.emulator, prediction, one.times))
        if not bottlenecks:
            return EmulatedVariant(Seconds(seconds), utilization_counters(predictions))
        return EmulatedVariant(Seconds(seconds), (*bottleneck_counters(limits), *profile_counters(profiles)))


@dataclass(frozen=True, slots=True)
class _Launched:
    """What tells launches apart; the arguments by their numbers."""

    program: int
    kernel: str
    grid: Shape
    block: Shape
    arguments: tuple[tuple[int, int], ...]


def _launched(launch: Launch) -> Iterator[_Launched]:
    """The launches that a call of a host function makes: one for each stream."""
    call, trips = launch.call, launch.trips
    values: dict[int, int] = {}
    for number, argument in enumerate(call.arguments):
        if argument.kind in (ArgumentKind.BUFFER, ArgumentKind.PARTIALS):
            values[number] = pointer_address(number)
        else:
            values[number] = _bits(value_of(launch, argument))
    if call.streams <= 1:
        yield _shaped(launch, call.group_counts(trips), values)
        return
    slots = {(argument.kind, argument.host): k for k, argument in enumerate(call.arguments)}
    first_group = 0
    for begin, end in slices_of(call.streams, trips[0]):
        own = {slots[ArgumentKind.FROM, ""]: begin, slots[ArgumentKind.TRIPS, call.trips[0]]: end}
        if (ArgumentKind.GROUP, "") in slots:
            own[slots[ArgumentKind.GROUP, ""]] = first_group
        groups = call.group_counts((end - begin, *trips[1:]))
        yield _shaped(launch, groups, {**values, **own})
        first_group += prod(groups)


def _shaped(launch: Launch, groups: Sequence[int], values: Mapping[int, int]) -> _Launched:
    call = launch.call
    return _Launched(call.program, call.kernel, _shape(groups), _shape(call.items), tuple(values.items()))


def _shape(sizes: Sequence[int]) -> Shape:
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _bits(value: Any) -> int:
    return int.from_bytes(np.asarray(value).tobytes(), "little")
