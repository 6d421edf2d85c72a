"""Arguments of kernels in memory, compared with what a C compiler's rules make of them."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from orio_py.measure.cuda.drivers.base import Address
from orio_py.measure.cuda.drivers.packing import Packed, one_buffer, scalar

VALUES = [
    np.int8(-1),
    np.float64(0.1),
    np.int16(2),
    Address(0x7F00_1234_5678),
    np.bool_(True),
    np.uint64(9),
    np.int8(4),
]


class Structure(ctypes.Structure):
    _fields_ = (
        ("a", ctypes.c_int8),
        ("b", ctypes.c_double),
        ("c", ctypes.c_int16),
        ("d", ctypes.c_void_p),
        ("e", ctypes.c_bool),
        ("f", ctypes.c_uint64),
        ("g", ctypes.c_int8),
    )


def test_one_buffer_is_laid_out_as_a_structure():
    expected = bytes(Structure(-1, 0.1, 2, 0x7F00_1234_5678, True, 9, 4))
    size = Structure.g.offset + 1  # without what would align the next structure
    assert one_buffer(VALUES).tobytes() == expected[:size]
    assert one_buffer([]).nbytes == 0


def test_the_array_names_a_place_for_each_argument():
    packed = Packed(VALUES)
    places = (ctypes.c_uint64 * len(VALUES)).from_address(packed.address)
    for place, value in zip(places, map(scalar, VALUES), strict=True):
        assert place % 16 == 0
        assert ctypes.string_at(place, value.nbytes) == value.tobytes()
    assert Packed([]).address == 0


@pytest.mark.parametrize("value", [1, 2.5, True, None, "x", np.zeros(3)])
def test_what_has_no_type_is_refused(value):
    with pytest.raises(TypeError, match="numpy scalar or an address"):
        scalar(value)
