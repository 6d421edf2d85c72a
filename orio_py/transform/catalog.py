"""The transformations that recipes can name."""

from __future__ import annotations

from orio_py.core.registry import Registry
from orio_py.transform import composite_entry, permute, pragma, tile, unroll
from orio_py.transform.entry import Entry

_ENTRIES: tuple[Entry, ...] = (
    unroll.ENTRY,
    tile.ENTRY,
    permute.ENTRY,
    pragma.ENTRY,
    composite_entry.ENTRY,
)

TRANSFORMATIONS: Registry[Entry] = Registry("transformation", ((e.name, e) for e in _ENTRIES))
"""Every transformation that a recipe can use."""

NOT_YET: frozenset[str] = frozenset(
    ["UnrollJam", "RegTile", "ScalarReplace", "BoundReplace", "ArrCopy", "MPIOverlap", "CUDA", "OpenCL"]
)
"""Transformations of the language that are known but not available."""
