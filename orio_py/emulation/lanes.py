"""Values of all threads that are followed: known numbers, or nothing known.

A value is an array of 64-bit integers, one for each thread or one for all; registers hold 32 bits of them, without sign.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MASK = 0xFFFFFFFF
SIGN = 0x80000000


@dataclass(frozen=True, slots=True)
class Lanes:
    """A value: `data` for each thread (or one for all), and for which of them it is known."""

    data: Array
    known: bool | Array = True

    @property
    def is_unknown(self) -> bool:
        """Whether it is known for no thread."""
        return self.known is False


UNKNOWN = Lanes(np.zeros(1, np.int64), False)
ZERO = Lanes(np.zeros(1, np.int64))
TRUE = Lanes(np.ones(1, np.bool_))
FALSE = Lanes(np.zeros(1, np.bool_))


def constant(value: int) -> Lanes:
    """The same number for all threads, in 32 bits."""
    return Lanes(np.array([value & MASK], np.int64))


def both(a: bool | Array, b: bool | Array) -> bool | Array:
    """Where two values are both known."""
    if a is True:
        return b
    if b is True or a is False:
        return a
    return False if b is False else a & b


def known_of(operands: tuple[Lanes, ...]) -> bool | Array:
    """Where all operands are known."""
    known: bool | Array = True
    for operand in operands:
        known = both(known, operand.known)
    return known


Unary = Callable[[Array], Any]
Binary = Callable[[Array, Array], Any]
Ternary = Callable[[Array, Array, Array], Any]


@overload
def apply(function: Unary, a: Lanes, /) -> Lanes: ...
@overload
def apply(function: Binary, a: Lanes, b: Lanes, /) -> Lanes: ...
@overload
def apply(function: Ternary, a: Lanes, b: Lanes, c: Lanes, /) -> Lanes: ...
def apply(function: Callable[..., Any], *operands: Lanes) -> Lanes:
    """A function of known values, in 32 bits; unknown where one of them is."""
    known = known_of(operands)
    if known is False:
        return UNKNOWN
    return Lanes(function(*(o.data for o in operands)) & MASK, known)


@overload
def apply_wide(function: Unary, a: Lanes, /) -> tuple[Lanes, Lanes]: ...
@overload
def apply_wide(function: Ternary, a: Lanes, b: Lanes, c: Lanes, /) -> tuple[Lanes, Lanes]: ...
def apply_wide(function: Callable[..., Any], *operands: Lanes) -> tuple[Lanes, Lanes]:
    """A function whose result has 64 bits, as two registers: the low one first."""
    known = known_of(operands)
    if known is False:
        return UNKNOWN, UNKNOWN
    value = function(*(o.data for o in operands))
    return Lanes(value & MASK, known), Lanes(value >> 32 & MASK, known)


def compare(function: Binary, a: Lanes, b: Lanes) -> Lanes:
    """A condition on known values."""
    known = both(a.known, b.known)
    return UNKNOWN_TRUTH if known is False else Lanes(function(a.data, b.data), known)


UNKNOWN_TRUTH = Lanes(np.zeros(1, np.bool_), False)


def signed(data: Array) -> Array:
    """32 bits as a number with a sign."""
    return (data ^ SIGN) - SIGN


def wide(low: Lanes, high: Lanes) -> Lanes:
    """Two registers as one number of 64 bits, with a sign."""
    known = both(low.known, high.known)
    return UNKNOWN if known is False else Lanes(high.data << 32 | low.data, known)


def merge(mask: Array, new: Lanes, old: Lanes) -> Lanes:
    """`new` for the threads of the mask, `old` for the others."""
    if new is old:
        return old
    data = np.where(mask, new.data, old.data)
    if new.known is True and old.known is True:
        return Lanes(data)
    known = np.where(mask, new.known, old.known)
    return Lanes(data, True if known.all() else known if known.any() else False)


def inverse(value: Lanes) -> Lanes:
    """The opposite of a condition."""
    return Lanes(~value.data, value.known)


def conjunction(a: Lanes, b: Lanes) -> Lanes:
    """Both conditions: false where one is, whatever the other."""
    data = a.data & b.data
    if a.known is True and b.known is True:
        return Lanes(data)
    known = (a.known & b.known) | (a.known & ~a.data) | (b.known & ~b.data)
    return Lanes(data, _simpler(known))


def disjunction(a: Lanes, b: Lanes) -> Lanes:
    """One of two conditions, or both."""
    return inverse(conjunction(inverse(a), inverse(b)))


def _simpler(known: Any) -> bool | Array:
    found = np.asarray(known)
    return True if found.all() else found if found.any() else False
