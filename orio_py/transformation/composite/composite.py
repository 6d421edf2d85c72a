"""Composite: several transformations in one, always in the same order.

    transform Composite(                for (int jj = 0; jj < n; jj += 32)
      tile   = [('j', 32, 'jj')],         for (i = 0; i < n; i++)
      permut = [['jj', 'i', 'j']])          for (j = jj; j < (n - jj < 32 ? n : jj + 32); j++)
    for (i = 0; i < n; i++)                   a[i][j] = b[j][i];
      for (j = 0; j < n; j++)
        a[i][j] = b[j][i];

The order is that of `Composite`'s fields, however the keys are written.  Source: the language definition of
Orio for the keys from `tile` to `vector` that it has; A. Hartono, B. Norris, P. Sadayappan, "Annotation-based
empirical performance tuning using Orio", IPDPS 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop, innermost_loops, loops_in, outermost_loops
from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node
from orio_py.ctree.rewrite import walk_statements
from orio_py.transformation.base import Context, Refusal, Transformation
from orio_py.transformation.loop_names import LoopName, first_present, index_name, show_loops
from orio_py.transformation.parallel.openmp import OpenMP
from orio_py.transformation.parallel.parallelize import Parallelize
from orio_py.transformation.parallel.pragma import Pragma
from orio_py.transformation.parallel.pragma_text import pragma_lines
from orio_py.transformation.parallel.vector import Vector
from orio_py.transformation.parallel.vectorize import Vectorize
from orio_py.transformation.restructuring.fuse import Fuse
from orio_py.transformation.restructuring.interchange import Interchange
from orio_py.transformation.restructuring.strip_mine import StripMine
from orio_py.transformation.sites import Choice, rewrite_where
from orio_py.transformation.storage.array_copy import ArrCopy
from orio_py.transformation.storage.bound_replace import BoundReplace
from orio_py.transformation.storage.prefetch import Prefetch
from orio_py.transformation.storage.scalar_replace import ScalarReplace
from orio_py.transformation.tiling.permute import Permut
from orio_py.transformation.tiling.skew import Skew
from orio_py.transformation.tiling.tile import Tile
from orio_py.transformation.unrolling.reg_tile import RegTile
from orio_py.transformation.unrolling.unroll_and_jam import UnrollAndJam
from orio_py.transformation.unrolling.unroll_reduction import UnrollReduction
from orio_py.transformation.versions.restrict import Restrict
from orio_py.transformation.versions.specialize import Specialize

if TYPE_CHECKING:
    from orio_py.transformation.offload.device_step import DeviceStep

Stage = Callable[[Node, Context], Node]


@dataclass(frozen=True, slots=True)
class OnLoop:
    """A transformation for the loops of one name."""

    loop: LoopName
    step: Transformation


@dataclass(frozen=True, slots=True)
class TileEntry:
    """One `(loopid, tsize, newindex)` of the keys `tile` and `stripmine`."""

    loop: LoopName
    tsize: int
    tindex: str


@dataclass(frozen=True, slots=True)
class PragmaEntry:
    """One `(loopid, text)` of the key `pragma`."""

    loop: LoopName
    texts: tuple[str, ...]


Factors = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Composite:
    """Every transformation that its keys ask for, in the order of the fields.

    `fuse`, `arrcopy`, `scalarreplace` and the like hold the transformations themselves; `force` counts for
    all of them.
    """

    specialize: tuple[Specialize, ...] = ()
    peel: tuple[OnLoop, ...] = ()
    distribute: tuple[OnLoop, ...] = ()
    fuse: tuple[Fuse, ...] = ()
    reverse: tuple[OnLoop, ...] = ()
    skew: tuple[Skew, ...] = ()
    interchange: tuple[Interchange, ...] = ()
    stripmine: tuple[TileEntry, ...] = ()
    tile: tuple[TileEntry | Tile, ...] = ()
    permut: tuple[tuple[LoopName, ...], ...] = ()
    arrcopy: tuple[ArrCopy, ...] = ()
    regtile: Factors = ()
    unrolljam: Factors = ()
    unrollreduction: Factors = ()
    scalarreplace: ScalarReplace | None = None
    boundreplace: BoundReplace | None = None
    prefetch: tuple[Prefetch, ...] = ()
    pragma: tuple[PragmaEntry, ...] = ()
    parallelize: Parallelize | None = None
    openmp: tuple[bool, tuple[str, ...]] = (False, ())
    vectorize: Vectorize | None = None
    vector: tuple[bool, tuple[str, ...]] = (False, ())
    restrict: Restrict | None = None
    kernels: tuple[DeviceStep, ...] = ()
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The transformed statement; the same object if nothing is asked for.

        Raises Refusal with the codes of the transformations used.
        """
        for key, stage in self._stages():
            node = _blamed(key, stage, node, context)
        return node

    def _stages(self) -> Iterator[tuple[str, Stage]]:
        """The keys in their order, with what each does to a statement."""
        # First, so that the versions profit from what is known of them.
        yield from (("specialize", self._whole(step)) for step in self.specialize)
        yield from (("peel", self._on_loop(entry)) for entry in self.peel)
        yield from (("distribute", self._on_loop(entry)) for entry in self.distribute)
        yield from (("fuse", self._whole(step)) for step in self.fuse)
        yield from (("reverse", self._on_loop(entry)) for entry in self.reverse)
        yield from (("skew", self._whole(step)) for step in self.skew)
        yield from (("interchange", self._whole(step)) for step in self.interchange)
        yield "stripmine", partial(self._tiled, self.stripmine, StripMine)
        yield "tile", partial(self._tiled, self.tile, Tile)
        yield from (("permut", self._whole(Permut(seq))) for seq in self.permut)
        # The dependence tests see the loops before unrolling makes their bounds hard to read: iterations
        # that are independent one by one are independent in groups too.
        yield "pragma", self._check_pragmas
        yield "openmp", self._check_parallel
        yield "parallelize", self._check_parallelize
        for key, step in self._kernels():
            yield key, partial(self._check_offloaded, step)
        yield from (("arrcopy", self._whole(step)) for step in self.arrcopy)
        yield "regtile", self._register_tiled
        yield "unrolljam", partial(self._unrolled, innermost=False)
        yield "vector", self._check_vector
        yield "vectorize", self._check_vectorize
        yield "unrolljam", partial(self._unrolled, innermost=True)
        yield "unrollreduction", self._unrolled_reductions
        yield from self._late_stages()

    def _late_stages(self) -> Iterator[tuple[str, Stage]]:
        if self.scalarreplace is not None:
            yield "scalarreplace", self._whole(self.scalarreplace)
        if self.boundreplace is not None:
            yield "boundreplace", self._whole(self.boundreplace)
        yield from (("prefetch", self._whole(step)) for step in self.prefetch)
        yield "pragma", partial(self._annotated, trusted=self._keeps_order())
        yield "parallelize", self._parallelized
        yield "openmp", self._parallel
        yield "vectorize", self._vectorized
        yield "vector", self._vector
        if self.restrict is not None:
            yield "restrict", self._whole(self.restrict)
        for key, step in self._kernels():
            yield key, partial(self._offloaded, step)

    def _kernels(self) -> Iterator[tuple[str, DeviceStep]]:
        """What makes kernels, by key."""
        for step in self.kernels:
            yield step.backend.name, replace(step, force=self.force)

    def _check_offloaded(self, step: DeviceStep, node: Node, context: Context) -> Node:
        if self._is_trusted():
            step.check_where(node, context, self._choice(node, step.loop))
        return node

    def _is_trusted(self) -> bool:
        """Whether loops are looked at for kernels before they are unrolled, and not behind that."""
        factors = (*self.regtile, *self.unrolljam)
        return self._keeps_order() and any(factor > 1 for _, factor in factors)

    def _offloaded(self, step: DeviceStep, node: Node, context: Context) -> Node:
        rest = {id(loop) for loop in remainder_loops(node)}
        outer = {id(loop) for loop in outermost_loops(node)}
        chosen = _among(outer) if step.loop is None else _counts(step.loop)
        return replace(step, trusted=self._is_trusted()).apply_where(node, context, chosen, _among(rest))

    def _whole(self, step: Any) -> Stage:
        """A transformation that finds its loops in the statement by itself."""
        return replace(step, force=self.force or step.force).apply

    def _on_loop(self, entry: OnLoop) -> Stage:
        step = self._whole(entry.step)

        def stage(node: Node, context: Context) -> Node:
            name = first_present(entry.loop, show_loops(node), node, "loop")
            return node if name is None else rewrite_where(node, _counts(name), step, context)

        return stage

    def _tiled(
        self, entries: Sequence[TileEntry | Tile], kind: type[Tile | StripMine], node: Node, context: Context
    ) -> Node:
        skipped: tuple[str, ...] = ()
        for entry in entries:
            if isinstance(entry, Tile):
                node = self._whole(entry)(node, context)
                continue
            present = show_loops(node) + (skipped if entry.tsize == 1 else ())
            name = first_present(entry.loop, present, node, "tile")
            if entry.tsize == 1:
                skipped += (entry.tindex,)
            elif name is not None:
                step = kind(entry.tsize, entry.tindex, force=self.force)
                node = rewrite_where(node, _counts(name), step.apply, context)
        return node

    def _register_tiled(self, node: Node, context: Context) -> Node:
        factors = [(name, factor) for name, factor in self.regtile if factor > 1]
        if not factors:
            return node
        names, numbers = zip(*factors, strict=True)
        step = RegTile(names, numbers, force=self.force, optional=True, canonical=self._annotates())
        return step.apply(node, context)

    def _unrolled(self, node: Node, context: Context, *, innermost: bool) -> Node:
        factors = {name: factor for name, factor in self.unrolljam if factor > 1}
        # Outer loops first: the copies of an inner loop are fused while it is still one loop.
        for name in show_loops(node):
            if name not in factors:
                continue
            step = UnrollAndJam(factors[name], force=self.force, canonical=self._annotates())
            chosen = {id(loop) for loop in loops_in(node) if index_name(loop) == name}
            simple = {id(loop) for loop in innermost_loops(node)}
            chosen = chosen & simple if innermost else chosen - simple
            if chosen:
                node = rewrite_where(node, _among(chosen), step.apply, context)
        return node

    def _unrolled_reductions(self, node: Node, context: Context) -> Node:
        factors = {name: factor for name, factor in self.unrollreduction if factor > 1}
        for name in show_loops(node):
            if name in factors:
                step = UnrollReduction(factors[name], force=self.force)
                chosen = {id(loop) for loop in innermost_loops(node) if index_name(loop) == name}
                node = rewrite_where(node, _among(chosen), step.apply, context)
        return node

    def _annotates(self) -> bool:
        """Whether something stands before loops, or counts them, that needs them in a simple form."""
        keys = (self.openmp, self.vector, *((True, entry.texts) for entry in self.pragma))
        inferred = self.parallelize is not None or self.vectorize is not None or bool(self.kernels)
        return inferred or any(enabled and pragma_lines(texts) for enabled, texts in keys)

    def _check_pragmas(self, node: Node, context: Context) -> Node:
        self._annotated(node, context, trusted=False)
        return node

    def _annotated(self, node: Node, context: Context, *, trusted: bool) -> Node:
        for entry in self.pragma:
            name = first_present(entry.loop, show_loops(node), node, "pragma")
            step = Pragma(entry.texts, force=self.force, trusted=trusted)
            if name is not None and pragma_lines(entry.texts):
                node = rewrite_where(node, _counts(name), step.apply, context)
        return node

    def _check_parallel(self, node: Node, context: Context) -> Node:
        OpenMP(*self.openmp, force=self.force).apply_where(node, context, _heads(node))
        return node

    def _parallel(self, node: Node, context: Context) -> Node:
        step = OpenMP(*self.openmp, force=self.force, trusted=self._keeps_order())
        return step.apply_where(node, context, _heads(node))

    def _keeps_order(self) -> bool:
        """Whether what was found of the loops before unrolling still holds: no accumulator was split up."""
        return not any(factor > 1 for _, factor in self.unrollreduction)

    def _check_parallelize(self, node: Node, context: Context) -> Node:
        if self.parallelize is not None:
            step = replace(self.parallelize, force=self.force)
            step.apply_where(node, context, self._choice(node, step.loop))
        return node

    def _parallelized(self, node: Node, context: Context) -> Node:
        if self.parallelize is None:
            return node
        step = replace(self.parallelize, force=self.force, trusted=self._keeps_order())
        return step.apply_where(node, context, self._choice(node, step.loop))

    def _check_vector(self, node: Node, context: Context) -> Node:
        Vector(*self.vector, force=self.force).apply(node, context)
        return node

    def _vector(self, node: Node, context: Context) -> Node:
        return Vector(*self.vector, force=self.force, trusted=True).apply(node, context)

    def _check_vectorize(self, node: Node, context: Context) -> Node:
        if self.vectorize is not None:
            replace(self.vectorize, force=self.force).apply(node, context)
        return node

    def _vectorized(self, node: Node, context: Context) -> Node:
        if self.vectorize is None:
            return node
        return replace(self.vectorize, force=self.force, trusted=self._keeps_order()).apply(node, context)

    def _choice(self, node: Node, loop: str | None) -> Choice:
        return _heads(node) if loop is None else _counts(loop)


def _blamed(key: str, stage: Stage, node: Node, context: Context) -> Node:
    """`stage` of a statement; where an argument of it is to blame, the key is."""
    try:
        return stage(node, context)
    except Refusal as refusal:
        if refusal.argument is None:
            raise
        raise Refusal(*refusal.diagnostics, argument=key) from None


def _heads(node: Node) -> Choice:
    """The outermost loops but those over remainders, which are looked for when the first statement asks."""

    @cache
    def heads() -> set[int]:
        remainders = {id(loop) for loop in remainder_loops(node)}
        return {id(loop) for loop in outermost_loops(node)} - remainders

    return lambda statement: id(statement) in heads()


def _among(nodes: Set[int]) -> Choice:
    def chosen(node: Node) -> bool:
        return id(node) in nodes

    return chosen


def remainder_loops(node: Node) -> list[For]:
    """The loops over the iterations that an unrolled loop before them leaves."""
    found: list[For] = []
    for current in walk_statements(node):
        items = (current.block_items or []) if isinstance(current, Compound) else []
        loops = [item for item in items if not isinstance(item, (Comment, GuardedPragma))]
        for first, second in pairwise(loops):
            if isinstance(first, For) and isinstance(second, For) and _is_remainder(first, second):
                found.append(second)
    return found


def _is_remainder(main: For, rest: For) -> bool:
    first, second = CanonicalLoop.match(main), CanonicalLoop.match(rest)
    if first is None or second is None or first.index != second.index:
        return False
    grows = abs(first.stride) > abs(second.stride) and first.stride % second.stride == 0
    return grows and equal(first.bound, second.start)


def _counts(name: str) -> Choice:
    def chosen(node: Node) -> bool:
        return index_name(node) == name

    return chosen
