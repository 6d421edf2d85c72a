"""Whether code reads the same elements whatever some arrays hold.

    for (i = 0; i < n; i++)             fixed, whatever `idx` holds: all of  idx[0] … idx[n - 1]
      s = max(s, idx[i]);

    for (i = 0; idx[i] > 0; i++) …      not fixed: what another name has written to `idx` says how far it reads

Where arrays turn out to overlap, the user's loops run and find other values.  Code before them may read no more than they do.
"""

from __future__ import annotations

from collections.abc import Set

from orio_py.ctree.nodes import INCREMENTS, Compound, For, Node, c_ast
from orio_py.ctree.rewrite import walk


def reads_are_fixed(code: Node, doubtful: Set[str]) -> bool:
    """Whether the elements that code reads, and how long it runs, do not depend on what is in `doubtful` arrays."""
    reads = _Reads(doubtful)
    before = -1
    while reads.is_fixed and len(reads.dependent) != before:
        before = len(reads.dependent)
        reads.statement(code, under=False)
    return reads.is_fixed


class _Reads:
    """`dependent` are the arrays, and the variables whose values depend on them."""

    def __init__(self, doubtful: Set[str]) -> None:
        self.dependent = set(doubtful)
        self.is_fixed = True

    def statement(self, node: Node | None, *, under: bool) -> None:
        """Follow a statement, perhaps `under` a condition that depends on the arrays."""
        match node:
            case None:
                pass
            case Compound():
                for part in node.block_items or []:
                    self.statement(part, under=under)
            case c_ast.DeclList(decls=parts) | c_ast.ExprList(exprs=parts):
                for part in parts:
                    self.statement(part, under=under)
            case c_ast.If():
                self._expression(node.cond, under=under)
                inside = under or self._depends(node.cond)
                self.statement(node.iftrue, under=inside)
                self.statement(node.iffalse, under=inside)
            case For() | c_ast.While() | c_ast.DoWhile():
                self._loop(node, under=under)
            case c_ast.Break() | c_ast.Continue():
                self.is_fixed &= not under
            case c_ast.Decl(name=str(name), init=value):
                self._set(name, value, under=under)
            case c_ast.Assignment(lvalue=c_ast.ID(name=name), rvalue=value):
                self._set(name, value, under=under)
            case c_ast.UnaryOp(op=op, expr=c_ast.ID(name=name)) if op in INCREMENTS:
                self._set(name, None, under=under)
            case _:
                self._expression(node, under=under)

    def _loop(self, node: For | c_ast.While | c_ast.DoWhile, *, under: bool) -> None:
        self.statement(getattr(node, "init", None), under=under)
        if node.cond is not None:
            self._expression(node.cond, under=under)
            self.is_fixed &= not self._depends(node.cond)
        self.statement(node.stmt, under=under)
        self.statement(getattr(node, "next", None), under=under)

    def _set(self, name: str, value: Node | None, *, under: bool) -> None:
        if value is not None:
            self._expression(value, under=under)
        if under or (value is not None and self._depends(value)):
            self.dependent.add(name)

    def _expression(self, node: Node, *, under: bool) -> None:
        """Follow an expression whose elements are read unless an operand before them says otherwise."""
        match node:
            case c_ast.ArrayRef():
                self.is_fixed &= not under and not self._depends(node.subscript)
            case c_ast.BinaryOp(op="&&" | "||", left=first, right=second):
                self._expression(first, under=under)
                self._expression(second, under=under or self._depends(first))
                return
            case c_ast.TernaryOp(cond=first, iftrue=second, iffalse=third):
                self._expression(first, under=under)
                for part in (second, third):
                    self._expression(part, under=under or self._depends(first))
                return
            case _:
                pass
        for part in node:
            self._expression(part, under=under)

    def _depends(self, node: Node) -> bool:
        return any(isinstance(part, c_ast.ID) and part.name in self.dependent for part in walk(node))
