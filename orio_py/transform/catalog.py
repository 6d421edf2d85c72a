"""The transformations that recipes can name."""

from __future__ import annotations

from orio_py.core.registry import Registry
from orio_py.transform import (
    array_copy,
    bound_replace,
    composite_entry,
    distribute,
    fuse,
    interchange,
    parallelize,
    peel,
    permute,
    pragma,
    prefetch,
    reg_tile,
    restrict,
    reverse,
    scalar_replace,
    skew,
    specialize,
    strip_mine,
    tile,
    unroll,
    unroll_and_jam,
    unroll_reduction,
    vectorize,
)
from orio_py.transform.entry import Entry

_ENTRIES: tuple[Entry, ...] = (
    unroll.ENTRY,
    unroll_and_jam.ENTRY,
    reg_tile.ENTRY,
    unroll_reduction.ENTRY,
    peel.ENTRY,
    tile.ENTRY,
    permute.ENTRY,
    skew.ENTRY,
    fuse.ENTRY,
    distribute.ENTRY,
    interchange.ENTRY,
    reverse.ENTRY,
    strip_mine.ENTRY,
    parallelize.ENTRY,
    vectorize.ENTRY,
    specialize.ENTRY,
    restrict.ENTRY,
    array_copy.ENTRY,
    scalar_replace.ENTRY,
    bound_replace.ENTRY,
    prefetch.ENTRY,
    pragma.ENTRY,
    composite_entry.ENTRY,
)

TRANSFORMATIONS: Registry[Entry] = Registry("transformation", ((e.name, e) for e in _ENTRIES))
"""Every transformation that a recipe can use."""

NOT_YET: frozenset[str] = frozenset(["MPIOverlap", "CUDA", "OpenCL"])
"""Transformations of the language that are known but not available."""
