"""The operands of an instruction as functions of registers: fetched once, evaluated many times."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from orio_py.emulation.lanes import (
    FALSE,
    TRUE,
    UNKNOWN,
    UNKNOWN_TRUTH,
    ZERO,
    Array,
    Lanes,
    apply,
    constant,
    inverse,
    signed,
    wide,
)
from orio_py.sass.instruction import Constant, Immediate, Instruction, MemoryOperand, Operand, Register
from orio_py.sass.registers import Place, has_wide_address, results, sources


@dataclass(slots=True)
class RegisterFile:
    """The registers of all threads, by file and number; words of local memory as they are first used."""

    values: dict[str, list[Lanes]] = field(
        default_factory=lambda: {
            "R": [UNKNOWN] * 256,
            "UR": [UNKNOWN] * 256,
            "P": [UNKNOWN_TRUTH] * 8,
            "UP": [UNKNOWN_TRUTH] * 8,
            "local": [],
        }
    )


Getter = Callable[[RegisterFile], Lanes]
Compute = Callable[[RegisterFile], tuple[Lanes, ...]]


@dataclass(frozen=True, slots=True)
class LaunchValues:
    """What a launch fixes: words of constant bank 0 by their place, and special registers by their name."""

    constants: Mapping[int, Lanes]
    special: Mapping[str, Lanes]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The two sides of a condition: by what they change, it is known how long the condition stays as it is."""

    left: Getter
    right: Getter
    is_signed: bool


@dataclass(frozen=True, slots=True)
class DecodedInstruction:
    """An instruction: what it computes for `places`, its condition, and what it compares, where it does.

    `compute` is None where all results are unknown.  `address` is that of a memory access.
    """

    instruction: Instruction
    places: tuple[Place | None, ...]
    compute: Compute | None
    condition: Getter | None
    comparison: Comparison | None = None
    address: Getter | None = None


class OperandReader:
    """Getters for the operands of one instruction."""

    def __init__(self, instruction: Instruction, environment: LaunchValues) -> None:
        self.instruction = instruction
        self.words = frozenset(instruction.modifiers)
        self.environment = environment
        self.results = results(instruction)
        listed = sources(instruction)
        # Predicates behind the numbers are conditions and carries; those in front of them are more results.
        self.numbers = [o for o in listed if not (isinstance(o, Register) and o.file in ("P", "UP"))]
        self.predicates = [o for o in listed if isinstance(o, Register) and o.file in ("P", "UP")]

    def predicate(self, operand: Register) -> Getter:
        """A condition."""
        if operand.number is None:
            fixed = FALSE if operand.inverted else TRUE
            return lambda _: fixed
        file, number = operand.file, operand.number
        if operand.inverted:
            return lambda state: inverse(state.values[file][number])
        return lambda state: state.values[file][number]

    def condition(self, place: int) -> Getter:
        """The predicate behind the numbers with this number; true where there is none."""
        if place < len(self.predicates):
            return self.predicate(self.predicates[place])
        return lambda _: TRUE

    def carry(self) -> Getter:
        """The sum of the carries that come in."""
        getters = [self.predicate(p) for p in self.predicates if not (p.number is None and p.inverted)]
        if not getters or "X" not in self.words:
            return lambda _: ZERO
        if len(getters) == 1:
            return lambda state: apply(lambda x: x.astype("int64"), getters[0](state))
        return lambda state: apply(lambda x, y: x.astype("int64") + y, getters[0](state), getters[1](state))

    def number(self, place: int, *, cut: bool = True) -> Getter:
        """A number of 32 bits; without `cut`, a negated one is 2^32 less it, whose sums have the carry of a difference."""
        if place >= len(self.numbers):
            return lambda _: ZERO
        return self._number(self.numbers[place], cut=cut)

    def _number(self, operand: Operand, *, cut: bool = True, part: int = 0) -> Getter:
        raw = self._raw(operand, part)
        if isinstance(operand, Register | Constant):
            if operand.inverted:
                return lambda state: apply(lambda x: ~x, raw(state))
            if operand.negated:
                if cut:
                    return lambda state: apply(lambda x: -x, raw(state))
                return lambda state: _complement(raw(state))
            if operand.absolute:
                return lambda state: apply(lambda x: abs(signed(x)), raw(state))
        return raw

    def _raw(self, operand: Operand, part: int) -> Getter:
        match operand:
            case Register(file=file, number=None):
                return lambda _: ZERO
            case Register(file=file, number=int(number)):
                return lambda state: state.values[file][number + part]
            case Immediate(value=int(value)):
                fixed = constant(value if part == 0 else value >> 32)
            case Immediate(value=value):
                fixed = constant(struct.unpack("<I", struct.pack("<f", value))[0])
            case Constant(bank=0, offset=offset, index=None):
                fixed = self.environment.constants.get(offset + 4 * part, UNKNOWN)
            case _:
                fixed = UNKNOWN
        return lambda _: fixed

    def pair(self, place: int) -> Getter:
        """A number of 64 bits; of an immediate, the sign is continued."""
        if place >= len(self.numbers):
            return lambda _: ZERO
        operand = self.numbers[place]
        if isinstance(operand, Immediate):
            fixed = Lanes(_long(int(operand.value)))
            return lambda _: fixed
        if isinstance(operand, Register) and operand.number is None:
            return lambda _: ZERO
        low, high = self._raw(operand, 0), self._raw(operand, 1)
        if isinstance(operand, Register | Constant) and operand.negated:
            return lambda state: _negative(wide(low(state), high(state)))
        return lambda state: wide(low(state), high(state))

    def comparison(self) -> Comparison | None:
        """What is compared, of instructions that choose by it."""
        if self.instruction.opcode not in _CHOOSES:
            return None
        is_long = bool(self.words & {"64", "U64", "S64"})
        sides = (self.pair(0), self.pair(1)) if is_long else (self.number(0), self.number(1))
        # Whether numbers are equal is the same for both kinds, and counters run up to zero from below.
        as_signed = bool(self.words & {"EQ", "NE"}) or not self.words & {"U32", "EX"}
        return Comparison(*sides, is_signed=as_signed and not is_long)

    def address(self, operand: MemoryOperand) -> Getter:
        """An address: the low 32 bits for shared memory, all for others."""
        base = operand.base
        offset, scale = operand.offset, operand.scale
        is_wide = has_wide_address(self.instruction, operand)
        low: Getter = self._raw(base, 0) if base is not None else lambda _: ZERO
        high: Getter | None = self._raw(base, 1) if base is not None and is_wide else None
        more: Getter = self._raw(operand.uniform, 0) if operand.uniform is not None else lambda _: ZERO
        upper = self._raw(operand.uniform, 1) if operand.uniform is not None and is_wide else None

        def sum_up(state: RegisterFile) -> Lanes:
            start = low(state) if high is None else wide(low(state), high(state))
            added = more(state) if upper is None else wide(more(state), upper(state))
            if start.is_unknown or added.is_unknown:
                return UNKNOWN
            known = start.known if added.known is True else start.known & added.known
            return Lanes(start.data * scale + added.data + offset, known)

        return sum_up


LOWEST = -(1 << 63)
"""Turns the order of numbers with a sign into that of numbers without one."""

_CHOOSES = frozenset({"ISETP", "UISETP", "IMNMX", "VIMNMX", "UIMNMX", "UVIMNMX"})


def _complement(value: Lanes) -> Lanes:
    return value if value.is_unknown else Lanes((1 << 32) - value.data, value.known)


def _negative(value: Lanes) -> Lanes:
    return value if value.is_unknown else Lanes(-value.data, value.known)


def _long(value: int) -> Array:
    return constant(0).data + value
