"""The transformations that recipes can name.

A recipe uses two or three of them, and to load all takes longer than to answer a finished task.  So the
table holds modules, each loaded when its transformation is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import chain

from orio_py.kernel.backends import BY_TITLE
from orio_py.transformation.entry import Entry

_MODULES: Mapping[str, str] = {
    "Unroll": "unrolling.unroll",
    "UnrollJam": "unrolling.unroll_and_jam",
    "RegTile": "unrolling.reg_tile",
    "UnrollReduction": "unrolling.unroll_reduction",
    "Peel": "unrolling.peel",
    "Tile": "tiling.tile",
    "Permut": "tiling.permute",
    "Skew": "tiling.skew",
    "Fuse": "restructuring.fuse",
    "Distribute": "restructuring.distribute",
    "Interchange": "restructuring.interchange",
    "Reverse": "restructuring.reverse",
    "Coalesce": "restructuring.coalesce",
    "StripMine": "restructuring.strip_mine",
    "Parallelize": "parallel.parallelize",
    "Vectorize": "parallel.vectorize",
    "OpenMPTarget": "offload.openmp_target",
    "OpenACC": "offload.openacc",
    "DeviceData": "offload.device_data",
    "Specialize": "versions.specialize",
    "Restrict": "versions.restrict",
    "ArrCopy": "storage.array_copy",
    "ScalarReplace": "storage.scalar_replace",
    "BoundReplace": "storage.bound_replace",
    "Prefetch": "storage.prefetch",
    "Contract": "contraction.contract",
    "Pragma": "parallel.pragma",
    "Composite": "composite.entry",
}
"""The module below `orio_py.transformation` that holds each transformation's `ENTRY`; those of backends are theirs."""


class Catalog(Mapping[str, Entry]):
    """The entries by name."""

    def __getitem__(self, name: str) -> Entry:
        if name in BY_TITLE:
            entry = BY_TITLE[name].load(BY_TITLE[name].transformation)
        else:
            entry = import_module(f"orio_py.transformation.{_MODULES[name]}").ENTRY
        assert isinstance(entry, Entry)
        assert entry.name == name
        return entry

    def __iter__(self) -> Iterator[str]:
        return chain(_MODULES, BY_TITLE)

    def __len__(self) -> int:
        return len(_MODULES) + len(BY_TITLE)


TRANSFORMATIONS = Catalog()
"""Every transformation that a recipe can use."""

NOT_YET: frozenset[str] = frozenset(["MPIOverlap"])
"""Transformations of the language that are known but not available."""
