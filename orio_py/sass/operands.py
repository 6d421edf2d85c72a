"""Reads the operands of an instruction as NVIDIA's disassembler writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from orio_py.sass.instruction import (
    Constant,
    Immediate,
    Label,
    MemoryOperand,
    NamedOperand,
    Operand,
    Register,
)

_REGISTER = re.compile(r"(?P<file>UR|UP|R|P)(?P<number>\d+|Z|T)(?P<suffix>(?:\.\w+)*)")
_CONSTANT = re.compile(r"cx?\[(?P<bank>[^\]]+)\]\s*\[(?P<place>[^\]]*)\]")
_MEMORY = re.compile(r"(?:desc\[(?P<descriptor>[^\]]+)\]\s*)?\[(?P<place>[^\]]*)\]")
_LABEL = re.compile(r"`?\((?P<label>[^)]+)\)")
_FLOATS = {"+INF": float("inf"), "-INF": float("-inf"), "+QNAN": float("nan"), "-QNAN": float("nan")}


def split(text: str) -> list[str]:
    """The operands of a text, cut at its commas.

    >>> split("R3, R3, c[0x0][0x0], -R4")
    ['R3', 'R3', 'c[0x0][0x0]', '-R4']
    """
    return [part for part in (piece.strip() for piece in text.split(",")) if part]


def parse_operand(text: str, labels: Mapping[str, int]) -> Operand:
    """One operand; a label is one of `labels`, and names that are unknown are kept as they are.

    >>> parse_operand("[R2.X4+0x10]", {})
    MemoryOperand(base=Register(file='R', number=2, negated=False, absolute=False, inverted=False, suffix=''), offset=16, uniform=None, is_wide=False, scale=4)
    """
    if (found := _LABEL.fullmatch(text)) is not None:
        name = found["label"]
        return Label(labels[name]) if name in labels else NamedOperand(name)
    if (found := _MEMORY.fullmatch(text)) is not None:
        return _memory(found["place"])
    inner, negated, absolute, inverted = _signs(text)
    if (found := _CONSTANT.fullmatch(inner)) is not None:
        return _constant(found, negated, absolute, inverted)
    if (register := parse_register(inner)) is not None:
        return Register(register.file, register.number, negated, absolute, inverted, register.suffix)
    return _number(text) or NamedOperand(text)


def parse_register(text: str) -> Register | None:
    """A register without signs; None for what is none.

    >>> parse_register("RZ.H0_H0")
    Register(file='R', number=None, negated=False, absolute=False, inverted=False, suffix='H0_H0')
    """
    if (found := _REGISTER.fullmatch(text)) is None:
        return None
    number = None if found["number"] in "ZT" else int(found["number"])
    words = [word for word in found["suffix"].split(".") if word and word != "reuse"]
    return Register(found["file"], number, suffix=".".join(words))


def _signs(text: str) -> tuple[str, bool, bool, bool]:
    """A text without `-`, `|…|`, `~` and `!`, and which of them there were; `.reuse` and the like may follow the bars."""
    negated = text.startswith("-")
    inverted = text.startswith(("~", "!"))
    inner = text[1:] if negated or inverted else text
    absolute = inner.startswith("|") and "|" in inner[1:]
    if absolute:
        inner = inner.replace("|", "")
    return inner, negated, absolute, inverted


def _number(text: str) -> Immediate | None:
    if text in _FLOATS:
        return Immediate(_FLOATS[text])
    try:
        return Immediate(int(text, 0))
    except ValueError:
        pass
    try:
        return Immediate(float(text))
    except ValueError:
        return None


def _constant(found: re.Match[str], negated: bool, absolute: bool, inverted: bool) -> Operand:
    index, offset = None, 0
    for part in re.split(r"\+(?!-)|\+(?=-)", found["place"]):
        if (register := parse_register(part.strip())) is not None:
            index = register if register.number is not None else None
        elif (number := _number(part.strip())) is not None:
            offset = int(number.value)
    bank = _number(found["bank"])
    if bank is None:  # a bank that a register names
        return NamedOperand(found[0])
    return Constant(int(bank.value), offset, index, negated, absolute, inverted)


def _memory(place: str) -> MemoryOperand:
    base, uniform, offset, is_wide, scale = None, None, 0, False, 1
    for part in place.split("+"):
        word = part.strip()
        if (register := parse_register(word)) is not None:
            words = register.suffix.split(".")
            if register.file == "UR":
                uniform = register
                continue
            is_wide = "64" in words
            scale = next((int(w[1:]) for w in words if re.fullmatch(r"X\d+", w)), 1)
            base = Register("R", register.number)
        elif (number := _number(word)) is not None:
            offset += int(number.value)
    return MemoryOperand(base, offset, uniform, is_wide, scale)
