"""What instructions compute, against arithmetic with Python's integers."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from sass_text import listing

from orio_py.emulation.decode import decode
from orio_py.emulation.lanes import (
    FALSE,
    TRUE,
    UNKNOWN,
    UNKNOWN_TRUTH,
    Lanes,
    conjunction,
    disjunction,
    merge,
)
from orio_py.emulation.operands import LaunchValues, RegisterFile

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
EDGES = [0, 1, 2, 5, 31, 32, 127, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF]


def numbers(seed, count=40):
    draw = random.Random(seed)
    return [draw.choice(EDGES) if draw.random() < 0.4 else draw.randrange(1 << 32) for _ in range(count)]


def signed(x, bits=32):
    return x - (1 << bits) if x >> bits - 1 & 1 else x


class Threads:
    """Threads with registers of 32 bits, a list of numbers each."""

    def __init__(self, constants=None, **registers):
        self.registers = RegisterFile()
        self.environment = LaunchValues(
            {place: Lanes(np.array([value], np.int64)) for place, value in (constants or {}).items()}, {}
        )
        for name, values in registers.items():
            self.set(name, values)

    def set(self, name, values):
        file = name.rstrip("0123456789")
        kind = np.bool_ if file in ("P", "UP") else np.int64
        self.registers.values[file][int(name[len(file) :])] = Lanes(np.array(values, kind))

    def run(self, *lines):
        for instruction in listing(*lines).instructions:
            operation = decode(instruction, self.environment)
            if operation.compute is None:
                values = (UNKNOWN,) * len(operation.places)
            else:
                values = operation.compute(self.registers)
            assert len(values) >= len(operation.places)
            for place, value in zip(operation.places, values, strict=False):
                if place is not None:
                    self.registers.values[place[0]][place[1]] = value
        return self

    def __getitem__(self, name):
        file = name.rstrip("0123456789")
        value = self.registers.values[file][int(name[len(file) :])]
        assert value.known is True, name
        return value.data.tolist()

    def is_unknown(self, name):
        file = name.rstrip("0123456789")
        return self.registers.values[file][int(name[len(file) :])].is_unknown


A, B, C, D = (numbers(seed) for seed in range(4))
LONG = [b << 32 | a for a, b in zip(A, B, strict=True)]
OTHER = [d << 32 | c for c, d in zip(C, D, strict=True)]


def long(threads, low, high):
    return [h << 32 | n for n, h in zip(threads[low], threads[high], strict=True)]


def all_four():
    return Threads(R0=A, R1=B, R2=C, R3=D)


def test_sums():
    threads = all_four().run(
        "IADD3 R4, R0, R1, R2", "IADD3 R5, R0, -R1, 0x7", "VIADD R6, R0, 0xfffffffe", "IADD R7, R0, -0x3"
    )
    assert threads["R4"] == [(a + b + c) & M32 for a, b, c in zip(A, B, C, strict=True)]
    assert threads["R5"] == [(a - b + 7) & M32 for a, b in zip(A, B, strict=True)]
    assert threads["R6"] == [(a - 2) & M32 for a in A]
    assert threads["R7"] == [(a - 3) & M32 for a in A]


def test_sums_of_64_bits_have_carries():
    threads = all_four().run("IADD3 R4, P0, R0, R2, RZ", "IADD3.X R5, R1, R3, RZ, P0, !PT")
    assert long(threads, "R4", "R5") == [(x + y) & M64 for x, y in zip(LONG, OTHER, strict=True)]
    threads = all_four().run("IADD3 R4, P0, PT, R0, -R2, RZ", "IADD3.X R5, PT, PT, R1, ~R3, RZ, P0, !PT")
    assert long(threads, "R4", "R5") == [(x - y) & M64 for x, y in zip(LONG, OTHER, strict=True)]
    threads = all_four().run("IADD3 R4, P0, R0, R2, RZ", "IMAD.X R5, R1, 0x1, R3, P0")
    assert long(threads, "R4", "R5") == [(x + y) & M64 for x, y in zip(LONG, OTHER, strict=True)]
    threads = all_four().run("IADD.64 R4, R0, R2", "MOV.64 R6, R4", "IADD.64 R8, R0, -R2")
    assert long(threads, "R6", "R7") == [(x + y) & M64 for x, y in zip(LONG, OTHER, strict=True)]
    assert long(threads, "R8", "R9") == [(x - y) & M64 for x, y in zip(LONG, OTHER, strict=True)]


def test_two_carries_of_one_sum():
    threads = all_four().run("IADD3 R4, P0, P1, R0, R1, R2")
    beyond = [(a + b + c) >> 32 for a, b, c in zip(A, B, C, strict=True)]
    assert threads["P0"] == [n > 0 for n in beyond]
    assert threads["P1"] == [n > 1 for n in beyond]


def test_products():
    threads = all_four().run(
        "IMAD R4, R0, R1, R2",
        "IMAD.WIDE R6, R0, R1, R2",
        "IMAD.WIDE.U32 R8, R0, R1, R2",
        "IMAD.HI.U32 R10, R0, R1, RZ",
        "IMAD.MOV.U32 R11, RZ, RZ, R3",
        "IMAD.SHL.U32 R12, R0, 0x8, RZ",
    )
    rows = list(zip(A, B, OTHER, strict=True))
    assert threads["R4"] == [(a * b + c) & M32 for a, b, c in rows]
    assert long(threads, "R6", "R7") == [(signed(a) * signed(b) + c) & M64 for a, b, c in rows]
    assert long(threads, "R8", "R9") == [(a * b + c) & M64 for a, b, c in rows]
    assert threads["R10"] == [a * b >> 32 for a, b, _ in rows]
    assert threads["R11"] == D
    assert threads["R12"] == [8 * a & M32 for a in A]


def test_a_product_with_a_carry():
    threads = all_four().run("IMAD.WIDE.U32 R4, P0, R0, R1, R2", "IADD3.X R6, RZ, RZ, RZ, P0, !PT")
    sums = [a * b + c for a, b, c in zip(A, B, OTHER, strict=True)]
    assert long(threads, "R4", "R5") == [s & M64 for s in sums]
    assert threads["R6"] == [s >> 64 for s in sums]


def test_addresses_of_elements():
    """Low and high word of `pointer + 8 * index`, as compilers write it."""
    threads = Threads({0x160: 0xFFFFFF00, 0x164: 0x7F}, R0=A, R1=B).run(
        "LEA R4, P0, R0, c[0x0][0x160], 0x3", "LEA.HI.X R5, R0, c[0x0][0x164], R1, 0x3, P0"
    )
    assert long(threads, "R4", "R5") == [(0x7FFFFFFF00 + 8 * x) & M64 for x in LONG]
    threads = Threads({0x160: 0xFFFFFF00, 0x164: 0x7F}, R0=A).run(
        "LEA R4, P0, R0, c[0x0][0x160], 0x2", "LEA.HI.X.SX32 R5, R0, c[0x0][0x164], 0x2, P0"
    )
    assert long(threads, "R4", "R5") == [(0x7FFFFFFF00 + 4 * signed(x)) & M64 for x in A]
    assert all_four().run("LEA R4, R0, R1, 0x7")["R4"] == [
        (128 * a + b) & M32 for a, b in zip(A, B, strict=True)
    ]


@pytest.mark.parametrize("amount", [0, 1, 5, 31])
def test_shifts(amount):
    by = hex(amount)
    threads = all_four().run(
        f"SHF.L.U32 R4, R0, {by}, RZ",
        f"SHF.R.U32.HI R5, RZ, {by}, R0",
        f"SHF.R.S32.HI R6, RZ, {by}, R0",
        f"SHF.L.U64.HI R7, R0, {by}, R1",
        f"SHF.R.U64 R8, R0, {by}, R1",
        f"SHF.R.S64 R9, R0, {by}, R1",
        f"SHF.L.W.U32.HI R10, R0, {by}, R0",
        f"USHF.L.U32 UR4, 0x3, {by}, URZ",
    )
    assert threads["R4"] == [a << amount & M32 for a in A]
    assert threads["R5"] == [a >> amount for a in A]
    assert threads["R6"] == [signed(a) >> amount & M32 for a in A]
    assert threads["R7"] == [(x << amount) >> 32 & M32 for x in LONG]
    assert threads["R8"] == threads["R9"] == [x >> amount & M32 for x in LONG]
    assert threads["R10"] == [(a << amount | a >> 32 - amount) & M32 for a in A]
    assert threads["UR4"] == [3 << amount & M32]


def test_shifts_beyond_the_width():
    threads = all_four().run(
        "SHF.L.U32 R4, R0, 0x20, RZ", "SHF.R.U32.HI R5, RZ, 0x20, R0", "SHF.R.S32.HI R6, RZ, 0x28, R0"
    )
    assert set(threads["R4"]) == set(threads["R5"]) == {0}
    assert threads["R6"] == [M32 if a >> 31 else 0 for a in A]


@pytest.mark.parametrize("table", [0xC0, 0xFC, 0x3C, 0x78, 0x1B, 0xF8, 0x96, 0x00, 0xFF])
def test_logic_by_table(table):
    def wanted(a, b, c):
        return sum(
            (table >> (4 * (a >> n & 1) + 2 * (b >> n & 1) + (c >> n & 1)) & 1) << n for n in range(32)
        )

    threads = all_four().run(
        f"LOP3.LUT R4, R0, R1, R2, {table:#x}, !PT", f"LOP3.LUT P3, RZ, R0, R1, R2, {table:#x}, !PT"
    )
    expected = [wanted(*row) for row in zip(A, B, C, strict=True)]
    found = threads["R4"]
    assert found == expected or found == expected[:1] * len(found)
    truth = [value != 0 for value in expected]
    assert threads["P3"] in (truth, truth[:1])


@pytest.mark.parametrize(("name", "holds"), [
    ("LT", lambda x, y: x < y), ("LE", lambda x, y: x <= y), ("GT", lambda x, y: x > y),
    ("GE", lambda x, y: x >= y), ("EQ", lambda x, y: x == y), ("NE", lambda x, y: x != y),
])  # fmt: skip
def test_comparisons(name, holds):
    threads = all_four().run(
        f"ISETP.{name}.AND P0, PT, R0, R1, PT", f"ISETP.{name}.U32.AND P1, P2, R0, R1, PT"
    )
    assert threads["P0"] == [holds(signed(a), signed(b)) for a, b in zip(A, B, strict=True)]
    assert threads["P1"] == [holds(a, b) for a, b in zip(A, B, strict=True)]
    assert threads["P2"] == [not p for p in threads["P1"]]
    threads.run(f"ISETP.{name}.OR P3, PT, R0, R1, P1")
    assert threads["P3"] == [p or q for p, q in zip(threads["P0"], threads["P1"], strict=True)]
    # Of 64 bits: first the lower halves, then the upper ones.
    high = [d if n % 3 else b for n, (b, d) in enumerate(zip(B, D, strict=True))]
    other = [h << 32 | c for c, h in zip(C, high, strict=True)]
    threads = Threads(R0=A, R1=B, R2=C, R3=high).run(
        f"ISETP.{name}.U32.AND P0, PT, R0, R2, PT", f"ISETP.{name}.AND.EX P1, PT, R1, R3, PT, P0"
    )
    assert threads["P1"] == [holds(signed(x, 64), signed(y, 64)) for x, y in zip(LONG, other, strict=True)]
    threads.run(f"UISETP.{name}.U64.AND UP0, UPT, R0, R2, UPT")
    assert threads["UP0"] == [holds(x, y) for x, y in zip(LONG, other, strict=True)]


def test_choices():
    threads = all_four()
    threads.set("P0", [n % 2 == 0 for n in range(len(A))])
    threads.run(
        "SEL R4, R0, R1, P0",
        "IMNMX R5, R0, R1, PT",
        "IMNMX.U32 R6, R0, R1, !PT",
        "VIADDMNMX R7, R0, 0x1, R1, !PT",
    )
    assert threads["R4"] == [a if n % 2 == 0 else b for n, (a, b) in enumerate(zip(A, B, strict=True))]
    assert threads["R5"] == [min(a, b, key=signed) for a, b in zip(A, B, strict=True)]
    assert threads["R6"] == [max(a, b) for a, b in zip(A, B, strict=True)]
    assert threads["R7"] == [max((a + 1) & M32, b, key=signed) for a, b in zip(A, B, strict=True)]


def test_bytes_bits_and_signs():
    threads = all_four().run(
        "PRMT R4, R0, 0x5410, R1", "PRMT R5, R0, 0x9876, R1", "POPC R6, R0", "FLO.U32 R7, R0", "IABS R8, R0"
    )
    assert threads["R4"] == [(b & 0xFFFF) << 16 | a & 0xFFFF for a, b in zip(A, B, strict=True)]

    def byte(a, b, which):
        value = (b << 32 | a) >> 8 * (which & 7) & 255
        return value if which < 8 else 255 * (value >> 7)

    expected = [
        sum(byte(a, b, w) << 8 * n for n, w in enumerate((6, 7, 8, 9))) for a, b in zip(A, B, strict=True)
    ]
    assert threads["R5"] == expected
    assert threads["R6"] == [a.bit_count() for a in A]
    assert [x for x in threads["R7"] if x != M32] == [a.bit_length() - 1 for a in A if a]
    assert threads["R8"] == [abs(signed(a)) for a in A]


def test_constants():
    threads = Threads({0x160: 7, 0x164: 8, 0x168: 9}).run(
        "MOV R0, c[0x0][0x160]", "ULDC.64 UR4, c[0x0][0x164]", "HFMA2.MMA R1, -RZ, RZ, 1.5, 2", "HFMA2 R2, -RZ, RZ, 0, 0",
        "IMAD R3, R0, 0x2, R0", "MOV R4, 1.5", "CS2R R6, SRZ", "LDC R8, c[0x3][0x0]",
    )  # fmt: skip
    assert (threads["R0"], threads["UR4"], threads["UR5"], threads["R3"]) == ([7], [8], [9], [21])
    assert threads["R1"] == [0x3E004000]
    assert threads["R2"] == [0]
    assert threads["R4"] == [0x3FC00000]
    assert threads.is_unknown("R8")


def test_what_is_not_known():
    threads = Threads(R0=A).run(
        "LDG.E R1, [R0.64]",
        "IADD3 R2, R1, R0, RZ",
        "ISETP.GT.AND P0, PT, R1, RZ, PT",
        "LOP3.LUT R3, R1, RZ, RZ, 0xc0, !PT",
    )
    assert threads.is_unknown("R1")
    assert threads.is_unknown("R2")
    assert threads.is_unknown("P0")
    assert threads["R3"] == [0]


def test_conditions_that_are_half_known():
    assert conjunction(FALSE, UNKNOWN_TRUTH).known is True
    assert conjunction(TRUE, UNKNOWN_TRUTH).known is False
    assert disjunction(TRUE, UNKNOWN_TRUTH).known is True
    assert disjunction(FALSE, UNKNOWN_TRUTH).known is False


def test_parts_of_threads():
    mask = np.array([True, False, True])
    mixed = merge(mask, UNKNOWN, Lanes(np.array([4, 5, 6])))
    assert mixed.known.tolist() == [False, True, False]
    again = merge(mask, Lanes(np.array([1, 2, 3])), mixed)
    assert again.known is True
    assert again.data.tolist() == [1, 5, 3]


@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 10, 1000, 65535, 0x7FFFFFFF, 0x80000001, M32])
def test_divisions_as_the_compiler_writes_them(divisor):
    """Division without sign: a reciprocal, one step of Newton's method, and two corrections."""
    code = (
        "I2F.U32.RP R4, R1", "IADD3 R9, RZ, -R1, RZ", "ISETP.NE.U32.AND P2, PT, R1, RZ, PT", "MUFU.RCP R4, R4",
        "IADD3 R2, R4, 0xffffffe, RZ", "F2I.FTZ.U32.TRUNC.NTZ R3, R2", "MOV R2, RZ", "IMAD R9, R9, R3, RZ",
        "IMAD.HI.U32 R3, R3, R9, R2", "IMAD.HI.U32 R3, R3, R0, RZ", "IADD3 R5, -R3, RZ, RZ", "IMAD R0, R1, R5, R0",
        "ISETP.GE.U32.AND P0, PT, R0, R1, PT",
    )  # fmt: skip
    threads = Threads(R0=A, R1=[divisor] * len(A)).run(*code)
    quotients = []
    for rest, quotient, above in zip(threads["R0"], threads["R3"], threads["P0"], strict=True):
        if above:
            rest, quotient = (rest - divisor) & M32, quotient + 1
        if rest >= divisor:
            quotient += 1
        quotients.append(quotient)
    assert quotients == [a // divisor for a in A]


def test_conversions():
    threads = all_four().run(
        "I2F R4, R0", "I2FP.F32.U32 R5, R0", "F2I.TRUNC.NTZ R6, R4", "I2F.U64 R7, R0", "F2I.U64.TRUNC R8, R7"
    )

    def single(x):
        return struct.unpack("<f", struct.pack("<f", x))[0]

    def bits(x):
        return struct.unpack("<I", struct.pack("<f", x))[0]

    assert threads["R4"] == [bits(signed(a)) for a in A]
    assert threads["R5"] == [bits(a) for a in A]
    assert threads["R6"] == [min(int(single(signed(a))), 0x7FFFFFFF) & M32 for a in A]
    rounded = [int(single(x)) for x in LONG]
    assert long(threads, "R8", "R9")[:5] == [min(x, (1 << 63) - 1024) for x in rounded][:5]
