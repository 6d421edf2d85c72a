"""What integer instructions compute: those that addresses, trip counts and conditions are made of.

Each function takes the values of the operands behind the results, and the modifiers, and gives the registers of the
result, the low one first.  What is not here has an unknown result, as have loads and sums of floating-point numbers.  The
meanings are those of the CUDA Binary Utilities' instruction set, and where that is silent, of what the compiler does
with an instruction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orio_py.emulation.lanes import (
    MASK,
    UNKNOWN,
    Array,
    Lanes,
    apply,
    apply_wide,
    known_of,
    signed,
)

Words = frozenset[str]
Computed = tuple[Lanes, ...]


def carried_sum(terms: Sequence[Lanes]) -> tuple[Lanes, Lanes]:
    """The sum of terms that are not cut to 32 bits yet, and what goes beyond them."""
    known = known_of(tuple(terms))
    if known is False:
        return UNKNOWN, UNKNOWN
    total: Array = terms[0].data
    for term in terms[1:]:
        total = total + term.data
    return Lanes(total & MASK, known), Lanes(total >> 32, known)


def multiply_add(words: Words, a: Lanes, b: Lanes, c: Lanes) -> Computed:
    """`IMAD`, of 32 bits."""
    return (apply(lambda x, y, z: signed(x) * signed(y) + z, a, b, c),)


def multiply_add_wide(words: Words, a: Lanes, b: Lanes, c: Lanes) -> Computed:
    """`IMAD.WIDE`: the product of 32 bits each and a sum of 64 bits."""
    if "U32" in words:
        return apply_wide(lambda x, y, z: x * y + z, a, b, c)
    return apply_wide(lambda x, y, z: signed(x) * signed(y) + z, a, b, c)


def multiply_add_high(words: Words, a: Lanes, b: Lanes, c: Lanes) -> Computed:
    """`IMAD.HI`: the upper half of the same."""
    return (multiply_add_wide(words, a, b, c)[1],)


def logic(a: Lanes, b: Lanes, c: Lanes, table: int) -> Lanes:
    """`LOP3`: a bit of the result is that of the table whose number the three bits make."""
    if table == 0xC0:
        return _masked(a, b)
    if table == 0xFC:
        return apply(lambda x, y: x | y, a, b)
    if table == 0x3C:
        return apply(lambda x, y: x ^ y, a, b)

    def combine(x: Array, y: Array, z: Array) -> Array:
        result = np.zeros(1, np.int64)
        for number in range(8):
            if table >> number & 1:
                parts = (x if number & 4 else ~x, y if number & 2 else ~y, z if number & 1 else ~z)
                result = result | (parts[0] & parts[1] & parts[2])
        return result

    return apply(combine, a, b, c)


def _masked(a: Lanes, b: Lanes) -> Lanes:
    """`a & b`, which is zero where one of them is, whatever the other."""
    if (a.is_unknown and _is_zero(b)) or (b.is_unknown and _is_zero(a)):
        return Lanes(np.zeros(1, np.int64))
    return apply(lambda x, y: x & y, a, b)


def _is_zero(value: Lanes) -> bool:
    return value.known is True and not value.data.any()


def shift(words: Words, low: Lanes, amount: Lanes, high: Lanes) -> Lanes:
    """`SHF`: 32 of the 64 bits that two registers make, after a shift."""
    is_long = bool(words & {"U64", "S64"})
    most = 63 if is_long or "W" in words else 32
    takes_high, goes_left = "HI" in words, "L" in words
    has_sign = bool(words & {"S32", "S64"})

    def move(lo: Array, by: Array, hi: Array) -> Array:
        steps = by & 31 if "W" in words and not is_long else np.minimum(by, most)
        value = hi << 32 | lo
        if goes_left:
            moved = np.where(steps > 63, 0, value << np.minimum(steps, 63))
        elif has_sign:
            moved = value >> np.minimum(steps, 63)
        else:
            # NumPy shifts 64 bits without sign as another type.
            moved = (value.astype(np.uint64) >> np.minimum(steps, 63).astype(np.uint64)).astype(np.int64)
        return moved >> 32 if takes_high else moved

    return apply(move, low, amount, high)


def scaled_sum(
    words: Words, a: Lanes, b: Lanes, high: Lanes, amount: Lanes, carry: Lanes
) -> tuple[Lanes, Lanes]:
    """`LEA`: `b` and `a`, of 64 bits where `high` has the upper half, times a power of two; with what goes beyond 32 bits."""
    takes_high, sign = "HI" in words, "SX32" in words

    def add(x: Array, y: Array, z: Array, by: Array, more: Array) -> Array:
        value = signed(x) if sign else z << 32 | x
        moved = value << by
        part = (moved >> 32) & MASK if takes_high else moved & MASK
        return part + y + more

    known = known_of((a, b, high, amount, carry))
    if known is False:
        return UNKNOWN, UNKNOWN
    total = add(a.data, b.data, high.data, amount.data, carry.data)
    return Lanes(total & MASK, known), Lanes(total >> 32, known)


def permute(a: Lanes, selector: Lanes, b: Lanes) -> Lanes:
    """`PRMT`: four bytes of eight."""

    def choose(x: Array, how: Array, y: Array) -> Array:
        both = y << 32 | x
        result = np.zeros(1, np.int64)
        for place in range(4):
            which = how >> 4 * place & 15
            byte = both >> 8 * (which & 7) & 255
            byte = np.where(which & 8, np.where(byte & 128, 255, 0), byte)
            result = result | byte << 8 * place
        return result

    return apply(choose, a, selector, b)


def smaller(words: Words, a: Lanes, b: Lanes, wants_smaller: Lanes) -> Lanes:
    """`IMNMX`: the smaller of two numbers where the condition holds, the larger elsewhere."""

    def choose(x: Array, y: Array, least: Array) -> Array:
        below = x < y if "U32" in words else signed(x) < signed(y)
        return np.where(below == least, x, y)

    return apply(choose, a, b, wants_smaller)


def to_float(words: Words, value: Lanes) -> Lanes:
    """`I2F` to single precision: the bits of the number, rounded to nearest or up (`RP`)."""
    is_signed = not words & {"U32", "U64"}
    is_long = bool(words & {"U64", "S64"})

    def convert(x: Array) -> Array:
        number = (x if is_long or not is_signed else signed(x)).astype(np.float64)
        if is_long and not is_signed:
            number = np.where(x < 0, number + 2.0**64, number)
        single = number.astype(np.float32)
        if "RP" in words:
            single = np.where(single < number, np.nextafter(single, np.float32(np.inf)), single)
        return _bits(single)

    return apply(convert, value)


def from_float(words: Words, value: Lanes) -> Computed:
    """`F2I` from single precision: cut, rounded down or up, or to nearest; within the range of the result."""
    is_signed = not words & {"U32", "U64"}
    bits = 64 if words & {"U64", "S64"} else 32
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)
    high = min(high, 2**63 - 1024)  # what a double of this size can be made an integer of
    rounding = (
        np.trunc
        if "TRUNC" in words
        else np.floor
        if "FLOOR" in words
        else np.ceil
        if "CEIL" in words
        else np.rint
    )

    def convert(x: Array) -> Array:
        number = np.nan_to_num(_single(x).astype(np.float64))
        return np.clip(rounding(number), low, high).astype(np.int64)

    return apply_wide(convert, value) if bits == 64 else (apply(convert, value),)


def reciprocal(value: Lanes) -> Lanes:
    """`MUFU.RCP`: the compiler divides integers with it, and corrects what the last bits are wrong by."""

    def divide(x: Array) -> Array:
        with np.errstate(all="ignore"):
            return _bits((1.0 / _single(x).astype(np.float64)).astype(np.float32))

    return apply(divide, value)


def bit_count(x: Array) -> Array:
    """`POPC`."""
    count = x - (x >> 1 & 0x55555555)
    count = (count & 0x33333333) + (count >> 2 & 0x33333333)
    return ((count + (count >> 4) & 0x0F0F0F0F) * 0x01010101 & MASK) >> 24


def leading_bit(x: Array) -> Array:
    """`FLO`: the number of the highest bit that is set, -1 for zero."""
    with np.errstate(all="ignore"):
        return np.where(x > 0, np.log2(np.maximum(x, 1).astype(np.float64)).astype(np.int64), -1)


def _single(x: Array) -> Array:
    return np.ascontiguousarray(x, np.int64).astype(np.uint32).view(np.float32)


def _bits(x: Array) -> Array:
    return np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.int64)
