"""Instructions of a GPU and their operands."""

from __future__ import annotations

from dataclasses import dataclass

INSTRUCTION_BYTES = 16
"""The size of an instruction from compute capability 7.0 on."""


@dataclass(frozen=True, slots=True)
class Register:
    """A register: of a thread (`R`, predicates `P`) or of a warp (`UR`, `UP`).

    `number` is None for the one that always holds zero (predicates: true).  `inverted` is `~R1` or `!P1`; `suffix` is what
    follows the name, such as `64` or `H0_H0`.
    """

    file: str
    number: int | None
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Immediate:
    """A number in the instruction."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Constant:
    """A word of a constant bank, `c[0x0][0x160]`, or with a register in its place."""

    bank: int
    offset: int
    index: Register | None = None
    negated: bool = False
    absolute: bool = False
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class MemoryOperand:
    """An address, `[R2.64+UR4+0x10]`: `is_wide` for a base of two registers, which is multiplied by `scale`."""

    base: Register | None
    offset: int = 0
    uniform: Register | None = None
    is_wide: bool = False
    scale: int = 1


@dataclass(frozen=True, slots=True)
class Label:
    """A place in the code, in bytes from the function's start."""

    address: int


@dataclass(frozen=True, slots=True)
class NamedOperand:
    """Anything else: a special register, a barrier of convergence, a descriptor."""

    text: str


Operand = Register | Immediate | Constant | MemoryOperand | Label | NamedOperand


@dataclass(frozen=True, slots=True)
class Control:
    """What the compiler tells the scheduler: 21 bits of the instruction (Volta and later; Jia et al. 2018).

    The next instruction is issued `stall` cycles later at the earliest.  When the result is there `write_barrier` is
    released, and `read_barrier` when the operands have been read; None where there is no such barrier.  The
    instruction waits for the barriers in `wait`.
    """

    stall: int
    yields: bool
    write_barrier: int | None
    read_barrier: int | None
    wait: tuple[int, ...]


@dataclass(frozen=True, slots=True, order=True)
class SourceLine:
    """A line of the text that was compiled, or of a `file` that it includes.

    >>> str(SourceLine("", 7)), str(SourceLine("steps.cuh", 7))
    ('7', 'steps.cuh:7')
    """

    file: str
    number: int

    def __str__(self) -> str:
        return f"{self.file}:{self.number}" if self.file else str(self.number)

    def as_json(self) -> int | str:
        """The number, or text with the file's name."""
        return str(self) if self.file else self.number


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its place in the function, and the line of source where that is known.

    `opcode` is the first word of the name (`IMAD`), `modifiers` are the others (`WIDE`, `U32`).
    """

    address: int
    opcode: str
    modifiers: tuple[str, ...]
    predicate: Register | None
    operands: tuple[Operand, ...]
    control: Control | None
    line: SourceLine | None = None

    @property
    def name(self) -> str:
        """The whole name, `IMAD.WIDE.U32`."""
        return ".".join((self.opcode, *self.modifiers))

    @property
    def target(self) -> int | None:
        """Where a branch goes; None where a register says that."""
        return next((o.address for o in reversed(self.operands) if isinstance(o, Label)), None)


@dataclass(frozen=True, slots=True)
class SassFunction:
    """The code of a kernel with the functions that it calls, from address 0 on without gaps."""

    name: str
    instructions: tuple[Instruction, ...]

    def at(self, address: int) -> Instruction:
        """The instruction at an address."""
        return self.instructions[address // INSTRUCTION_BYTES]


def control_of(encoding: int) -> Control:
    """The control bits of a 128-bit instruction.

    >>> control_of(0x000fca00078e02040000000503037224)
    Control(stall=5, yields=True, write_barrier=None, read_barrier=None, wait=())
    """
    bits = encoding >> 105
    write, read, wait = bits >> 5 & 7, bits >> 8 & 7, bits >> 11 & 63
    return Control(
        bits & 15,
        not bits >> 4 & 1,
        None if write == 7 else write,
        None if read == 7 else read,
        tuple(number for number in range(6) if wait >> number & 1),
    )
