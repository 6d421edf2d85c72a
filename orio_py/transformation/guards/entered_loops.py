"""Loops that test behind their bodies test before them where the first test would let them run.

    do {                                if (n != 0)
      *d++ = *s++;                        while (n != 0) {
    } while (--n);                          *d++ = *s++;
                                            --n;
                                          }

The body runs once in any case; where a test before it would fail, the loop as it was runs.
"""

from __future__ import annotations

from orio_py.ctree.build import binary, block, literal_value, statements
from orio_py.ctree.loops import jumps_out, unmarked
from orio_py.ctree.nodes import INCREMENTS, For, Node, Transform, c_ast
from orio_py.ctree.rewrite import Rewriter, declared_names, used_names
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.guards.guard import Guard
from orio_py.transformation.guards.guarded_tree import GuardedTree, around_mark
from orio_py.transformation.guards.runtime_guards import may_stand_twice, without_marks
from orio_py.transformation.parallel.pragma_text import is_about_loop
from orio_py.transformation.simpler import in_simpler_forms
from orio_py.transformation.simpler.counted_steps import is_total
from orio_py.transformation.sites import marked_like, outermost_marks, rewrite_where

_COMPARISONS = frozenset({"<", "<=", ">", ">=", "!="})


def with_entered_loops(tree: Node, context: Context) -> GuardedTree:
    """The tree whose marked `do` loops are `while` loops, behind conditions; without any, the tree itself."""
    marks = {id(mark) for mark in outermost_marks(tree)}
    guards: dict[int, Guard] = {}
    originals: dict[int, Node] = {}

    def change(mark: Node, inner: Context) -> Node:
        assert isinstance(mark, Transform)
        loop = _tested_first(unmarked(mark), inner)
        if loop is None or not may_stand_twice(mark) or any(map(is_about_loop, inner.pragmas)):
            return mark
        before, new, after = around_mark(in_simpler_forms(marked_like(mark, loop), inner), mark.step)
        counts = isinstance(unmarked(new), For)
        if not counts or not used_names(after).isdisjoint(inner.effects(new).scalar_writes):
            return mark
        guards[mark.step] = Guard(headers=(loop.cond,), preparation=tuple(before), after=tuple(after))
        originals[mark.step] = without_marks(mark)
        return new

    new = rewrite_where(tree, lambda node: id(node) in marks, change, context)
    return GuardedTree(new, context, guards, originals)


def _tested_first(loop: Node, context: Context) -> c_ast.While | None:
    """The loop with its test before its body; None for one whose test nothing but its body may be followed by."""
    if not isinstance(loop, c_ast.DoWhile) or literal_value(loop.cond) is not None:
        return None
    stepping = _Stepping()
    test = stepping.rewrite(loop.cond)
    if not (isinstance(test, c_ast.BinaryOp) and test.op in _COMPARISONS):
        kind = expression_type(test, context)
        test = binary(">" if kind is not None and kind.unsigned else "!=", test, 0)
    # A `continue` leads to the steps in the test.
    harmless = (c_ast.Break, c_ast.Return) if stepping.steps else (c_ast.Break, c_ast.Return, c_ast.Continue)
    is_hidden = not used_names([test]).isdisjoint(declared_names(loop.stmt))
    if len(stepping.steps) > 1 or not is_total(test) or is_hidden or jumps_out(loop.stmt, harmless):
        return None
    return c_ast.While(test, block(*statements(loop.stmt), *stepping.steps), loop.coord)


class _Stepping(Rewriter):
    """Takes `--n` for `n`; `steps` are what has to be done before."""

    def __init__(self) -> None:
        self.steps: list[Node] = []

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        """`--n` and `++i`."""
        if node.op in INCREMENTS and not node.op.startswith("p") and isinstance(node.expr, c_ast.ID):
            self.steps.append(node)
            return node.expr
        return self.generic(node)
