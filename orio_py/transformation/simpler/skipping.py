"""What stands behind `if (c) continue;` in a loop's body becomes a block of its own.

    for (i = 0; i < n; i++) {           for (i = 0; i < n; i++) {
      if (x[i] < 0)                       if (!(x[i] < 0)) {
        continue;                           y[i] = x[i];
      y[i] = x[i];                        }
    }                                   }

Source: if-conversion; J. R. Allen, K. Kennedy, C. Porterfield, J. Warren, "Conversion of control dependence to data
dependence", POPL 1983.
"""

from __future__ import annotations

from orio_py.ctree.build import block, if_, statements, unary
from orio_py.ctree.nodes import INCREMENTS, NEGATED, Compound, For, Node, c_ast
from orio_py.ctree.rewrite import Rewriter, copy_with, walk, walk_statements


def without_continue(tree: Node) -> Node:
    """The tree whose loops go through their bodies where a `continue` stands alone under a condition."""
    if any(isinstance(part, c_ast.Label) for part in walk_statements(tree)):
        return tree  # A jump into what becomes an inner block is none of its iterations.
    return _Converting().rewrite(tree)


class _Converting(Rewriter):
    def visit_For(self, node: For) -> Node:
        return self._loop(node)

    def visit_While(self, node: c_ast.While) -> Node:
        return self._loop(node)

    def _loop(self, node: For | c_ast.While) -> Node:
        new = self.generic(node)
        if not isinstance(new.stmt, Compound):
            return new
        items = _converted(new.stmt.block_items or [])
        return new if items is None else copy_with(new, stmt=copy_with(new.stmt, block_items=items))


def _converted(items: list[Node]) -> list[Node] | None:
    """The statements of a body without `continue` at their own level; None where there is none."""
    for place, item in enumerate(items):
        match item:
            case c_ast.If(iftrue=then, iffalse=other) if (before := _before_continue(then)) is not None:
                rest = [*_opened(other), *items[place + 1 :]]
                if not rest and not before and _only_tests(item.cond):
                    return items[:place]
                inner = block(*(_converted(rest) or rest))
                if not before:
                    return [*items[:place], if_(negated(item.cond), inner)]
                return [*items[:place], copy_with(item, iftrue=block(*before), iffalse=inner)]
            case c_ast.If(iftrue=then, iffalse=other) if (before := _before_continue(other)) is not None:
                rest = [*_opened(then), *items[place + 1 :]]
                inner, last = block(*(_converted(rest) or rest)), block(*before) if before else None
                return [*items[:place], copy_with(item, iftrue=inner, iffalse=last)]
            case _:
                pass
    return None


def _before_continue(branch: Node | None) -> list[Node] | None:
    """The statements before the `continue` that ends a branch; None where none does."""
    if isinstance(branch, c_ast.Continue):
        return []
    items = list(branch.block_items or []) if isinstance(branch, Compound) else []
    return items[:-1] if items and isinstance(items[-1], c_ast.Continue) else None


def _opened(branch: Node | None) -> list[Node]:
    """The statements of a branch; as a block where it declares names of its own."""
    items = [] if branch is None else statements(branch)
    is_open = not any(isinstance(item, (c_ast.Decl, c_ast.DeclList)) for item in items)
    return items if is_open or branch is None else [branch]


def _only_tests(condition: Node) -> bool:
    return not any(
        isinstance(part, (c_ast.FuncCall, c_ast.Assignment))
        or (isinstance(part, c_ast.UnaryOp) and part.op in INCREMENTS)
        for part in walk(condition)
    )


def negated(condition: Node) -> Node:
    """`!c`; of integers a comparison is turned, too, but a comparison with NaN has no contrary."""
    match condition:
        case c_ast.BinaryOp(op="==" | "!=" as op, left=left, right=right):
            return c_ast.BinaryOp(NEGATED[op], left, right, condition.coord)
        case c_ast.UnaryOp(op="!", expr=inner):
            return inner
        case _:
            return unary("!", condition)
