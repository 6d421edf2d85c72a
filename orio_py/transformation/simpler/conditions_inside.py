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
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Compound, For, Node, c_ast
from orio_py.ctree.rewrite import copy_with
from orio_py.transformation.base import Context
from orio_py.transformation.forms import bound_is_invariant
from orio_py.transformation.simpler.counted_steps import certain_parts
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
        or not all(_may_be_computed(end, test.cond) for end in (inner.start, inner.bound))
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


def _may_be_computed(end: Node, condition: Node) -> bool:
    """Whether a start or bound can be computed where the condition does not hold.

    Nothing is read from memory or divided but what the condition itself reads or divides.
    """
    match end:
        case c_ast.ID() | c_ast.Constant():
            return True
        case c_ast.BinaryOp(op="+" | "-", left=left, right=right):
            return _may_be_computed(left, condition) and _may_be_computed(right, condition)
        case _:
            return any(equal(end, part) for part in certain_parts(condition))
