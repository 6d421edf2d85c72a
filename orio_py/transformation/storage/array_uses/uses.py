"""The statements of a tree as blocks of items, with the memory that each of them uses.

One walk over the tree finds every use of an array element in the order of the source; an item knows its
own part of that list.  What could touch any memory (a call of an unknown function, an address taken) or
stands in the way of moving code (a jump, a pragma) is a barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orio_py.ctree.dependence.reuse import MemoryObject, storage_of
from orio_py.ctree.known_functions import called_name, is_pure
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
from orio_py.ctree.rewrite import walk
from orio_py.ctree.symbols import CDeclaration, declaration_of
from orio_py.transformation.base import Context
from orio_py.transformation.storage.array_uses.items import (
    CONDITIONAL,
    NOTHING,
    REPEATED,
    Barrier,
    Frame,
    Loop,
    Ref,
    Statement,
    StatementList,
    Use,
)
from orio_py.transformation.storage.array_uses.loop_headers import continues, count
from orio_py.transformation.storage.array_uses.references import References

_CHANGING = frozenset({"volatile", "_Atomic"})
_SILENT = (Comment, c_ast.EmptyStatement, c_ast.Typedef, c_ast.StaticAssert)


class Uses:
    """Everything that a tree uses; `root` is its outermost block.

    `reads` lists the reads of scalars that pointers may reach, `writes` all scalars written or declared.
    `nested` says that references may stand in the subscripts of others.
    """

    def __init__(self, node: Node, context: Context, exposed: frozenset[str] = frozenset()) -> None:
        self.uses: list[Use] = []
        self.writes: list[str] = []
        self.reads: list[str] = []
        self.barriers: list[Barrier] = []
        self.addressed: set[str] = set()
        self.volatile = {d.name for d in context.declarations.values() if d.qualifiers & _CHANGING}
        self.exposed = context.exposed | exposed
        self.context = context
        self._known: dict[str, CDeclaration] = dict(context.declarations)
        self._references = References()
        self._storages: dict[tuple[Ref, int], MemoryObject] = {}
        self._frames: tuple[Frame, ...] = ()
        self._loop: Loop | None = None
        self._targets: list[Loop | None] = []
        self._continues = 0
        self._takes_cases = False
        self._within: tuple[Ref, ...] = ()
        self.nested = False
        self._late: set[Loop] = set()
        self._visits: Mapping[type[Node], Callable[[Any], None]] = {
            c_ast.ArrayRef: self._use,
            c_ast.StructRef: self._use,
            c_ast.ID: self._name,
            c_ast.Constant: self._children,
            c_ast.BinaryOp: self._binary,
            c_ast.UnaryOp: self._unary,
            c_ast.Assignment: self._assignment,
            c_ast.TernaryOp: self._ternary,
            c_ast.FuncCall: self._call,
            KernelCall: self._call,
            c_ast.Cast: self._cast,
            c_ast.ExprList: self._children,
            c_ast.InitList: self._children,
        }
        self.root = self._block(node)

    @classmethod
    def of(cls, node: Node, context: Context) -> Uses:
        """The uses of a tree, with the scalars whose address it takes among the exposed ones."""
        found = cls(node, context)
        return found if found.addressed <= found.exposed else cls(node, context, frozenset(found.addressed))

    def ref_of(self, node: Node) -> Ref | None:
        """The reference that a node of the tree is, if it was met as one."""
        return self._references.known(node)

    def refs_in(self, item: Statement) -> set[Ref]:
        """The references that a statement uses."""
        return {use.ref for use in self.uses[item.uses]}

    # Blocks and statements

    def _block(self, node: Node) -> StatementList:
        nodes = (node.block_items or []) if isinstance(node, Compound) else [node]
        block = StatementList([], self._frames, self._loop, len(self._targets), self._continues)
        hidden: list[tuple[str, CDeclaration | None]] = []
        for statement in nodes:
            item = Statement(statement, [], None, NOTHING, NOTHING, NOTHING, NOTHING)
            marks = self._marks()
            if isinstance(statement, (c_ast.Decl, c_ast.DeclList)):
                self._declare(statement, hidden)
            else:
                self._statement(statement, item)
            self._close(item, marks)
            if item.loop is not None:
                _link(block, item.loop)
            block.items.append(item)
        self._reveal(hidden)
        return block

    def _marks(self) -> tuple[int, int, int, int]:
        return len(self.uses), len(self.writes), len(self.reads), len(self.barriers)

    def _close(self, item: Statement, marks: tuple[int, int, int, int]) -> None:
        ends = self._marks()
        item.uses, item.writes, item.reads, item.barriers = map(slice, marks, ends)

    def _inner(self, node: Node, item: Statement, *frame: Frame, takes_cases: bool = False) -> None:
        """A block inside a statement; in the body of a `switch` it `takes_cases`, elsewhere they are jumped to."""
        before = self._frames, self._takes_cases
        self._frames, self._takes_cases = (*self._frames, *frame), takes_cases
        item.blocks.append(self._block(node))
        self._frames, self._takes_cases = before

    def _statement(self, node: Node, item: Statement) -> None:
        match node:
            case c_ast.Assignment():
                self._expression(node)
            case Compound():
                self._inner(node, item)
            case For():
                self._for(node, item)
            case c_ast.While() | c_ast.DoWhile():
                self._while(node, item)
            case c_ast.If():
                self._expression(node.cond)
                for branch in (node.iftrue, node.iffalse):
                    if branch is not None:
                        self._inner(branch, item, CONDITIONAL)
            case c_ast.Switch():
                self._expression(node.cond)
                self._targets.append(None)
                self._inner(node.stmt, item, CONDITIONAL, takes_cases=True)
                self._targets.pop()
            case c_ast.Case() | c_ast.Default():
                if not self._takes_cases:
                    self.barriers.append(Barrier("label"))
                for statement in node.stmts or []:
                    is_case = isinstance(statement, (c_ast.Case, c_ast.Default))
                    self._inner(statement, item, CONDITIONAL, takes_cases=is_case)
            case c_ast.Label():
                self.barriers.append(Barrier("label"))
                self._inner(node.stmt, item, CONDITIONAL)
            case Transform():
                self.barriers.append(Barrier("call"))
            case _ if not isinstance(node, _SILENT):
                self._plain(node)
            case _:
                pass

    def _plain(self, node: Node) -> None:
        match node:
            case GuardedPragma() | c_ast.Pragma():
                self.barriers.append(Barrier("pragma"))
            case c_ast.Return():
                self.barriers.append(Barrier("jump"))
                if node.expr is not None:
                    self._expression(node.expr)
            case c_ast.Goto():
                self.barriers.append(Barrier("jump"))
            case c_ast.Break():
                self.barriers.append(Barrier("break", len(self._targets)))
                self._leave(self._targets[-1] if self._targets else None)
            case c_ast.Continue():
                self.barriers.append(Barrier("continue", self._continues))
                self._leave(self._loop)
            case _:
                self._expression(node)

    def _leave(self, loop: Loop | None) -> None:
        if loop is not None:
            loop.leaves = True
            self._late.add(loop)

    def _while(self, node: c_ast.While | c_ast.DoWhile, item: Statement) -> None:
        self._under(REPEATED, node.cond)
        self._body(node.stmt, item, None, REPEATED)

    def _body(self, node: Node, item: Statement, loop: Loop | None, frame: Frame) -> None:
        """The body of a loop; `loop` is None if that is no `for` loop."""
        around, self._loop = self._loop, loop
        self._targets.append(loop)
        self._continues += 1
        self._inner(node, item, frame)
        self._targets.pop()
        self._continues -= 1
        self._loop = around

    def _for(self, node: For, item: Statement) -> None:
        hidden: list[tuple[str, CDeclaration | None]] = []
        first = len(self.writes)
        if isinstance(node.init, c_ast.DeclList):
            self._declare(node.init, hidden)
        elif node.init is not None:
            self._expression(node.init)
        loop = item.loop = Loop(node, self._loop, dict(self._known) if hidden else self._known)
        if node.cond is not None:
            self._expression(node.cond)
        inside = len(self.writes)
        self._body(node.stmt, item, loop, loop)
        in_body = frozenset(self.writes[inside:])
        self._under(REPEATED, node.next)
        loop.written = frozenset(self.writes[first:])
        count(loop, in_body)
        self._reveal(hidden)

    # Declarations

    def _declare(self, node: Node, hidden: list[tuple[str, CDeclaration | None]]) -> None:
        for declaration in node.decls if isinstance(node, c_ast.DeclList) else [node]:
            if not isinstance(declaration, c_ast.Decl) or declaration.name is None:
                continue
            self.writes.append(declaration.name)
            for part in walk(declaration.type):
                if isinstance(part, c_ast.ArrayDecl) and part.dim is not None:
                    self._expression(part.dim)
            hidden.append((declaration.name, self._known.get(declaration.name)))
            new = declaration_of(declaration)
            self._known = {**self._known, declaration.name: new}
            if new.qualifiers & _CHANGING:
                self.volatile.add(new.name)
            if declaration.init is not None:
                self._expression(declaration.init)
            if "static" in declaration.storage:
                self.barriers.append(Barrier("jump"))

    def _reveal(self, hidden: list[tuple[str, CDeclaration | None]]) -> None:
        if not hidden:
            return
        known = dict(self._known)
        for name, before in reversed(hidden):
            if before is None:
                known.pop(name, None)
            else:
                known[name] = before
        self._known = known

    # Expressions

    def _expression(self, node: Node) -> None:
        self._visits.get(type(node), self._barred)(node)

    def _barred(self, node: Node) -> None:
        self.barriers.append(Barrier("call"))
        for child in node:
            if not isinstance(child, (c_ast.Typename, c_ast.TypeDecl)):
                self._expression(child)

    def _name(self, node: c_ast.ID) -> None:
        if node.name in self.exposed:
            self.reads.append(node.name)

    def _children(self, node: Node) -> None:
        for child in node:
            self._expression(child)

    def _binary(self, node: c_ast.BinaryOp) -> None:
        self._expression(node.left)
        if node.op in {"&&", "||"}:
            self._under(CONDITIONAL, node.right)
        else:
            self._expression(node.right)

    def _under(self, frame: Frame, *nodes: Node | None) -> None:
        before = self._frames
        self._frames = (*before, frame)
        for node in nodes:
            if node is not None:
                self._expression(node)
        self._frames = before

    def _ternary(self, node: c_ast.TernaryOp) -> None:
        self._expression(node.cond)
        self._under(CONDITIONAL, node.iftrue, node.iffalse)

    def _assignment(self, node: c_ast.Assignment) -> None:
        self._expression(node.rvalue)
        self._target(node.lvalue, reads=node.op != "=")

    def _target(self, node: Node, *, reads: bool) -> None:
        if isinstance(node, c_ast.ID):
            self.writes.append(node.name)
            if reads:
                self._name(node)
        else:
            self._use(node, reads=reads, writes=True)

    def _unary(self, node: c_ast.UnaryOp) -> None:
        if node.op in INCREMENTS:
            self._target(node.expr, reads=True)
        elif node.op == "*":
            self._use(node)
        elif node.op == "&":
            if isinstance(node.expr, c_ast.ID):
                self.addressed.add(node.expr.name)
            self._barred(node)
        elif node.op not in {"sizeof", "_Alignof"}:
            self._expression(node.expr)

    def _call(self, node: c_ast.FuncCall) -> None:
        if called_name(node) == "__builtin_prefetch":
            return
        if not is_pure(node):
            self.barriers.append(Barrier("call"))
        if node.args is not None:
            self._children(node.args)

    def _cast(self, node: c_ast.Cast) -> None:
        self._expression(node.expr)

    # References

    def _use(self, node: Node, *, reads: bool = True, writes: bool = False) -> None:
        ref = self._references.of(node, self._known)
        if ref is None:
            self._barred(node)
            return
        if ref.inner or not ref.steady or self.exposed:
            within = self._within
            self._within = (*within, ref)
            self.nested = True
            for subscript in _places_in(node):
                self._expression(subscript)
            self._within = within
            self._name(c_ast.ID(ref.name))
        frames = self._frames
        if self._late:
            frames = tuple(CONDITIONAL if f in self._late else f for f in frames)
        declaration = self._known.get(ref.variable)
        key = ref, id(declaration)
        storage = self._storages.get(key)
        if storage is None:
            storage = self._storages[key] = storage_of(ref.name, len(ref.subscripts), declaration)
        self.uses.append(Use(ref, node, reads, writes, frames, declaration, storage, self._within))


def _places_in(node: Node) -> list[Node]:
    """The expressions in a reference that say where its element lies, as the tree has them."""
    found: list[Node] = []
    while not isinstance(node, c_ast.ID):
        match node:
            case c_ast.ArrayRef(name=array, subscript=subscript):
                found.append(subscript)
                node = array
            case c_ast.StructRef(name=inner) | c_ast.UnaryOp(op="*", expr=inner):
                node = inner
            case _:
                found.append(node)
                break
    return found[::-1]


def _link(block: StatementList, rest: Loop) -> None:
    before = next((item.loop for item in reversed(block.items) if not isinstance(item.node, Comment)), None)
    if before is not None and continues(before, rest):
        rest.floor = before.start if before.start is not None else before.floor
