"""Executes the integer part of a kernel for all threads of some blocks at once.

Threads at the same instruction go on together, those that are the least far first: so they meet again behind branches
and loops as the hardware's do.  What is loaded is not known.  Where a condition is not known, data decide: a forward
branch is not taken, so that what it would leave out is executed (Hong et al. 2018, section 4.4), and a loop has the
number of iterations that the policy tells.  Calls of what compilers do for rare operands (divisors that are denormal
numbers) stand behind such branches and are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orio_py.emulation.access import AccessPatterns, element_bytes
from orio_py.emulation.decode import decode
from orio_py.emulation.lanes import TRUE, UNKNOWN, UNKNOWN_TRUTH, ZERO, Array, Lanes, both, conjunction, merge
from orio_py.emulation.launch import WARP, DataPolicy
from orio_py.emulation.loops import Compared, LoopHistory
from orio_py.emulation.operands import DecodedInstruction, LaunchValues, RegisterFile
from orio_py.emulation.trace import REPEAT, Entry, MemoryAccess, Trace
from orio_py.sass.instruction import INSTRUCTION_BYTES, Instruction, Register, SassFunction
from orio_py.sass.resources import Resource, resource_of

MOST_EXECUTED = 100_000
"""Instructions that are followed, each for all threads; a launch that needs more is not predicted."""

_SHARED = frozenset({"LDS", "STS", "ATOMS", "LDSM", "STSM"})
_LOCAL = frozenset({"LDL", "STL"})
_PREDICATES = frozenset({"P", "UP"})


class EndlessKernel(Exception):
    """A kernel that was followed for too long."""


@dataclass(slots=True)
class _Group:
    """Threads that are at the same instruction."""

    threads: Array
    number: int
    is_whole: bool


def follow(
    function: SassFunction, environment: LaunchValues, active: Array, warps_per_block: int, policy: DataPolicy
) -> Trace:
    """Execute a function for the threads in `active`, in whole warps; those of the first block have their accesses counted.

    Raises EndlessKernel.
    """
    return _Execution(function, environment, active, warps_per_block, policy).run()


class _Execution:
    def __init__(
        self,
        function: SassFunction,
        environment: LaunchValues,
        active: Array,
        warps_per_block: int,
        policy: DataPolicy,
    ) -> None:
        self.code: list[DecodedInstruction | None] = [None] * len(function.instructions)
        self.instructions = function.instructions
        self.environment, self.policy = environment, policy
        self.alive = active.copy()
        self.first = warps_per_block * WARP
        self.registers = RegisterFile()
        self.waiting: dict[int, Array] = {0: active.copy()}
        self.entries: list[Entry] = []
        self.groups: list[Array] = []
        self.group_numbers: dict[bytes, int] = {}
        self.costs: dict[tuple[int, int, int], int] = {(0, 0, 0): 0}
        self.accesses: dict[int, MemoryAccess] = {}
        self.patterns = AccessPatterns()
        self.compared: list[Compared] = []
        self.histories: dict[tuple[int, int], LoopHistory] = {}
        self.branches: Counter[int] = Counter()
        self.unknown_addresses: Counter[int] = Counter()
        self.iterations: Counter[tuple[int, int]] = Counter()
        self.converge: dict[str, int] = {}
        self.calls: list[int] = []
        self.local: dict[int, int] = {}
        self.executed = 0

    def run(self) -> Trace:
        """Until no thread is left."""
        while self.waiting:
            place = min(self.waiting)
            self._go_on(place, self._group(self.waiting.pop(place)))
        return Trace(
            self.entries, self.groups, self.accesses, +self.branches, self.unknown_addresses, self.executed
        )

    def _group(self, threads: Array) -> _Group:
        return _Group(threads, self._number(threads), bool((threads == self.alive).all()))

    def _number(self, threads: Array) -> int:
        warps: Array = np.asarray(threads.reshape(-1, WARP).any(axis=1))
        key = warps.tobytes()
        if key not in self.group_numbers:
            self.group_numbers[key] = len(self.groups)
            self.groups.append(warps)
        return self.group_numbers[key]

    def _wait(self, place: int, threads: Array) -> None:
        """Threads go on later, with others that are there."""
        there = self.waiting.get(place)
        self.waiting[place] = threads if there is None else there | threads

    def _go_on(self, place: int, group: _Group) -> None:
        """Execute until the threads part, end, or come to a place where others wait."""
        following = min(self.waiting, default=len(self.code))
        while True:
            if place >= following:
                if place < len(self.code):
                    self._wait(place, group.threads)
                return
            operation = self._operation(place)
            self.executed += 1
            if self.executed > MOST_EXECUTED:
                raise EndlessKernel
            jump = _FLOW.get(operation.instruction.opcode)
            if jump is None:
                self._execute(place, operation, group)
                place += 1
                continue
            after = jump(self, place, operation, group)
            if after is None:
                return
            place = after

    def _operation(self, place: int) -> DecodedInstruction:
        operation = self.code[place]
        if operation is None:
            operation = self.code[place] = decode(self.instructions[place], self.environment)
        return operation

    def _note(self, place: int, group: _Group, active: int | None = None, cost: int = 0) -> None:
        self.entries.append((place, group.number, group.number if active is None else active, cost))

    def _execute(self, place: int, operation: DecodedInstruction, group: _Group) -> None:
        """An instruction that goes on with the next one."""
        threads: Array | None = None if group.is_whole else group.threads
        active = group.number
        certain: bool | Array = True
        if operation.condition is not None:
            condition = operation.condition(self.registers)
            wanted = (
                condition.data if condition.known is True else condition.data | ~np.asarray(condition.known)
            )
            if not wanted.all():
                threads = group.threads & wanted
                active = self._number(threads)
                if not threads.any():
                    self._note(place, group, active)
                    return
            certain = condition.known
        cost = (
            self._access(operation, group.threads if threads is None else threads) if operation.address else 0
        )
        self._note(place, group, active, cost)
        if operation.comparison is not None:
            left, right = (
                operation.comparison.left(self.registers),
                operation.comparison.right(self.registers),
            )
            self.compared.append((len(self.entries) - 1, left, right, operation.comparison.is_signed))
        if operation.instruction.opcode == "STL":
            self._store(operation, threads, certain)
        self._set(operation, threads, certain)

    def _slots(self, operation: DecodedInstruction) -> list[int] | None:
        """The words of local memory that all threads access alike: registers that were spilled, counters among them."""
        address = operation.address(self.registers) if operation.address is not None else UNKNOWN
        size = element_bytes(operation.instruction)
        if address.known is not True or size < 4 or (address.data != address.data[0]).any():
            return None
        first = int(address.data[0])
        for word in range(first, first + size, 4):
            if word not in self.local:
                self.local[word] = len(self.local)
                self.registers.values["local"].append(UNKNOWN)
        return [self.local[word] for word in range(first, first + size, 4)]

    def _words(self, operation: DecodedInstruction) -> Sequence[Lanes]:
        slots = self._slots(operation)
        if slots is None:
            return (UNKNOWN,) * len(operation.places)
        return [self.registers.values["local"][slot] for slot in slots]

    def _store(self, operation: DecodedInstruction, threads: Array | None, certain: bool | Array) -> None:
        source = operation.instruction.operands[-1]
        held = self.registers.values["local"]
        slots = self._slots(operation)
        if slots is None:  # anywhere
            held[:] = [UNKNOWN] * len(held)
            return
        for part, slot in enumerate(slots):
            new = UNKNOWN
            if isinstance(source, Register):
                new = (
                    ZERO
                    if source.number is None
                    else self.registers.values[source.file][source.number + part]
                )
            new = new if certain is True else Lanes(new.data, both(new.known, certain))
            held[slot] = new if threads is None else merge(threads, new, held[slot])

    def _set(self, operation: DecodedInstruction, threads: Array | None, certain: bool | Array) -> None:
        if not operation.places:
            return
        if operation.instruction.opcode == "LDL":
            values: Sequence[Lanes] = self._words(operation)
        elif operation.compute is None:
            values = (UNKNOWN,) * len(operation.places)
        else:
            values = operation.compute(self.registers)
        for register, value in zip(operation.places, values, strict=False):
            if register is None:
                continue
            file, number = register
            if value.is_unknown and file in _PREDICATES:
                value = UNKNOWN_TRUTH
            new = value if certain is True else Lanes(value.data, both(value.known, certain))
            held = self.registers.values[file]
            held[number] = new if threads is None else merge(threads, new, held[number])

    def _access(self, operation: DecodedInstruction, threads: Array) -> int:
        """The number of what a memory access costs, after it was noted."""
        instruction = operation.instruction
        if resource_of(instruction) not in (Resource.L1, Resource.SHARED) or operation.address is None:
            return 0
        size = element_bytes(instruction)
        value = operation.address(self.registers)
        # Of the first block that takes part: the one in the middle, unless only those at the ends come here.
        start = int(threads.reshape(-1, self.first).any(axis=1).argmax()) * self.first
        rows = threads[start : start + self.first].reshape(-1, WARP)
        warps = int(rows.any(axis=1).sum())
        place = len(self.entries)
        if instruction.opcode in _LOCAL:  # the words of a thread's stack lie beside those of its neighbours
            lines = -(-WARP * size // 128)
            sectors, passes = 4 * lines * warps, lines * warps
        elif value.known is not True and not (np.asarray(value.known) | ~threads).all():
            self.unknown_addresses[place] += 1
            is_shared = instruction.opcode in _SHARED
            sectors = 0 if is_shared else int(rows.sum())
            passes = warps * max(1, size // 4) if is_shared else sectors
        else:
            data = np.broadcast_to(value.data, threads.shape)[start : start + self.first].reshape(-1, WARP)
            is_shared = instruction.opcode in _SHARED
            sectors, passes = self.patterns.cost(data, rows, size, is_shared=is_shared)
        self.accesses[place] = MemoryAccess(sectors, passes, warps, size, value, threads)
        return self.costs.setdefault((sectors, passes, warps), len(self.costs))

    # Instructions that decide what comes next: the place of it, None when the threads wait or end.

    def _branch(self, place: int, operation: DecodedInstruction, group: _Group) -> int | None:
        self._note(place, group)
        instruction = operation.instruction
        target = instruction.target
        if target is None or "DIV" in instruction.modifiers:
            return place + 1
        goal = target // INSTRUCTION_BYTES
        condition = self._condition(operation)
        if condition.known is not True:
            condition = self._decided(place, goal, condition, group)
        taken = group.threads & condition.data
        if not taken.any():
            return place + 1
        stays = group.threads & ~taken
        if stays.any():
            self._wait(place + 1, stays)
            if goal <= place:
                goal = self._arrive(goal, taken, place)
            self._wait(goal, taken)
            return None
        if goal == place:  # the padding behind the code
            self.alive &= ~group.threads
            return None
        if goal <= place:
            self._arrive(goal, taken, place)
        if self.waiting and goal >= min(self.waiting):
            self._wait(goal, taken)
            return None
        return goal

    def _condition(self, operation: DecodedInstruction) -> Lanes:
        """The predicate in front, and the one among the operands."""
        found = operation.condition(self.registers) if operation.condition is not None else TRUE
        for operand in operation.instruction.operands:
            if isinstance(operand, Register) and operand.file in ("P", "UP") and operand.number is not None:
                value = self.registers.values[operand.file][operand.number]
                truth = value.data.astype(bool)
                found = conjunction(found, Lanes(~truth if operand.inverted else truth, value.known))
        return Lanes(found.data.astype(bool), found.known)

    def _decided(self, place: int, goal: int, condition: Lanes, group: _Group) -> Lanes:
        """A condition where data decide for some threads, as the policy tells."""
        self.branches[place] += 1
        if goal <= place:
            key = (place, group.number)
            self.iterations[key] += 1
            takes = self.iterations[key] < self.policy.iterations
            if not takes:
                del self.iterations[key]
        else:
            between = self.instructions[place + 1 : goal]
            takes = self.policy.takes_branches or any(i.opcode == "CALL" for i in between)
        return Lanes(np.where(condition.known, condition.data, takes))

    def _arrive(self, goal: int, threads: Array, place: int) -> int:
        """Threads are back at the start of a loop: what repeats is counted, not executed."""
        history = self.histories.setdefault((place, self._number(threads)), LoopHistory())
        history.arrive(len(self.entries), self.registers)
        found = history.jump(self.entries, self.compared, self.code)
        if found is not None:
            length, times, moved = found
            for (file, number), value in moved.items():
                self.registers.values[file][number] = merge(
                    threads, value, self.registers.values[file][number]
                )
            self.entries.append((REPEAT, length, times, 0))
            history.snapshots.clear()
            history.arrivals = 0
            history.arrive(len(self.entries), self.registers)
        return goal

    def _exit(self, place: int, operation: DecodedInstruction, group: _Group) -> int | None:
        condition = self._condition(operation)
        self.branches[place] += condition.known is not True
        goes = condition.data
        if condition.known is not True:
            goes = np.where(condition.known, condition.data.astype(bool), self.policy.takes_branches)
        leaves = group.threads & goes
        self._note(place, group)
        if not leaves.any():
            return place + 1
        self.alive &= ~leaves
        rest = group.threads & ~leaves
        if rest.any():
            self._wait(place + 1, rest)
        return None

    def _call(self, place: int, operation: DecodedInstruction, group: _Group) -> int | None:
        self._note(place, group)
        condition = self._condition(operation)
        target = operation.instruction.target
        if target is None or condition.known is not True or not (group.threads & condition.data).any():
            return place + 1
        self.calls.append(place + 1)
        self._wait(target // INSTRUCTION_BYTES, group.threads)
        return None

    def _return(self, place: int, operation: DecodedInstruction, group: _Group) -> int | None:
        self._note(place, group)
        if self._condition(operation).known is not True:
            return place + 1
        if self.calls:
            self._wait(self.calls.pop(), group.threads)
        else:
            self.alive &= ~group.threads
        return None

    def _open(self, place: int, operation: DecodedInstruction, group: _Group) -> int | None:
        self._note(place, group)
        target = operation.instruction.target
        if target is not None:
            self.converge[_barrier(operation.instruction)] = target // INSTRUCTION_BYTES
        return place + 1

    def _close(self, place: int, operation: DecodedInstruction, group: _Group) -> int | None:
        self._note(place, group)
        goal = self.converge.get(_barrier(operation.instruction), place + 1)
        if goal <= place + 1:
            return place + 1
        self._wait(goal, group.threads)
        return None


def _barrier(instruction: Instruction) -> str:
    """The barrier of convergence that an instruction names."""
    return str(instruction.operands[0]) if instruction.operands else ""


_FLOW = {
    "BRA": _Execution._branch,  # pyright: ignore[reportPrivateUsage] - the class above
    "JMP": _Execution._branch,  # pyright: ignore[reportPrivateUsage]
    "EXIT": _Execution._exit,  # pyright: ignore[reportPrivateUsage]
    "CALL": _Execution._call,  # pyright: ignore[reportPrivateUsage]
    "RET": _Execution._return,  # pyright: ignore[reportPrivateUsage]
    "BSSY": _Execution._open,  # pyright: ignore[reportPrivateUsage]
    "BSYNC": _Execution._close,  # pyright: ignore[reportPrivateUsage]
}
