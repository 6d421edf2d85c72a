"""Variables that are copied byte by byte, as `memcpy` does it, are assigned.

    uint16_t s;                         uint16_t s;
    memcpy(&s, &f, sizeof(s));          s = f;

Where both are of one type this computes the same.  Where they are not, as where the bits of a `float` are looked at, it
has the same effects still, which is what those ask for who only want to know these.

Source: ISO/IEC 9899:1999, 7.21.2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_

from orio_py.ctree.nodes import Compound, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with

MayAssign = Callable[[str, str, Node], bool]
"""Tells for the names of two variables, and the number of bytes, whether an assignment does."""


def with_assigned_copies(code: Node, may_assign: MayAssign) -> Node:
    """The code with assignments for copies of one variable to another; the same object where there are none."""
    return _Copies(may_assign).rewrite(code)


class _Copies(Rewriter):
    def __init__(self, may_assign: MayAssign) -> None:
        self._may_assign = may_assign

    def visit_Compound(self, node: Compound) -> Node:
        new = self.generic(node)
        items = new.block_items or []
        made = [self._assigned(item) for item in items]
        return new if all(map(is_, made, items)) else copy_with(new, block_items=made)

    def visit_If(self, node: c_ast.If) -> Node:
        new = self.generic(node)
        then = self._assigned(new.iftrue)
        other = None if new.iffalse is None else self._assigned(new.iffalse)
        unchanged = then is new.iftrue and other is new.iffalse
        return new if unchanged else copy_with(new, iftrue=then, iffalse=other)

    def _assigned(self, statement: Node) -> Node:
        """The assignment for a statement that copies a variable; what uses the value of the call needs that."""
        match statement:
            case c_ast.FuncCall(
                name=c_ast.ID(name="memcpy"), args=c_ast.ExprList(exprs=[first, second, size])
            ):
                to, source = _variable(first), _variable(second)
                if to is not None and source is not None and self._may_assign(to.name, source.name, size):
                    return c_ast.Assignment("=", to, source, statement.coord)
            case _:
                pass
        return statement


def _variable(address: Node) -> c_ast.ID | None:
    """The variable whose address an argument is, casts left out."""
    match address:
        case c_ast.Cast(expr=inner):
            return _variable(inner)
        case c_ast.UnaryOp(op="&", expr=c_ast.ID() as variable):
            return variable
        case _:
            return None
