"""Which variables a piece of code reads and writes, and which it needs from before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, cast
from weakref import WeakKeyDictionary

from orio_py.ctree.integers import evident_integers
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
    reference_parts,
)

_REAL_FUNCTIONS = """sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2
    log10 log1p logb sqrt cbrt hypot pow fabs fmax fmin fdim fma fmod remainder floor ceil trunc round rint
    nearbyint lround llround lrint llrint ilogb ldexp scalbn scalbln copysign nextafter nexttoward erf erfc
    tgamma lgamma"""
_OTHER_FUNCTIONS = """abs labs llabs min max MIN MAX fminimum fmaximum isnan isinf isfinite isnormal signbit
    cabs carg creal cimag conj cexp clog csqrt cpow floord ceild"""

PURE_FUNCTIONS: frozenset[str] = frozenset(
    [name + suffix for name in _REAL_FUNCTIONS.split() for suffix in ("", "f", "l")]
    + _OTHER_FUNCTIONS.split()
)
"""Functions, or macros by these names, whose result depends on their arguments alone (C99 7.12, 7.20.6)."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What code does to the variables that are not declared inside it.

    `reads` and `writes` hold scalars and arrays; a name counts as an array where it is subscripted or
    pointed through.  `reads_before_write` are the scalars whose value from before may be used.
    `escaping` are names handed to functions that are not pure, which may change what they point to.
    `opaque` is True where code is present that this analysis does not see through.
    """

    reads: frozenset[str]
    writes: frozenset[str]
    calls: frozenset[str]
    array_reads: frozenset[str]
    array_writes: frozenset[str]
    scalar_reads: frozenset[str]
    scalar_writes: frozenset[str]
    address_taken: frozenset[str]
    reads_before_write: frozenset[str]
    opaque: bool
    escaping: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Summary:
    """What a statement does by itself, before any name of its surroundings is taken for a local one.

    `written` are the scalars assigned on every path.  `has_jumps` and `needs_types` say that the summary
    is of no use to the statements around it: a jump makes every assignment uncertain, and what is a
    pointer in `*(p + i)` may only be seen in the whole tree.  `leaves_early` tells of a `break`, `continue`
    or `return` anywhere inside.
    """

    effects: Effects
    written: frozenset[str]
    has_jumps: bool
    needs_types: bool
    leaves_early: bool


def effects(node: Node) -> Effects:
    """The effects of a statement or expression; names declared inside it are left out."""
    return EffectsMemory().of(node)


class EffectsMemory:
    """Remembers the effects of nodes as long as the nodes live; trees are never modified, so they stay true.

    Statements that a new tree shares with an old one are not looked at again.
    """

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Node, Effects] = WeakKeyDictionary()
        self._parts: WeakKeyDictionary[Node, _Summary] = WeakKeyDictionary()

    def of(self, node: Node) -> Effects:
        """The effects of `node`, computed once."""
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = self._whole(node)
        return found

    def part(self, node: Node, root: Node) -> _Summary:
        """The summary of a statement inside `root`."""
        found = self._parts.get(node)
        if found is None:
            found = _Walker(self, root).summary(node)
            if not (found.has_jumps or found.needs_types):
                self._parts[node] = found
        return found

    def _whole(self, node: Node) -> Effects:
        found = self.part(node, node)
        if found.has_jumps:
            return _Walker(self, node, jumps=True).summary(node).effects
        return found.effects


class _Walker:
    """Follows the code in the order of execution; `written` is what has been assigned on every path."""

    def __init__(self, memory: EffectsMemory, root: Node, *, jumps: bool = False) -> None:
        self.memory = memory
        self.root = root
        self.jumps = jumps
        self.has_jumps = False
        self.needs_types = False
        self.leaves_early = False
        self.scalar_reads: set[str] = set()
        self.scalar_writes: set[str] = set()
        self.array_reads: set[str] = set()
        self.array_writes: set[str] = set()
        self.calls: set[str] = set()
        self.address_taken: set[str] = set()
        self.early_reads: set[str] = set()
        self.escaping: set[str] = set()
        self.opaque = False
        self.written: set[str] = set()
        self.scopes: list[set[str]] = []
        self.integers: frozenset[str] | None = None

    def summary(self, node: Node) -> _Summary:
        """What `node` does."""
        self._enter(node)
        arrays = self.array_reads | self.array_writes
        handed_on = self.escaping & arrays
        array_reads, array_writes = self.array_reads | handed_on, self.array_writes | handed_on
        found = Effects(
            reads=frozenset(array_reads | self.scalar_reads),
            writes=frozenset(array_writes | self.scalar_writes),
            calls=frozenset(self.calls),
            array_reads=frozenset(array_reads),
            array_writes=frozenset(array_writes),
            scalar_reads=frozenset(self.scalar_reads),
            scalar_writes=frozenset(self.scalar_writes),
            address_taken=frozenset(self.address_taken),
            reads_before_write=frozenset(self.early_reads),
            opaque=self.opaque,
            escaping=frozenset(self.escaping),
        )
        return _Summary(found, frozenset(self.written), self.has_jumps, self.needs_types, self.leaves_early)

    def visit(self, node: Node | None) -> None:
        if node is None:
            return
        kind = type(node)
        if kind is c_ast.ID:
            self.read(cast("c_ast.ID", node).name)
        elif kind in _REMEMBERED and not self.jumps:
            self.add(self.memory.part(node, self.root))
        elif kind is not c_ast.Constant:
            self._enter(node)

    def add(self, part: _Summary) -> None:
        """Take over what a statement does, in the light of what is local and written here."""
        found, local = part.effects, self._local()
        self.has_jumps = self.has_jumps or part.has_jumps
        self.needs_types = self.needs_types or part.needs_types
        self.leaves_early = self.leaves_early or part.leaves_early
        self.opaque = self.opaque or found.opaque
        self.calls |= found.calls
        self.scalar_reads |= found.scalar_reads - local
        self.early_reads |= found.reads_before_write - self.written - local
        self.scalar_writes |= found.scalar_writes - local
        self.written |= part.written - local
        self.array_reads |= found.array_reads - local
        self.array_writes |= found.array_writes - local
        self.address_taken |= found.address_taken - local
        self.escaping |= found.escaping - local

    def _local(self) -> frozenset[str]:
        names: set[str] = set()
        return frozenset(names.union(*self.scopes))

    def _enter(self, node: Node) -> None:
        name = _method_of(type(node))
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
        if not self._is_local(name):
            self.scalar_reads.add(name)
            if name not in self.written:
                self.early_reads.add(name)

    def write(self, name: str) -> None:
        if not self._is_local(name):
            self.scalar_writes.add(name)
            if not self.jumps:
                self.written.add(name)

    def _is_local(self, name: str) -> bool:
        for scope in self.scopes:  # noqa: SIM110 - a generator would take three times as long
            if name in scope:
                return True
        return False

    # Expressions

    def visit_ID(self, node: c_ast.ID) -> None:
        self.read(node.name)

    def visit_Assignment(self, node: c_ast.Assignment) -> None:
        self.visit(node.rvalue)
        self.target(node.lvalue, reads=node.op != "=")

    def target(self, node: Node, *, reads: bool) -> None:
        """An lvalue that is assigned, and before that read if `reads`."""
        if isinstance(node, c_ast.ID):
            if reads:
                self.read(node.name)
            self.write(node.name)
            return
        base, through = self.place(node)
        if base is None:
            self.opaque = True
        elif not self._is_local(base):
            if through:
                self.array_writes.add(base)
                if reads:
                    self.array_reads.add(base)
            else:
                # A member of a struct: its other members keep their values from before.
                self.read(base)
                self.scalar_writes.add(base)

    def place(self, node: Node) -> tuple[str | None, bool]:
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
                return self.place(node)[0], True
            case c_ast.StructRef():
                base, through = self.place(node.name)
                return base, through or node.type == "->"
            case c_ast.UnaryOp(op="*"):
                return self.pointer(node.expr), True
            case c_ast.Cast():
                return self.place(node.expr)
            case c_ast.BinaryOp() | c_ast.TernaryOp() | c_ast.UnaryOp():
                return self.pointer(node), True
            case _:
                self.visit(node)
                return None, True

    def pointer(self, node: Node) -> str | None:
        """The variable that an address expression starts from: the `p` of `p + i` and of `p++`."""
        match node:
            case c_ast.BinaryOp(op="+" | "-"):
                first, second = self.pointer_first(node)
                self.visit(second)
                return self.pointer(first)
            case c_ast.UnaryOp(op=op, expr=operand) if op in INCREMENTS:
                self.visit(node)
                return self.pointer(operand)
            case c_ast.UnaryOp(op="&", expr=operand):
                return self.place(operand)[0]
            case c_ast.TernaryOp():
                self.visit(node)
                return None
            case c_ast.BinaryOp() | c_ast.UnaryOp(op="-" | "+" | "~" | "!" | "sizeof"):
                self.visit(node)  # no pointer comes out of these
                self.opaque = True
                return None
            case _:
                return self.place(node)[0]

    def pointer_first(self, node: c_ast.BinaryOp) -> tuple[Node, Node]:
        """The operands of an address sum with the pointer first; `opaque` where that is not evident."""
        left, right = node.left, node.right
        if node.op == "-" or self.is_integer(right):
            return left, right
        if self.is_integer(left):
            return right, left
        self.opaque = True
        return left, right

    def is_integer(self, node: Node) -> bool:
        match node:
            case c_ast.ID():
                self.needs_types = True
                if self.integers is None:
                    self.integers = evident_integers(self.root)
                return node.name in self.integers
            case c_ast.Constant():
                return True
            case c_ast.BinaryOp(op="+" | "-" | "/"):
                return self.is_integer(node.left) and self.is_integer(node.right)
            case c_ast.BinaryOp():
                return True  # pointers can only be added, subtracted and compared
            case _:
                return False

    def through(self, node: Node) -> None:
        """A read of an lvalue other than a plain variable."""
        base, through = self.place(node)
        if base is None:
            self.opaque = self.opaque or not isinstance(node, c_ast.StructRef)
        elif through and not self._is_local(base):
            self.array_reads.add(base)
        elif not through:
            self.read(base)

    visit_ArrayRef = through  # noqa: N815
    visit_StructRef = through  # noqa: N815

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> None:
        if node.op in INCREMENTS:
            self.target(node.expr, reads=True)
        elif node.op == "*":
            self.through(node)
        elif node.op == "&":
            self.address(node.expr)
        elif node.op not in {"sizeof", "_Alignof"}:
            self.visit(node.expr)

    def address(self, node: Node) -> None:
        base, through = self.place(node)
        if base is None or self._is_local(base):
            return
        self.address_taken.add(base)
        if through:
            self.array_reads.add(base)
            self.array_writes.add(base)
        else:
            self.read(base)
            self.scalar_writes.add(base)

    def visit_FuncCall(self, node: c_ast.FuncCall) -> None:
        pure = False
        if isinstance(node.name, c_ast.ID):
            self.calls.add(node.name.name)
            pure = node.name.name in PURE_FUNCTIONS
        else:
            self.opaque = True
            self.visit(node.name)
        arguments = list(node.args) if node.args is not None else []
        for argument in arguments:
            self.visit(argument)
            if not pure:
                self.escaping.update(n for n in _handed(argument) if not self._is_local(n))

    def visit_KernelCall(self, node: KernelCall) -> None:
        self.visit_FuncCall(node)

    def visit_BinaryOp(self, node: c_ast.BinaryOp) -> None:
        if not isinstance(node.left, c_ast.BinaryOp) and node.op not in {"&&", "||"}:
            self.visit(node.left)
            self.visit(node.right)
            return
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

    def visit_TernaryOp(self, node: c_ast.TernaryOp) -> None:
        self.visit(node.cond)
        self.either(node.iftrue, node.iffalse)

    # Statements

    def maybe(self, *nodes: Node | None) -> None:
        """Code that runs or not: what it writes is not certain afterwards."""
        before = set(self.written)
        for node in nodes:
            self.visit(node)
        self.written = before

    def either(self, first: Node, second: Node | None) -> None:
        before = set(self.written)
        self.visit(first)
        after_first, self.written = self.written, set(before)
        self.visit(second)
        self.written &= after_first

    def visit_Compound(self, node: Compound) -> None:
        self.scopes.append(set())
        for item in node.block_items or []:
            self.visit(item)
        self.scopes.pop()

    def visit_Decl(self, node: c_ast.Decl) -> None:
        self.visit(node.type)
        if node.name is not None:
            self.declare(node.name)
        self.visit(node.init)

    def visit_Typedef(self, node: c_ast.Typedef) -> None:
        self.visit(node.type)
        self.declare(node.name)

    def visit_Enumerator(self, node: c_ast.Enumerator) -> None:
        self.visit(node.value)
        self.declare(node.name)

    def declare(self, name: str) -> None:
        if not self.scopes:
            self.scopes.append(set())
        self.scopes[-1].add(name)

    def visit_If(self, node: c_ast.If) -> None:
        self.visit(node.cond)
        self.either(node.iftrue, node.iffalse)

    def visit_For(self, node: For) -> None:
        self.scopes.append(set())
        self.visit(node.init)
        self.visit(node.cond)
        before = set(self.written)
        if self._leaves_in(node.stmt):
            self.written = set(before)
        self.visit(node.next)
        self.written = before
        self.scopes.pop()

    def _leaves_in(self, body: Node) -> bool:
        """Follow the body of a loop; whether a `break`, `continue` or `return` may end it before its last statement."""
        before, self.leaves_early = self.leaves_early, False
        self.visit(body)
        found, self.leaves_early = self.leaves_early, before or self.leaves_early
        return found

    def visit_While(self, node: c_ast.While) -> None:
        self.visit(node.cond)
        self.maybe(node.stmt)

    def visit_DoWhile(self, node: c_ast.DoWhile) -> None:
        before = set(self.written)
        if self._leaves_in(node.stmt):
            self.written = before
        self.visit(node.cond)

    def visit_Switch(self, node: c_ast.Switch) -> None:
        self.visit(node.cond)
        self.maybe(node.stmt)

    def visit_Case(self, node: c_ast.Case) -> None:
        self.visit_Default(node)

    def visit_Default(self, node: c_ast.Case | c_ast.Default) -> None:
        # Any case may be jumped to from the head of the switch: nothing before it is certain.
        before = set(self.written)
        self.maybe(*node.stmts)
        self.written = before

    def visit_Break(self, node: c_ast.Break | c_ast.Continue) -> None:
        del node
        self.leaves_early = True

    visit_Continue = visit_Break  # noqa: N815

    def visit_Return(self, node: c_ast.Return) -> None:
        self.leaves_early = True
        self.visit(node.expr)

    def visit_Goto(self, node: c_ast.Goto) -> None:
        del node
        self.has_jumps = True

    def visit_Label(self, node: c_ast.Label) -> None:
        self.has_jumps = True
        self.visit(node.stmt)

    def visit_FuncDecl(self, node: c_ast.FuncDecl) -> None:
        del node

    def visit_NamedInitializer(self, node: c_ast.NamedInitializer) -> None:
        for designator in node.name:
            if not isinstance(designator, c_ast.ID):
                self.visit(designator)
        self.visit(node.expr)


@cache
def _method_of(kind: type[Node]) -> str | None:
    name = "visit_" + kind.__name__
    return name if hasattr(_Walker, name) else None


# Not assignments: to follow one again takes less time than to keep what it does.
_REMEMBERED = frozenset({Compound, For, c_ast.DoWhile, c_ast.If, c_ast.Switch, c_ast.While})
_TRANSPARENT = (
    Transform, c_ast.ArrayDecl, c_ast.ArrayDesignator, c_ast.Cast, c_ast.CompoundLiteral, c_ast.DeclList,
    c_ast.Enum, c_ast.EnumeratorList, c_ast.ExprList, c_ast.InitList, c_ast.Label, c_ast.PtrDecl,
    c_ast.TypeDecl, c_ast.Typename, c_ast.GenericSelection, c_ast.GenericAssociation,
)  # fmt: skip
_SILENT = (
    Comment, GuardedPragma, c_ast.Pragma, c_ast.Constant, c_ast.EmptyStatement,
    c_ast.Goto, c_ast.IdentifierType, c_ast.StaticAssert, c_ast.Struct, c_ast.Union,
)  # fmt: skip


def _handed(argument: Node) -> Iterable[str]:
    """The variables whose value, as an address, an argument may hand on."""
    match argument:
        case c_ast.ID():
            yield argument.name
        case c_ast.Cast():
            yield from _handed(argument.expr)
        case c_ast.BinaryOp(op="+" | "-"):
            yield from _handed(argument.left)
            yield from _handed(argument.right)
        case c_ast.UnaryOp(op="&", expr=operand):
            base: Any = operand
            while isinstance(base, (c_ast.ArrayRef, c_ast.StructRef)):
                base = base.name
            yield from _handed(base)
        case c_ast.ArrayRef():
            yield from _handed(argument.name)
        case _:
            return
