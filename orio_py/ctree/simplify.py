"""Folding of integer literals in index arithmetic.

Folded are sums and products of plain decimal `int` literals: `i + 1 + 2` → `i + 3`, `n - 1 - 3` →
`n - 4`, `0 + i` → `i`, `1*i` → `i`; only in subscripts, in loop headers over integers, and in an
expression that is handed in by itself.  Everything else keeps its form: there the operands could be
floating numbers, which must not be reassociated.  Literals with a suffix and divisions stay as well.

Adding two literals cannot overflow where the original did not: the new sum has the same value, and it
is formed from a variable whose value the original used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from orio_py.ctree.build import add, const, literal_value
from orio_py.ctree.integers import ARITHMETIC, INTEGER_ONLY, evident_integers
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import Replacement, Rewriter, copy_with, map_children, walk

_INT_MAX = 2**31 - 1
_EXPRESSIONS = (c_ast.BinaryOp, c_ast.UnaryOp, c_ast.TernaryOp, c_ast.ID, c_ast.Constant)
_LEAVES = (c_ast.ID, c_ast.Constant)
_N = TypeVar("_N", bound=Node)

_References = dict[int, tuple[c_ast.ArrayRef, c_ast.ArrayRef]]
"""What became of references, by the identity of the node; that is kept alive."""


def simplify(node: Node, *, integers: frozenset[str] = frozenset()) -> Node:
    """`node` with its integer literals folded; the same object when there is nothing to fold.

    An expression is taken to be an integer as a whole.  In statements, `integers` names variables that
    are known to be integers, besides those that the subscripts and declarations of the tree show.
    """
    return simplify_all([node], integers=integers)[0]


def simplify_all(nodes: Iterable[Node], *, integers: frozenset[str] = frozenset()) -> list[Node]:
    """Each of some trees as `simplify` makes it; a reference that they share is still one node in them all."""
    known: _References = {}
    result: list[Node] = []
    for node in nodes:
        folding = _Folding(node, integers, known)
        folding.integer = isinstance(node, _EXPRESSIONS)
        result.append(folding.rewrite(node))
    return result


class _Folding(Rewriter):
    def __init__(self, root: Node, integers: frozenset[str], known: _References) -> None:
        self._root = root
        self._given = integers
        self._integers: frozenset[str] | None = None
        self._known = known
        self.integer = False

    @property
    def integers(self) -> frozenset[str]:
        """The variables known to be integers; the tree is searched when a loop first asks for them."""
        if self._integers is None:
            self._integers = self._given | evident_integers(self._root)
        return self._integers

    def visit(self, node: Node) -> Replacement:
        if type(node) in _LEAVES:
            return node
        before = self.integer
        if not isinstance(node, _EXPRESSIONS):
            self.integer = False
        result = super().visit(node)
        self.integer = before
        return result

    def visit_BinaryOp(self, node: c_ast.BinaryOp) -> Node:
        if node.op in INTEGER_ONLY:
            return self._within(node, True)
        if node.op not in ARITHMETIC:
            return self._within(node, False)
        left, right = self._same(node.left), self._same(node.right)
        if left is node.left and right is node.right:
            new = node
        else:
            new = c_ast.BinaryOp(node.op, left, right, node.coord)
        if not self.integer:
            return new
        if new.op in {"+", "-"}:
            return _folded_sum(new)
        return _folded_product(new) if new.op == "*" else new

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        return self._within(node, self.integer and node.op in {"-", "+", "~"})

    def visit_TernaryOp(self, node: c_ast.TernaryOp) -> Node:
        condition = self._as(node.cond, False)
        parts = (self._as(node.iftrue, self.integer), self._as(node.iffalse, self.integer))
        if (condition, *parts) == (node.cond, node.iftrue, node.iffalse):
            return node
        return copy_with(node, cond=condition, iftrue=parts[0], iffalse=parts[1])

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> Node:
        known = self._known.get(id(node))
        if known is not None:
            return known[1]
        name, subscript = self._as(node.name, False), self._as(node.subscript, True)
        if name is node.name and subscript is node.subscript:
            new = node
        else:
            new = c_ast.ArrayRef(name, subscript, node.coord)
        self._known[id(node)] = node, new
        return new

    def visit_For(self, node: For) -> Node:
        parts = [part for part in (node.init, node.cond, node.next) if part is not None]
        over_integers = all(self._is_integer_part(part) for part in parts)
        changes: dict[str, Node] = {"stmt": self.rewrite(node.stmt)}
        for name in ("init", "cond", "next"):
            part: Node | None = getattr(node, name)
            if part is not None:
                changes[name] = self._header(part) if over_integers else self.rewrite(part)
        same = all(getattr(node, name) is value for name, value in changes.items())
        return node if same else copy_with(node, **changes)

    def _is_integer_part(self, part: Node) -> bool:
        return all(
            (not isinstance(item, c_ast.ID) or item.name in self.integers)
            and not isinstance(item, (c_ast.FuncCall, c_ast.Cast, c_ast.StructRef))
            and not (isinstance(item, c_ast.Constant) and "int" not in item.type)
            and not (isinstance(item, c_ast.UnaryOp) and item.op == "*")
            for item in walk(part)
        )

    def _header(self, part: Node) -> Node:
        """A part of a loop header with the values in it taken as integers."""
        if isinstance(part, c_ast.DeclList):
            return map_children(part, lambda decl: map_children(decl, lambda value: self._as(value, True)))
        return map_children(part, lambda value: self._as(value, True))

    def _same(self, node: Node) -> Node:
        return node if type(node) in _LEAVES else self.rewrite(node)

    def _within(self, node: _N, integer: bool) -> _N:
        return map_children(node, lambda child: self._as(child, integer))

    def _as(self, node: Node, integer: bool) -> Node:
        if type(node) in _LEAVES:
            return node
        before, self.integer = self.integer, integer
        result = self.rewrite(node)
        self.integer = before
        return result


def _folded_sum(node: c_ast.BinaryOp) -> Node:
    left, right = _small(node.left), _small(node.right)
    sign = 1 if node.op == "+" else -1
    if left is not None and right is not None:
        return _fitting(left + sign * right, node)
    if left == 0 and node.op == "+":
        return node.right
    if right is None:
        return node
    if right == 0:
        return node.left
    inner = node.left
    merged = _merged(inner, sign * right) if isinstance(inner, c_ast.BinaryOp) else None
    if merged is not None:
        return merged
    return add(node.left, sign * right) if right < 0 else node


def _merged(inner: c_ast.BinaryOp, amount: int) -> Node | None:
    """`(x ± literal) + amount` or `(literal + x) + amount` with the literals added, if that fits."""
    behind, before = _small(inner.right), _small(inner.left)
    if inner.op in {"+", "-"} and behind is not None:
        rest, total = inner.left, (behind if inner.op == "+" else -behind) + amount
    elif inner.op == "+" and before is not None:
        rest, total = inner.right, before + amount
    else:
        return None
    return add(rest, total) if abs(total) <= _INT_MAX else None


def _folded_product(node: c_ast.BinaryOp) -> Node:
    left, right = _small(node.left), _small(node.right)
    if left is not None and right is not None:
        return _fitting(left * right, node)
    if left == 1:
        return node.right
    return node.left if right == 1 else node


def _fitting(value: int, node: c_ast.BinaryOp) -> Node:
    return const(value) if abs(value) <= _INT_MAX else node


def _small(node: Node) -> int | None:
    """The value of a decimal `int` literal, perhaps negated, that fits in 32 bits."""
    operand = node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "-" else node
    if not isinstance(operand, c_ast.Constant) or operand.type != "int" or not operand.value.isdigit():
        return None
    if operand.value.startswith("0") and operand.value != "0":
        return None
    value = literal_value(node)
    return value if value is not None and abs(value) <= _INT_MAX else None
