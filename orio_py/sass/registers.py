"""Which registers an instruction writes and reads."""

from __future__ import annotations

from orio_py.machine.timing import Resource
from orio_py.sass.instruction import Constant, Instruction, MemoryOperand, Operand, Register
from orio_py.sass.resources import resource_of

Place = tuple[str, int]
"""A register by file and number: `("R", 4)`."""

_NO_RESULT = frozenset(
    {
        "STG", "STS", "STL", "ST", "RED", "REDG", "REDAS", "BAR", "MEMBAR", "ERRBAR", "BRA", "EXIT", "CALL", "RET", "BSSY", "BSYNC",
        "LDGSTS", "DEPBAR", "LDGDEPBAR", "WARPSYNC", "NANOSLEEP", "NOP", "CCTL", "SUST", "BREAK", "STSM", "BRX", "YIELD", "R2B",
    }
)  # fmt: skip
_WIDE_RESULT = frozenset({"WIDE", "64", "F64", "U64", "S64"})
_TENSOR_WIDTH = 4


def results(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands that are written: results, carries and second predicates among them.

    They stand before those that are read: `IADD3 R4, P2, R4, 0x40, RZ` writes `R4` and `P2`.
    """
    if instruction.opcode in _NO_RESULT or not instruction.operands:
        return ()
    found: list[Operand] = []
    numbers = 0
    sets_predicates = "SETP" in instruction.opcode or instruction.opcode in ("PLOP3", "UPLOP3", "FCHK")
    for operand in instruction.operands:
        if not isinstance(operand, Register) or operand.negated or operand.inverted or operand.absolute:
            break
        if operand.file in ("P", "UP"):
            if sets_predicates and len(found) == 2:
                break
            found.append(operand)
        elif numbers == 0 and not sets_predicates:
            found.append(operand)
            numbers += 1
        else:
            break
    return tuple(found)


def sources(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands that are read, but for the predicate in front."""
    return instruction.operands[len(results(instruction)) :]


def width(instruction: Instruction) -> int:
    """How many registers of 32 bits the result has."""
    words = instruction.modifiers
    opcode = instruction.opcode
    if "128" in words:
        return 4
    if resource_of(instruction) is Resource.TENSOR:
        return _TENSOR_WIDTH
    if opcode == "CS2R":
        return 1 if "32" in words else 2
    if opcode in ("SHF", "USHF"):  # `SHF.R.U64` takes 32 of 64 bits
        return 1
    if opcode in ("I2F", "F2F", "FRND"):  # the type of the result comes first
        return 2 if "F64" in words[:1] else 1
    if opcode == "F2I":
        return 2 if {"U64", "S64"} & set(words) else 1
    return 2 if resource_of(instruction) is Resource.FP64 or _WIDE_RESULT & set(words) else 1


def written(instruction: Instruction) -> tuple[Place, ...]:
    """The registers and predicates that an instruction sets."""
    found: list[Place] = []
    for operand in results(instruction):
        assert isinstance(operand, Register), operand
        if operand.number is not None:
            count = width(instruction) if operand.file in ("R", "UR") else 1
            found += [(operand.file, operand.number + k) for k in range(count)]
    return tuple(found)


def read(instruction: Instruction) -> tuple[Place, ...]:
    """The registers and predicates that an instruction needs, of wide operands all that they may have."""
    found: list[Place] = []
    listed = sources(instruction)
    for place, operand in enumerate((instruction.predicate, *listed)):
        if isinstance(operand, Register) and operand.number is not None:
            count = _read_width(instruction, place == len(listed)) if operand.file in ("R", "UR") else 1
            found += [(operand.file, operand.number + k) for k in range(count)]
        elif isinstance(operand, MemoryOperand):
            if operand.base is not None and operand.base.number is not None:
                found += [
                    ("R", operand.base.number + k) for k in range(1 + has_wide_address(instruction, operand))
                ]
            if operand.uniform is not None and operand.uniform.number is not None:
                found.append(("UR", operand.uniform.number))
        elif isinstance(operand, Constant) and operand.index is not None and operand.index.number is not None:
            found.append((operand.index.file, operand.index.number))
    return tuple(found)


def has_wide_address(instruction: Instruction, operand: MemoryOperand) -> bool:
    """Whether the base of an address is a pair of registers: `[R2.64]`, or `E` among the modifiers as sm_75 writes it."""
    return operand.is_wide or "E" in instruction.modifiers


def _read_width(instruction: Instruction, is_last: bool) -> int:
    words = set(instruction.modifiers)
    if instruction.opcode in _NO_RESULT:
        return 4 if "128" in words else 2 if "64" in words else 1
    if "WIDE" in words or (instruction.opcode == "IMAD" and "HI" in words):
        return 2 if is_last else 1
    if instruction.opcode in ("SHF", "USHF"):
        return 1
    return 2 if resource_of(instruction) is Resource.FP64 or _WIDE_RESULT & words else 1
