"""Elements whose places only a run tells: loops on the host find out, before the kernel, between which of them a nest stays.

    for (i = 0; i < n; i++)             long x_from = …, x_to = …;
      if (idx[i] >= 0)                  for (i = 0; i < n; i++)
        y[i] = x[idx[i]];                 if (idx[i] >= 0) {
                                            const long x_at = idx[i];
                                            if (x_at < x_from) x_from = x_at;
                                            if (x_at > x_to) x_to = x_at;
                                          }

They are a slice of the nest: its loops and conditions, what these and the subscripts are computed from, and nothing else.
So they read no element that the nest does not read, and come to the same places, as long as it writes nothing that they read.

Sources: for inspectors J. Saltz, R. Mirchandaney and K. Crowley, "Run-time parallelization and scheduling of loops", IEEE
Transactions on Computers 40 (5), 1991; for slices M. Weiser, "Program slicing", ICSE 1981.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from orio_py.core.names import NameSupply
from orio_py.ctree.build import (
    add,
    as_long,
    assign,
    binary,
    block,
    cast_to,
    const,
    declare,
    ident,
    if_,
    statements,
    unary,
)
from orio_py.ctree.emit import emit
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import (
    INCREMENTS,
    Comment,
    Compound,
    For,
    GuardedPragma,
    Node,
    c_ast,
    reference_parts,
    substatements,
)
from orio_py.ctree.region_walk import SILENT, UNEVALUATED
from orio_py.ctree.rewrite import assigned_names, copy_with, declared_names, rename, substitute, walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context, KnownRange
from orio_py.transformation.offload.extents import inner_extents
from orio_py.transformation.types import index_type

_MOST_ROUNDS = 64
_Loop = For | c_ast.While | c_ast.DoWhile


class Uninspectable(Exception):
    """The host cannot find out which elements a nest uses: why, and where."""

    def __init__(self, reason: str, node: Node) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node


@dataclass(frozen=True, slots=True)
class InspectedArray:
    """An array: how many subscripts make the place, the `extents` of all dimensions but the first, and the variables
    that come to hold the first and the last place, which lies before the first where there is none.
    """

    depth: int
    extents: tuple[Node, ...]
    first: str
    last: str
    at: str

    def begin(self) -> list[Node]:
        """The variables, before any element is used."""
        every = unary("~", c_ast.Constant("unsigned long int", "0UL"))
        largest = cast_to("long", binary(">>", every, 1))
        return [
            declare("long", self.first, largest),
            declare("long", self.last, unary("-", ident(self.first))),
        ]

    def note(self, subscripts: Sequence[Node]) -> Node:
        """The statement that takes down an element."""
        place: Node = as_long(subscripts[0])
        for extent, subscript in zip(self.extents, subscripts[1:], strict=False):
            place = binary("+", binary("*", place, extent), subscript)
        at, first, last = ident(self.at), ident(self.first), ident(self.last)
        return block(
            declare("const long", self.at, place),
            if_(binary("<", at, first), assign(first, at)),
            if_(binary(">", at, last), assign(last, at)),
        )

    def end(self) -> Node:
        """What makes the range begin with 0 where no element is used."""
        first, last = ident(self.first), ident(self.last)
        return if_(binary("<", last, first), block(assign(first, 0), assign(last, -1)))


def inspected_array(declared: CDeclaration, context: Context, supply: NameSupply) -> InspectedArray:
    """An array with names for the variables."""
    inner, scalars = inner_extents(declared, context)
    values = {scalar.name: scalar.value for scalar in scalars}
    extents = tuple(as_long(values.get(getattr(extent, "name", ""), extent)) for extent in inner)
    first, last, at = (supply.fresh(f"{declared.name}_{word}") for word in ("from", "to", "at"))
    return InspectedArray(len(extents) + 1, extents, first, last, at)


@dataclass(frozen=True, slots=True)
class Inspection:
    """The loops that find out which elements of `arrays` a nest uses, and the variables that they set for themselves."""

    arrays: Mapping[str, InspectedArray]
    variables: tuple[tuple[str, str], ...]
    loops: Node

    @classmethod
    def of(
        cls,
        loops: Sequence[CanonicalLoop],
        body: Node,
        arrays: Mapping[str, InspectedArray],
        combined: Set[str],
        unreadable: Set[str],
        context: Context,
        wraps: Callable[[Node], bool],
    ) -> Inspection:
        """Those of a nest; `loops` are those around the `body` of an iteration.

        The nest combines scalars in `combined`; elements of `unreadable` arrays are not what they are called; `wraps` says of
        an expression that C may compute it in an unsigned type.  Raises Uninspectable.
        """
        found = _Slice(loops, body, arrays, combined, unreadable, context, wraps)
        nest = found.nest()
        return cls(arrays, tuple(found.own(nest)), nest)

    @property
    def text(self) -> str:
        """The same for loops that do the same."""
        return emit(self.loops)

    def known(self, name: str) -> KnownRange:
        """What is known of an array behind the statements."""
        array = self.arrays[name]
        return KnownRange(array.first, array.last, array.at, self.text)

    def statements(self, supply: NameSupply) -> list[Node]:
        """The statements, with variables of their own: those of the function keep their values."""
        own = {name: supply.fresh(f"{name}_at") for name, _ in self.variables}
        begin = [part for array in self.arrays.values() for part in array.begin()]
        names = ", ".join(f"`{name}`" for name in self.arrays)
        remark = Comment(f"/* Which elements of {names} the loops use. */")
        declared = [declare(kind, own[name]) for name, kind in self.variables]
        inside = block(*declared, *statements(rename(self.loops, own)))
        return [*begin, remark, inside, *(array.end() for array in self.arrays.values())]


class _Slice:
    """The part of a nest that says which elements of some arrays it uses.

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
        self._wraps = wraps
        self._loops = loops
        self._body = body
        self._arrays = arrays
        self._combined = combined
        self._unreadable = unreadable
        self._context = context
        self._written = context.effects(body).array_writes
        self._local = declared_names(body)
        self._changed = {*assigned_names(body), *(loop.index for loop in loops)}
        self._notes_taken: dict[int, tuple[Node, InspectedArray, list[Node]]] = {}
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
                inner = self._with_ends(loop.node, inner)
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
                return [block(*found)] if isinstance(node, Compound) and found else found
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
        if all(map(_only_leaves, inner)) and not index & self.wanted and not self._uses_any(header):
            return []
        self._header(node)
        return [*self._notes(getattr(node, "init", None)), *self._with_ends(*self._with_header(node, inner))]

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

    def _with_ends(self, node: _Loop, inner: list[Node]) -> list[Node]:
        """A loop, in front of it what takes down elements that lie between those of its first and last iteration.

        Of `col[j]` in  for (j = row[i]; j < row[i + 1]; j++)  these are  col[row[i]]  and  col[row[i + 1] - 1].
        """
        loop = CanonicalLoop.match(node)
        inner = [left for one in inner for left in _flat(one)]
        if loop is None or abs(loop.stride) != 1 or any(map(_jumps, inner)):
            return [copy_with(node, stmt=block(*inner))]
        changed = {*assigned_names(*inner), *(name for one in inner for name in declared_names(one))}
        inward = (-1 if loop.upward else 1) if loop.relation in {"<", ">"} else 0
        kind = index_type(loop, self._context)
        reached: list[Node] = []
        rest: list[Node] = []
        for one in inner:
            taken = self._notes_taken.get(id(one))
            ends = None if taken is None else self._ends(loop, taken[2], changed, inward, kind)
            if taken is None or ends is None:
                rest.append(one)
            else:
                reached += [self._note(taken[1], end) for end in ends]
        if not reached:
            return [copy_with(node, stmt=block(*inner))]
        runs = binary(loop.relation, cast_to(kind, loop.start), loop.bound)
        if all(map(_only_leaves, rest)) and not self._is_used_behind(loop):
            return [if_(runs, block(*reached))]
        return [if_(runs, block(*reached)), copy_with(node, stmt=block(*rest))]

    def _is_used_behind(self, loop: CanonicalLoop) -> bool:
        """Whether anything else in the body may use the value that a loop leaves in its index."""
        names = (_names(part) for part in (self._body, loop.node))
        everywhere, inside = ([name for name in found if name == loop.index] for found in names)
        return loop.declared_type is None and len(everywhere) > len(inside)

    def _ends(
        self, loop: CanonicalLoop, subscripts: list[Node], changed: Set[str], inward: int, kind: str
    ) -> list[list[Node]] | None:
        """The subscripts in the first and in the last iteration, between which those of all others are; None if unknown."""
        degrees = [_degree(subscript, loop.index, changed) for subscript in subscripts]
        ends = (loop.start, loop.bound)
        names = {part.name for end in ends for part in walk(end) if isinstance(part, c_ast.ID)}
        if None in degrees or loop.index in names | changed or names & changed:
            return None
        if any(degrees) and (len(subscripts) > 1 or self._wraps(subscripts[0])):
            return None
        if not any(degrees):
            return [subscripts]
        (subscript,) = subscripts
        last = cast_to(kind, add(loop.bound, inward) if inward else loop.bound)
        return [[substitute(subscript, loop.index, end)] for end in (cast_to(kind, loop.start), last)]

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
        if not subscripts or not isinstance(base, c_ast.ID) or base.name not in self._arrays:
            return None
        return self._arrays[base.name] if len(subscripts) >= self._arrays[base.name].depth else None

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
                return [*found, self._note(array, used)]
            case _:
                return [note for part in node for note in self._notes(part)]

    def _note(self, array: InspectedArray, subscripts: list[Node]) -> Node:
        found = array.note(subscripts)
        self._notes_taken[id(found)] = found, array, subscripts
        return found

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


def _flat(node: Node) -> list[Node]:
    """The statements of a block in a block that declares nothing."""
    parts = node.block_items if isinstance(node, Compound) else None
    if not parts or any(isinstance(part, c_ast.Decl) for part in parts):
        return [node]
    return [left for part in parts for left in _flat(part)]


def _names(node: Node) -> list[str]:
    return [part.name for part in walk(node) if isinstance(part, c_ast.ID)]


def _own_jumps(node: Node) -> list[Node]:
    """The jumps in the body of a loop that belong to it."""
    if isinstance(node, (For, c_ast.While, c_ast.DoWhile)):
        return []
    if isinstance(node, (c_ast.Break, c_ast.Continue)):
        return [node]
    return [found for part in substatements(node) for found in _own_jumps(part)]


def _jumps(node: Node) -> bool:
    return any(isinstance(part, (c_ast.Break, c_ast.Continue)) for part in walk(node))


def _degree(node: Node, index: str, changed: Set[str]) -> int | None:
    """0 where an expression is the same in all iterations of a loop, 1 where it grows or falls evenly with the loop's index,
    None where it may do anything else.
    """
    match node:
        case c_ast.ID(name=name):
            return 1 if name == index else None if name in changed else 0
        case c_ast.Constant():
            return 0
        case c_ast.UnaryOp(op="-" | "+", expr=inner):
            return _degree(inner, index, changed)
        case c_ast.BinaryOp(op="+" | "-", left=left, right=right):
            found = _degree(left, index, changed), _degree(right, index, changed)
            return None if None in found else max(part for part in found if part is not None)
        case c_ast.BinaryOp(op="*", left=left, right=right):
            found = _degree(left, index, changed), _degree(right, index, changed)
            return (
                None if None in found or found == (1, 1) else max(part for part in found if part is not None)
            )
        case _:
            names = {part.name for part in walk(node) if isinstance(part, c_ast.ID)}
            return None if index in names or names & changed else 0


def _only_leaves(node: Node) -> bool:
    """Whether what is left of a statement does nothing but to leave the loop around it, or its iteration."""
    if isinstance(node, c_ast.If):
        sides = (side for side in (node.iftrue, node.iffalse) if side is not None)
        return all(_only_leaves(part) for side in sides for part in statements(side))
    if isinstance(node, Compound):
        return all(map(_only_leaves, node.block_items or []))
    return isinstance(node, (c_ast.Break, c_ast.Continue))
