"""Loop headers with `!=` or several comparisons, as the one that they come to.

    for (i = 0; i != n; i++)            for (i = 0; i < n; i++)
    for (i = n; i > 0U; i--)            for (i = n; i > 0; i--)
    for (i = 0; i < n && i < m; i++)    for (i = 0; i < (n < m ? n : m); i++)
    for (j = 0; j < m && j <= i; j++)   for (j = 0; j < (m < i + 1 ? m : i + 1); j++)

The first two run as often where the index meets the bound: in steps of 1 a signed index does, as it would overflow
otherwise, and so does an index that begins with 0; in other steps it does between numbers whose distance the
step divides.  In the last one `i` is the index of a loop around with `<`, so that `i + 1` does not overflow.

Source: ISO/IEC 9899:1999, 6.5 paragraph 5 (overflow) and 6.3.1.3 (conversions).
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from orio_py.ctree.build import add, binary, cast_to, const, ident, literal_value, ternary
from orio_py.ctree.ctype import Rank, common, ctype, integer_value
from orio_py.ctree.loops import CanonicalLoop, jumps_out
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, used_names, walk
from orio_py.ctree.symbols import declaration_of
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.forms import bound_is_invariant, has_stable_index
from orio_py.transformation.simpler.counted_steps import is_total, step_of
from orio_py.transformation.types import index_type, signedness, signedness_of_type

_ORDERS = frozenset({"<", "<=", ">", ">="})
_NARROW = frozenset({"char", "short", "_Bool", "bool", "int8_t", "uint8_t", "int16_t", "uint16_t"})


def with_comparisons(node: Node, context: Context) -> Node:
    """The statement with `<` and `>` for `!=` in the headers of loops, where that is the same."""
    return _Comparisons(node, context).rewrite(node)


def with_joined_bounds(node: Node, context: Context) -> Node:
    """The statement with one bound in the headers of loops that compare their indices with several."""
    return _Joining(context).rewrite(node)


class _Joining(Rewriter):
    def __init__(self, context: Context) -> None:
        self._context = context
        self._around: list[For] = []

    def visit_For(self, node: For) -> Node:
        self._around.append(node)
        new = self.generic(node)
        self._around.pop()
        tests, advance = _conjuncts(new.cond), new.next
        if len(tests) < 2 or advance is None or tests[0].op not in _ORDERS:
            return new
        first = tests[0]
        parts = advance.exprs if isinstance(advance, c_ast.ExprList) else [advance]
        stepped = {found[0] for part in parts if (found := step_of(part)) is not None}
        index = first.left.name if isinstance(first.left, c_ast.ID) else ""
        order, is_mixed = first.op[0], len({test.op for test in tests}) > 1
        if index not in stepped or not all(test.op[0] == order and _is(test.left, index) for test in tests):
            return new
        bounds = [test.right for test in tests]
        if not self._are_alike(bounds, index, node.init):
            return new
        if is_mixed:
            bounds = [bound for test in tests if (bound := self._behind(test)) is not None]
            if len(bounds) < len(tests):
                return new
        bound = reduce(lambda one, two: ternary(binary(order, one, two), one, two), bounds)
        return copy_with(new, cond=copy_with(first, op=order if is_mixed else first.op, right=bound))

    def _behind(self, test: c_ast.BinaryOp) -> Node | None:
        """The bound of a comparison as that of `<` or `>`: a step behind the index of a loop, which ends there at the latest."""
        bound, order = test.right, test.op[0]
        if test.op == order:
            return bound
        around = (CanonicalLoop.match(loop) for loop in self._around)
        loops = [loop for loop in (*self._context.surrounding, *around) if loop is not None]
        loop = next((loop for loop in reversed(loops) if _is(bound, loop.index)), None)
        if loop is None or loop.relation != order or not has_stable_index(loop, self._context):
            return None
        return add(bound, 1 if loop.upward else -1)

    def _are_alike(self, bounds: list[Node], index: str, init: Node | None) -> bool:
        """Whether bounds are integers of one type, of which those behind the first may be read where it is not met."""
        kinds = {expression_type(bound, self._context) for bound in bounds}
        own_declarations = init.decls if isinstance(init, c_ast.DeclList) else []
        types = {d.name: d for d in map(declaration_of, own_declarations)}
        inside = replace(self._context, declarations={**self._context.declarations, **types})
        kind, own = next(iter(kinds)), expression_type(ident(index), inside)
        if len(kinds) > 1 or kind is None or kind.is_floating or own is None:
            return False
        together = common(own, kind)
        # Of -1 and 5 the smaller one is 5 where both are compared with an unsigned index.
        if together is None or together.unsigned != kind.promoted.unsigned:
            return False
        parts = [part for bound in bounds[1:] for part in walk(bound)]
        if not all(map(is_total, bounds)) or any(isinstance(part, c_ast.BinaryOp) for part in parts):
            return False
        names = used_names(bounds)
        known = (self._context.declarations.get(name) for name in names)
        return index not in names and not any(d is not None and "volatile" in d.qualifiers for d in known)


def _conjuncts(condition: Node | None) -> list[c_ast.BinaryOp]:
    """The comparisons that `&&` joins; none where something else is among them."""
    if not isinstance(condition, c_ast.BinaryOp):
        return []
    if condition.op != "&&":
        return [condition]
    left, right = _conjuncts(condition.left), _conjuncts(condition.right)
    return [*left, *right] if left and right else []


def _is(node: Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


class _Comparisons(Rewriter):
    def __init__(self, root: Node, context: Context) -> None:
        self._context = context
        headers = {id(part) for loop in walk(root) if isinstance(loop, For) for part in _declared(loop)}
        self._local = {n.name for n in walk(root) if isinstance(n, c_ast.Decl) and id(n) not in headers}

    def visit_For(self, node: For) -> Node:
        new = self.generic(node)
        if not isinstance(new.cond, c_ast.BinaryOp) or (test := _unequal(new.cond)) is None:
            return self._with_converted_start(new)
        for operator in ("<", ">"):
            loop = CanonicalLoop.match(copy_with(new, cond=copy_with(test, op=operator)))
            if loop is not None and self._meets(loop):
                return loop.node
        return new

    def _with_converted_start(self, node: For) -> For:
        """The loop with the start of a signed index converted as C does it, where that is unsigned: `i = (long)(n - 1)`."""
        loop = CanonicalLoop.match(node)
        if loop is None or loop.upward or not isinstance(node.init, c_ast.Assignment):
            return node
        name = index_type(loop, self._context)
        kind, own = ctype(name), expression_type(loop.start, self._context)
        if kind is None or own is None or not own.promoted.unsigned or kind.unsigned:
            return node
        if kind.rank < max(own.promoted.rank, Rank.INT):
            return node  # Large numbers would become others.
        return copy_with(node, init=copy_with(node.init, rvalue=cast_to(name, loop.start)))

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


def _unequal(test: c_ast.BinaryOp) -> c_ast.BinaryOp | None:
    """The test for inequality that a condition comes to: `i > 0U` is one, whatever the sign of the index."""
    match test:
        case c_ast.BinaryOp(op="!="):
            return test
        case c_ast.BinaryOp(op=">", right=c_ast.Constant(type=kind, value=text)) if (
            "int" in kind and "u" in text.lower() and integer_value(text.rstrip("uUlL")) == 0
        ):
            return copy_with(test, op="!=", right=const(0))
        case _:
            return None


def _declared(loop: For) -> list[Node]:
    """The declarations in a loop's header."""
    return list(loop.init.decls) if isinstance(loop.init, c_ast.DeclList) else []
