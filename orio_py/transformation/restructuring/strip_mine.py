"""StripMine: run a loop in strips of consecutive iterations; another name of Tile for one loop.

    for (i = 0; i < n; i++)             for (int is = 0; is < n; is += 64)
      y[i] = a * x[i];                    for (i = is; i < (n - is < 64 ? n : is + 64); i++)
                                            y[i] = a * x[i];

The iterations keep their order.  Tiling of a nest is strip-mining of its loops and an interchange that
moves the new loops outwards.  Source: M. Wolfe, "High Performance Compilers for Parallel Computing",
Addison-Wesley 1996, section 9.8.
"""

from __future__ import annotations

from typing import ClassVar

from orio_py.transformation.arguments import new_index, positive_int
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.tiling.tile import Tile


class StripMine(Tile):
    """Run a loop in strips of `tsize` index values, counted by a new loop over `tindex` (1 = unchanged)."""

    __slots__ = ()
    name: ClassVar = "StripMine"


ENTRY = Entry(
    "StripMine",
    "run a loop in strips of consecutive iterations",
    (
        ArgumentSpec(
            "tsize",
            "integer, at least 1, a multiple of the loop's step",
            "length of a strip in index values",
            positive_int,
        ),
        ArgumentSpec("tindex", "C identifier", "index of the new loop over the strips", new_index),
        FORCE,
    ),
    StripMine,
)
