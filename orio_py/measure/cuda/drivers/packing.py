"""Arguments of kernels in memory, as `cuLaunchKernel` wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from orio_py.measure.cuda.drivers.base import Address

ALIGNMENT = 16
"""Bytes; that of the largest vector types of CUDA that parameters have."""


def scalar(argument: Any) -> Any:
    """An argument as a number of its parameter's type; an address has 64 bits.

    Raises TypeError for what has no type of its own, such as a Python number: its size would be guessed.
    """
    if isinstance(argument, Address):
        return np.uint64(argument.value)
    if isinstance(argument, np.generic):
        return cast(Any, argument)
    raise TypeError(f"an argument of a kernel is a numpy scalar or an address, not {type(argument).__name__}")


def place_of(data: Any) -> int:
    """Where an array lies.  Raises ValueError for one with gaps: its bytes are not those that are copied."""
    if not data.flags.c_contiguous:
        raise ValueError("an array that is copied to or from a device must be contiguous")
    return data.ctypes.data


def one_buffer(arguments: Sequence[Any]) -> NDArray[np.uint8]:
    """The arguments as the members of a C structure, each aligned for its type (`CU_LAUNCH_PARAM_BUFFER_POINTER`).

    Structures among them need types with `align=True`.
    """
    content = bytearray()
    for value in map(scalar, arguments):
        content.extend(bytes(-len(content) % value.dtype.alignment))
        content.extend(value.tobytes())
    return np.frombuffer(bytes(content), np.uint8)


class Packed:
    """The arguments one after another, and the array of their addresses (`kernelParams`).

    The driver reads them during the call, so that this must live as long.
    """

    def __init__(self, arguments: Sequence[Any]) -> None:
        values = [scalar(argument).tobytes() for argument in arguments]
        places: list[int] = []
        size = 0
        for value in values:
            places.append(size)
            size += -(-len(value) // ALIGNMENT) * ALIGNMENT
        self._memory = np.zeros(size + ALIGNMENT, np.uint8)
        start = -self._memory.ctypes.data % ALIGNMENT
        for place, value in zip(places, values, strict=True):
            self._memory[start + place : start + place + len(value)] = np.frombuffer(value, np.uint8)
        base = self._memory.ctypes.data + start
        self._pointers: NDArray[np.uint64] = np.array([base + place for place in places], np.uint64)

    @property
    def address(self) -> int:
        """Where the array of addresses stands; 0 without arguments."""
        return self._pointers.ctypes.data if len(self._pointers) else 0
