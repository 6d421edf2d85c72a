"""What an emulated kernel does: its instructions by unit, and its memory accesses by line of source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from orio_py.emulation.access import SECTOR
from orio_py.emulation.prediction import Emulator
from orio_py.machine.timing import Resource
from orio_py.sass.instruction import SourceLine
from orio_py.sass.resources import UNKNOWN, resource_of, unknown_opcodes


@dataclass(frozen=True, slots=True)
class MemorySite:
    """An instruction that accesses memory: how often a warp executes it, and what a request is on average.

    `sectors` of 32 bytes are touched and `least` would be enough for its bytes; `passes` are those through the unit.  The shares
    say where sectors are found; the bytes are those of the whole launch.  `is_known` is false where data decide the address.
    """

    line: SourceLine | None
    opcode: str
    space: str
    requests: float
    sectors: float
    least: float
    passes: float
    l1_share: float
    l2_share: float
    dram_bytes: float
    is_known: bool


@dataclass(frozen=True, slots=True)
class KernelSummary:
    """Instructions that a warp issues, by unit and by opcode; accesses to memory; and what was not known.

    `data_branches` are instructions whose way data decide, by line of source as text (empty: not known), with how often that was.
    """

    instructions: float
    by_resource: Mapping[Resource, float]
    by_opcode: Mapping[str, float]
    memory: tuple[MemorySite, ...]
    unknown_opcodes: Mapping[str, int]
    data_branches: Mapping[str, int]
    unknown_addresses: int


def summarize(emulator: Emulator) -> KernelSummary:
    """The summary of a middle block's warps."""
    kernel = emulator.kernel
    by_resource: Counter[Resource] = Counter()
    by_opcode: Counter[str] = Counter()
    for place, count in emulator.counts.items():
        instruction = kernel.function.instructions[kernel.trace.entries[place][0]]
        by_opcode[instruction.opcode] += count  # pyright: ignore[reportArgumentType] - averages over warps
        by_resource[resource_of(instruction) or UNKNOWN] += count  # pyright: ignore[reportArgumentType]
    branches: Counter[SourceLine | None] = Counter()
    for number, count in kernel.trace.branches.items():
        branches[kernel.function.instructions[number].line] += count
    known = sorted(line for line in branches if line is not None)
    used = {kernel.trace.entries[place][0] for place in emulator.counts}
    return KernelSummary(
        sum(by_opcode.values()),
        dict(by_resource.most_common()),
        dict(by_opcode.most_common()),
        _memory(emulator),
        unknown_opcodes(kernel.function.instructions[number] for number in sorted(used)),
        {str(line or ""): branches[line] for line in [*known, *([None] if None in branches else [])]},
        len({kernel.trace.entries[place][0] for place in kernel.trace.unknown_addresses}),
    )


_SPACES = {"LDL": "local", "STL": "local"}


def _memory(emulator: Emulator) -> tuple[MemorySite, ...]:
    kernel = emulator.kernel
    sites: dict[int, list[tuple[int, float]]] = {}
    for place, count in emulator.counts.items():
        if place in kernel.trace.accesses:
            sites.setdefault(kernel.trace.entries[place][0], []).append((place, count))
    return tuple(_site(emulator, number, places) for number, places in sorted(sites.items()))


def _site(emulator: Emulator, number: int, places: list[tuple[int, float]]) -> MemorySite:
    kernel = emulator.kernel
    instruction = kernel.function.instructions[number]
    requests = sum(count for _, count in places)
    sectors = least = passes = l2 = dram = 0.0
    for place, count in places:
        access = kernel.trace.accesses[place]
        warps = max(1, access.warps)
        sectors += count * access.sectors / warps
        passes += count * access.passes / warps
        threads = int(access.threads.sum()) / max(1, int(access.threads.reshape(-1, 32).any(axis=1).sum()))
        least += count * max(1.0, threads * access.size / SECTOR)
        if (level := emulator.levels.get(place)) is not None:
            l2 += count * level.l2
            dram += count * level.dram
    launched = kernel.launch.warps * kernel.launch.blocks
    space = (
        "shared" if resource_of(instruction) is Resource.SHARED else _SPACES.get(instruction.opcode, "global")
    )
    return MemorySite(
        instruction.line,
        instruction.name,
        space,
        requests,
        sectors / requests,
        least / requests,
        passes / requests,
        1 - l2 / sectors if sectors else 1.0,
        1 - dram / l2 if l2 else 1.0,
        dram * SECTOR * launched,
        all(place not in kernel.trace.unknown_addresses for place, _ in places),
    )
