"""Composite in the catalog: its keys; `composite.ORDER` says when each has its turn."""

from __future__ import annotations

from functools import partial

from orio_py.kernel.backend import Backend
from orio_py.kernel.backends import BACKENDS
from orio_py.transformation.composite import arguments as keys
from orio_py.transformation.composite.composite import Composite, schedule
from orio_py.transformation.composite.steps import ScheduleStep
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry

_TILES = "list of (loopid, tsize, newindex)"
_FACTORS = "([loops], [factors])"


def _composite(*, force: bool = False, **given: tuple[ScheduleStep, ...]) -> Composite:
    return schedule(given, force=force)


def _kernels(backend: Backend) -> ArgumentSpec:
    by_name = "bool or (bool, (argument, value), …)"
    positions = f"({', '.join(backend.positions)}), " if backend.positions else ""
    read = partial(keys.kernels, backend)
    return ArgumentSpec(backend.name, positions + by_name, backend.summary, read, "False", flagged=True)


ENTRY = Entry(
    "Composite",
    "several transformations in one, in a fixed order",
    (
        ArgumentSpec(
            "specialize",
            "list of (name, values, aligned, alignment)",
            "versions for values of a variable",
            keys.versions,
            "[]",
        ),
        ArgumentSpec(
            "peel", "list of (loopid, first, last)", "run iterations outside their loops", keys.peels, "[]"
        ),
        ArgumentSpec(
            "distribute",
            "list of loopid or (loopid, groups)",
            "split loops by statement",
            keys.distributions,
            "[]",
        ),
        ArgumentSpec(
            "fuse", "list of lists of loops, or of ([loops], depth)", "fuse loops", keys.fusions, "[]"
        ),
        ArgumentSpec("reverse", "list of loopid", "run loops backwards", keys.reversals, "[]"),
        ArgumentSpec("skew", "list of (loop, by, factor)", "skew loops by outer ones", keys.skews, "[]"),
        ArgumentSpec(
            "interchange", "list of (loop, loop)", "exchange pairs of loops", keys.interchanges, "[]"
        ),
        ArgumentSpec("stripmine", _TILES, "run these loops in blocks", keys.strips, "[]"),
        ArgumentSpec(
            "tile",
            f"{_TILES}, or of ([loops], [sizes], [indices]) for a band",
            "tile these loops, one after the other",
            keys.tiles,
            "[]",
        ),
        ArgumentSpec("permut", "list of lists of loops", "reorder nests", keys.orders, "[]"),
        ArgumentSpec(
            "arrcopy",
            "list of (bool, aref, sizes, suffix, dtype)",
            "copy parts of arrays into buffers",
            keys.array_copies,
            "[]",
            flagged=True,
        ),
        ArgumentSpec(
            "regtile",
            _FACTORS,
            "unroll nests and jam the copies, bounds of any form",
            keys.register_tiles,
            "([], [])",
        ),
        ArgumentSpec(
            "unrolljam",
            _FACTORS,
            "unroll these loops and jam the copies of inner loops",
            keys.jams,
            "([], [])",
        ),
        ArgumentSpec(
            "unrollreduction", _FACTORS, "unroll reductions into partial results", keys.reductions, "([], [])"
        ),
        ArgumentSpec(
            "scalarreplace",
            "bool or (bool, dtype, prefix)",
            "keep array elements in scalars",
            keys.scalars,
            "False",
            flagged=True,
        ),
        ArgumentSpec(
            "boundreplace",
            "bool or (bool, lprefix, uprefix)",
            "keep bounds in constants",
            keys.bounds,
            "False",
            flagged=True,
        ),
        ArgumentSpec(
            "prefetch",
            "list of (bool, aref, distance, locality, write)",
            "prefetch array elements",
            keys.prefetches,
            "[]",
            flagged=True,
        ),
        ArgumentSpec(
            "pragma",
            "list of (loopid, text or list of texts)",
            "pragmas before these loops",
            keys.pragmas,
            "[]",
        ),
        ArgumentSpec(
            "parallelize",
            "bool or (bool, schedule, collapse, num_threads)",
            "run each outermost loop in parallel, clauses inferred",
            keys.threads,
            "False",
            flagged=True,
        ),
        ArgumentSpec(
            "openmp",
            "(bool, text or list of texts)",
            "pragmas before each outermost loop",
            keys.openmp,
            "(False, '')",
            flagged=True,
        ),
        ArgumentSpec(
            "vectorize",
            "bool or (bool, aligned, alignment, simdlen)",
            "`omp simd` before each innermost loop, clauses inferred",
            keys.vectors,
            "False",
            flagged=True,
        ),
        ArgumentSpec(
            "vector",
            "(bool, text or list of texts)",
            "pragmas before each innermost loop",
            keys.vector,
            "(False, '')",
            flagged=True,
        ),
        ArgumentSpec(
            "restrict",
            "bool or (bool, arrays)",
            "reach arrays through restrict pointers",
            keys.promises,
            "False",
            flagged=True,
        ),
        *(_kernels(backend) for backend in BACKENDS.values()),
        FORCE,
    ),
    _composite,
    takes_blocks=True,
)
