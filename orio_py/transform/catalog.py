"""The transformations that recipes can name."""

from __future__ import annotations

from orio_py.core.registry import Registry
from orio_py.transform.composite import entry as composite_entry
from orio_py.transform.entry import Entry
from orio_py.transform.parallel import parallelize, pragma, vectorize
from orio_py.transform.restructuring import distribute, fuse, interchange, reverse, strip_mine
from orio_py.transform.storage import array_copy, bound_replace, prefetch, scalar_replace
from orio_py.transform.tiling import permute, skew, tile
from orio_py.transform.unrolling import peel, reg_tile, unroll, unroll_and_jam, unroll_reduction
from orio_py.transform.versions import restrict, specialize

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
