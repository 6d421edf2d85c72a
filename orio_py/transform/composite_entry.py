"""Composite in the catalog: its keys."""

from __future__ import annotations

from orio_py.transform.arguments import sequences, unroll_factors
from orio_py.transform.composite import Composite
from orio_py.transform.composite_arguments import disabled_only, flagged_texts, pragmas, tiles
from orio_py.transform.entry import FORCE, ArgumentSpec, Entry


def _later(name: str, kind: str, meaning: str, *, flagged: bool = False) -> ArgumentSpec:
    return ArgumentSpec(
        name, kind, meaning + " (not available yet)", disabled_only, "off", flagged, available=False
    )


ENTRY = Entry(
    "Composite",
    "several transformations in one, in a fixed order",
    (
        ArgumentSpec(
            "tile",
            "list of (loopid, tsize, newindex)",
            "tile these loops, one after the other",
            tiles,
            "[]",
        ),
        ArgumentSpec("permut", "list of lists of loops", "reorder nests", sequences, "[]"),
        _later("arrcopy", "list of (bool, …)", "copy arrays into buffers", flagged=True),
        _later("regtile", "([loops], [factors])", "register tiling"),
        ArgumentSpec(
            "unrolljam",
            "([loops], [factors])",
            "unroll these loops and jam the copies of inner loops",
            unroll_factors,
            "([], [])",
        ),
        _later("scalarreplace", "bool or (bool, …)", "array elements in scalars", flagged=True),
        _later("boundreplace", "bool or (bool, …)", "loop bounds in scalars", flagged=True),
        ArgumentSpec(
            "pragma",
            "list of (loopid, text or list of texts)",
            "pragmas before these loops",
            pragmas,
            "[]",
        ),
        ArgumentSpec(
            "openmp",
            "(bool, text or list of texts)",
            "pragmas before each outermost loop",
            flagged_texts,
            "(False, '')",
            flagged=True,
        ),
        ArgumentSpec(
            "vector",
            "(bool, text or list of texts)",
            "pragmas before each innermost loop",
            flagged_texts,
            "(False, '')",
            flagged=True,
        ),
        _later("cuda", "(threadCount, cacheBlocks, pinHostMem, streamCount)", "a CUDA kernel"),
        FORCE,
    ),
    Composite,
)
