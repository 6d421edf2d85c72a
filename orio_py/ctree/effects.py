"""Which variables a piece of code reads and writes, and which it needs from before."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from orio_py.ctree.expression_effects import ExpressionEffects
from orio_py.ctree.nodes import Compound, For, Node, c_ast, reference_parts

# Not assignments: to follow one again takes less time than to keep what it does.
_REMEMBERED = frozenset({Compound, For, c_ast.DoWhile, c_ast.If, c_ast.Switch, c_ast.While})


@dataclass(frozen=True, slots=True)
class Effects:
    """What code does to the variables that are not declared inside it.

    `reads` and `writes` hold scalars and arrays; a name counts as an array where it is subscripted or
    pointed through.  `reads_before_write` are the scalars whose value from before may be used, `exposed` these
    and the arrays and pointers that are followed before they are set.
    `calls` are the functions called that may do more than compute a value, `escaping` are names handed to functions that are not pure, which may change what they point to.
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
    exposed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Summary:
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


def copied_pointers(node: Node) -> frozenset[str]:
    """The names that code uses otherwise than to read and write elements of what they point to, if they are pointers."""
    match node:
        case c_ast.ID(name=name):
            return frozenset({name})
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as element):
            base, subscripts = reference_parts(element)
            return frozenset[str]().union(*map(copied_pointers, (base, *subscripts)))
        case (
            c_ast.UnaryOp(op="*", expr=c_ast.BinaryOp(op="+" | "-", left=c_ast.ID(), right=offset))
            | c_ast.ArrayRef(name=c_ast.ID(), subscript=offset)
        ):
            return copied_pointers(offset)
        case c_ast.UnaryOp(op="*", expr=c_ast.ID()):
            return frozenset()
        case _:
            return frozenset[str]().union(*(copied_pointers(child) for child in node))


def subscript_depths(node: Node) -> frozenset[tuple[str, int]]:
    """The names that code has subscripts behind, each with how many: `a[i][j]` is `("a", 2)`, `*(a + i)` is `("a", 1)`."""
    found: set[tuple[str, int]] = set()
    stack = [node]
    while stack:
        part = stack.pop()
        base, subscripts = reference_parts(part)
        match part:
            case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name) | c_ast.BinaryOp(left=c_ast.ID(name=name))):
                found.add((name, 1))
                stack.extend(part)
            case c_ast.ArrayRef() if isinstance(base, c_ast.ID):
                found.add((base.name, len(subscripts)))
                stack.extend(subscripts)
            case _:
                stack.extend(part)
    return frozenset(found)


class EffectsMemory:
    """Remembers the effects of nodes as long as the nodes live; trees are never modified, so they stay true.

    Statements that a new tree shares with an old one are not looked at again.  `dead` are branches that are
    never taken: `if` statements by identity, and which way.  `integers` are variables that are known to be some.
    """

    def __init__(
        self, dead: Collection[tuple[int, bool]] = (), integers: frozenset[str] = frozenset()
    ) -> None:
        self.dead = dead
        self.integers = integers
        self._known: WeakKeyDictionary[Node, Effects] = WeakKeyDictionary()
        self._parts: WeakKeyDictionary[Node, Summary] = WeakKeyDictionary()

    def of(self, node: Node) -> Effects:
        """The effects of `node`, computed once."""
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = self.summary(node).effects
        return found

    def summary(self, node: Node) -> Summary:
        """What a tree does by itself."""
        found = self.part(node, node)
        return _Walker(self, node, jumps=True).summary(node) if found.has_jumps else found

    def part(self, node: Node, root: Node) -> Summary:
        """The summary of a statement inside `root`."""
        found = self._parts.get(node)
        if found is None:
            found = _Walker(self, root).summary(node)
            if not (found.has_jumps or found.needs_types):
                self._parts[node] = found
        return found


class _Walker(ExpressionEffects):
    """Follows the code in the order of execution; `written` is what has been assigned on every path."""

    def __init__(self, memory: EffectsMemory, root: Node, *, jumps: bool = False) -> None:
        super().__init__(root, jumps=jumps, known=memory.integers)
        self.memory = memory
        self.has_jumps = False
        self.leaves_early = False

    def summary(self, node: Node) -> Summary:
        """What `node` does."""
        super().enter(node)
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
            exposed=frozenset(self.exposed),
        )
        return Summary(found, frozenset(self.written), self.has_jumps, self.needs_types, self.leaves_early)

    def add(self, part: Summary) -> None:
        """Take over what a statement does, in the light of what is local and written here."""
        found, local = part.effects, self._local()
        self.has_jumps = self.has_jumps or part.has_jumps
        self.needs_types = self.needs_types or part.needs_types
        self.leaves_early = self.leaves_early or part.leaves_early
        self.opaque = self.opaque or found.opaque
        self.calls |= found.calls
        self.scalar_reads |= found.scalar_reads - local
        self.early_reads |= found.reads_before_write - self.written - local
        self.exposed |= found.exposed - self.written - local
        self.scalar_writes |= found.scalar_writes - local
        self.written |= part.written - local
        self.array_reads |= found.array_reads - local
        self.array_writes |= found.array_writes - local
        self.address_taken |= found.address_taken - local
        self.escaping |= found.escaping - local

    def _local(self) -> frozenset[str]:
        names: set[str] = set()
        return frozenset(names.union(*self.scopes))

    def enter(self, node: Node) -> None:
        """Follow a statement, or take over what is known of it."""
        if type(node) in _REMEMBERED and not self.jumps:
            self.add(self.memory.part(node, self.root))
        else:
            super().enter(node)

    def _visit_Compound(self, node: Compound) -> None:
        self.scopes.append(set())
        for item in node.block_items or []:
            self.visit(item)
        self.scopes.pop()

    def _visit_Decl(self, node: c_ast.Decl) -> None:
        self.visit(node.type)
        if node.name is not None:
            self.declare(node.name)
        self.visit(node.init)

    def _visit_If(self, node: c_ast.If) -> None:
        self.visit(node.cond)
        alive = [
            way
            for truth, way in ((True, node.iftrue), (False, node.iffalse))
            if (id(node), truth) not in self.memory.dead
        ]
        if len(alive) == 2:
            self.either(*alive)
        elif alive:
            self.visit(alive[0])

    def _visit_For(self, node: For) -> None:
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

    def _visit_While(self, node: c_ast.While | c_ast.Switch) -> None:
        self.visit(node.cond)
        self.maybe(node.stmt)

    _visit_Switch = _visit_While  # noqa: N815

    def _visit_DoWhile(self, node: c_ast.DoWhile) -> None:
        before = set(self.written)
        if self._leaves_in(node.stmt):
            self.written = before
        self.visit(node.cond)

    def _visit_Default(self, node: c_ast.Case | c_ast.Default) -> None:
        # Any case may be jumped to from the head of the switch: nothing before it is certain.
        self.maybe(*node.stmts)

    _visit_Case = _visit_Default  # noqa: N815

    def _visit_Break(self, node: c_ast.Break | c_ast.Continue) -> None:
        del node
        self.leaves_early = True

    _visit_Continue = _visit_Break  # noqa: N815

    def _visit_Return(self, node: c_ast.Return) -> None:
        self.leaves_early = True
        self.visit(node.expr)

    def _visit_Goto(self, node: c_ast.Goto) -> None:
        del node
        self.has_jumps = True

    def _visit_Label(self, node: c_ast.Label) -> None:
        self.has_jumps = True
        self.visit(node.stmt)
