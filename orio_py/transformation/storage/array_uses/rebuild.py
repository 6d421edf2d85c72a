"""Rebuilds a tree block by block, from what `Uses` found in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from orio_py.ctree.build import binary, block, literal_value
from orio_py.ctree.nodes import MIRRORED, Compound, For, Node, c_ast
from orio_py.ctree.rewrite import copy_with, map_children
from orio_py.transformation.storage.array_uses.items import Ref, Statement, StatementList
from orio_py.transformation.storage.array_uses.uses import Uses

State = TypeVar("State")


class BlockRewriter(Generic[State]):
    """Copies what changes and shares the rest; `State` is handed down from block to block."""

    def items(self, block_: StatementList, state: State) -> list[Node]:
        """The new statements of a block."""
        return [self.statement(item, state) for item in block_.items]

    def expression(self, node: Node, state: State) -> Node:
        """What stands for an expression or a statement without statements inside."""
        del state
        return node

    def header(self, item: Statement, state: State) -> For:
        """A loop with a new header and its old body."""
        node = item.node
        assert isinstance(node, For)
        return changed(
            node, **{name: self._part(getattr(node, name), state) for name in ("init", "cond", "next")}
        )

    def body(self, node: Node, block_: StatementList, state: State) -> Node:
        """A block, or a statement that is one by itself."""
        old = [item.node for item in block_.items]
        new = self.items(block_, state)
        if len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True)):
            return node
        if isinstance(node, Compound):
            return copy_with(node, block_items=new)
        return new[0] if len(new) == 1 and not isinstance(new[0], c_ast.Decl) else block(*new)

    def statement(self, item: Statement, state: State) -> Node:
        """The new form of one statement."""
        blocks = iter(item.blocks)
        node = item.node
        match node:
            case c_ast.Assignment():
                return self.expression(node, state)
            case Compound():
                return self.body(node, next(blocks), state)
            case For():
                new = self.header(item, state)
                return changed(new, stmt=self.body(node.stmt, next(blocks), state))
            case c_ast.While() | c_ast.DoWhile() | c_ast.Switch():
                condition = self._part(node.cond, state)
                return changed(node, cond=condition, stmt=self.body(node.stmt, next(blocks), state))
            case c_ast.If():
                condition = self._part(node.cond, state)
                then = self.body(node.iftrue, next(blocks), state)
                other = None if node.iffalse is None else self.body(node.iffalse, next(blocks), state)
                return changed(node, cond=condition, iftrue=then, iffalse=other)
            case c_ast.Label():
                return changed(node, stmt=self.body(node.stmt, next(blocks), state))
            case c_ast.Case() | c_ast.Default():
                return self._labelled(node, blocks, state)
            case _:
                return self.expression(node, state)

    def _labelled(
        self, node: c_ast.Case | c_ast.Default, blocks: Iterator[StatementList], state: State
    ) -> Node:
        old = node.stmts or []
        new = [self.body(statement, next(blocks), state) for statement in old]
        return node if all(a is b for a, b in zip(old, new, strict=True)) else copy_with(node, stmts=new)

    def _part(self, node: Node | None, state: State) -> Node | None:
        return None if node is None else self.expression(node, state)


_N = TypeVar("_N", bound=Node)


def changed(node: _N, **parts: Node | None) -> _N:
    """A copy of `node` with other parts; `node` itself where they are the same."""
    same = all(getattr(node, name) is part for name, part in parts.items())
    return node if same else copy_with(node, **parts)


def with_references(node: Node, uses: Uses, replaced: Mapping[Ref, Node]) -> Node:
    """An expression with other nodes for references; what `sizeof` and `&` are applied to stays."""
    kind = type(node)
    if not replaced or kind is c_ast.ID or kind is c_ast.Constant:
        return node
    if isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
        ref = uses.ref_of(node)
        if ref is not None:
            new = replaced.get(ref)
            if new is not None or not ref.inner:
                return node if new is None else new
    elif isinstance(node, c_ast.BinaryOp):  # Most nodes are of this kind.
        left = with_references(node.left, uses, replaced)
        right = with_references(node.right, uses, replaced)
        same = left is node.left and right is node.right
        return node if same else c_ast.BinaryOp(node.op, left, right, node.coord)
    elif isinstance(node, c_ast.Assignment):
        target = with_references(node.lvalue, uses, replaced)
        value = with_references(node.rvalue, uses, replaced)
        same = target is node.lvalue and value is node.rvalue
        return node if same else c_ast.Assignment(node.op, target, value, node.coord)
    if isinstance(node, c_ast.UnaryOp) and node.op in {"sizeof", "_Alignof", "&"}:
        return node
    return map_children(node, lambda child: with_references(child, uses, replaced))


def readable(condition: Node) -> Node:
    """`n > 0` for `0 < n`."""
    match condition:
        case c_ast.BinaryOp(op="<" | "<=" | ">" | ">=" as op, left=left) if literal_value(left) is not None:
            return binary(MIRRORED[op], condition.right, left)
        case _:
            return condition
