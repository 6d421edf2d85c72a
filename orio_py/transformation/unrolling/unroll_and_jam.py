"""UnrollJam: unroll a loop and fuse the copies of the loops inside it (also Composite's `unrolljam`).

    for (i = 0; i < n; i++)             for (i = 0; n > 1 && i < n - 1; i += 2)
      for (j = 0; j < n; j++)             for (j = 0; j < n; j++) {
        y[i] += a[i][j] * x[j];             y[i] += a[i][j] * x[j];
                                            y[i + 1] += a[i + 1][j] * x[j];
                                          }
                                        for (; i < n; i++)
                                          for (j = 0; j < n; j++)
                                            y[i] += a[i][j] * x[j];

A loop without loops inside is unrolled.  Where the bounds of an inner loop use the index, the copies are
fused over the range that all of them have, if that is legal; if not, they run one after the other, as they
do where an inner loop may be left.
Source: D. Callahan, J. Cocke, K. Kennedy, "Estimating interlock and improving balance for pipelined
architectures", Journal of Parallel and Distributed Computing 5(4), 1988.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node
from orio_py.transformation.arguments import boolean, positive_int
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.final_index import is_live
from orio_py.transformation.parallel.openmp import OpenMP
from orio_py.transformation.unrolling import unroll_rewrite
from orio_py.transformation.unrolling.jam_rewrite import Fusion, may_be_fused
from orio_py.transformation.unrolling.reg_tile_split import fusion_of, ranges_vary
from orio_py.transformation.unrolling.unroll import Unroll, parallelized

_WHAT = "unroll-and-jam"


@dataclass(frozen=True, slots=True)
class UnrollAndJam:
    """Unroll a loop `ufactor` times and fuse the copies of its inner loops (1 = unchanged).

    `parallelize`, `force` and `canonical` are those of `Unroll`.
    """

    ufactor: int
    parallelize: bool = False
    force: bool = False
    canonical: bool = False

    def matched(self, node: Node, context: Context) -> CanonicalLoop:
        """The loop as `apply` needs it.  Raises Refusal: ORIO-T011, T020 to T029, T040, T041, T050."""
        view = self._unroll().matched(node, context)
        if self._fusion(view, context) is not None and self.parallelize:
            self._require_parallel(node, context)
        return view

    def apply(self, node: Node, context: Context) -> Node:
        """The jammed main loop and the loop over the remaining iterations; `node` is not modified."""
        view = self._unroll().matched(node, context)
        fusion = self._fusion(view, context)
        if fusion is None:
            if self.parallelize or self.ufactor == 1:
                return self._unroll().apply(node, context)
            return unroll_rewrite.apply(view, self.ufactor, context, canonical=self.canonical)
        if self.parallelize:
            self._require_parallel(node, context)
            return parallelized(view, self.ufactor, context, make=fusion.body, force=self.force)
        return unroll_rewrite.apply(view, self.ufactor, context, make=fusion.body, canonical=self.canonical)

    def _fusion(self, view: CanonicalLoop, context: Context) -> Fusion | None:
        """How the copies are fused, None where they are not."""
        if self.ufactor == 1 or not may_be_fused(view):
            return None
        if not ranges_vary(view, context):
            return fusion_of(view, self.ufactor, _WHAT, context, force=self.force)
        try:
            fusion = fusion_of(view, self.ufactor, _WHAT, context, force=self.force)
        except Refusal:
            return None  # the copies one after the other are always right
        return None if any(is_live(split.inner, context) for split in fusion.splits.values()) else fusion

    def _require_parallel(self, node: Node, context: Context) -> None:
        OpenMP(True, ("omp parallel for",), force=self.force).apply(node, context)

    def _unroll(self) -> Unroll:
        return Unroll(self.ufactor, self.parallelize, force=self.force, canonical=self.canonical)


ENTRY = Entry(
    "UnrollJam",
    "unroll a loop and fuse the copies of the loops inside it",
    (
        ArgumentSpec("ufactor", "integer, at least 1", "copies of the body", positive_int),
        ArgumentSpec(
            "parallelize",
            "True or False",
            "run the main loop's iterations in parallel (OpenMP)",
            boolean,
            default="False",
        ),
        FORCE,
    ),
    UnrollAndJam,
)
