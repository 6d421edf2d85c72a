"""Loop headers with `!=`, as the comparison that they come to.

    for (i = 0; i != n; i++)            for (i = 0; i < n; i++)

Both run as often where the index meets the bound: in steps of 1 a signed index does, as it would overflow
otherwise, and so does an index that begins with 0; in other steps it does between numbers whose distance the
step divides.

Source: ISO/IEC 9899:1999, 6.5 paragraph 5 (overflow) and 6.3.1.3 (conversions).
"""

from __future__ import annotations

from orio_py.ctree.build import literal_value
from orio_py.ctree.loops import CanonicalLoop, jumps_out
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, walk
from orio_py.transformation.base import Context
from orio_py.transformation.forms import bound_is_invariant, has_stable_index
from orio_py.transformation.types import index_type, signedness, signedness_of_type

_NARROW = frozenset({"char", "short", "_Bool", "bool", "int8_t", "uint8_t", "int16_t", "uint16_t"})


def with_comparisons(node: Node, context: Context) -> Node:
    """The statement with `<` and `>` for `!=` in the headers of loops, where that is the same."""
    return _Comparisons(node, context).rewrite(node)


class _Comparisons(Rewriter):
    def __init__(self, root: Node, context: Context) -> None:
        self._context = context
        headers = {id(part) for loop in walk(root) if isinstance(loop, For) for part in _declared(loop)}
        self._local = {n.name for n in walk(root) if isinstance(n, c_ast.Decl) and id(n) not in headers}

    def visit_For(self, node: For) -> Node:
        new = self.generic(node)
        if not isinstance(new.cond, c_ast.BinaryOp) or new.cond.op != "!=":
            return new
        for operator in ("<", ">"):
            loop = CanonicalLoop.match(copy_with(new, cond=copy_with(new.cond, op=operator)))
            if loop is not None and self._meets(loop):
                return loop.node
        return new

    def _meets(self, loop: CanonicalLoop) -> bool:
        """Whether the index takes the value of the bound behind the last iteration that `!=` lets run."""
        if loop.index in self._local or jumps_out(loop.body, (c_ast.Continue,)) is not None:
            return False
        if not has_stable_index(loop, self._context) or not bound_is_invariant(loop, self._context):
            return False
        start, bound = literal_value(loop.start), literal_value(loop.bound)
        if start is not None and bound is not None:
            distance = (bound - start) * (1 if loop.upward else -1)
            return distance >= 0 and distance % abs(loop.stride) == 0
        kind = index_type(loop, self._context)
        if abs(loop.stride) != 1 or set(kind.split()) & _NARROW:
            return False
        parts = [signedness(part, self._context) for part in (loop.start, loop.bound)]
        if signedness_of_type(kind) == "signed" and parts == ["signed", "signed"]:
            return True
        return loop.upward and start == 0


def _declared(loop: For) -> list[Node]:
    """The declarations in a loop's header."""
    return list(loop.init.decls) if isinstance(loop.init, c_ast.DeclList) else []
