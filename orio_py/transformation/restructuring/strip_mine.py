"""StripMine: run a loop in strips of consecutive iterations; another name of Tile for one loop.

    for (i = 0; i < n; i++)             for (int is = 0; is < n; is += 64)
      y[i] = a * x[i];                    for (i = is; i < (n - is < 64 ? n : is + 64); i++)
                                            y[i] = a * x[i];

The iterations keep their order.  Tiling of a nest is strip-mining of its loops and an interchange that
moves the new loops outwards.  Source: M. Wolfe, "High Performance Compilers for Parallel Computing",
Addison-Wesley 1996, section 9.8.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.ctree.nodes import Node
from orio_py.transformation.arguments import new_index, positive_int
from orio_py.transformation.base import Context
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.restructuring.loop_matching import in_the_name_of
from orio_py.transformation.tiling.tile import Tile


@dataclass(frozen=True, slots=True)
class StripMine:
    """Run a loop in strips of `tsize` index values, counted by a new loop over `tindex` (1 = unchanged)."""

    tsize: int
    tindex: str
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The loop over strips around the loop over one strip; `node` is not modified.

        Raises Refusal: ORIO-T011, T013, T014, T020 to T029.
        """
        step = Tile(self.tsize, self.tindex, force=self.force)
        return in_the_name_of("StripMine", "Tile", lambda inner: step.apply(node, inner), context)


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
