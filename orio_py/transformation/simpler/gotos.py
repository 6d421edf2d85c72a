"""Forward jumps to a label behind become conditions and `break`.

    for (i = 0; i < n; i++) {           for (i = 0; i < n; i++) {
      for (j = 0; j < m; j++)             int next_ = 0;
        if (a[i][j] < 0)                  for (j = 0; j < m; j++)
          goto next;                        if (a[i][j] < 0) {
      y[i] = 1;                               next_ = 1;
    next:                                     break;
      x[i] = 0;                             }
    }                                     if (!next_) {
                                            y[i] = 1;
                                          }
                                          x[i] = 0;
                                        }

Only labels are looked at to which all jumps lead from statements before them in the same block.  Source: A. Erosa,
L. Hendren, "Taming control flow: a structured approach to eliminating goto statements", ICCL 1994.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.ctree.build import assign, block, const, declare, ident, if_, statements, unary
from orio_py.ctree.nodes import Comment, Compound, For, Node, Transform, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, declared_names, used_names, walk_statements
from orio_py.transformation.base import Context
from orio_py.transformation.simpler.skipping import negated

_LOOPS = (For, c_ast.While, c_ast.DoWhile)


def without_gotos(tree: Node, context: Context) -> Node:
    """The tree without the labels that only statements before them in their block jump to."""
    labels = [part.name for part in walk_statements(tree) if isinstance(part, c_ast.Label)]
    return _Blocks(tree, context).rewrite(tree) if labels else tree


class _Blocks(Rewriter):
    def __init__(self, tree: Node, context: Context) -> None:
        self._all = [part.name for part in walk_statements(tree) if isinstance(part, c_ast.Goto)]
        self._names = context.names(tree)

    def visit_Compound(self, node: Compound) -> Node:
        """A block, the blocks inside it first."""
        new = self.generic(node)
        items = given = new.block_items or []
        for label in reversed([item for item in given if isinstance(item, c_ast.Label)]):
            place = next(number for number, item in enumerate(items) if item is label)
            found = self._without(items[:place], label)
            if found is not None:
                items = [*found, *items[place + 1 :]]
        return new if items is given else copy_with(new, block_items=items)

    def _without(self, before: list[Node], label: c_ast.Label) -> list[Node] | None:
        """The statements up to a label without the jumps to it; None where they have to stay."""
        jumps = [sum(_is_jump(part, label.name) for part in walk_statements(item)) for item in before]
        if sum(jumps) != self._all.count(label.name) or not sum(jumps):
            return None
        first = next(place for place, number in enumerate(jumps) if number)
        if any(isinstance(item, (c_ast.Label, c_ast.Case, c_ast.Default)) for item in before[first:]):
            return None
        if any(declared_names(block(item)) and _is_declaration(item) for item in before[first:]):
            return None  # What is declared there may be used behind the label.
        flag = self._names.fresh(f"{label.name}_taken")
        ways = _Ways(label.name, flag)
        changed = ways.items(before[first:], in_loop=False, inside=False)
        if changed is None:
            return None
        tested = any(flag in used_names([item]) for item in changed if _tests(item, flag))
        if not tested:
            changed = [_Forgetting(flag).rewrite(item) for item in changed]
        declared = [declare("int", flag, 0)] if tested else []
        rest = [] if isinstance(label.stmt, c_ast.EmptyStatement) else [label.stmt]
        return [*before[:first], *declared, *changed, *rest]


def _tests(node: Node, flag: str) -> bool:
    """Whether a condition in a statement reads the variable."""
    return any(
        isinstance(part, c_ast.If) and flag in used_names([part.cond]) for part in walk_statements(node)
    )


def _is_jump(node: Node, label: str) -> bool:
    return isinstance(node, c_ast.Goto) and node.name == label


def _is_declaration(node: Node) -> bool:
    return isinstance(node, (c_ast.Decl, c_ast.DeclList, c_ast.Typedef))


@dataclass(frozen=True, slots=True)
class _Ways:
    """Turns jumps to a label behind some statements into ways to their end; `flag` is set where one is taken."""

    label: str
    flag: str

    def items(self, items: Sequence[Node], *, in_loop: bool, inside: bool = True) -> list[Node] | None:
        """The statements without the jumps; None where one cannot be turned.

        `inside` are those of a branch or of a block, behind which others may stand before the label.
        """
        for place, item in enumerate(items):
            if not self._jumps(item):
                continue
            if _is_jump(item, self.label):  # Nothing reaches what stands behind it.
                return [*items[:place], assign(self.flag, const(1)), *([c_ast.Break()] * in_loop)]
            rest = self.items(items[place + 1 :], in_loop=in_loop, inside=inside)
            if rest is None:
                return None
            if self._is_condition(item) and not inside:
                assert isinstance(item, c_ast.If)
                return [*items[:place], *([if_(negated(item.cond), block(*rest))] if rest else [item.cond])]
            changed = self._statement(item, in_loop=in_loop)
            if changed is None:
                return None
            return [*items[:place], changed, *self._behind(item, rest, in_loop=in_loop)]
        return list(items)

    def _behind(self, item: Node, rest: list[Node], *, in_loop: bool) -> list[Node]:
        """The statements that run where the jump was not taken in the one before them."""
        if not in_loop:
            return [if_(unary("!", ident(self.flag)), block(*rest))] if _work(rest) else rest
        left = [part for part in walk_statements(item) if isinstance(part, _LOOPS) and self._jumps(part)]
        return [if_(ident(self.flag), c_ast.Break()), *rest] if left else rest

    def _statement(self, node: Node, *, in_loop: bool) -> Node | None:
        """One statement with jumps in it; None where one cannot be turned."""
        match node:
            case c_ast.Goto():
                return block(*(self.items([node], in_loop=in_loop) or ()))
            case Compound():
                items = self.items(node.block_items or [], in_loop=in_loop)
                return None if items is None else copy_with(node, block_items=items)
            case c_ast.If():
                then = self._branch(node.iftrue, in_loop=in_loop)
                other = self._branch(node.iffalse, in_loop=in_loop)
                if (then is None and node.iftrue) or (other is None and node.iffalse):
                    return None
                return copy_with(node, iftrue=then, iffalse=other)
            case Transform():
                inner = self._statement(node.stmt, in_loop=in_loop)
                return None if inner is None else copy_with(node, stmt=inner)
            case For() | c_ast.While() | c_ast.DoWhile():
                body = self.items(statements(node.stmt), in_loop=True)
                return None if body is None else copy_with(node, stmt=block(*body))
            case _:
                return None

    def _branch(self, node: Node | None, *, in_loop: bool) -> Node | None:
        return node if node is None or not self._jumps(node) else self._statement(node, in_loop=in_loop)

    def _jumps(self, node: Node) -> bool:
        return any(_is_jump(part, self.label) for part in walk_statements(node))

    def _is_condition(self, node: Node) -> bool:
        """Whether a statement is `if (…) goto label;`."""
        if not isinstance(node, c_ast.If) or node.iffalse is not None:
            return False
        then = [item for item in statements(node.iftrue) if not isinstance(item, Comment)]
        return len(then) == 1 and _is_jump(then[0], self.label)


class _Forgetting(Rewriter):
    """Leaves out what sets a variable that nothing reads."""

    def __init__(self, flag: str) -> None:
        self._flag = flag

    def visit_Compound(self, node: Compound) -> Node:
        """A block without it, or the only statement that is left."""
        new = self.generic(node)
        items = new.block_items or []
        kept = [item for item in items if not self._sets(item)]
        if len(kept) == len(items):
            return new
        alone = len(kept) == 1 and not _is_declaration(kept[0])
        return kept[0] if alone else copy_with(new, block_items=kept)

    def _sets(self, node: Node) -> bool:
        return isinstance(node, c_ast.Assignment) and getattr(node.lvalue, "name", None) == self._flag


def _work(items: Sequence[Node]) -> bool:
    return not all(isinstance(item, (Comment, c_ast.EmptyStatement)) for item in items)
