"""Which resource an instruction occupies: a table of opcodes."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from orio_py.machine.timing import Resource
from orio_py.sass.instruction import Instruction

TABLE = Path(__file__).with_name("data") / "opcodes.toml"

UNKNOWN = Resource.ALU
"""What an instruction is taken for whose opcode is not in the table; it is counted and reported."""


@cache
def opcodes() -> Mapping[str, Resource]:
    """The resource of each opcode.  Raises ValueError when the table lists one twice."""
    found: dict[str, Resource] = {}
    for name, listed in tomllib.loads(TABLE.read_text(encoding="utf-8")).items():
        for opcode in listed:
            if opcode in found:
                raise ValueError(f"{TABLE.name}: {opcode} stands under {found[opcode]} and {name}")
            found[opcode] = Resource(name)
    return found


def resource_of(instruction: Instruction) -> Resource | None:
    """What an instruction occupies; None for an opcode that is not in the table.

    A move that the compiler writes as an addition to nothing (`HFMA2.MMA R1, -RZ, RZ, 0, 0`) runs where that addition does.
    """
    return opcodes().get(instruction.opcode)


def unknown_opcodes(instructions: Iterable[Instruction]) -> Mapping[str, int]:
    """Opcodes that the table has not, and how often they stand in the code."""
    known = opcodes()
    return Counter(i.opcode for i in instructions if i.opcode not in known)
