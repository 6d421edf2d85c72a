"""Tile: run a loop in blocks of consecutive iterations (strip-mining).

    for (i = 0; i < n; i++)             for (int ii = 0; ii < n; ii += 32)
      y[i] = a * x[i];                    for (i = ii; i < (n - ii < 32 ? n : ii + 32); i++)
                                            y[i] = a * x[i];

The iterations keep their order; moving the new loop outwards is the work of `Permut`.  With `loops` several
loops are tiled at once, all loops over tiles outside all loops over one tile, where the dependences allow it:

    for (i = 0; i < n; i++)             for (int ii = 0; ii < n; ii += 32)
      for (j = 0; j < m; j++)             for (int jj = 0; jj < m; jj += 32)
        a[i][j] = b[j][i];                  for (i = ii; i < (n - ii < 32 ? n : ii + 32); i++)
                                              for (j = jj; j < (m - jj < 32 ? m : jj + 32); j++)
                                                a[i][j] = b[j][i];

Source: M. Wolfe, "More iteration space tiling", Supercomputing 1989.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from orio_py.core.expr import Value
from orio_py.core.names import C_KEYWORDS
from orio_py.ctree.bounds import with_header
from orio_py.ctree.build import ident
from orio_py.ctree.dependence.bands import may_tile
from orio_py.ctree.dependence.verdict import Illegal, Legal, Verdict
from orio_py.ctree.loops import CanonicalLoop, nest
from orio_py.ctree.nodes import Node
from orio_py.ctree.rewrite import used_names
from orio_py.transformation.arguments import new_index, positive_int, sequence
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.final_index import is_live, with_final_indices
from orio_py.transformation.forms import (
    loop_view,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
    start_is_invariant,
)
from orio_py.transformation.loop_names import LoopName, first_present, show_loops
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.tiling.permute import around_body, maximal_nests, show_nests
from orio_py.transformation.tiling.skew import Skew
from orio_py.transformation.tiling.tile_band import BlockedLoop, tiled
from orio_py.transformation.verdicts import dependence_context, require_legal

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_MOST_SKEWS = 6
_LARGEST_FACTOR = 3


@dataclass(frozen=True, slots=True)
class Tile:
    """Run a loop in blocks of `tsize` index values, counted by a new loop over `tindex` (1 = unchanged).

    With `loops`, adjacent loops of a perfect nest named outermost first, `tsize` and `tindex` have one
    entry for each; a size of 1 leaves its loop as it is, outside the loops over one tile.
    """

    name: ClassVar = "Tile"
    """What messages call it."""

    tsize: int | tuple[int, ...]
    tindex: str | tuple[str, ...]
    loops: tuple[LoopName, ...] = ()
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The loops over blocks around the loops over one block; `node` is not modified.

        Raises Refusal: ORIO-T010 to T016, T020 to T031, T040, T041.
        """
        if self.loops:
            return self._band(node, context)
        if not isinstance(self.tsize, int) or not isinstance(self.tindex, str):
            refuse(
                "ORIO-T010", "a list of tile sizes or indices needs a list `loops`", node, argument="tsize"
            )
        return self._single(node, self.tsize, self.tindex, context)

    def _single(self, node: Node, size: int, name: str, context: Context) -> Node:
        _check_size(size, node)
        view = loop_view(node, self.name, context)
        require_new_names([name], view, context)
        if size == 1:
            return node
        _check_step(view, size)
        require_stable_index(view, self.name, context)
        require_no_jumps(view, self.name)
        require_invariant_bound(view, self.name, context, force=self.force)
        block = BlockedLoop(view, size, name)
        inner = with_header(view, ident(name), view.relation, block.end(context))
        result = block.over_blocks(view.start, view.bound, inner, context)
        return with_final_indices(result, [view], self.name, context)

    def _band(self, node: Node, context: Context) -> Node:
        chosen = self._chosen(node)
        while chosen and chosen[0][1] == 1:
            chosen = chosen[1:]
        if not chosen:
            return node
        names = [name for name, _, _ in chosen]
        heads: set[int] = set()
        nests = maximal_nests(node)
        for loops in nests:
            present = [loop.index for loop in loops]
            if names[0] in present and present[present.index(names[0]) :][: len(names)] == names:
                heads.add(id(loops[present.index(names[0])].node))
        if not heads:
            refuse(
                "ORIO-T030",
                f"the loops {', '.join(f'`{n}`' for n in names)} do not stand directly in each other in this "
                "order",
                node,
                help=f"perfect nests here: {show_nests(nests)}",
                argument="loops",
            )

        def change(head: Node, inner: Context) -> Node:
            if len(chosen) == 1:
                return self._single(head, chosen[0][1], chosen[0][2], inner)
            return self._tiled(head, chosen, inner)

        return rewrite_where(node, lambda n: id(n) in heads, change, context)

    def _chosen(self, node: Node) -> list[tuple[str, int, str]]:
        """Index, size and new index of each loop of the band that is there."""
        sizes = (self.tsize,) if isinstance(self.tsize, int) else self.tsize
        names = (self.tindex,) if isinstance(self.tindex, str) else self.tindex
        if not len(sizes) == len(names) == len(self.loops):
            refuse(
                "ORIO-T010",
                f"{self.name} has {len(self.loops)} loops, {len(sizes)} sizes and {len(names)} new indices; each loop "
                "needs one of both",
                node,
                argument="tsize",
            )
        present, chosen = show_loops(node), list[tuple[str, int, str]]()
        for loop, size, name in zip(self.loops, sizes, names, strict=True):
            _check_size(size, node)
            found = first_present(loop, present, node, "loops")
            if found is None:
                continue
            if any(found == other for other, _, _ in chosen):
                refuse("ORIO-T016", f"the loop `{found}` is named twice", node, argument="loops")
            chosen.append((found, size, name))
        return chosen

    def _tiled(self, head: Node, chosen: Sequence[tuple[str, int, str]], context: Context) -> Node:
        view = loop_view(head, self.name, context)
        loops = nest(view)
        band = loops[: len(chosen)]
        require_new_names([name for _, _, name in chosen], view, context)
        for loop, (_, size, _) in zip(band, chosen, strict=True):
            loop_view(loop.node, self.name, replace(context, pragmas=()))
            _check_step(loop, size)
        # The loops inside the band run in another order too, which matters for their final indices.
        live = any(is_live(loop, context) for loop in loops)
        for loop in loops if live else band:
            require_stable_index(loop, self.name, context)
            require_no_jumps(loop, self.name)
            whole = around_body(loop, loops)
            require_invariant_bound(whole, self.name, context, force=self.force)
            if not start_is_invariant(whole, context):
                refuse(
                    "ORIO-T027",
                    f"{self.name} needs a start that keeps its value while the nest runs",
                    loop.node,
                )
        blocks = [BlockedLoop(loop, size, name) for loop, (_, size, name) in zip(band, chosen, strict=True)]
        result = tiled(blocks, context)
        self._require_legal(view, len(band), context)
        return with_final_indices(result, loops, self.name, context)

    def _require_legal(self, view: CanonicalLoop, depth: int, context: Context) -> None:
        verdict = _verdict(view, depth, context)
        try:
            require_legal(verdict, self.name, view.node, context, force=self.force)
        except Refusal as refusal:
            skews = _skews(verdict, view, depth, context)
            if not skews:
                raise
            text = "legal after " + ", then ".join(
                f"Skew(loop='{s.loop}', by='{s.by}'" + (f", factor={s.factor})" if s.factor > 1 else ")")
                for s in skews
            )
            given = [replace(diagnostic, help=text) for diagnostic in refusal.diagnostics]
            raise Refusal(*given, argument=refusal.argument) from None


def _verdict(view: CanonicalLoop, depth: int, context: Context) -> Verdict:
    """Whether the outer `depth` loops of a nest may be tiled together."""
    return may_tile(nest(view)[:depth], dependence_context(context))


def _skews(found: Verdict, view: CanonicalLoop, depth: int, context: Context) -> list[Skew]:
    """Skews after which the band may be tiled, found by following the dependences; none where that fails."""
    indices = [loop.index for loop in nest(view)[:depth]]
    unread = replace(context, live_after=context.live_after - set(indices))
    skews: list[Skew] = []
    while isinstance(found, Illegal) and len(skews) < _MOST_SKEWS and {"<", ">"} <= set(found.direction):
        step = Skew(indices[found.direction.index(">")], indices[found.direction.index("<")])
        if skews and (skews[-1].loop, skews[-1].by) == (step.loop, step.by):
            step = replace(step, factor=skews.pop().factor + 1)
        if step.factor > _LARGEST_FACTOR:
            return []
        skews.append(step)
        skewed: Node = view.node
        try:
            for each in skews:
                skewed = each.apply(skewed, unread)
        except Refusal:
            return []
        found = may_tile(nest(loop_view(skewed, "Tile", unread))[:depth], dependence_context(unread))
    return skews if isinstance(found, Legal) else []


def _check_size(size: int, node: Node) -> None:
    if size < 1:
        refuse("ORIO-T011", f"the tile size is {size}; it must be at least 1", node, argument="tsize")


def _check_step(view: CanonicalLoop, size: int) -> None:
    if size % abs(view.stride):
        refuse(
            "ORIO-T014",
            f"the tile size {size} is not a multiple of the loop's step {abs(view.stride)}",
            view.node,
            argument="tsize",
        )


def require_new_names(
    names: Sequence[str], view: CanonicalLoop, context: Context, argument: str = "tindex"
) -> None:
    """The names are free to be the indices of new loops.  Raises Refusal: ORIO-T013."""
    for name in names:
        if not _IDENTIFIER.fullmatch(name) or name in C_KEYWORDS:
            refuse("ORIO-T013", f"{name!r} is not a C identifier", view.node, argument=argument)
        if name == view.index:
            refuse(
                "ORIO-T013",
                f"the new index has the name of the loop, `{name}`; it needs one of its own",
                view.node,
                help=f"for example `{context.names(view.node).fresh(name + name)}`",
                argument=argument,
            )
        taken = name in used_names([view.node], members=False) or name in context.reserved
        if taken or names.count(name) > 1:
            refuse(
                "ORIO-T013",
                f"the new index `{name}` is a name that the loop already uses",
                view.node,
                help=f"for example `{context.names(view.node).fresh(name)}` is free",
                argument=argument,
            )


def _sizes(value: Value, name: str) -> int | tuple[int, ...]:
    """An integer of at least 1, or a list of such.  Raises Refusal: ORIO-T010, T011."""
    if isinstance(value, (list, tuple)):
        return tuple(positive_int(item, name) for item in value)
    return positive_int(value, name)


def _names(value: Value, name: str) -> str | tuple[str, ...]:
    """The name of a new loop index, or a list of such.  Raises Refusal: ORIO-T010, T013."""
    if isinstance(value, (list, tuple)):
        return tuple(new_index(item, name) for item in value)
    return new_index(value, name)


ENTRY = Entry(
    "Tile",
    "run a loop in blocks of consecutive iterations, or a band of loops in tiles",
    (
        ArgumentSpec(
            "tsize",
            "integer, at least 1, a multiple of the loop's step; a list of such with `loops`",
            "length of a block in index values",
            _sizes,
        ),
        ArgumentSpec(
            "tindex",
            "C identifier; a list of such with `loops`",
            "index of the new loop over the blocks",
            _names,
        ),
        ArgumentSpec(
            "loops",
            "list of adjacent loops, outermost first, named as in Permut",
            "the band that is tiled at once",
            sequence,
            default="the loop itself",
        ),
        FORCE,
    ),
    Tile,
)
