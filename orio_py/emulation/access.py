"""What the memory accesses of a warp cost: sectors of global memory, and passes through the unit.

The first-level cache lies in the memory that shared memory is of, with the same banks, and looks four lines up in a cycle: elements
that lie 31 apart take 9 cycles, those that lie 32 apart 32.  Source: RRZE-HPC/gpu-benches, gpu-strides, measured on A100, A40, H200.
"""

from __future__ import annotations

import numpy as np

from orio_py.emulation.lanes import Array
from orio_py.sass.instruction import Instruction

SECTOR = 32
LINE = 128
BANKS = 32
BANK_BYTES = 4

_SIZES = {"U8": 1, "S8": 1, "8": 1, "U16": 2, "S16": 2, "16": 2, "64": 8, "128": 16}
_AT_A_TIME, _LOOK_UP = 4, 5
"""Lines that are looked up in a cycle; what is added to them, so that one takes a cycle, 8 take 3, 16 take 5 and 32 take 9."""

_NOWHERE = np.int64(1) << 62
"""Above all addresses."""


def element_bytes(instruction: Instruction) -> int:
    """How many bytes a thread moves."""
    return next((_SIZES[word] for word in instruction.modifiers if word in _SIZES), 4)


class AccessPatterns:
    """The costs of accesses: the same for all that lie alike, within a line or within a word."""

    def __init__(self) -> None:
        self._found: dict[tuple[bool, int, bytes, bytes], tuple[int, int]] = {}

    def cost(self, addresses: Array, threads: Array, size: int, *, is_shared: bool) -> tuple[int, int]:
        """Sectors and passes of the warps whose addresses are the rows."""
        unit = BANK_BYTES if is_shared else LINE
        relative = addresses - addresses[0, 0] // unit * unit
        key = (is_shared, size, relative.tobytes(), threads.tobytes())
        if key not in self._found:
            if is_shared:
                self._found[key] = (0, shared_passes(relative, threads, size))
            else:
                self._found[key] = global_cost(relative, threads, size)
        return self._found[key]


def global_cost(addresses: Array, threads: Array, size: int) -> tuple[int, int]:
    """Sectors that warps touch, and passes; `addresses` and `threads` have a row for each warp."""
    first, last = addresses // SECTOR, (addresses + size - 1) // SECTOR
    if (first == last)[threads].all():
        sectors = _different(np.where(threads, first, _NOWHERE))
    else:
        parts = np.concatenate(
            [np.where(threads, first, _NOWHERE), np.where(threads, last, _NOWHERE)], axis=1
        )
        sectors = _different(parts)
    lines = _different(np.where(threads, addresses // LINE, _NOWHERE))
    looked_up = np.where(lines > 0, (lines + _LOOK_UP) // _AT_A_TIME, 0)
    return int(sectors.sum()), int(np.maximum(looked_up, bank_conflicts(addresses, threads, size)).sum())


def shared_passes(addresses: Array, threads: Array, size: int) -> int:
    """Passes of all warps through the banks."""
    return int(bank_conflicts(addresses, threads, size).sum())


def bank_conflicts(addresses: Array, threads: Array, size: int) -> Array:
    """Passes of each warp through the banks: as many as there are different words of one bank that a warp wants.

    A word that several threads want is given to all of them at once.  Words of 8 and 16 bytes are moved for parts of a warp, but
    for parts together where that makes no conflict, which comes to the same.
    """
    parts = max(1, size // BANK_BYTES)
    words = np.where(threads, addresses // BANK_BYTES, _NOWHERE)
    spread = np.concatenate([words + k for k in range(parts)], axis=1)
    return _conflicts(spread)


def _conflicts(words: Array) -> Array:
    """The most different words that a row wants of one bank; 0 for a row without any."""
    ordered = np.sort(words, axis=1)
    is_new = ordered < _NOWHERE
    is_new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    rows = np.broadcast_to(np.arange(len(words))[:, None], ordered.shape)
    counts = np.bincount((rows * BANKS + ordered % BANKS)[is_new], minlength=len(words) * BANKS)
    return counts.reshape(len(words), BANKS).max(axis=1)


def _different(numbers: Array) -> Array:
    """How many different numbers each row has, `_NOWHERE` left out."""
    ordered = np.sort(numbers, axis=1)
    is_new = ordered < _NOWHERE
    is_new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return is_new.sum(axis=1)
