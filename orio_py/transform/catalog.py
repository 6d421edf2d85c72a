"""The transformations that recipes can name, with their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.core.registry import Registry
from orio_py.transform import arguments as args
from orio_py.transform.arguments import ArgumentSpec
from orio_py.transform.base import Transformation
from orio_py.transform.composite import Composite
from orio_py.transform.permute import Permut
from orio_py.transform.pragma import Pragma
from orio_py.transform.tile import Tile
from orio_py.transform.unroll import Unroll

_FORCE = ArgumentSpec(
    "force",
    "True or False",
    "apply it where the dependence test cannot decide",
    args.boolean,
    default="False",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A transformation of the catalog: how it is made from arguments, and what those are."""

    name: str
    summary: str
    arguments: tuple[ArgumentSpec, ...]
    build: Callable[..., Transformation]

    def argument(self, name: str) -> ArgumentSpec | None:
        """The argument of that name."""
        return next((a for a in self.arguments if a.name == name), None)

    def make(self, values: Mapping[str, Value]) -> Transformation:
        """The transformation with the given argument values.  Raises Refusal: ORIO-T009 to T016."""
        converted: dict[str, object] = {}
        for argument in self.arguments:
            if argument.name in values:
                result = argument.convert(values[argument.name], argument.name)
                if argument.available:
                    converted[argument.name] = result
        return self.build(**converted)


_UNROLL = Entry(
    "Unroll",
    "repeat a loop's body several times per iteration",
    (
        ArgumentSpec("ufactor", "integer, at least 1", "copies of the body", args.positive_int),
        ArgumentSpec(
            "parallelize",
            "True or False",
            "run the main loop's iterations in parallel (OpenMP)",
            args.boolean,
            default="False",
        ),
        _FORCE,
    ),
    Unroll,
)

_TILE = Entry(
    "Tile",
    "run a loop in blocks of consecutive iterations",
    (
        ArgumentSpec(
            "tsize",
            "integer, at least 1, a multiple of the loop's step",
            "length of a block in index values",
            args.positive_int,
        ),
        ArgumentSpec("tindex", "C identifier", "index of the new loop over the blocks", args.new_index),
        _FORCE,
    ),
    Tile,
)

_PERMUT = Entry(
    "Permut",
    "exchange the loops of a perfect nest",
    (
        ArgumentSpec(
            "seq",
            "list of loops: 'i', ['i'] for one that may be missing, ('ii', 'i') for the first that exists",
            "the new order, outermost first",
            args.sequence,
        ),
        _FORCE,
    ),
    Permut,
)

_PRAGMA = Entry(
    "Pragma",
    "put pragma lines before a statement",
    (
        ArgumentSpec("pragma_str", "string or list of strings", "what follows `#pragma`", args.texts),
        _FORCE,
    ),
    Pragma,
)


def _later(name: str, kind: str, meaning: str, *, flagged: bool = False) -> ArgumentSpec:
    return ArgumentSpec(
        name, kind, meaning + " (not available yet)", args.disabled_only, "off", flagged, available=False
    )


_COMPOSITE = Entry(
    "Composite",
    "several transformations in one, in a fixed order",
    (
        ArgumentSpec(
            "tile",
            "list of (loopid, tsize, newindex)",
            "tile these loops, one after the other",
            args.tiles,
            "[]",
        ),
        ArgumentSpec("permut", "list of lists of loops", "reorder nests", args.sequences, "[]"),
        _later("arrcopy", "list of (bool, …)", "copy arrays into buffers", flagged=True),
        _later("regtile", "([loops], [factors])", "register tiling"),
        ArgumentSpec(
            "unrolljam",
            "([loops], [factors])",
            "unroll these loops and jam the copies of inner loops",
            args.unroll_factors,
            "([], [])",
        ),
        _later("scalarreplace", "bool or (bool, …)", "array elements in scalars", flagged=True),
        _later("boundreplace", "bool or (bool, …)", "loop bounds in scalars", flagged=True),
        ArgumentSpec(
            "pragma",
            "list of (loopid, text or list of texts)",
            "pragmas before these loops",
            args.pragmas,
            "[]",
        ),
        ArgumentSpec(
            "openmp",
            "(bool, text or list of texts)",
            "pragmas before each outermost loop",
            args.flagged_texts,
            "(False, '')",
            flagged=True,
        ),
        ArgumentSpec(
            "vector",
            "(bool, text or list of texts)",
            "pragmas before each innermost loop",
            args.flagged_texts,
            "(False, '')",
            flagged=True,
        ),
        _later("cuda", "(threadCount, cacheBlocks, pinHostMem, streamCount)", "a CUDA kernel"),
        _FORCE,
    ),
    Composite,
)

TRANSFORMATIONS: Registry[Entry] = Registry(
    "transformation", ((e.name, e) for e in (_UNROLL, _TILE, _PERMUT, _PRAGMA, _COMPOSITE))
)
"""Every transformation that a recipe can use."""

NOT_YET: frozenset[str] = frozenset(
    ["UnrollJam", "RegTile", "ScalarReplace", "BoundReplace", "ArrCopy", "MPIOverlap", "CUDA", "OpenCL"]
)
"""Transformations of the language that are known but not available."""
