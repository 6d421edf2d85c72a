"""Operands of instructions, one of each form."""

from __future__ import annotations

import math

import pytest

from orio_py.sass.instruction import Constant, Immediate, Label, MemoryOperand, NamedOperand, Register
from orio_py.sass.operands import parse_operand, split

R2 = Register("R", 2)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("R2", R2),
        ("R2.reuse", R2),
        ("-R2", Register("R", 2, negated=True)),
        ("|R2|", Register("R", 2, absolute=True)),
        ("-|R2|.reuse", Register("R", 2, negated=True, absolute=True)),
        ("~R2", Register("R", 2, inverted=True)),
        ("R2.H0_H0", Register("R", 2, suffix="H0_H0")),
        ("RZ", Register("R", None)),
        ("UR7", Register("UR", 7)),
        ("!PT", Register("P", None, inverted=True)),
        ("UP1", Register("UP", 1)),
        ("0x1f", Immediate(31)),
        ("-0x3", Immediate(-3)),
        ("2.5", Immediate(2.5)),
        ("+INF", Immediate(math.inf)),
        ("c[0x0][0x160]", Constant(0, 0x160)),
        ("c[0x0][RZ]", Constant(0, 0)),
        ("-c[0x3][R2+0x8]", Constant(3, 8, R2, negated=True)),
        ("[R2.64]", MemoryOperand(R2, is_wide=True)),
        ("[R2.64+-0x10]", MemoryOperand(R2, -16, is_wide=True)),
        ("desc[UR6][R2.64+UR8+0x4]", MemoryOperand(R2, 4, Register("UR", 8), is_wide=True)),
        ("[R2.X4+UR5+0x40]", MemoryOperand(R2, 64, Register("UR", 5), scale=4)),
        ("[UR5]", MemoryOperand(None, 0, Register("UR", 5))),
        ("`(.L_x_1)", Label(0x30)),
        ("`(.L_x_9)", NamedOperand(".L_x_9")),
        ("SR_TID.X", NamedOperand("SR_TID.X")),
        ("c[UR4][0x8]", NamedOperand("c[UR4][0x8]")),
    ],
)
def test_an_operand(text, wanted):
    assert parse_operand(text, {".L_x_1": 0x30}) == wanted


def test_operands_are_cut_at_commas():
    assert split(" P0, PT, R3, c[0x0][0x160], PT ") == ["P0", "PT", "R3", "c[0x0][0x160]", "PT"]
    assert split("") == []
