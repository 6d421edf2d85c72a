"""RegTile: tile a nest for registers by unrolling several of its loops and fusing the copies.

    for (i = 0; i < n; i++)             for (i = 0; n > 1 && i < n - 1; i += 2) {
      for (j = i; j < n; j++)             for (j = i; j < i + 1; j++)
        y[i] += a[i][j] * x[j];             y[i] += a[i][j] * x[j];
                                          for (j = i + 1; j < n; j++) {
                                            y[i] += a[i][j] * x[j];
                                            y[i + 1] += a[i + 1][j] * x[j];
                                          }
                                        }
                                        for (; i < n; i++)
                                          for (j = i; j < n; j++)
                                            y[i] += a[i][j] * x[j];

The loops need not be rectangular: the copies are fused over the range that all of them have, from the last
start to the first end, and what only some have runs before and after it.
Source: M. Jiménez, J. Llabería, A. Fernández, "Register tiling in nonrectangular iteration spaces", ACM
TOPLAS 24(4), 2002; L. Renganarayana, U. Bondhugula, S. Derisavi, A. Eichenberger, K. O'Brien, "Compact
multi-dimensional kernel extraction for register tiling", SC 2009.
"""

from __future__ import annotations

from dataclasses import dataclass

from orio_py.core.expr import Value
from orio_py.ctree.loops import CanonicalLoop, loops_in, nest
from orio_py.ctree.nodes import Node
from orio_py.transformation.arguments import positive_int, text, wrong
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.final_index import is_live, with_final_indices
from orio_py.transformation.forms import refuse_if_live
from orio_py.transformation.loop_names import LoopName, first_present, index_name, show_loops
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.unrolling import unroll_rewrite
from orio_py.transformation.unrolling.jam_rewrite import Fusion, may_be_fused
from orio_py.transformation.unrolling.reg_tile_split import fusion_of
from orio_py.transformation.unrolling.unroll import unrollable


@dataclass(frozen=True, slots=True)
class RegTile:
    """Unroll the named loops by their factors, outermost first, and fuse the copies (1 = unchanged).

    With `optional` a name of no loop is passed over; `canonical` asks for main loops that OpenMP accepts.
    """

    loops: tuple[str, ...]
    ufactors: tuple[int, ...]
    force: bool = False
    optional: bool = False
    canonical: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with the loops tiled; the same object where no factor is above 1.

        Raises Refusal: ORIO-T010 to T029, T040, T041, T050, T051.
        """
        factors = self._factors(node)
        if not factors:
            return node
        unroll_rewrite.require_size(unroll_rewrite.unrolled_size(node, factors), "RegTile", node, "ufactors")
        aside: list[Node] = []
        for name in show_loops(node):
            if name in factors:
                node = self._unrolled(node, name, factors[name], aside, context)
        return node

    def _factors(self, node: Node) -> dict[str, int]:
        """The factors above 1 by loop."""
        if len(self.loops) != len(self.ufactors):
            refuse(
                "ORIO-T010",
                f"RegTile is given {len(self.loops)} loops but {len(self.ufactors)} factors; "
                "it needs one factor per loop",
                node,
                argument="ufactors",
            )
        present = show_loops(node)
        for name, factor in zip(self.loops, self.ufactors, strict=True):
            if self.loops.count(name) > 1:
                refuse("ORIO-T016", f"the loop `{name}` is named twice", node, argument="loops")
            if factor < 1:
                refuse(
                    "ORIO-T011",
                    f"the factor of the loop `{name}` is {factor}; it must be at least 1",
                    node,
                    argument="ufactors",
                )
            first_present(LoopName((name,), self.optional), present, node, "loops")
        named = zip(self.loops, self.ufactors, strict=True)
        return {name: factor for name, factor in named if factor > 1 and name in present}

    def _unrolled(self, node: Node, name: str, factor: int, aside: list[Node], context: Context) -> Node:
        """The tree with one of the loops unrolled, wherever it stands but in the parts of single copies."""
        passed = {id(loop) for part in aside for loop in loops_in(part)}
        chosen = {id(loop) for loop in loops_in(node) if index_name(loop) == name} - passed

        def change(loop: Node, inner: Context) -> Node:
            return self._step(loop, factor, aside, inner)

        return rewrite_where(node, lambda n: id(n) in chosen, change, context)

    def _step(self, loop: Node, factor: int, aside: list[Node], context: Context) -> Node:
        fused = (view := CanonicalLoop.match(loop)) is not None and may_be_fused(view)
        view = unrollable(loop, "RegTile", context, force=self.force, in_order=not fused)
        make = unroll_rewrite.copies
        fusion: Fusion | None = None
        if fused:
            fusion = fusion_of(view, factor, "RegTile", context, force=self.force)
            make = fusion.body
        result = unroll_rewrite.apply(view, factor, context, make=make, canonical=self.canonical)
        if fusion is None or result is loop:
            return result
        aside.extend(fusion.aside)
        return _with_indices(result, view, fusion, context)


def _with_indices(result: Node, view: CanonicalLoop, fusion: Fusion, context: Context) -> Node:
    """The tiled loop, and after it the final values of indices that the last of the parts leaves otherwise."""
    live = [split.inner for split in fusion.splits.values() if is_live(split.inner, context)]
    if not live:
        return result
    loops = nest(view)
    if missing := [inner for inner in live if inner.node not in [loop.node for loop in loops]]:
        refuse_if_live(missing[0], "RegTile", context)
    return with_final_indices(result, loops, "RegTile", context)


def loop_list(value: Value, name: str) -> tuple[str, ...]:
    """A list of loop names, each once.  Raises Refusal: ORIO-T010, T016."""
    if not isinstance(value, (list, tuple)):
        wrong(name, "a list of loops, such as ['i', 'j']", value)
    loops = tuple(text(item, name) for item in value)
    for loop in loops:
        if loops.count(loop) > 1:
            refuse("ORIO-T016", f"the loop `{loop}` is named twice", None, argument=name)
    return loops


def factor_list(value: Value, name: str) -> tuple[int, ...]:
    """A list of factors of at least 1.  Raises Refusal: ORIO-T010, T011."""
    if not isinstance(value, (list, tuple)):
        wrong(name, "a list of integers, such as [2, 4]", value)
    return tuple(positive_int(item, name) for item in value)


ENTRY = Entry(
    "RegTile",
    "unroll several loops of a nest and fuse the copies",
    (
        ArgumentSpec("loops", "list of loops, each named once", "the loops to unroll", loop_list),
        ArgumentSpec("ufactors", "list of integers, at least 1", "one factor for each loop", factor_list),
        FORCE,
    ),
    RegTile,
)
