"""The statements of a tree as blocks of items, with the memory that each of them uses.

One walk over the tree finds every use of an array element in the order of the source; an item knows its
own part of that list.  What could touch any memory (a call of an unknown function, an address taken) or
stands in the way of moving code (a jump, a pragma) is a barrier.
"""

from __future__ import annotations

from typing import Any

from orio_py.ctree.dependence.reuse import MemoryObject, storage_of
from orio_py.ctree.known_functions import called_name, is_pure
from orio_py.ctree.nodes import (
    Comment,
    Compound,
    For,
    GuardedPragma,
    Node,
    Transform,
    c_ast,
)
from orio_py.ctree.region_walk import RegionWalk
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

Frames = tuple[Frame, ...]
"""What stands between the root and a place, outermost first."""


class Uses(RegionWalk[Frames]):
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
        self._loop: Loop | None = None
        self._targets: list[Loop | None] = []
        self._continues = 0
        self._takes_cases = False
        self._within: tuple[Ref, ...] = ()
        self.nested = False
        self._late: set[Loop] = set()
        self._item: Statement | None = None
        self._hidden: list[tuple[str, CDeclaration | None]] = []
        self.root = self._block(node, ())

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

    def _block(self, node: Node, state: Frames) -> StatementList:
        nodes = (node.block_items or []) if isinstance(node, Compound) else [node]
        block = StatementList([], state, self._loop, len(self._targets), self._continues)
        outside, self._hidden = (self._item, self._hidden), []
        for statement in nodes:
            item = self._item = Statement(statement, [], None, NOTHING, NOTHING, NOTHING, NOTHING)
            marks = self._marks()
            self.statement(statement, state)
            self._close(item, marks)
            if item.loop is not None:
                _link(block, item.loop)
            block.items.append(item)
        self._reveal(self._hidden)
        self._item, self._hidden = outside
        return block

    def _marks(self) -> tuple[int, int, int, int]:
        return len(self.uses), len(self.writes), len(self.reads), len(self.barriers)

    def _close(self, item: Statement, marks: tuple[int, int, int, int]) -> None:
        ends = self._marks()
        item.uses, item.writes, item.reads, item.barriers = map(slice, marks, ends)

    def _inner(self, node: Node, state: Frames, *, takes_cases: bool = False) -> None:
        """A block inside a statement; in the body of a `switch` it `takes_cases`, elsewhere they are jumped to."""
        assert self._item is not None
        before, self._takes_cases = self._takes_cases, takes_cases
        self._item.blocks.append(self._block(node, state))
        self._takes_cases = before

    def statement(self, node: Node, state: Frames) -> Frames:
        """Follow a statement; pragmas and marked statements are barriers."""
        match node:
            case GuardedPragma() | c_ast.Pragma():
                self.barriers.append(Barrier("pragma"))
            case Transform():
                self.barriers.append(Barrier("call"))
            case Compound():
                self._inner(node, state)
            case _:
                super().statement(node, state)
        return state

    def branch(self, node: c_ast.If, part: Node | None, truth: bool, state: Frames) -> None:
        """Follow a branch."""
        if part is not None:
            self._inner(part, (*state, CONDITIONAL))

    def switch(self, node: c_ast.Switch, state: Frames) -> None:
        """Follow the body of a `switch`."""
        self._targets.append(None)
        self._inner(node.stmt, (*state, CONDITIONAL), takes_cases=True)
        self._targets.pop()

    def case(self, node: c_ast.Case | c_ast.Default, state: Frames) -> None:
        """Follow the statements of a case, each of which may be jumped over."""
        if not self._takes_cases:
            self.barriers.append(Barrier("label"))
        for statement in node.stmts or []:
            is_case = isinstance(statement, (c_ast.Case, c_ast.Default))
            self._inner(statement, (*state, CONDITIONAL), takes_cases=is_case)

    def jump(self, node: Node, state: Frames) -> None:
        """Note what stands in the way of moving code."""
        match node:
            case c_ast.Label():
                self.barriers.append(Barrier("label"))
                self._inner(node.stmt, (*state, CONDITIONAL))
            case c_ast.Break():
                self.barriers.append(Barrier("break", len(self._targets)))
                self._leave(self._targets[-1] if self._targets else None)
            case c_ast.Continue():
                self.barriers.append(Barrier("continue", self._continues))
                self._leave(self._loop)
            case _:
                self.barriers.append(Barrier("jump"))
                self.children(node, state)

    def _leave(self, loop: Loop | None) -> None:
        if loop is not None:
            loop.leaves = True
            self._late.add(loop)

    def uncounted(self, node: Any, state: Frames) -> None:
        """Follow a `while` or `do` loop."""
        self.expression(node.cond, (*state, REPEATED))
        self._body(node.stmt, None, (*state, REPEATED))

    def _body(self, node: Node, loop: Loop | None, state: Frames) -> None:
        """The body of a loop; `loop` is None if that is no `for` loop."""
        around, self._loop = self._loop, loop
        self._targets.append(loop)
        self._continues += 1
        self._inner(node, state)
        self._targets.pop()
        self._continues -= 1
        self._loop = around

    def loop(self, node: For, state: Frames) -> None:
        """Follow a `for` loop, whatever it counts."""
        assert self._item is not None
        outside, self._hidden = self._hidden, []
        first = len(self.writes)
        if node.init is not None:
            self.statement(node.init, state)
        loop = Loop(node, self._loop, dict(self._known) if self._hidden else self._known)
        self._item.loop = loop
        if node.cond is not None:
            self.expression(node.cond, state)
        inside = len(self.writes)
        self._body(node.stmt, loop, (*state, loop))
        in_body = frozenset(self.writes[inside:])
        if node.next is not None:
            self.expression(node.next, (*state, REPEATED))
        loop.written = frozenset(self.writes[first:])
        count(loop, in_body)
        self._reveal(self._hidden)
        self._hidden = outside

    # Declarations

    def declaration(self, node: c_ast.Decl, state: Frames) -> Frames:
        """Follow a declaration, which hides others of its name to the end of the block."""
        if node.name is None:
            return state
        self.writes.append(node.name)
        for part in walk(node.type):
            if isinstance(part, c_ast.ArrayDecl) and part.dim is not None:
                self.expression(part.dim, state)
        self._hidden.append((node.name, self._known.get(node.name)))
        new = declaration_of(node)
        self._known = {**self._known, node.name: new}
        if new.qualifiers & _CHANGING:
            self.volatile.add(new.name)
        if node.init is not None:
            self.expression(node.init, state)
        if "static" in node.storage:
            self.barriers.append(Barrier("jump"))
        return state

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

    def under(self, condition: Node, truth: bool, state: Frames) -> tuple[Frames]:
        """The control context of code under a condition."""
        return ((*state, CONDITIONAL),)

    def other(self, node: Node, state: Frames) -> None:
        """Follow what may touch any memory."""
        self.barriers.append(Barrier("call"))
        for child in node:
            if not isinstance(child, (c_ast.Typename, c_ast.TypeDecl)):
                self.expression(child, state)

    def address(self, node: c_ast.UnaryOp, state: Frames) -> None:
        """Note a scalar whose address is taken."""
        if isinstance(node.expr, c_ast.ID):
            self.addressed.add(node.expr.name)
        self.other(node, state)

    def call(self, node: c_ast.FuncCall, state: Frames) -> None:
        """Follow the arguments of a call, which is a barrier if the function does more than compute."""
        if called_name(node) == "__builtin_prefetch":
            return
        if not is_pure(node):
            self.barriers.append(Barrier("call"))
        super().call(node, state)

    def _name(self, name: str) -> None:
        if name in self.exposed:
            self.reads.append(name)

    # References

    def reference(self, node: Node, state: Frames, *, reads: bool, writes: bool) -> None:
        """Record the use of a variable or of a part of one."""
        if not isinstance(node, c_ast.ID):
            self._use(node, state, reads=reads, writes=writes)
            return
        if writes:
            self.writes.append(node.name)
        if reads:
            self._name(node.name)

    def _use(self, node: Node, state: Frames, *, reads: bool, writes: bool) -> None:
        ref = self._references.of(node, self._known)
        if ref is None:
            self.other(node, state)
            return
        if ref.inner or not ref.steady or self.exposed:
            within = self._within
            self._within = (*within, ref)
            self.nested = True
            for subscript in _places_in(node):
                self.expression(subscript, state)
            self._within = within
            self._name(ref.name)
        frames = tuple(CONDITIONAL if f in self._late else f for f in state) if self._late else state
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
