"""A condition around an inner loop is tested in its body, so that the nest is perfect.

    for (i = 0; i < n; i++)             for (i = 0; i < n; i++)
      if (mask[i])                        for (j = 0; j < m; j++)
        for (j = 0; j < m; j++)             if (mask[i])
          y[i][j] = 0;                        y[i][j] = 0;

Source: the inverse of loop unswitching; R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures", Morgan
Kaufmann 2001, chapter 7.
"""

from __future__ import annotations

from dataclasses import replace

from orio_py.ctree.build import if_
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Compound, For, Node, c_ast
from orio_py.ctree.rewrite import copy_with, walk
from orio_py.transformation.base import Context
from orio_py.transformation.forms import bound_is_invariant
from orio_py.transformation.sites import rewrite_where


def with_conditions_inside(tree: Node, context: Context) -> Node:
    """The tree with conditions in the bodies of the loops around which alone they stand.

    The same object where there is none.
    """
    return rewrite_where(tree, lambda node: isinstance(node, For), _inside, context)


def _inside(loop: Node, context: Context) -> Node:
    assert isinstance(loop, For)
    match _sole(loop.stmt):
        case c_ast.If(iffalse=None, iftrue=then) as test:
            inner = CanonicalLoop.match(_sole(then))
        case _:
            return loop
    if (
        inner is None
        or not _is_plain(inner)
        or not bound_is_invariant(replace(inner, bound=test.cond), context)
    ):
        return loop
    if inner.declared_type is None:
        read = context.effects(loop.stmt).reads_before_write | context.live_after | context.exposed
        if inner.index in read:
            return loop  # It keeps its value where the condition does not hold.
    return copy_with(loop, stmt=copy_with(inner.node, stmt=if_(test.cond, inner.body)))


def _sole(body: Node) -> Node:
    """The one statement of a block, or the statement itself."""
    while isinstance(body, Compound) and len(body.block_items or []) == 1:
        body = (body.block_items or [])[0]
    return body


def _is_plain(loop: CanonicalLoop) -> bool:
    """Whether start and bound can be computed where the condition does not hold: nothing is read from memory or divided."""
    parts = (part for end in (loop.start, loop.bound) for part in walk(end))
    return all(
        isinstance(part, (c_ast.ID, c_ast.Constant))
        or (isinstance(part, c_ast.BinaryOp) and part.op in {"+", "-"})
        for part in parts
    )
