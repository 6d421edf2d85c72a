"""Composite: several transformations in one, always in the same order.

    transform Composite(                for (int jj = 0; jj < n; jj += 32)
      tile   = [('j', 32, 'jj')],         for (i = 0; i < n; i++)
      permut = [['jj', 'i', 'j']])          for (j = jj; j < (n - jj < 32 ? n : jj + 32); j++)
    for (i = 0; i < n; i++)                   a[i][j] = b[j][i];
      for (j = 0; j < n; j++)
        a[i][j] = b[j][i];

The order is tile, permut, unrolljam, pragma, openmp, vector, however the keys are written.  Source: the
language definition of Orio; A. Hartono, B. Norris, P. Sadayappan, "Annotation-based empirical performance
tuning using Orio", IPDPS 2009.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop, innermost_loops, loops_in, outermost_loops
from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node
from orio_py.transform.base import Context
from orio_py.transform.loop_names import LoopName, first_present, index_name, show_loops
from orio_py.transform.openmp import OpenMP
from orio_py.transform.permute import Permut
from orio_py.transform.pragma import annotated, check_texts
from orio_py.transform.pragma_text import pragma_lines
from orio_py.transform.sites import Change, Choice, rewrite_where
from orio_py.transform.tile import Tile
from orio_py.transform.unroll_and_jam import UnrollAndJam
from orio_py.transform.vector import Vector

KEY_OF: Mapping[str, str] = {"tsize": "tile", "tindex": "tile", "seq": "permut", "ufactor": "unrolljam"}
"""The key that an argument of a single transformation comes from."""


@dataclass(frozen=True, slots=True)
class TileEntry:
    """One `(loopid, tsize, newindex)` of the key `tile`."""

    loop: LoopName
    tsize: int
    tindex: str


@dataclass(frozen=True, slots=True)
class PragmaEntry:
    """One `(loopid, text)` of the key `pragma`."""

    loop: LoopName
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Composite:
    """Tile, permute, unroll (and jam), and annotate the loops of a statement, in this order."""

    tile: tuple[TileEntry, ...] = ()
    permut: tuple[tuple[LoopName, ...], ...] = ()
    unrolljam: tuple[tuple[str, int], ...] = ()
    pragma: tuple[PragmaEntry, ...] = ()
    openmp: tuple[bool, tuple[str, ...]] = (False, ())
    vector: tuple[bool, tuple[str, ...]] = (False, ())
    force: bool = False

    def check(self, node: Node, context: Context) -> None:
        """Whether `apply` would succeed.  Raises Refusal with the codes of the transformations used."""
        self.apply(node, context)

    def apply(self, node: Node, context: Context) -> Node:
        """The transformed statement; the same object if nothing is asked for."""
        result = self._tiled(node, context)
        for seq in self.permut:
            result = Permut(seq, force=self.force).apply(result, context)
        # The dependence tests see the loops before unrolling makes their bounds hard to read: iterations
        # that are independent one by one are independent in groups too.
        self._check_parallel(result, context)
        result = self._unrolled(result, context, innermost=False)
        Vector(*self.vector, force=self.force).check(result, context)
        result = self._unrolled(result, context, innermost=True)
        result = self._annotated(result, context)
        result = self._parallel(result, context)
        return Vector(*self.vector, force=self.force, trusted=True).apply(result, context)

    def _tiled(self, node: Node, context: Context) -> Node:
        skipped: tuple[str, ...] = ()
        for entry in self.tile:
            present = show_loops(node) + (skipped if entry.tsize == 1 else ())
            name = first_present(entry.loop, present, node, "tile")
            if entry.tsize == 1:
                skipped += (entry.tindex,)
            elif name is not None:
                step = Tile(entry.tsize, entry.tindex, force=self.force)
                node = _on_loops(node, {name: step}, context)
        return node

    def _unrolled(self, node: Node, context: Context, *, innermost: bool) -> Node:
        factors = {name: factor for name, factor in self.unrolljam if factor > 1}
        # Outer loops first: the copies of an inner loop are fused while it is still one loop.
        for name in show_loops(node):
            if name not in factors:
                continue
            step = UnrollAndJam(factors[name], force=self.force, canonical=self._annotates())
            chosen = {id(loop) for loop in loops_in(node) if _counts(name)(loop)}
            simple = {id(loop) for loop in innermost_loops(node)}
            chosen = chosen & simple if innermost else chosen - simple
            node = rewrite_where(node, _among(chosen), step.apply, context)
        return node

    def _annotates(self) -> bool:
        keys = (self.openmp, self.vector, *((True, entry.texts) for entry in self.pragma))
        return any(enabled and pragma_lines(texts) for enabled, texts in keys)

    def _annotated(self, node: Node, context: Context) -> Node:
        for entry in self.pragma:
            check_texts(entry.texts, node, "pragma")
            name = first_present(entry.loop, show_loops(node), node, "pragma")
            lines = pragma_lines(entry.texts)
            if name is None or not lines:
                continue

            node = rewrite_where(node, _counts(name), _behind(lines), context)
        return node

    def _check_parallel(self, node: Node, context: Context) -> None:
        OpenMP(*self.openmp, force=self.force).apply_where(node, context, _among(_heads(node)))

    def _parallel(self, node: Node, context: Context) -> Node:
        step = OpenMP(*self.openmp, force=self.force, trusted=True)
        return step.apply_where(node, context, _among(_heads(node)))


def _heads(node: Node) -> set[int]:
    remainders = {id(loop) for loop in remainder_loops(node)}
    return {id(loop) for loop in outermost_loops(node)} - remainders


def _among(nodes: Set[int]) -> Choice:
    def chosen(node: Node) -> bool:
        return id(node) in nodes

    return chosen


def _behind(lines: Sequence[Node]) -> Change:
    def change(loop: Node, context: Context) -> Node:
        return annotated(lines, loop, context)

    return change


def remainder_loops(node: Node) -> list[For]:
    """The loops over the iterations that an unrolled loop before them leaves."""
    found: list[For] = []
    stack = [node]
    while stack:
        current = stack.pop()
        stack.extend(current)
        items = (current.block_items or []) if isinstance(current, Compound) else []
        between = (Comment, GuardedPragma)
        for main, rest in pairwise(CanonicalLoop.match(i) for i in items if not isinstance(i, between)):
            if main is None or rest is None or main.index != rest.index:
                continue
            grows = abs(main.stride) > abs(rest.stride) and main.stride % rest.stride == 0
            if grows and equal(main.bound, rest.start):
                found.append(rest.node)
    return found


def _counts(name: str) -> Choice:
    def chosen(node: Node) -> bool:
        return index_name(node) == name

    return chosen


def _on_loops(node: Node, steps: Mapping[str, Tile], context: Context) -> Node:
    def change(loop: Node, inner: Context) -> Node:
        return steps[index_name(loop) or ""].apply(loop, inner)

    return rewrite_where(node, lambda n: index_name(n) in steps, change, context)
