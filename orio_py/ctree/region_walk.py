"""One walk over the code of a region, which every analysis of memory accesses follows.

What an analysis knows at a place of the code is a state: the loops around it, the conditions under which it runs, the
values of variables.  States are values that the walk hands on; what a statement teaches is known to the end of its block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import (
    INCREMENTS,
    Comment,
    Compound,
    For,
    GuardedPragma,
    KernelCall,
    Node,
    Transform,
    c_ast,
)

SILENT = (Comment, GuardedPragma, c_ast.Pragma, c_ast.EmptyStatement)
"""What stands among statements and does nothing."""

UNEVALUATED = frozenset({"sizeof", "_Alignof"})
"""The operators that look at the type of their operand alone."""

S = TypeVar("S")


class RegionWalk(Generic[S]):
    """Goes through statements and expressions in the order of execution, with a state for each place.

    An analysis says what a loop, a condition, a declaration and an assignment do to the state, and what it makes of
    references, calls and jumps.
    """

    def statement(self, node: Node, state: S) -> S:
        """Follow a statement; the state behind it."""
        match node:
            case c_ast.Assignment():
                self.expression(node, state)
                return self.assigned(node, state)
            case Compound():
                self.sequence(node.block_items or [], state)
            case For():
                self.loop(node, state)
            case c_ast.While() | c_ast.DoWhile():
                self.uncounted(node, state)
            case c_ast.If():
                self.expression(node.cond, state)
                self.branch(node, node.iftrue, True, state)
                self.branch(node, node.iffalse, False, state)
            case c_ast.Switch():
                self.expression(node.cond, state)
                self.switch(node, state)
            case c_ast.Case() | c_ast.Default():
                self.case(node, state)
            case c_ast.DeclList():
                for declaration in node.decls:
                    state = self.statement(declaration, state)
            case c_ast.Decl():
                return self.declaration(node, state)
            case Transform():
                return self.statement(node.stmt, state)
            case c_ast.Break() | c_ast.Continue() | c_ast.Return() | c_ast.Goto() | c_ast.Label():
                self.jump(node, state)
            case c_ast.Typedef() | c_ast.StaticAssert():
                pass
            case _ if not isinstance(node, SILENT):
                self.expression(node, state)
            case _:
                pass
        return state

    def sequence(self, items: Sequence[Node], state: S) -> None:
        """Follow statements that are executed one after the other."""
        for item in items:
            state = self.statement(item, state)

    def loop(self, node: For, state: S) -> None:
        """Follow a `for` loop."""
        loop = CanonicalLoop.match(node)
        if loop is None:
            self.uncounted(node, state)
        else:
            self.counted(loop, state)

    def uncounted(self, node: Any, state: S) -> None:
        """Follow a loop that counts nothing known: its body may run any number of times."""
        first: Node | None = getattr(node, "init", None)
        if first is not None:
            state = self.statement(first, state)
        inner = self.repeated(node, state)
        for part in (node.cond, getattr(node, "next", None)):
            if part is not None:
                self.expression(part, inner)
        self.statement(node.stmt, inner)

    def branch(self, node: c_ast.If, part: Node | None, truth: bool, state: S) -> None:
        """Follow the `part` of an `if` that runs where its condition has a truth value."""
        if part is not None:
            for inner in self.under(node.cond, truth, state):
                self.statement(part, inner)

    def switch(self, node: c_ast.Switch, state: S) -> None:
        """Follow the body of a `switch`."""
        self.statement(node.stmt, self.repeated(node, state))

    def case(self, node: c_ast.Case | c_ast.Default, state: S) -> None:
        """Follow the statements behind a `case` or `default`."""
        self.sequence(node.stmts or [], state)

    # What an analysis says of statements

    def counted(self, loop: CanonicalLoop, state: S) -> None:
        """Follow a loop from its start to its bound."""
        raise NotImplementedError

    def repeated(self, node: Node, state: S) -> S:
        """The state in a statement whose parts may run any number of times, or never."""
        raise NotImplementedError

    def under(self, condition: Node, truth: bool, state: S) -> Iterable[S]:
        """The state where a condition holds, or does not: one for each case of it."""
        raise NotImplementedError

    def declaration(self, node: c_ast.Decl, state: S) -> S:
        """Follow a declaration; the state behind it."""
        raise NotImplementedError

    def assigned(self, node: c_ast.Assignment, state: S) -> S:
        """The state behind an assignment that has been followed."""
        del node
        return state

    def jump(self, node: Node, state: S) -> None:
        """Follow a `break`, `continue`, `return`, `goto` or label."""
        for child in node:
            self.statement(child, state)

    # Expressions

    def expression(self, node: Node, state: S) -> None:
        """Follow an expression."""
        visit = self._VISITS.get(type(node))
        if visit is None:
            self.other(node, state)
        else:
            visit(self, node, state)

    def children(self, node: Node, state: S) -> None:
        """Follow the operands of an expression, each of which is evaluated."""
        for child in node:
            self.expression(child, state)

    def _read(self, node: Node, state: S) -> None:
        self.reference(node, state, reads=True, writes=False)

    def _assignment(self, node: c_ast.Assignment, state: S) -> None:
        self.expression(node.rvalue, state)
        self.reference(node.lvalue, state, reads=node.op != "=", writes=True)

    def _unary(self, node: c_ast.UnaryOp, state: S) -> None:
        if node.op in INCREMENTS:
            self.reference(node.expr, state, reads=True, writes=True)
        elif node.op == "*":
            self.reference(node, state, reads=True, writes=False)
        elif node.op == "&":
            self.address(node, state)
        elif node.op not in UNEVALUATED:
            self.expression(node.expr, state)

    def _binary(self, node: c_ast.BinaryOp, state: S) -> None:
        self.expression(node.left, state)
        if node.op in {"&&", "||"}:
            for inner in self.under(node.left, node.op == "&&", state):
                self.expression(node.right, inner)
        else:
            self.expression(node.right, state)

    def _ternary(self, node: c_ast.TernaryOp, state: S) -> None:
        self.expression(node.cond, state)
        for part, truth in ((node.iftrue, True), (node.iffalse, False)):
            for inner in self.under(node.cond, truth, state):
                self.expression(part, inner)

    def _cast(self, node: c_ast.Cast, state: S) -> None:
        self.expression(node.expr, state)

    def _call(self, node: c_ast.FuncCall, state: S) -> None:
        self.call(node, state)

    _VISITS: ClassVar[Mapping[type[Node], Callable[[Any, Any, Any], None]]] = {
        c_ast.ID: _read,
        c_ast.ArrayRef: _read,
        c_ast.StructRef: _read,
        c_ast.Constant: children,
        c_ast.BinaryOp: _binary,
        c_ast.UnaryOp: _unary,
        c_ast.Assignment: _assignment,
        c_ast.TernaryOp: _ternary,
        c_ast.FuncCall: _call,
        KernelCall: _call,
        c_ast.Cast: _cast,
        c_ast.ExprList: children,
        c_ast.InitList: children,
    }

    # What an analysis says of expressions

    def reference(self, node: Node, state: S, *, reads: bool, writes: bool) -> None:
        """A variable, an element, a member or what a pointer points to is read, written or both."""
        raise NotImplementedError

    def address(self, node: c_ast.UnaryOp, state: S) -> None:
        """The address of something is taken."""
        self.children(node, state)

    def call(self, node: c_ast.FuncCall, state: S) -> None:
        """A function is called; its arguments are to be followed."""
        if node.args is not None:
            self.children(node.args, state)

    def other(self, node: Node, state: S) -> None:
        """An expression of a rare kind."""
        self.children(node, state)
