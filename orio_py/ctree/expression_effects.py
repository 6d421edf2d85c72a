"""What an expression does to variables, in the order of evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, cast

from orio_py.ctree.integers import evident_integers
from orio_py.ctree.known_functions import called_name, is_pure
from orio_py.ctree.nodes import (
    INCREMENTS,
    Comment,
    GuardedPragma,
    Node,
    Transform,
    c_ast,
    reference_parts,
)
from orio_py.ctree.rewrite import walk

_TRANSPARENT = (
    Transform, c_ast.ArrayDecl, c_ast.ArrayDesignator, c_ast.Cast, c_ast.CompoundLiteral, c_ast.DeclList,
    c_ast.Enum, c_ast.EnumeratorList, c_ast.ExprList, c_ast.InitList, c_ast.Label, c_ast.PtrDecl,
    c_ast.TypeDecl, c_ast.Typename, c_ast.GenericSelection, c_ast.GenericAssociation,
)  # fmt: skip
_SILENT = (
    Comment, GuardedPragma, c_ast.Pragma, c_ast.Constant, c_ast.EmptyStatement,
    c_ast.Goto, c_ast.IdentifierType, c_ast.StaticAssert, c_ast.Struct, c_ast.Union,
)  # fmt: skip


class ExpressionEffects:
    """Follows expressions; `written` is what has been assigned on every path.

    `known` are variables that are integers whatever `root` shows of them.
    """

    def __init__(self, root: Node, *, jumps: bool = False, known: frozenset[str] = frozenset()) -> None:
        self.root = root
        self.known = known
        self.jumps = jumps
        self.needs_types = False
        self.scalar_reads: set[str] = set()
        self.scalar_writes: set[str] = set()
        self.array_reads: set[str] = set()
        self.array_writes: set[str] = set()
        self.calls: set[str] = set()
        self.address_taken: set[str] = set()
        self.early_reads: set[str] = set()
        self.escaping: set[str] = set()
        self.exposed: set[str] = set()
        self.opaque = False
        self.written: set[str] = set()
        self.scopes: list[set[str]] = []
        self.integers: frozenset[str] | None = None

    def visit(self, node: Node | None) -> None:
        """Follow a part of the code, if it is there."""
        if node is None:
            return
        kind = type(node)
        if kind is c_ast.ID:
            self.read(cast("c_ast.ID", node).name)
        elif kind is not c_ast.Constant:
            self.enter(node)

    def enter(self, node: Node) -> None:
        """Follow a node that is neither a name nor a constant."""
        name = _method_of(type(self), type(node))
        if name is not None:
            getattr(self, name)(node)
        elif isinstance(node, _TRANSPARENT):
            for child in node:
                self.visit(child)
        elif not isinstance(node, _SILENT):
            self.opaque = True
            for child in node:
                self.visit(child)

    def read(self, name: str) -> None:
        """The value of a variable is used."""
        if not self._is_local(name):
            self.scalar_reads.add(name)
            if name not in self.written:
                self.early_reads.add(name)
                self.exposed.add(name)

    def write(self, name: str) -> None:
        """A variable is given a value."""
        if not self._is_local(name):
            self.scalar_writes.add(name)
            if not self.jumps:
                self.written.add(name)

    def _is_local(self, name: str) -> bool:
        for scope in self.scopes:  # noqa: SIM110 - a generator would take three times as long
            if name in scope:
                return True
        return False

    def _visit_ID(self, node: c_ast.ID) -> None:
        self.read(node.name)

    def _visit_Assignment(self, node: c_ast.Assignment) -> None:
        self.visit(node.rvalue)
        self._target(node.lvalue, reads=node.op != "=")

    def _target(self, node: Node, *, reads: bool) -> None:
        """An lvalue that is assigned, and before that read if `reads`."""
        if isinstance(node, c_ast.ID):
            if reads:
                self.read(node.name)
            self.write(node.name)
            return
        base, through = self._place(node)
        if base is None:
            self.opaque = True
        else:
            self._part(base, through, reads=reads, writes=True)

    def _part(self, base: str, through: bool, *, reads: bool, writes: bool) -> None:
        """An access to a part of a variable: to an element if it is reached `through` the variable."""
        if self._is_local(base):
            return
        if base not in self.written:
            self.exposed.add(base)
        if not through:
            # A member of a struct: its other members keep their values from before.
            self.read(base)
        if reads and through:
            self.array_reads.add(base)
        if writes:
            (self.array_writes if through else self.scalar_writes).add(base)

    def _place(self, node: Node) -> tuple[str | None, bool]:
        """The variable an lvalue lies in, and whether it is reached by subscript or pointer.

        The subscripts on the way are read.
        """
        subscripted = isinstance(node, c_ast.ArrayRef)
        node, subscripts = reference_parts(node)
        for subscript in reversed(subscripts):
            self.visit(subscript)
        match node:
            case c_ast.ID():
                return node.name, subscripted
            case _ if subscripted:
                return self._place(node)[0], True
            case c_ast.StructRef():
                base, through = self._place(node.name)
                return base, through or node.type == "->"
            case c_ast.UnaryOp(op="*"):
                return self._pointer(node.expr), True
            case c_ast.Cast():
                return self._place(node.expr)
            case c_ast.BinaryOp() | c_ast.TernaryOp() | c_ast.UnaryOp():
                return self._pointer(node), True
            case _:
                self.visit(node)
                return None, True

    def _pointer(self, node: Node) -> str | None:
        """The variable that an address expression starts from: the `p` of `p + i` and of `p++`."""
        match node:
            case c_ast.BinaryOp(op="+" | "-"):
                first, second = self._pointer_first(node)
                self.visit(second)
                return self._pointer(first)
            case c_ast.UnaryOp(op=op, expr=operand) if op in INCREMENTS:
                self.visit(node)
                return self._pointer(operand)
            case c_ast.UnaryOp(op="&", expr=operand):
                return self._place(operand)[0]
            case c_ast.TernaryOp():
                self.visit(node)
                return None
            case c_ast.BinaryOp() | c_ast.UnaryOp(op="-" | "+" | "~" | "!" | "sizeof"):
                self.visit(node)  # no pointer comes out of these
                self.opaque = True
                return None
            case _:
                return self._place(node)[0]

    def _pointer_first(self, node: c_ast.BinaryOp) -> tuple[Node, Node]:
        """The operands of an address sum with the pointer first; `opaque` where that is not evident."""
        left, right = node.left, node.right
        if node.op == "-" or self._is_integer(right):
            return left, right
        if self._is_integer(left):
            return right, left
        self.opaque = True
        return left, right

    def _is_integer(self, node: Node) -> bool:
        match node:
            case c_ast.ID() if node.name in self.known and not self._is_local(node.name):
                return True
            case c_ast.ID():
                self.needs_types = True
                if self.integers is None:
                    self.integers = evident_integers(self.root)
                return node.name in self.integers
            case c_ast.Constant():
                return True
            case c_ast.BinaryOp(op="+" | "-" | "/"):
                return self._is_integer(node.left) and self._is_integer(node.right)
            case c_ast.BinaryOp():
                return True  # pointers can only be added, subtracted and compared
            case _:
                return False

    def _through(self, node: Node) -> None:
        """A read of an lvalue other than a plain variable."""
        base, through = self._place(node)
        if base is None:
            self.opaque = self.opaque or not isinstance(node, c_ast.StructRef)
        else:
            self._part(base, through, reads=True, writes=False)

    _visit_ArrayRef = _through  # noqa: N815
    _visit_StructRef = _through  # noqa: N815

    def _visit_UnaryOp(self, node: c_ast.UnaryOp) -> None:
        if node.op in INCREMENTS:
            self._target(node.expr, reads=True)
        elif node.op == "*":
            self._through(node)
        elif node.op == "&":
            self._address(node.expr)
        elif node.op not in {"sizeof", "_Alignof"}:
            self.visit(node.expr)

    def _address(self, node: Node) -> None:
        base, through = self._place(node)
        if base is not None and not self._is_local(base):
            self.address_taken.add(base)
            self._part(base, through, reads=True, writes=True)

    def _visit_FuncCall(self, node: c_ast.FuncCall) -> None:
        pure = is_pure(node)
        if (name := called_name(node)) is None:
            self.opaque = True
            self.visit(node.name)
        elif not pure:
            self.calls.add(name)
        arguments = list(node.args) if node.args is not None else []
        for argument in arguments:
            self.visit(argument)
            if not pure:
                self.escaping.update(n for n in handed_names(argument) if not self._is_local(n))

    _visit_KernelCall = _visit_FuncCall  # noqa: N815

    def _visit_BinaryOp(self, node: c_ast.BinaryOp) -> None:
        # Long sums lean to the left: go down without recursion.
        spine = [node]
        while isinstance(spine[-1].left, c_ast.BinaryOp):
            spine.append(spine[-1].left)
        self.visit(spine[-1].left)
        for item in reversed(spine):
            if item.op in {"&&", "||"}:
                self.maybe(item.right)
            else:
                self.visit(item.right)

    def _visit_TernaryOp(self, node: c_ast.TernaryOp) -> None:
        self.visit(node.cond)
        self.either(node.iftrue, node.iffalse)

    def maybe(self, *nodes: Node | None) -> None:
        """Code that runs or not: what it writes is not certain afterwards."""
        before = set(self.written)
        for node in nodes:
            self.visit(node)
        self.written = before

    def either(self, first: Node | None, second: Node | None) -> None:
        """Two branches of which one runs."""
        before = set(self.written)
        self.visit(first)
        after_first, self.written = self.written, set(before)
        self.visit(second)
        self.written &= after_first

    def _visit_Typedef(self, node: c_ast.Typedef) -> None:
        self.visit(node.type)
        self.declare(node.name)

    def _visit_Enumerator(self, node: c_ast.Enumerator) -> None:
        self.visit(node.value)
        self.declare(node.name)

    def declare(self, name: str) -> None:
        """A name means something local from here on."""
        if not self.scopes:
            self.scopes.append(set())
        self.scopes[-1].add(name)

    def _visit_FuncDecl(self, node: c_ast.FuncDecl) -> None:
        del node

    def _visit_NamedInitializer(self, node: c_ast.NamedInitializer) -> None:
        for designator in node.name:
            if not isinstance(designator, c_ast.ID):
                self.visit(designator)
        self.visit(node.expr)


@cache
def _method_of(walker: type[ExpressionEffects], kind: type[Node]) -> str | None:
    name = "_visit_" + kind.__name__
    return name if hasattr(walker, name) else None


def handed_names(argument: Node) -> Iterable[str]:
    """The variables whose value, as an address, an argument may hand on."""
    match argument:
        case c_ast.ID():
            yield argument.name
        case c_ast.Cast():
            yield from handed_names(argument.expr)
        case c_ast.BinaryOp(op="+" | "-"):
            yield from handed_names(argument.left)
            yield from handed_names(argument.right)
        case c_ast.UnaryOp(op="&", expr=operand):
            base: Any = operand
            while isinstance(base, (c_ast.ArrayRef, c_ast.StructRef)):
                base = base.name
            yield from handed_names(base)
        case c_ast.ArrayRef():
            yield from handed_names(argument.name)
        case _:
            return


def is_repeatable(node: Node) -> bool:
    """Whether evaluating an expression once more changes nothing: what it calls does no more than compute."""
    return not any(
        isinstance(part, c_ast.Assignment)
        or (isinstance(part, c_ast.FuncCall) and not is_pure(part))
        or (isinstance(part, c_ast.UnaryOp) and part.op in INCREMENTS)
        for part in walk(node)
    )
