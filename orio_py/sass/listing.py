"""Reads what a disassembler prints: nvdisasm with `-hex` (and `-g` for lines), or cuobjdump with `-sass`.

Needs neither of them.  An instruction stands in a line between `/*ADDRESS*/` and `;`, its 128 bits in two comments
behind and below it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from orio_py.sass.instruction import (
    INSTRUCTION_BYTES,
    Instruction,
    Label,
    NamedOperand,
    Operand,
    Register,
    SassFunction,
    SourceLine,
    control_of,
)
from orio_py.sass.operands import parse_operand, parse_register, split

_SECTION = re.compile(r"\s*\.section\s+\.text\.(?P<name>[^,\s]+)")
_FUNCTION = re.compile(r"\s*Function\s*:\s*(?P<name>\S+)")
_LABEL = re.compile(r"(?P<label>[.$\w][.$\w@]*):\s*")
_LINE = re.compile(r'\s*//## File "(?P<file>[^"]*)", line (?P<line>\d+)(?P<inlined> inlined at)?')
_CODE = re.compile(
    r"\s*/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<text>[^;]*?)\s*;?\s*(?:/\*\s*0x(?P<low>[0-9a-f]{16})\s*\*/)?\s*"
)
_HIGH = re.compile(r"\s*/\*\s*0x(?P<high>[0-9a-f]{16})\s*\*/\s*")
_PREDICATE = re.compile(r"@(?P<not>!?)(?P<register>U?P(?:\d+|T))\s+")


@dataclass(slots=True)
class _Line:
    """An instruction as it stands in the text."""

    address: int
    text: str
    line: SourceLine | None
    encoding: int | None


@dataclass(slots=True)
class _Section:
    name: str
    labels: dict[str, int] = field(default_factory=dict[str, int])
    lines: list[_Line] = field(default_factory=list[_Line])


def parse_listing(text: str, own: Collection[str] = ()) -> tuple[SassFunction, ...]:
    """The functions of a listing, in its order; lines of files that are called one of `own` are those of the text itself.

    Raises ValueError for a listing whose instructions have not 16 bytes each: it is for a compute capability before 7.0.
    """
    return tuple(_function(section) for section in _sections(text, own) if section.lines)


def _sections(text: str, own: Collection[str]) -> list[_Section]:
    found: list[_Section] = []
    line: SourceLine | None = None
    waiting: list[str] = []  # labels of the next instruction
    for row in text.splitlines():
        if (start := _SECTION.match(row) or _FUNCTION.match(row)) is not None:
            found.append(_Section(start["name"]))
            line, waiting = None, []
        elif not found:
            continue
        elif (place := _LINE.match(row)) is not None:
            # Of code that was inlined, the first place is its own and the last that of the outermost call: the kernel's.
            file = re.split(r"[/\\]", place["file"])[-1]
            line = SourceLine("" if file in own else file, int(place["line"]))
        elif (code := _CODE.fullmatch(row)) is not None and code["text"]:
            address = int(code["address"], 16)
            found[-1].labels.update((label, address) for label in waiting)
            waiting = []
            encoding = int(code["low"], 16) if code["low"] else None
            found[-1].lines.append(_Line(address, code["text"], line, encoding))
        elif (high := _HIGH.fullmatch(row)) is not None and found[-1].lines:
            last = found[-1].lines[-1]
            if last.encoding is not None:
                last.encoding |= int(high["high"], 16) << 64
        elif (label := _LABEL.fullmatch(row)) is not None:
            waiting.append(label["label"])
    return found


def _function(section: _Section) -> SassFunction:
    section.lines.sort(key=lambda line: line.address)
    if any(line.address != INSTRUCTION_BYTES * n for n, line in enumerate(section.lines)):
        raise ValueError(
            f"{section.name}: the instructions are not 16 bytes long, as from compute capability 7.0 on"
        )
    return SassFunction(section.name, tuple(_instruction(line, section.labels) for line in section.lines))


def _instruction(line: _Line, labels: dict[str, int]) -> Instruction:
    text = line.text.strip()
    predicate: Register | None = None
    if (found := _PREDICATE.match(text)) is not None:
        register = parse_register(found["register"])
        assert register is not None, text
        predicate = Register(register.file, register.number, inverted=bool(found["not"]))
        text = text[found.end() :]
    name, _, rest = text.partition(" ")
    opcode, *modifiers = name.split(".")
    operands = tuple(_operands(opcode, rest, labels))
    control = control_of(line.encoding) if line.encoding is not None else None
    return Instruction(line.address, opcode, tuple(modifiers), predicate, operands, control, line.line)


def _operands(opcode: str, text: str, labels: dict[str, int]) -> Iterator[Operand]:
    words = split(text)
    jumps = opcode in ("BRA", "CALL", "JMP", "BSSY", "RET", "SSY", "PBK")
    for word in words:
        operand = parse_operand(word, labels)
        if isinstance(operand, NamedOperand) and " " in word:  # `CALL.REL.NOINC R2 `(label)`: two in one
            first, _, second = word.partition(" ")
            yield parse_operand(first, labels)
            word = second.strip()
            operand = parse_operand(word, labels)
            words[-1] = word
        if jumps and word is words[-1] and word.startswith("0x"):
            operand = Label(int(word, 16))
        yield operand
