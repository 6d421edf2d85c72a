"""The traces of a block's warps as a table of steps, with loops as short as wanted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from orio_py.emulation.caches import AccessLevels
from orio_py.emulation.core import DEPENDENCES, HISTORY, Kind, StepTable
from orio_py.emulation.lanes import Array
from orio_py.emulation.launch import WARP
from orio_py.emulation.trace import Item, Repeat, Trace
from orio_py.machine.timing import GpuTiming, Resource
from orio_py.sass.flow import flow_graph
from orio_py.sass.instruction import INSTRUCTION_BYTES, Immediate, Instruction, NamedOperand, SassFunction
from orio_py.sass.registers import Place, read, written
from orio_py.sass.resources import UNKNOWN, resource_of

RESOURCES = tuple(Resource)
_NUMBER = {resource: number for number, resource in enumerate(RESOURCES)}

_FIXED = frozenset(
    {
        Resource.FP32,
        Resource.ALU,
        Resource.IMAD,
        Resource.FP16,
        Resource.FP64,
        Resource.UNIFORM,
        Resource.BRANCH,
    }
)


_GLOBAL = frozenset({"LDG", "LD", "STG", "ST", "LDL", "STL", "LDS", "STS"})


@dataclass(frozen=True, slots=True)
class LoopRegions:
    """The loops of a function: the region of each instruction, 0 outside of them, and where each begins."""

    region: Array
    headers: tuple[int, ...]

    @classmethod
    def of(cls, function: SassFunction) -> LoopRegions:
        """Each natural loop is a region of what stands in it and in no inner one."""
        flow = flow_graph(function)
        region = np.zeros(len(function.instructions), np.int32)
        for number, loop in enumerate(flow.loops, start=1):
            for start in loop.blocks:
                block = flow.blocks[start]
                region[block.start // INSTRUCTION_BYTES : block.end // INSTRUCTION_BYTES] = number
        return cls(region, tuple(loop.header for loop in flow.loops))


def step_rows(
    function: SassFunction,
    trace: Trace,
    loops: LoopRegions,
    timing: GpuTiming,
    levels: Mapping[int, AccessLevels],
) -> StepTable:
    """A step for each entry of the trace, and behind them one for each that no thread of the warp executes."""
    numbers = np.array([max(0, entry[0]) for entry in trace.entries], np.int64)
    used = np.unique(numbers)
    static = {int(n): _static(function.instructions[int(n)], timing) for n in used}
    columns: dict[str, Array] = {}
    for place, name in enumerate(_STATIC):
        table = np.zeros(int(used.max()) + 1, np.int32)
        for number, row in static.items():
            table[number] = row[place]
        columns[name] = table[numbers]
    count = len(numbers)
    amounts = {name: np.zeros(count) for name in ("l2", "dram", "l2_chance", "dram_chance")}
    amount = np.ones(count)
    lanes = WARP / timing.load_lanes.value
    for place, access in trace.accesses.items():
        least = lanes if function.instructions[int(numbers[place])].opcode in _GLOBAL else 0.0
        amount[place] = max(access.passes / max(1, access.warps), least)
        if (level := levels.get(place)) is not None:
            for name, column in amounts.items():
                column[place] = getattr(level, name)
    rows = StepTable(
        **columns,
        region=loops.region[numbers],
        site=numbers.astype(np.int32),
        dependence=np.zeros(DEPENDENCES * count, np.int32),
        amount=amount,
        **amounts,
    )
    everything = np.concatenate([np.arange(count), np.arange(count)])
    doubled = rows.take(everything)
    # What is switched off is issued, and nothing else: it has no unit, no memory access and no result to wait for.
    off = np.arange(2 * count) >= count
    meets = doubled.kind == Kind.SYNCHRONISE
    return replace(
        doubled,
        kind=np.where(off & ~meets, Kind.FIXED, doubled.kind).astype(np.int32),
        pipe=np.where(off, -1, doubled.pipe).astype(np.int32),
        second=np.where(off, -1, doubled.second).astype(np.int32),
        l2=np.where(off, 0.0, doubled.l2),
        dram=np.where(off, 0.0, doubled.dram),
    )


_STATIC = ("kind", "pipe", "second", "stall", "write", "read", "wait", "keep")


def _static(instruction: Instruction, timing: GpuTiming) -> tuple[int, ...]:
    """Kind, units and control bits of an instruction, as `_STATIC` names them."""
    resource = resource_of(instruction) or UNKNOWN
    control = instruction.control
    stall, write, read_barrier, wait = 1, -1, -1, 0
    if control is not None:
        stall = control.stall
        write = -1 if control.write_barrier is None else control.write_barrier
        read_barrier = -1 if control.read_barrier is None else control.read_barrier
        wait = sum(1 << number for number in control.wait)
    kind, keep = _kind(instruction, resource), 0
    pipe, second = _NUMBER[resource], -1
    if kind is Kind.DRAIN:
        write, keep = _drained(instruction)
    if instruction.opcode in ("NOP", "DEPBAR", "LDGDEPBAR", "BAR"):
        pipe = -1
    if resource is Resource.IMAD:
        # On the multipliers of single precision, of which a part can do it.
        if timing.resources[Resource.FP32].gap.value >= timing.resources[Resource.IMAD].gap.value:
            pipe = _NUMBER[Resource.FP32]
        else:
            second = _NUMBER[Resource.FP32]
    return int(kind), pipe, second, stall, write, read_barrier, wait, keep


def _kind(instruction: Instruction, resource: Resource) -> Kind:
    opcode = instruction.opcode
    if opcode == "BAR" and "ARV" not in instruction.modifiers:
        return Kind.SYNCHRONISE
    if opcode == "EXIT":
        return Kind.EXIT
    if opcode == "DEPBAR":
        return Kind.DRAIN
    if opcode == "LDGDEPBAR":
        return Kind.COMMIT
    if opcode == "LDGSTS":
        return Kind.ASYNC_COPY
    if resource is Resource.L1:
        return Kind.MEMORY
    is_told = instruction.control is not None and instruction.control.write_barrier is not None
    return Kind.VARIABLE if is_told or resource not in _FIXED else Kind.FIXED


def _drained(instruction: Instruction) -> tuple[int, int]:
    """The barrier of `DEPBAR.LE SB0, 0x1`, and how many may be outstanding."""
    barrier, keep = 0, 0
    for operand in instruction.operands:
        if isinstance(operand, NamedOperand) and operand.text.startswith("SB"):
            barrier = int(operand.text[2:])
        elif isinstance(operand, Immediate):
            keep = int(operand.value)
    return barrier, keep


def folded(items: Sequence[Item]) -> tuple[Item, ...]:
    """A trace with the iterations around a repetition in it, where they are the same."""
    found: list[Item] = []
    place = 0
    while place < len(items):
        item = items[place]
        place += 1
        if not isinstance(item, Repeat):
            found.append(item)
            continue
        body, times, size = folded(item.body), item.times, len(item.body)
        # Iterations before it were executed one by one, those behind it as well.  The first one finds caches empty.
        while _alike(found[-2 * len(body) : -len(body)], body) and _alike(found[-len(body) :], body):
            del found[-len(body) :]
            times += 1
        while _alike(items[place : place + size], item.body):
            place += size
            times += 1
        if found and isinstance(last := found[-1], Repeat) and _alike(last.body, body):
            del found[-1]
            times += last.times
        found.append(Repeat(body, times, item.header))
    return tuple(found)


def _alike(a: Sequence[Item], b: Sequence[Item]) -> bool:
    return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))


def _same(a: Item, b: Item) -> bool:
    if isinstance(a, Repeat):
        return isinstance(b, Repeat) and a.times == b.times and _alike(a.body, b.body)
    return not isinstance(b, Repeat) and a[0] == b[0] and a[2] == b[2]


@dataclass(frozen=True, slots=True)
class RegisterUses:
    """The registers that each instruction of a function reads and writes, by its number."""

    reads: Mapping[int, tuple[Place, ...]]
    writes: Mapping[int, tuple[Place, ...]]

    @classmethod
    def of(cls, function: SassFunction, sites: Iterable[int]) -> RegisterUses:
        """Those of some instructions."""
        code = {site: function.instructions[site] for site in sites}
        return cls(
            {site: tuple(read(one)) for site, one in code.items()},
            {site: tuple(written(one)) for site, one in code.items()},
        )


def with_dependences(steps: StepTable, uses: RegisterUses, first: Sequence[int]) -> StepTable:
    """The steps with those of fixed latency that each needs the result of; warps begin at `first`."""
    found = np.zeros(DEPENDENCES * len(steps.site), np.int32)
    last: dict[Place, int] = {}
    starts = set(first)
    fixed = ((steps.kind == Kind.FIXED) & (steps.pipe >= 0)).tolist()
    reads, writes = uses.reads, uses.writes
    for step, site in enumerate(steps.site.tolist()):
        if step in starts:
            last.clear()
        near = {step - last[place] for place in reads[site] if place in last}
        if near:
            nearest = sorted(distance for distance in near if distance < HISTORY)[:DEPENDENCES]
            found[DEPENDENCES * step : DEPENDENCES * step + len(nearest)] = nearest
        if fixed[step]:
            for place in writes[site]:
                last[place] = step
        else:
            for place in writes[site]:
                last.pop(place, None)
    return replace(steps, dependence=found)
