"""Variables that are copied byte by byte, as `memcpy` does it, are assigned.

    uint16_t s;                         uint16_t s;
    memcpy(&s, &f, sizeof(s));          s = f;

Where both are of one type this computes the same.  Where they are not, as where the bits of a `float` are looked at, it
has the same effects still, which is what those ask for who only want to know these.

Source: ISO/IEC 9899:1999, 7.21.2.1.
"""

from __future__ import annotations

from collections.abc import Callable

from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter

MayAssign = Callable[[str, str, Node], bool]
"""Tells for the names of two variables, and the number of bytes, whether an assignment does."""


def with_assigned_copies(code: Node, may_assign: MayAssign) -> Node:
    """The code with assignments for copies of one variable to another; the same object where there are none."""
    return _Copies(may_assign).rewrite(code)


class _Copies(Rewriter):
    def __init__(self, may_assign: MayAssign) -> None:
        self._may_assign = may_assign

    def visit_FuncCall(self, node: c_ast.FuncCall) -> Node:
        match node:
            case c_ast.FuncCall(
                name=c_ast.ID(name="memcpy"), args=c_ast.ExprList(exprs=[first, second, size])
            ) if (to := _variable(first)) is not None and (source := _variable(second)) is not None:
                if self._may_assign(to.name, source.name, size):
                    return c_ast.Assignment("=", to, source, node.coord)
                return self.generic(node)
            case _:
                return self.generic(node)


def _variable(address: Node) -> c_ast.ID | None:
    """The variable whose address an argument is, casts left out."""
    match address:
        case c_ast.Cast(expr=inner):
            return _variable(inner)
        case c_ast.UnaryOp(op="&", expr=c_ast.ID() as variable):
            return variable
        case _:
            return None
