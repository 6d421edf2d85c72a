"""The part of a nest that says which elements of some arrays it uses, as statements that take them down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from orio_py.ctree.build import (
    block,
    const,
    if_,
    unary,
)
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import (
    INCREMENTS,
    Compound,
    For,
    GuardedPragma,
    Node,
    c_ast,
    reference_parts,
    substatements,
)
from orio_py.ctree.region_walk import SILENT, UNEVALUATED
from orio_py.ctree.rewrite import assigned_names, copy_with, declared_names, walk
from orio_py.transformation.base import Context
from orio_py.transformation.offload.inspected_array import InspectedArray
from orio_py.transformation.offload.loop_ends import LoopEnds, only_leaves

_MOST_ROUNDS = 64
_Loop = For | c_ast.While | c_ast.DoWhile


class Uninspectable(Exception):
    """The host cannot find out which elements a nest uses: why, and where."""

    def __init__(self, reason: str, node: Node) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node


class AccessSlice:
    """The part of a nest that says which elements of some `arrays` it uses.

    `loops` are those around the `body` of an iteration.  The nest combines scalars in `combined`; elements of `unreadable`
    arrays are not what they are called; `wraps` says of an expression that C may compute it in an unsigned type.
    `wanted` are the variables whose values are needed: all assignments of them stay.
    """

    def __init__(
        self,
        loops: Sequence[CanonicalLoop],
        body: Node,
        arrays: Mapping[str, InspectedArray],
        combined: Set[str],
        unreadable: Set[str],
        context: Context,
        wraps: Callable[[Node], bool],
    ) -> None:
        self._loops = loops
        self._body = body
        self.arrays = arrays
        self._combined = combined
        self._unreadable = unreadable
        self._context = context
        self._written = context.effects(body).array_writes
        self._local = declared_names(body)
        self._changed = {*assigned_names(body), *(loop.index for loop in loops)}
        self._ends = LoopEnds(body, context, wraps)
        self._results = {end for array in arrays.values() for end in (array.first, array.last)}
        self.wanted: set[str] = set()

    def nest(self) -> Node:
        """The loops, with nothing in them but what is needed.  Raises Uninspectable."""
        for _ in range(_MOST_ROUNDS):
            before = len(self.wanted)
            inner = self._statements(self._body)
            for loop in reversed(self._loops):
                if self._uses_any([part for part in _header_parts(loop.node) if part is not None]):
                    raise Uninspectable("the header of a loop uses them", loop.node)
                self._header(loop.node)
                inner = self._ends.around(loop.node, inner)
            if len(self.wanted) == before:
                return block(*inner)
        raise Uninspectable("too much of the loops says so", self._body)

    def own(self, nest: Node) -> list[tuple[str, str]]:
        """The variables of the function that the slice sets, with their types.  Raises Uninspectable."""
        found: list[tuple[str, str]] = []
        for name in sorted(self._context.effects(nest).scalar_writes - self._results):
            declared = self._context.declarations.get(name)
            if declared is None or not declared.is_scalar or declared.qualifiers & {"volatile", "_Atomic"}:
                raise Uninspectable(f"the type of `{name}` is not known", self._body)
            found.append((name, declared.type))
        return found

    # Statements

    def _statements(self, node: Node | None) -> list[Node]:
        """What is left of a statement."""
        match node:
            case None:
                return []
            case Compound() | c_ast.DeclList():
                parts = (node.block_items or []) if isinstance(node, Compound) else node.decls
                found = [left for part in parts for left in self._statements(part)]
                if not isinstance(node, Compound):
                    return found
                # What a block declares and nothing in it uses has the name of something that is needed.
                return [] if all(isinstance(part, c_ast.Decl) for part in found) else [block(*found)]
            case c_ast.If():
                return self._if(node)
            case For() | c_ast.While() | c_ast.DoWhile():
                return self._loop(node)
            case c_ast.Break() | c_ast.Continue():
                return [node]
            case c_ast.Decl():
                return self._declaration(node)
            case c_ast.Assignment() | c_ast.UnaryOp() if (name := _set_alone(node)) is not None:
                value = node.rvalue if isinstance(node, c_ast.Assignment) else None
                return [*self._notes(value), *([self._kept(node, value)] if name in self.wanted else [])]
            case c_ast.Switch():
                return self._without(node)
            case c_ast.Return() | c_ast.Goto() | c_ast.Label():
                raise Uninspectable("the loops jump", node)
            case _ if isinstance(node, (*SILENT, GuardedPragma, c_ast.Typedef)):
                return []
            case c_ast.Assignment(lvalue=c_ast.ArrayRef() as target, rvalue=value):
                self._require_steady(node)
                return [*self._notes(value), *self._notes(target)]
            case _:
                self._require_steady(node)
                return self._notes(node)

    def _if(self, node: c_ast.If) -> list[Node]:
        then, other = self._statements(node.iftrue), self._statements(node.iffalse)
        notes = self._notes(node.cond)
        if not then and not other:
            self._require_steady(node.cond)
            return notes
        condition = self._expression(node.cond)
        if not then:
            return [*notes, if_(unary("!", condition), block(*other))]
        return [*notes, if_(condition, block(*then), block(*other) if other else None)]

    def _loop(self, node: _Loop) -> list[Node]:
        inner = self._statements(node.stmt)
        header = [part for part in _header_parts(node) if part is not None]
        index = {name for part in header for name in (*assigned_names(part), *declared_names(part))}
        if all(map(only_leaves, inner)) and not index & self.wanted and not self._uses_any(header):
            return []
        self._header(node)
        return [
            *self._notes(getattr(node, "init", None)),
            *self._ends.around(*self._with_header(node, inner)),
        ]

    def _with_header(self, node: _Loop, inner: list[Node]) -> tuple[_Loop, list[Node]]:
        """A loop whose body takes down what its condition and its step use.

        Of  for (; x[k] > 0; k = next[k]) …  that is  for (;; k = next[k]) { x[k]; if (!(x[k] > 0)) break; … next[k]; }
        """
        tested, stepped = self._notes(node.cond), self._notes(getattr(node, "next", None))
        behind = [*stepped, *(tested if isinstance(node, c_ast.DoWhile) else [])]
        if behind and any(isinstance(part, c_ast.Continue) for part in _own_jumps(node.stmt)):
            raise Uninspectable("a `continue` leads to an expression that uses them", node)
        if tested and not isinstance(node, c_ast.DoWhile):
            inner = [*tested, if_(unary("!", self._expression(node.cond)), block(c_ast.Break())), *inner]
            node = copy_with(node, cond=None if isinstance(node, For) else const(1))
        return node, [*inner, *behind]

    def _header(self, node: _Loop) -> None:
        """Take what a header needs; it may set variables."""
        for part in _header_parts(node):
            if part is None:
                continue
            if part is node.cond:
                self._expression(part)
                continue
            for step in _steps(part):
                match step:
                    case c_ast.Decl(name=str(name), init=value):
                        self.wanted.add(name)
                    case _ if (found := _set_alone(step)) is not None:
                        name, value = found, step.rvalue if isinstance(step, c_ast.Assignment) else None
                    case _:
                        raise Uninspectable("the header of a loop does more than count", step)
                self.wanted.add(name)
                self._require_own(name, step)
                self._expression(value)

    def _declaration(self, node: c_ast.Decl) -> list[Node]:
        notes = self._notes(node.init)
        if node.name not in self.wanted:
            self._require_steady(node.init)
            return notes
        if isinstance(node.type, c_ast.ArrayDecl) and node.name in self._written | self._element_writes():
            raise Uninspectable(f"`{node.name}` holds what says so", node)
        self._expression(node.init)
        return [*notes, node]

    def _element_writes(self) -> set[str]:
        """Arrays of the body whose elements it sets."""
        found: set[str] = set()
        for part in walk(self._body):
            match part:
                case c_ast.Assignment(lvalue=target):
                    pass
                case c_ast.UnaryOp(op=op, expr=target) if op in INCREMENTS:
                    pass
                case _:
                    continue
            base, subscripts = reference_parts(target)
            if subscripts and isinstance(base, c_ast.ID):
                found.add(base.name)
        return found

    def _kept(self, node: Node, value: Node | None) -> Node:
        name = _set_alone(node)
        assert name is not None
        self._require_own(name, node)
        self._expression(value)
        return node

    def _without(self, node: Node) -> list[Node]:
        """Nothing of a statement that says nothing."""
        if self._uses_any([node]):
            raise Uninspectable("a `switch` does", node)
        self._require_steady(node)
        return []

    def _require_own(self, name: str, node: Node) -> None:
        if name in self._combined:
            raise Uninspectable(f"`{name}`, which the loops combine, says so", node)

    def _require_steady(self, node: Node | None) -> None:
        """A statement that is left out sets nothing that is needed."""
        if node is not None and (lost := self.wanted.intersection(assigned_names(node))):
            raise Uninspectable(f"`{min(lost)}` is set inside of an expression", node)

    # Expressions

    def _uses_any(self, nodes: Sequence[Node]) -> bool:
        return any(self._array(part) is not None for node in nodes for part in walk(node))

    def _array(self, node: Node) -> InspectedArray | None:
        """The array of which an expression is an element; None for others."""
        base, subscripts = reference_parts(node)
        if not subscripts or not isinstance(base, c_ast.ID) or base.name not in self.arrays:
            return None
        return self.arrays[base.name] if len(subscripts) >= self.arrays[base.name].depth else None

    def _notes(self, node: Node | None) -> list[Node]:
        """What takes down the elements that an expression uses, where it does."""
        match node:
            case None:
                return []
            case c_ast.UnaryOp(op=op) if op in UNEVALUATED:
                return []
            case c_ast.BinaryOp(op="&&" | "||" as op, left=left, right=right):
                inner = self._notes(right)
                test = self._condition(left, op == "&&") if inner else None
                return [*self._notes(left), *([] if test is None else [if_(test, block(*inner))])]
            case c_ast.TernaryOp(cond=cond, iftrue=one, iffalse=two):
                found = self._notes(cond)
                for part, truth in ((one, True), (two, False)):
                    if inner := self._notes(part):
                        found.append(if_(self._condition(cond, truth), block(*inner)))
                return found
            case c_ast.ArrayRef():
                subscripts = reference_parts(node)[1]
                found = [note for subscript in subscripts for note in self._notes(subscript)]
                array = self._array(node)
                if array is None:
                    return found
                used = [self._expression(subscript) for subscript in subscripts[: array.depth]]
                return [*found, self._ends.note(array, used)]
            case _:
                return [note for part in node for note in self._notes(part)]

    def _condition(self, node: Node, truth: bool) -> Node:
        self._expression(node)
        return node if truth else unary("!", node)

    def _expression(self, node: Node | None) -> Node:
        """An expression that the host evaluates as the nest does.  Raises Uninspectable."""
        if node is None:
            return c_ast.EmptyStatement()
        for part in walk(node):
            match part:
                case c_ast.Assignment():
                    raise Uninspectable("an expression that says so sets a variable", part)
                case c_ast.UnaryOp(op=op) if op in INCREMENTS:
                    raise Uninspectable("an expression that says so sets a variable", part)
                case c_ast.ID(name=name):
                    self._want(name, part)
                case _:
                    pass
        return node

    def _want(self, name: str, node: Node) -> None:
        if name in self._combined:
            raise Uninspectable(f"`{name}`, which the loops combine, says so", node)
        if name in self._written and name not in self._local:
            raise Uninspectable(f"the loops write `{name}`, which says so", node)
        if name in self._unreadable:
            raise Uninspectable(f"a member of `{name}` says so", node)
        declared = self._context.declarations.get(name)
        if declared is not None and declared.qualifiers & {"volatile", "_Atomic"} and name not in self._local:
            raise Uninspectable(f"`{name}`, which says so, may change by itself", node)
        if name in self._changed or name in self._local:
            self.wanted.add(name)


def _set_alone(node: Node) -> str | None:
    """The variable that a statement sets and does nothing else; None for others."""
    match node:
        case c_ast.Assignment(lvalue=c_ast.ID(name=name)):
            return name
        case c_ast.UnaryOp(op=op, expr=c_ast.ID(name=name)) if op in INCREMENTS:
            return name
        case _:
            return None


def _header_parts(node: _Loop) -> tuple[Node | None, ...]:
    return (node.init, node.cond, node.next) if isinstance(node, For) else (node.cond,)


def _steps(node: Node) -> list[Node]:
    """The parts of a header's beginning or step."""
    match node:
        case c_ast.DeclList(decls=parts) | c_ast.ExprList(exprs=parts):
            return list(parts)
        case _:
            return [node]


def _own_jumps(node: Node) -> list[Node]:
    """The jumps in the body of a loop that belong to it."""
    if isinstance(node, (For, c_ast.While, c_ast.DoWhile)):
        return []
    if isinstance(node, (c_ast.Break, c_ast.Continue)):
        return [node]
    return [found for part in substatements(node) for found in _own_jumps(part)]
