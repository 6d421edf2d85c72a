"""Copies of a loop's body with the loop's own test between them, for loops of which nobody knows how often they run.

    for (i = 0; i < list->size; i++)      for (i = 0; i < list->size; i++) {
      visit(list, i);                       visit(list, i);
                                            i++;
                                            if (!(i < list->size))
                                              break;
                                            visit(list, i);
                                          }

Everything is evaluated as often as before and in the same order, so that nothing has to be known of the loop: its bound
may change, and it may follow a list.  A `break` in a copy ends the loop as it did; a `continue` would leave out the copies
behind it and is refused.

Source: D. Bacon, S. Graham, O. Sharp, "Compiler transformations for high-performance computing", ACM Computing
Surveys 26(4), 1994, section 6.3.2, of loops whose trip count is not known.
"""

from __future__ import annotations

from orio_py.ctree.build import block, for_, if_, statements, unary
from orio_py.ctree.loops import jumps_out
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import copy_with
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.forms import require_copyable, require_no_loop_pragma
from orio_py.transformation.unrolling.body_copies import without_comments
from orio_py.transformation.unrolling.leaving import LEAVING
from orio_py.transformation.unrolling.unroll_rewrite import count_statements, require_size


def tested_copies(node: Node, factor: int, context: Context) -> Node:
    """The `for` or `while` loop with `factor` copies of its body; `node` is not modified.

    Raises Refusal: ORIO-T020, T023, T025, T026, T050.
    """
    if not isinstance(node, (For, c_ast.While)):
        refuse("ORIO-T020", "Unroll needs a loop", node)
    require_no_loop_pragma(node, "Unroll", context)
    if (jump := jumps_out(node.stmt, (*LEAVING, c_ast.Return))) is not None:
        refuse("ORIO-T025", "Unroll needs a body that runs to its end", jump)
    require_copyable(node.stmt, "Unroll")
    require_size(factor * count_statements(node.stmt), "Unroll", node, "ufactor")
    step = node.next if isinstance(node, For) else None
    before = [] if step is None else [step]
    leave = [] if node.cond is None else [if_(unary("!", node.cond), c_ast.Break())]
    copies = _copy(node.stmt)
    bare = _copy(without_comments(node.stmt))
    for _ in range(factor - 1):
        copies += [*before, *leave, *bare]
    if isinstance(node, For):
        return for_(node.init, node.cond, node.next, block(*copies))
    return copy_with(node, stmt=block(*copies))


def _copy(body: Node) -> list[Node]:
    """The statements of a copy, in a block of their own where they declare names that the loop's test must not see."""
    parts = statements(body)
    return [block(*parts)] if any(isinstance(part, _DECLARATIONS) for part in parts) else list(parts)


_DECLARATIONS = (c_ast.Decl, c_ast.DeclList, c_ast.Typedef)
