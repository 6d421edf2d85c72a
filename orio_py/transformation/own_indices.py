"""Gives loops indices of their own, so that copies and threads share none, and tells their last values behind.

    for (i = 0; i < n; i++)             for (int i = 0; i < n; i++)
      for (j = 0; j < m; j++)             for (int j = 0; j < m; j++)
        y[i] += a[i][j] * x[j];             y[i] += a[i][j] * x[j];
                                        if (n > 0)
                                          j = m > 0 ? m : 0;
                                        i = n > 0 ? n : 0;

Only what is read later gets a last value.
"""

from __future__ import annotations

from orio_py.ctree.build import declare
from orio_py.ctree.loops import CanonicalLoop, header_index, loops_in
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, walk, walk_statements
from orio_py.transformation.base import Context, Refusal
from orio_py.transformation.final_index import last_values
from orio_py.transformation.forms import require_stable_index
from orio_py.transformation.overwriting import other_use

_WHAT = "the recipe"


def own_indices(mark: Node, context: Context) -> tuple[Node, list[Node]]:
    """A marked statement, whose indices are those of its loops alone, and the last values of these indices.

    The same object and no values where there is none, or nothing is read later.
    """
    if any(isinstance(part, (c_ast.Return, c_ast.Goto)) for part in walk_statements(mark)):
        return mark, []  # What is behind them may read what the last values would be given to.
    views = _views(mark, context)
    names = frozenset(name for name in views if _counts_only(mark, name))
    live = names & context.live_after
    kept, values = _values(mark, names, live, context)
    if not kept & live:
        return mark, []
    types = {name: kind for name in kept if (kind := context.declarations[name].type)}
    return _Declaring(types).rewrite(mark), values


def _values(
    mark: Node, names: frozenset[str], live: frozenset[str], context: Context
) -> tuple[frozenset[str], list[Node]]:
    """The names whose last values are known, and what gives these values to those that are live."""
    try:
        return names, last_values(mark, live, _WHAT, context)
    except Refusal:
        known = frozenset(name for name in live if _is_known(mark, name, context))
        return names - (live - known), last_values(mark, known, _WHAT, context) if known else []


def _is_known(mark: Node, name: str, context: Context) -> bool:
    try:
        last_values(mark, {name}, _WHAT, context)
    except Refusal:
        return False
    return True


def _views(mark: Node, context: Context) -> set[str]:
    """The indices that are declared outside, have a type and no pointers to them, and belong to canonical loops alone."""
    found: dict[str, bool] = {}
    for loop in loops_in(mark):
        name = header_index(loop)
        if name is None or isinstance(loop.init, c_ast.DeclList):
            continue
        declared = context.declarations.get(name)
        plain = declared is not None and declared.is_integer and declared.is_scalar
        plain = plain and declared is not None and not set(declared.qualifiers) & {"volatile", "const"}
        found[name] = found.get(name, True) and plain and _is_stable(loop, context)
    return {name for name, stable in found.items() if stable and other_use(mark, name, context) is None}


def _is_stable(loop: For, context: Context) -> bool:
    view = CanonicalLoop.match(loop)
    if view is None or view.index in context.effects(view.start).reads:
        return False
    try:
        require_stable_index(view, _WHAT, context)
    except Refusal:
        return False
    return True


def _counts_only(mark: Node, name: str) -> bool:
    """Whether a name stands nowhere in a statement but in the loops that count by it."""
    own = {id(part) for loop in loops_in(mark) if header_index(loop) == name for part in walk(loop)}
    return all(id(part) in own for part in walk(mark) if isinstance(part, c_ast.ID) and part.name == name)


class _Declaring(Rewriter):
    """Declares indices in the headers of the loops that set them."""

    def __init__(self, types: dict[str, str]) -> None:
        self._types = types

    def visit_For(self, node: For) -> Node:
        new = self.generic(node)
        match new.init:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=start) if name in self._types:
                return copy_with(new, init=c_ast.DeclList([declare(self._types[name], name, start)]))
            case _:
                return new
