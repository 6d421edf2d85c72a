"""Long bounds are computed once, before the loop."""

from __future__ import annotations

from orio_py.ctree.build import binary, declare, ident
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import copy_with, walk
from orio_py.transformation.base import Context
from orio_py.transformation.forms import bound_is_invariant
from orio_py.transformation.types import control_type, fits_index


def hoisted(view: CanonicalLoop, context: Context) -> tuple[tuple[Node, ...], CanonicalLoop]:
    """A long bound that keeps its value in a variable of its own: the declaration, and the loop that uses it."""
    kind = control_type(view, context)
    long = any(isinstance(n, (c_ast.TernaryOp, c_ast.FuncCall)) for n in walk(view.bound))
    if not long or not fits_index(view.bound, kind, context) or not bound_is_invariant(view, context):
        return (), view
    stop = context.names(view.node).fresh(f"{view.index}_stop")
    cond = binary(view.relation, ident(view.index), ident(stop))
    again = CanonicalLoop.match(copy_with(view.node, cond=cond))
    return ((declare(f"const {kind}", stop, view.bound),), again) if again is not None else ((), view)
