"""Copies of statements that differ in the names they use: the work of unrolling, in linear time.

A statement is read once; what does not differ between copies is shared, and the rest is rebuilt from a plan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from orio_py.ctree import build
from orio_py.ctree.build import add, block, cast_to, ident, statements
from orio_py.ctree.ctype import ctype
from orio_py.ctree.integers import ARITHMETIC, INTEGER_ONLY, evident_integers
from orio_py.ctree.loops import CanonicalLoop, loops_in
from orio_py.ctree.nodes import MIRRORED, Comment, For, Node, c_ast
from orio_py.ctree.rewrite import (
    Rewriter,
    copy_with,
    declared_names,
    fields,
    substitute,
    walk,
    walk_statements,
)
from orio_py.ctree.simplify import simplify, simplify_all
from orio_py.transformation.base import Context
from orio_py.transformation.types import index_type, may_be_unsigned

Names = Mapping[str, Callable[[int], Node]]
"""What stands for a variable in the copy of a given number; never a literal."""

_Plan = Callable[[int], Node]

_DECLARATIONS = (c_ast.Decl, c_ast.DeclList, c_ast.Typedef)
_OWN_NAMES = (
    c_ast.StructRef, c_ast.NamedInitializer, c_ast.FuncDecl, c_ast.Struct, c_ast.Union, c_ast.GenericSelection,
)  # fmt: skip
_NO_NAMES: Mapping[str, tuple[str, ...]] = {}
_FALLS_THROUGH = re.compile(r"fall(?:s|ing|en)?[ \t-]*thr(?:ough|u)", re.IGNORECASE)
_LARGEST = 2**31 - 1


class Copies:
    """The statements of a loop body for successive iterations; comments stay in the first copy.

    `renamed` are variables that have another name in each copy but the first.
    """

    def __init__(
        self,
        view: CanonicalLoop,
        body: Node,
        context: Context,
        renamed: Mapping[str, tuple[str, ...]] = _NO_NAMES,
    ) -> None:
        self._view = view
        self._stride = view.stride
        body = with_unsigned_uses(view, body, context)
        self._first = statements(body)
        self._bare = statements(without_comments(body))
        self._scoped = any(isinstance(s, _DECLARATIONS) for s in self._bare)
        self._renamed = renamed
        self._plans: list[_Plan | Node] | None = None
        self._hiding = False

    def first(self) -> list[Node]:
        """The statements of the first iteration, as they were written."""
        return [block(*self._first)] if self._scoped else list(self._first)

    def at(self, number: int) -> list[Node]:
        """The statements of the iteration `number` steps later, without comments."""
        if number == 0:
            return [block(*self._bare)] if self._scoped else list(self._bare)
        if self._plans is None:
            self._plans = self._prepared()
        copy: list[Node] = [part if isinstance(part, Node) else part(number) for part in self._plans]
        if self._scoped and not self._hiding:
            copy = [block(*copy)]
        return copy

    def _prepared(self) -> list[_Plan | Node]:
        names: dict[str, Callable[[int], Node]] = {
            name: _chosen_from(others) for name, others in self._renamed.items()
        }
        names[self._view.index] = places(self._view.index, self._stride)
        whole = block(*self._bare)
        if not names.keys().isdisjoint(declared_names(whole)):
            # A declaration inside hides one of the names: scopes have to be followed.
            self._hiding = True
            return [_slow(whole, names)] if self._scoped else [_slow(s, names) for s in self._bare]
        # Only the headers of loops depend on what is known to be an integer.
        integers = evident_integers(whole) if loops_in(whole) else frozenset[str]()
        planner = _Planner(names, integers)
        prepared = simplify_all(self._bare, integers=integers)
        return [planner.plan(statement) or statement for statement in prepared]


def with_unsigned_uses(view: CanonicalLoop, body: Node, context: Context) -> Node:
    """A body in which an index of a short unsigned type is cast where it meets unsigned numbers.

    Compilers know that it is not negative, but warn of `i + 1`, which is an `int`.
    """
    kind = ctype(index_type(view, context))
    if kind is None or not (kind.is_narrow and kind.unsigned) or view.index in declared_names(body):
        return body
    return _UnsignedUses(view.index, context).rewrite(body)


class _UnsignedUses(Rewriter):
    def __init__(self, index: str, context: Context) -> None:
        self._index = index
        self._context = context

    def visit_BinaryOp(self, node: c_ast.BinaryOp) -> Node:
        if node.op not in MIRRORED:
            return self.generic(node)
        left, right = self._pair(node.left, node.right)
        return copy_with(node, left=left, right=right)

    def visit_TernaryOp(self, node: c_ast.TernaryOp) -> Node:
        then, other = self._pair(node.iftrue, node.iffalse)
        return copy_with(node, cond=self.rewrite(node.cond), iftrue=then, iffalse=other)

    def _pair(self, one: Node, two: Node) -> tuple[Node, Node]:
        return self._beside(one, two), self._beside(two, one)

    def _beside(self, part: Node, other: Node) -> Node:
        is_index = isinstance(part, c_ast.ID) and part.name == self._index
        if is_index and may_be_unsigned(other, self._context):
            return cast_to("unsigned", part)
        return self.rewrite(part)


def places(index: str, stride: int) -> _Plan:
    """The index in later iterations: `i + 4`; one node for all its uses in a copy."""
    return _once(lambda number: add(ident(index), number * stride))


def _once(plan: _Plan) -> _Plan:
    """A plan that gives the same node each time that it is asked for the copy of one number."""
    made: dict[int, Node] = {}

    def again(number: int) -> Node:
        found = made.get(number)
        if found is None:
            made.clear()
            found = made[number] = plan(number)
        return found

    return again


def without_comments(node: Node) -> Node:
    """`node` without the comments inside it, but for those by which compilers know that a `case` goes on into the next."""
    if not any(isinstance(statement, Comment) for statement in walk_statements(node)):
        return node
    return _WithoutComments().rewrite(node)


class _WithoutComments(Rewriter):
    def visit_Comment(self, node: Comment) -> list[Node]:
        return [node] if _FALLS_THROUGH.search(node.text) else []


def _chosen_from(others: tuple[str, ...]) -> Callable[[int], Node]:
    return lambda number: ident(others[number - 1])


class _Planner:
    """Makes the plans of statements that are copied together and declare none of `names`.

    `integers` are variables that are known to be integers.  A plan is None where nothing differs between
    copies.  A reference that statements have in common has one plan, and one node in each copy.
    """

    def __init__(self, names: Names, integers: frozenset[str]) -> None:
        self._names = names
        self._integers = integers
        self._references: dict[int, tuple[Node, _Plan | None]] = {}

    def plan(self, node: Node) -> _Plan | None:
        """How to make the copies of a statement or expression."""
        match node:
            case c_ast.ID():
                return self._names.get(node.name)
            case c_ast.Constant():
                return None
            case c_ast.ArrayRef():
                return self._reference(node)
            case c_ast.UnaryOp(op="sizeof", expr=operand) if not isinstance(operand, c_ast.Typename):
                return None  # of the type of the index, not of the type of `i + 1`
            case c_ast.BinaryOp() if node.op in INTEGER_ONLY:
                return _binary(node, self._integer(node.left), self._integer(node.right))
            case c_ast.BinaryOp():
                return _binary(node, self.plan(node.left), self.plan(node.right))
            case c_ast.Assignment():
                return _assignment(node, self.plan(node.lvalue), self.plan(node.rvalue))
            case For():
                return self._for(node)
            case _ if isinstance(node, _OWN_NAMES):
                return None if _mentions(node, self._names) is None else _slow(node, self._names)
            case _:
                return self._any(node)

    def _reference(self, node: c_ast.ArrayRef) -> _Plan | None:
        known = self._references.get(id(node))
        if known is None:
            plan = self._array(node)
            known = self._references[id(node)] = node, None if plan is None else _once(plan)
        return known[1]

    def _array(self, node: c_ast.ArrayRef) -> _Plan | None:
        base, subscript = self.plan(node.name), self._integer(node.subscript)
        old_base, old_subscript, coord = node.name, node.subscript, node.coord
        if base is None and subscript is None:
            return None
        if base is None and subscript is not None:
            return lambda number: c_ast.ArrayRef(old_base, subscript(number), coord)
        if base is not None and subscript is None:
            return lambda number: c_ast.ArrayRef(base(number), old_subscript, coord)
        assert base is not None
        assert subscript is not None
        return lambda number: c_ast.ArrayRef(base(number), subscript(number), coord)

    def _integer(self, node: Node) -> _Plan | None:
        """The plan of an integer expression, in which literals are folded: `i - 1` becomes `i + 2`.

        Other sums and products have no literals to fold: they were folded before, and `i + 3` is none.
        """
        match node:
            case c_ast.ID():
                return self._names.get(node.name)
            case c_ast.Constant():
                return None
            case c_ast.BinaryOp() if node.op in ARITHMETIC | INTEGER_ONLY:
                amount = build.literal_value(node.right) if node.op in {"+", "-"} else None
                if amount is not None and isinstance(node.left, c_ast.ID) and node.left.name in self._names:
                    place = self._names[node.left.name]
                    return _shifted_sum(place, amount if node.op == "+" else -amount, node)
                return _binary(node, self._integer(node.left), self._integer(node.right))
            case c_ast.ArrayRef():
                return self._reference(node)
            case _:
                return self.plan(node)

    def _for(self, node: For) -> _Plan | None:
        names, integers = self._names, self._integers
        header = copy_with(node, stmt=c_ast.EmptyStatement())
        varies = _mentions(header, names) is not None
        body = self.plan(node.stmt)
        if not varies and body is None:
            return None
        old_body = node.stmt

        def make(number: int) -> Node:
            new = simplify(_replaced(header, names, number), integers=integers) if varies else node
            return copy_with(new, stmt=old_body if body is None else body(number))

        return make

    def _any(self, node: Node) -> _Plan | None:
        """The plan of any other node, from those of its children."""
        parts: list[tuple[str, Any]] = []
        for name in fields(node):
            value: Any = getattr(node, name)
            if isinstance(value, Node):
                plan = self.plan(value)
                if plan is not None:
                    parts.append((name, plan))
            elif isinstance(value, list) and value and isinstance(value[0], Node):
                items: list[Any] = [self.plan(item) or item for item in cast("list[Node]", value)]
                if any(not isinstance(item, Node) for item in items):
                    parts.append((name, _items(items)))
        if not parts:
            return None
        return lambda number: copy_with(node, **{name: plan(number) for name, plan in parts})


def _binary(node: c_ast.BinaryOp, left: _Plan | None, right: _Plan | None) -> _Plan | None:
    op, old_left, old_right, coord = node.op, node.left, node.right, node.coord
    if left is None and right is None:
        return None
    if left is None and right is not None:
        return lambda number: c_ast.BinaryOp(op, old_left, right(number), coord)
    if left is not None and right is None:
        return lambda number: c_ast.BinaryOp(op, left(number), old_right, coord)
    assert left is not None
    assert right is not None
    return lambda number: c_ast.BinaryOp(op, left(number), right(number), coord)


def _assignment(node: c_ast.Assignment, left: _Plan | None, right: _Plan | None) -> _Plan | None:
    op, old_left, old_right, coord = node.op, node.lvalue, node.rvalue, node.coord
    if left is None and right is None:
        return None

    def make(number: int) -> Node:
        target = old_left if left is None else left(number)
        return c_ast.Assignment(op, target, old_right if right is None else right(number), coord)

    return make


def _shifted_sum(place: _Plan, amount: int, node: c_ast.BinaryOp) -> _Plan:
    def make(number: int) -> Node:
        shifted = place(number)
        if isinstance(shifted, c_ast.BinaryOp) and isinstance(shifted.left, c_ast.ID):
            offset = build.literal_value(shifted.right) or 0
            total = amount + (offset if shifted.op == "+" else -offset)
            if abs(total) <= _LARGEST:
                return add(shifted.left, total)
        return c_ast.BinaryOp(node.op, shifted, node.right, node.coord)

    return make


def _items(items: list[Any]) -> Callable[[int], list[Node]]:
    return lambda number: [item if isinstance(item, Node) else item(number) for item in items]


def _slow(node: Node, names: Names) -> _Plan:
    return lambda number: simplify(_replaced(node, names, number))


def _replaced(node: Node, names: Names, number: int) -> Node:
    for name, place in names.items():
        node = substitute(node, name, place(number))
    return node


def _mentions(node: Node, names: Names) -> Node | None:
    return next((n for n in walk(node) if isinstance(n, c_ast.ID) and n.name in names), None)
