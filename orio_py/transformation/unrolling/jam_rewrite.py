"""The body of an unrolled loop with the copies of its inner loops fused, whatever their ranges.

Where the range of an inner loop depends on the unrolled index, its copies share only a part of it:

    for (j = i; j < n; j++) …           for (j = i; j < i + 1; j++) …          what only the first copy has
                                        for (j = i + 1; j < n; j++) { … … }    what both have
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from orio_py.ctree.build import add, assign, binary, block, declare, ident, literal_value, statements, ternary
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop, is_fusable
from orio_py.ctree.nodes import Comment, For, GuardedPragma, Node, c_ast
from orio_py.ctree.rewrite import copy_with, substitute
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context
from orio_py.transformation.certain_conditions import is_always_true
from orio_py.transformation.final_index import final_value
from orio_py.transformation.types import index_type
from orio_py.transformation.unrolling.body_copies import Copies
from orio_py.transformation.unrolling.jam_locals import JamLocals
from orio_py.transformation.unrolling.leaving import may_leave


@dataclass(frozen=True, slots=True)
class Split:
    """How the copies of an inner loop are cut: which copy starts last, and which ends first.

    None where all copies start, or end, together.  `nested` says that the last start is never beyond the
    first end, so that the common part is not turned inside out.
    """

    inner: CanonicalLoop
    last_start: int | None
    first_end: int | None
    nested: bool


@dataclass(frozen=True, slots=True)
class Fusion:
    """The fused loops that have to be cut, by the identity of the loop.

    `aside` collects the loops that run what only one copy has.
    """

    splits: Mapping[int, Split]
    locals: JamLocals = field(default_factory=JamLocals)
    aside: list[Node] = field(default_factory=list[Node])

    def body(self, view: CanonicalLoop, factor: int, context: Context) -> list[Node]:
        """The statements of `factor` iterations, with the copies of each inner loop fused."""
        return self._within(view, view.body, factor, context)

    def _within(self, view: CanonicalLoop, body: Node, factor: int, context: Context) -> list[Node]:
        result: list[Node] = []
        together: list[Node] = []
        for statement in statements(body):
            if id(statement) in self.locals.shared:
                # It reads nothing that the statements before it change.
                result.append(statement)
            elif not is_fusable(statement):
                together.append(statement)
            else:
                result.extend(self._in_turn(view, together, factor, context))
                together = []
                fused = block(*self._within(view, statement.stmt, factor, context))
                split = self.splits.get(id(statement))
                if split is None:
                    result.append(copy_with(statement, stmt=fused))
                else:
                    result.extend(self._cut(view, split, fused, factor, context))
        result.extend(self._in_turn(view, together, factor, context))
        return statements(result[0]) if len(result) == 1 else result

    def _in_turn(
        self, view: CanonicalLoop, together: list[Node], factor: int, context: Context
    ) -> list[Node]:
        """The copies of statements that are not fused, one after the other."""
        parts: list[Node | Copies] = []
        for own, group in groupby(together, key=self._is_own):
            items = list(group)
            parts += items if own else [Copies(view, block(*items), context, self.locals.renamed)]
        result: list[Node] = []
        for number in range(factor):
            for part in parts:
                if isinstance(part, Node):
                    result.append(self.locals.declaration(part, view, number))
                else:
                    result.extend(part.at(number) if number else part.first())
        return result

    def _is_own(self, statement: Node) -> bool:
        """Whether a statement declares a variable that has another name in each copy."""
        return isinstance(statement, c_ast.Decl) and statement.name in self.locals.renamed

    def _cut(
        self, view: CanonicalLoop, split: Split, fused: Node, factor: int, context: Context
    ) -> list[Node]:
        """The loops that take the place of one inner loop, with the limits that they share."""
        cut = _Cut(view, split, self.locals.renamed, context)
        before, after = cut.leading(factor), cut.trailing(factor)
        self.aside.extend((*before, *after))
        loops = [*before, cut.common(fused), *after]
        return [block(*cut.declarations, *loops)] if cut.declarations else loops


def may_be_fused(view: CanonicalLoop) -> bool:
    """Whether there are loops inside, none of which ends earlier in one copy than in another by a jump."""
    loops = [loop for loop, _, _ in fused_loops(view)]
    return bool(loops) and not any(may_leave(each) for each in (view.body, *(loop.stmt for loop in loops)))


def fused_loops(view: CanonicalLoop) -> Iterator[tuple[For, tuple[For, ...], list[str]]]:
    """The loops of a body whose copies would be fused, each with those around it and the pragmas before it.

    Where all are of other forms they would be, too, so that who asks for that hears why they are not.
    """
    found = list(_fused(view.body, ()))
    yield from found or ((each, (), []) for each in statements(view.body) if isinstance(each, For))


def _fused(body: Node, around: tuple[For, ...]) -> Iterator[tuple[For, tuple[For, ...], list[str]]]:
    pragmas: list[str] = []
    for statement in statements(body):
        if is_fusable(statement):
            yield statement, around, pragmas
            yield from _fused(statement.stmt, (*around, statement))
        if isinstance(statement, (c_ast.Pragma, GuardedPragma)):
            pragmas = [*pragmas, str(statement.string)]
        elif not isinstance(statement, Comment):
            pragmas = []


class _Cut:
    """The parts of the copies of one inner loop."""

    def __init__(
        self, view: CanonicalLoop, split: Split, renamed: Mapping[str, tuple[str, ...]], context: Context
    ) -> None:
        self._view = view
        self._split = split
        self._inner = split.inner
        self._context = context
        self._names = context.names(view.node)
        self._kind = index_type(split.inner, context)
        self._strict = split.inner.relation in {"<", ">"}
        self._beyond = "<" if split.inner.upward else ">"
        self._copies = Copies(view, split.inner.body, context, renamed)
        self.declarations: list[Node] = []
        self._first = self._limit("newlb", self._at(self._inner.start, split.last_start), split.last_start)
        self._last = self._inner.bound
        self._exclusive = self._strict
        self._exclusive_rest = False
        self._rest: Node | None = None
        if split.first_end is not None:
            self._set_end(self._at(self._inner.bound, split.first_end))

    def _set_end(self, bound: Node) -> None:
        """Where the common part ends, and where the rests begin."""
        if self._split.nested and abs(self._inner.stride) == 1:
            self._last = self._limit("newub", bound, 0)
            over = 0 if self._strict else self._inner.stride
            self._rest = simplify(add(self._last, over))
        elif abs(self._inner.stride) == 1:
            self._last = self._limit("newub", bound, 0)
            self._rest = self._after_common(self._last)
        else:
            self._rest = self._last = self._limit("newub", self._after_common(bound), 0)
            self._exclusive = self._exclusive_rest = True

    def _after_common(self, bound: Node) -> Node:
        """The index after the common part, whether that runs or not."""
        if equal(bound, self._first):
            return bound if self._strict else simplify(add(bound, self._inner.stride))
        ended = replace(self._inner, start=self._first, bound=bound)
        return final_value(ended, "register tiling", self._with_limits())

    def _with_limits(self) -> Context:
        """The context in which the limits are declared."""
        names = [d.name for d in self.declarations if isinstance(d, c_ast.Decl) and d.name]
        known = {name: CDeclaration(name, self._kind) for name in names}
        return replace(self._context, declarations={**self._context.declarations, **known})

    def _limit(self, prefix: str, value: Node, copy: int | None) -> Node:
        """A limit, in a constant of its own unless it is short or used only once."""
        if copy is None or _is_short(value):
            return value
        name = self._names.fresh(f"{prefix}_{self._inner.index}")
        self.declarations.append(declare(f"const {self._kind}", name, value))
        return ident(name)

    def _at(self, expression: Node, copy: int | None) -> Node:
        """An expression as the copy of a number evaluates it."""
        place = add(ident(self._view.index), (copy or 0) * self._view.stride)
        return simplify(substitute(expression, self._view.index, place)) if copy else expression

    def common(self, fused: Node) -> For:
        """The loop over the range that all copies have."""
        relation = self._beyond if self._exclusive else self._inner.relation
        return self._loop(self._first, binary(relation, ident(self._inner.index), self._last), fused)

    def leading(self, factor: int) -> list[Node]:
        """What the copies run before the last of them starts."""
        if self._split.last_start is None:
            return []
        return [self._lead(copy) for copy in range(factor) if copy != self._split.last_start]

    def _lead(self, copy: int) -> Node:
        end = self._first
        if not self._split.nested:
            mine = self._at(self._inner.bound, copy)
            if copy == self._split.first_end and not self._exclusive_rest:
                mine = self._last
            over = 0 if self._strict else self._inner.stride
            own_end = mine if self._strict else simplify(add(mine, 1 if over > 0 else -1))
            never_shorter = binary("<=" if self._beyond == ">" else ">=", mine, self._first)
            if not is_always_true(
                never_shorter, self._with_limits()
            ):  # else it ends where the common part begins
                end = ternary(binary(self._beyond, mine, self._first), own_end, self._first)
        test = binary(self._beyond, ident(self._inner.index), end)
        return self._loop(self._at(self._inner.start, copy), test, self._alone(copy))

    def trailing(self, factor: int) -> list[Node]:
        """What the copies run after the first of them has ended."""
        if self._split.first_end is None or self._rest is None:
            return []
        found: list[Node] = []
        for copy in range(factor):
            if copy != self._split.first_end:
                bound = self._at(self._inner.bound, copy)
                test = binary(self._inner.relation, ident(self._inner.index), bound)
                found.append(self._loop(self._rest, test, self._alone(copy)))
        return found

    def _alone(self, copy: int) -> Node:
        items = self._copies.at(copy)
        only = items[0] if len(items) == 1 else None
        declares = isinstance(only, (c_ast.Decl, c_ast.DeclList, c_ast.Typedef))
        return only if only is not None and not declares else block(*items)

    def _loop(self, start: Node, test: Node, body: Node) -> For:
        return with_header(self._inner.node, start, test, body)


def with_header(loop: For, start: Node, test: Node, body: Node) -> For:
    """A canonical loop with another start, test and body."""
    match loop.init:
        case c_ast.DeclList(decls=[declaration]):
            init: Node = copy_with(loop.init, decls=[copy_with(declaration, init=start)])
        case c_ast.Assignment(lvalue=target):
            init = assign(target, start)
        case _:
            raise AssertionError("a canonical loop starts with an assignment or a declaration")
    return copy_with(loop, init=init, cond=test, stmt=body)


def _is_short(node: Node) -> bool:
    """A variable, a number, or the two added."""
    match node:
        case c_ast.ID() | c_ast.Constant():
            return True
        case c_ast.BinaryOp(op="+" | "-", left=c_ast.ID(), right=right):
            return literal_value(right) is not None
        case _:
            return literal_value(node) is not None
