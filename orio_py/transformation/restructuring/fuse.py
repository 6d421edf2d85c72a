"""Fuse: make one loop of neighbouring loops over the same range.

    for (i = 0; i < n; i++)             for (i = 0; i < n; i++) {
      a[i] = b[i] * c;                    a[i] = b[i] * c;
    for (j = 0; j < n; j++)               d[i] = a[i] + 1;
      d[j] = a[j] + 1;                  }

A later body must not need what an iteration of an earlier body computes further on.  Source: R. Allen,
K. Kennedy, "Optimizing Compilers for Modern Architectures", Morgan Kaufmann 2001, section 8.6;
K. Kennedy, K. McKinley, "Maximizing loop parallelism and improving data locality via loop fusion and
distribution", LCPC 1993.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from orio_py.core.expr import Value
from orio_py.ctree.build import block
from orio_py.ctree.loops import body_statements
from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import copy_with, walk_statements
from orio_py.transformation.arguments import loop_name, positive_int, wrong
from orio_py.transformation.base import Context, note, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.loop_names import LoopName, first_present, index_name, show_loops
from orio_py.transformation.restructuring.fuse_rewrite import Fused, Pair, fused_pair, header_problem
from orio_py.transformation.restructuring.statement_motion import moved_aside
from orio_py.transformation.sites import rewrite_where

__all__ = ["ENTRY", "Fuse", "fuse_loops"]


def fuse_loops(
    first: For, second: For, context: Context, *, what: str = "Fuse", depth: int = 1, force: bool = False
) -> Fused:
    """Two neighbouring loops as one; `context` is that of the place where both stand.

    `Fused.loop` is the new loop, `Fused.statements` what stands in place of the two: the loop, and after
    it assignments to indices that are read later.  Raises Refusal: ORIO-T020 to T030, T040, T041, T070, T071.
    """
    return fused_pair(Pair(first, second), context, what=what, depth=depth, force=force)


@dataclass(frozen=True, slots=True)
class Fuse:
    """Fuse the neighbouring loops over `loops`, or all neighbours with equal headers, `depth` levels deep."""

    loops: tuple[LoopName | str, ...] = ()
    depth: int = 1
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The block, or the loop around it, with the loops fused; `node` is not modified.

        Raises Refusal: ORIO-T011, T015 to T030, T040, T041, T070 to T073.
        """
        if self.depth < 1:
            refuse("ORIO-T011", f"the depth is {self.depth}; it must be at least 1", node, argument="depth")
        names = self._names(node)
        blocks = {id(found) for found in self._blocks(node, names)}
        if not blocks:
            self._refuse_scattered(node, names)
        return rewrite_where(node, lambda n: id(n) in blocks, lambda n, c: self._fused(n, names, c), context)

    def _names(self, node: Node) -> frozenset[str]:
        present = show_loops(node)
        wanted = [LoopName((w,)) if isinstance(w, str) else w for w in self.loops]
        found = [first_present(name, present, node, "loops") for name in wanted]
        return frozenset(name for name in found if name is not None)

    def _blocks(self, node: Node, names: frozenset[str]) -> list[Node]:
        """The blocks in which loops are to be fused."""
        if self.loops:
            blocks = [item for item in walk_statements(node) if isinstance(item, Compound)]
            return [item for item in blocks if len(_named(item, names)) > 1]
        while True:
            if isinstance(node, Compound) and len(body_statements(node)) > 1:
                return [node]
            inner = body_statements(node.stmt if isinstance(node, For) else node)
            if len(inner) != 1 or inner[0] is node:
                return [node.stmt] if isinstance(node, For) and len(inner) > 1 else []
            node = inner[0]

    def _fused(self, found: Node, names: frozenset[str], context: Context) -> Node:
        items = list(found.block_items or []) if isinstance(found, Compound) else []
        runs = [_named(found, names)] if self.loops else self._runs(items, context)
        if not runs:
            self._refuse_different(found, items, context)
        for run in runs:
            current = run[0]
            for following in run[1:]:
                items, current = self._pair(items, current, following, context)
        if len(items) == 1 and isinstance(items[0], For):
            return items[0]
        return copy_with(found, block_items=items)

    def _pair(self, items: list[Node], first: For, second: For, context: Context) -> tuple[list[Node], For]:
        """The statements of a block with two loops fused, and the fused loop."""
        start, end = _place(items, first), _place(items, second)
        between = items[start + 1 : end]
        comments = tuple(item for item in between if isinstance(item, Comment))
        others = [item for item in between if not isinstance(item, Comment)]
        before, after = moved_aside(others, first, second, context)
        rest = items[end + 1 :]
        pragmas = _pragmas_before(items[:start], context)
        here = _context_of([first, second], [*before, *items[:start]], [*after, *rest], context)
        here = replace(here, pragmas=pragmas)
        pair = Pair(first, second, comments)
        result = fused_pair(pair, here, what="Fuse", depth=self.depth, force=self.force)
        return [*items[:start], *before, *result.statements, *after, *rest], result.loop

    def _runs(self, items: list[Node], context: Context) -> list[list[For]]:
        """The longest runs of neighbouring loops with equal headers, of at least two."""
        runs: list[list[For]] = []
        previous: Node | None = None
        for item in items:
            if isinstance(item, Comment):
                continue
            last = runs[-1][-1] if runs else None
            if isinstance(item, For):
                if last is not None and last is previous and self._follows(last, item, context):
                    runs[-1].append(item)
                else:
                    runs.append([item])
            previous = item
        return [run for run in runs if len(run) > 1]

    def _follows(self, first: For, second: For, context: Context) -> bool:
        return header_problem(first, second, self.depth, context) is None

    def _refuse_different(self, found: Node, items: list[Node], context: Context) -> None:
        notes = [
            note(problem, second)
            for first, second in pairwise(item for item in items if not isinstance(item, Comment))
            if isinstance(first, For) and isinstance(second, For)
            if (problem := header_problem(first, second, self.depth, context)) is not None
        ]
        message = "Fuse finds no loops with equal headers that follow each other directly"
        refuse(
            "ORIO-T073", message, found, notes=notes, help=None if notes else "name them: `loops=['i', 'j']`"
        )

    def _refuse_scattered(self, node: Node, names: frozenset[str]) -> None:
        listed = ", ".join(f"`{name}`" for name in sorted(names))
        message = (
            f"Fuse finds no two loops over {listed} in one block"
            if self.loops
            else "Fuse needs a block of several loops, or a loop around one"
        )
        refuse("ORIO-T073", message, node, argument="loops" if self.loops else None)


def _named(found: Node, names: frozenset[str]) -> list[For]:
    items = (found.block_items or []) if isinstance(found, Compound) else []
    return [item for item in items if isinstance(item, For) and index_name(item) in names]


def _place(items: Sequence[Node], wanted: Node) -> int:
    return next(place for place, item in enumerate(items) if item is wanted)


def _context_of(
    together: Sequence[Node], before: Sequence[Node], after: Sequence[Node], context: Context
) -> Context:
    """What is known at the place of neighbouring statements of a block."""
    mark = block(*together)
    found = [context]

    def look(node: Node, inner: Context) -> Node:
        found.append(inner)
        return node

    rewrite_where(block(*before, mark, *after), lambda n: n is mark, look, replace(context, pragmas=()))
    return found[-1]


def _pragmas_before(items: Sequence[Node], context: Context) -> tuple[str, ...]:
    """The pragmas that stand directly before what follows these statements of a block."""
    texts: list[str] = []
    for item in reversed(items):
        if isinstance(item, (c_ast.Pragma, GuardedPragma)):
            texts.append(item.string)
        elif not isinstance(item, Comment):
            return tuple(reversed(texts))
    return (*context.pragmas, *reversed(texts))


def _loop_list(value: Value, name: str) -> tuple[LoopName, ...]:
    if not isinstance(value, (list, tuple)):
        wrong(name, "a list of loops", value)
    return tuple(loop_name(item, name) for item in value)


ENTRY = Entry(
    "Fuse",
    "make one loop of neighbouring loops over the same range",
    (
        ArgumentSpec(
            "loops",
            "list of loops, such as ['i', 'j']",
            "the loops to fuse; all neighbours with equal headers where it is empty",
            _loop_list,
            default="[]",
        ),
        ArgumentSpec("depth", "integer, at least 1", "how many levels of a nest", positive_int, default="1"),
        FORCE,
    ),
    Fuse,
)
