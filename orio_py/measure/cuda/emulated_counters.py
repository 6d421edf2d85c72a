"""What an emulated launch does, as counters under the names that NVIDIA's profilers have from Volta on.

So whatever reads profiles (models of counters, the search by them, reports of bottlenecks) reads emulations, too: no GPU is
needed, and no run.  Operations are counted for the whole launch from the block in the middle.  All threads of a warp count as active
where an instruction is executed: which of them a predicate keeps away is known of memory accesses only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orio_py.emulation.outcome import LaunchPrediction
from orio_py.emulation.prediction import Emulator
from orio_py.machine.timing import Resource
from orio_py.model.counters.table import LOCAL_SECTORS, TABLE, CounterKind, GpuCounter
from orio_py.record.trial import CounterSource, CounterValue
from orio_py.sass.instruction import Instruction
from orio_py.sass.resources import UNKNOWN, resource_of

_C = GpuCounter

_KINDS: Mapping[Resource, GpuCounter] = {
    Resource.FP32: _C.INST_F32,
    Resource.FP64: _C.INST_F64,
    Resource.ALU: _C.INST_INT,
    Resource.IMAD: _C.INST_INT,
    Resource.UNIFORM: _C.INST_INT,
    Resource.BRANCH: _C.INST_CONT,
    Resource.CONSTANT: _C.INST_LDST,
    Resource.SHARED: _C.INST_LDST,
    Resource.L1: _C.INST_LDST,
    Resource.ATOMIC: _C.INST_LDST,
}
"""The kind of instructions that a unit executes; what no other kind has is `INST_MISC`."""

_OF_ANOTHER_KIND: Mapping[str, GpuCounter] = {
    **dict.fromkeys(("MOV", "MOV32I", "SEL", "PRMT", "P2R", "R2P", "PLOP3", "SHFL"), _C.INST_MISC),
    **dict.fromkeys(("FMNMX", "FSEL", "FSET", "FSETP"), _C.INST_F32),
    **dict.fromkeys(("I2F", "F2I", "F2F", "I2I", "FRND", "I2FP", "F2FP", "F2IP", "I2IP"), _C.INST_BCONV),
}
"""Instructions that share a unit with another kind."""

_STORES = frozenset({"STG", "ST", "STS", "STL"})
_LOCAL = frozenset({"LDL", "STL"})
_OF_THE_LAUNCH = (_C.THREADS, _C.BLOCK)


@dataclass(frozen=True, slots=True)
class EmulatedProfile:
    """One launch, made `times` times, with what it does and how far it uses the GPU, in the units of the table of counters."""

    emulator: Emulator
    prediction: LaunchPrediction
    times: int

    @property
    def cycles(self) -> float:
        """The cycles of all these launches."""
        return self.times * self.prediction.cycles

    def work(self) -> Counter[str]:
        """Operations of one launch, and the sectors of local memory."""
        kernel = self.emulator.kernel
        lanes = kernel.launch.threads / kernel.launch.warps
        found: Counter[str] = Counter()
        for place, count in self.emulator.counts.items():
            instruction = kernel.function.instructions[kernel.trace.entries[place][0]]
            found[_C.INST_EXE] += count  # pyright: ignore[reportArgumentType] - averages over warps
            found[_kind(instruction)] += count * lanes  # pyright: ignore[reportArgumentType]
            found.update(self._access(place, count, instruction.opcode))  # pyright: ignore[reportArgumentType]
        warps = kernel.launch.warps * kernel.launch.blocks
        for name in found:
            found[name] *= warps
        found[_C.THREADS] = kernel.launch.threads * kernel.launch.blocks
        found[_C.BLOCK] = kernel.launch.threads
        return found

    def _access(self, place: int, count: float, opcode: str) -> dict[str, float]:
        """What an access to memory adds, per warp of the launch."""
        access = self.emulator.kernel.trace.accesses.get(place)
        if access is None:
            return {}
        instruction = self.emulator.kernel.function.instructions[self.emulator.kernel.trace.entries[place][0]]
        writes, warps = opcode in _STORES, max(1, access.warps)
        if resource_of(instruction) is Resource.SHARED:
            return {_C.SHR_WT if writes else _C.SHR_LT: count * access.passes / warps}
        if opcode in _LOCAL:
            return {LOCAL_SECTORS[writes]: count * access.sectors / warps}
        found: dict[str, float] = {} if writes else {_C.TEX_RWT: count}
        if (level := self.emulator.levels.get(place)) is not None:
            found[_C.L2_WT if writes else _C.L2_RT] = count * level.l2
            found[_C.DRAM_WT if writes else _C.DRAM_RT] = count * level.dram
        return found

    def stress(self) -> dict[str, float]:
        """How far parts of the GPU are in use during one launch."""
        kernel, busy = self.prediction.kernel, self.prediction.utilization
        parts = ((_C.DRAM_U, Resource.DRAM), (_C.L2_U, Resource.L2), (_C.TEX_U, Resource.L1))
        found: dict[str, float] = {name: 10 * min(1.0, busy.get(resource, 0.0)) for name, resource in parts}
        found[_C.SHR_U] = 10 * min(1.0, busy.get(Resource.SHARED, 0.0))
        found[_C.INST_ISSUE_U] = 100 * min(1.0, self.prediction.issue_share)
        whole = kernel.timing.multiprocessors.value * kernel.blocks_each
        found[_C.SM_E] = 100 * min(1.0, kernel.launch.blocks / whole)
        found[_C.WARP_E] = 100 * kernel.launch.threads / (kernel.launch.warps * 32)
        found[_C.WARP_NP_E] = 100.0
        found[_C.OCCUPANCY] = 100 * kernel.occupancy.share * kernel.slots / max(1, kernel.occupancy.blocks)
        return found


def profile_counters(launches: Iterable[EmulatedProfile]) -> tuple[CounterValue, ...]:
    """The counters of a variant with these launches: operations are summed, the use of parts is weighted with the time of each."""
    found = list(launches)
    whole = sum(one.cycles for one in found)
    values: Counter[str] = Counter()
    for one in found if whole > 0 else ():
        for name, value in one.work().items():
            if name == _C.BLOCK:
                values[name] = max(values[name], value)
            else:
                values[name] += value * one.times
        for name, value in one.stress().items():
            values[name] += value * one.cycles / whole  # pyright: ignore[reportArgumentType]
    return tuple(
        CounterValue(name, value, "", CounterSource.EMULATED) for name, value in _as_profiled(values).items()
    )


def _as_profiled(values: Mapping[str, float]) -> dict[str, float]:
    """Values in the units of the table, under the names and in the units of newer profilers; those that are 0 are told."""
    if not values:
        return {}
    found = {
        row.from_volta: values.get(row.counter, 0.0) / row.new_factor
        for row in TABLE
        if row.from_volta and (row.kind is CounterKind.OPERATIONS or row.counter in values)
    }
    return found | {name: values.get(name, 0.0) for name in LOCAL_SECTORS}


def _kind(instruction: Instruction) -> GpuCounter:
    if "MOV" in instruction.modifiers:
        return _C.INST_MISC
    other = _OF_ANOTHER_KIND.get(instruction.opcode)
    return other or _KINDS.get(resource_of(instruction) or UNKNOWN, _C.INST_MISC)
