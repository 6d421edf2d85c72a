"""What the memory accesses of a warp cost: sectors and lines of global memory, passes through the banks of shared memory."""

from __future__ import annotations

import numpy as np

from orio_py.emulation.lanes import Array
from orio_py.emulation.launch import WARP
from orio_py.sass.instruction import Instruction

SECTOR = 32
LINE = 128
BANKS = 32
BANK_BYTES = 4

_SIZES = {"U8": 1, "S8": 1, "8": 1, "U16": 2, "S16": 2, "16": 2, "64": 8, "128": 16}
_NOWHERE = np.int64(1) << 62


def element_bytes(instruction: Instruction) -> int:
    """How many bytes a thread moves."""
    return next((_SIZES[word] for word in instruction.modifiers if word in _SIZES), 4)


def global_cost(addresses: Array, threads: Array, size: int) -> tuple[int, int]:
    """Sectors and lines that warps touch; `addresses` and `threads` have a row for each warp."""
    first, last = addresses // SECTOR, (addresses + size - 1) // SECTOR
    if (first == last)[threads].all():
        sectors = _different(np.where(threads, first, _NOWHERE))
    else:
        parts = np.concatenate(
            [np.where(threads, first, _NOWHERE), np.where(threads, last, _NOWHERE)], axis=1
        )
        sectors = _different(parts)
    # The unit takes lines one by one, and no more than 128 bytes of them at a time.
    lines = _different(np.where(threads, addresses // LINE, _NOWHERE))
    least = -(-np.count_nonzero(threads, axis=1) * size // LINE)
    return int(sectors.sum()), int(np.maximum(lines, np.minimum(least, sectors)).sum())


def shared_passes(addresses: Array, threads: Array, size: int) -> int:
    """Passes through the banks: threads that want different words of one bank go one after the other.

    Words of 8 bytes are moved for half a warp at a time, those of 16 bytes for a quarter (CUDA C++ Programming Guide).
    """
    parts = max(1, size // BANK_BYTES)
    lanes = WARP // parts if parts <= 4 else WARP // 4
    words = addresses // BANK_BYTES
    total = 0
    for start in range(0, WARP, lanes):
        chosen = words[:, start : start + lanes]
        wanted = threads[:, start : start + lanes]
        spread = np.concatenate([chosen + k for k in range(parts)], axis=1)
        spread = np.where(np.concatenate([wanted] * parts, axis=1), spread, _NOWHERE)
        total += int(_conflicts(spread).sum())
    return total


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
