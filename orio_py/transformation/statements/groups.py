"""The commands of a recipe by statement number that join and split loops: fuse and distribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import is_

from orio_py.ctree.build import block
from orio_py.ctree.loops import CanonicalLoop, body_statements, nest
from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node, Transform, c_ast
from orio_py.ctree.rewrite import copy_with, walk_statements
from orio_py.transformation.base import Context, Refusal, note, refuse
from orio_py.transformation.restructuring.distribute import distribute_loop
from orio_py.transformation.restructuring.fuse_rewrite import Pair, fused_pair, header_problem
from orio_py.transformation.restructuring.statement_motion import moved_aside
from orio_py.transformation.statements.mapped_nests import (
    WHAT,
    brought_out,
    mapping_of,
    perfect_depth,
    require_perfect,
)
from orio_py.transformation.statements.numbering import Mapped, NumberedProgram, indices

_IN_THE_WAY = frozenset({"ORIO-T030", "ORIO-T070", "ORIO-T072"})
"""Refusals of an inner pair of loops after which `fuse` without a level is content with the outer ones."""


@dataclass(frozen=True, slots=True)
class FuseStatements:
    """Join the loops around several statements, down to `level` or as far as their headers are equal."""

    stmts: tuple[int, ...]
    level: int | None = None
    force: bool = False

    @property
    def numbers(self) -> tuple[int, ...]:
        """The statements."""
        return self.stmts

    def check(self, program: NumberedProgram) -> None:
        """Whether each statement is in a loop.  Raises Refusal: ORIO-T102, T106, T107."""
        for number in self.stmts:
            if not program.nest(number, "fuse"):
                message = f"statement {number} is in no loop, so there is nothing to fuse"
                refuse("ORIO-T107", message, program.places[number], argument="stmts")

    def apply(self, program: NumberedProgram) -> NumberedProgram:
        """The statements in common loops.  Raises Refusal: ORIO-T102, T106, T107, and those of Fuse."""
        self.check(program)
        order = [copy.number for copy in program.occurrences() if copy.number in self.stmts]
        first, *others = dict.fromkeys(order)
        for second in others:
            program = self._joined(program, first, second)
        return program

    def _joined(self, program: NumberedProgram, one: int, two: int) -> NumberedProgram:
        program = aligned(program, one, two)
        pair = self._pair(program, one, two)
        if pair is None:
            return program
        program = _fused(program, pair, self._depth(program, one, two), force=self.force)
        while (pair := self._inner(program, one, two)) is not None:
            try:
                program = _fused(program, pair, self._depth(program, one, two), force=self.force)
            except Refusal as refusal:
                if self.level is None and all(d.code in _IN_THE_WAY for d in refusal.diagnostics):
                    return program
                raise
        return program

    def _depth(self, program: NumberedProgram, one: int, two: int) -> int | None:
        """How many more levels are to be fused; None for as many as have equal headers."""
        shared = _shared(program.nest(one, "fuse"), program.nest(two, "fuse"))
        return None if self.level is None else self.level - shared

    def _pair(self, program: NumberedProgram, one: int, two: int) -> _Pair | None:
        """The outermost loops that the statements do not share, None if they need not be fused."""
        ones, twos = program.nest(one, "fuse"), program.nest(two, "fuse")
        shared = _shared(ones, twos)
        if len(ones) == len(twos) == shared or (self.level is not None and self.level <= shared):
            return None
        for number, loops in ((one, ones), (two, twos)):
            if len(loops) == shared:
                message = f"statement {number} has no loop of its own beside that of the other statement"
                refuse("ORIO-T107", message, program.places[number], argument="stmts")
        first, second = ones[shared], twos[shared]
        holder = _block_with(program.tree, first, second)
        if holder is None:
            message = f"the loops around the statements {one} and {two} do not stand in one block"
            refuse("ORIO-T107", message, second, argument="stmts")
        return _Pair(holder, first, second)

    def _inner(self, program: NumberedProgram, one: int, two: int) -> _Pair | None:
        """The next pair inside a loop that was fused: what stands between the loops moves out of the way."""
        try:
            return self._pair(program, one, two)
        except Refusal:
            if self.level is None:
                return None
            raise


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two loops, and the block in which they stand."""

    holder: Compound
    first: For
    second: For


def _shared(ones: Sequence[For], twos: Sequence[For]) -> int:
    """How many loops two nests have in common."""
    return sum(map(is_, ones, twos))


def _block_with(tree: Node, first: Node, second: Node) -> Compound | None:
    for node in walk_statements(tree):
        if isinstance(node, Compound) and sum(i is first or i is second for i in node.block_items or []) == 2:
            return node
    return None


def _fused(program: NumberedProgram, pair: _Pair, depth: int | None, *, force: bool) -> NumberedProgram:
    first, second = pair.first, pair.second
    items = list(pair.holder.block_items or [])
    start, end = (next(n for n, item in enumerate(items) if item is loop) for loop in (first, second))
    between = items[start + 1 : end]
    comments = tuple(item for item in between if isinstance(item, Comment))
    # A mark around the pair: for `rewrite_where` it is one statement, and what is read after it is known.
    mark = Transform(0, block(first, second))

    def marked(node: Node, context: Context) -> Node:
        others = [item for item in between if not isinstance(item, Comment)]
        before, after = moved_aside(others, first, second, context)
        left = [*items[:start], *before, mark, *after, *items[end + 1 :]]
        return copy_with(pair.holder, block_items=left) if len(left) > 1 or node is program.tree else mark

    def joined(node: Node, context: Context) -> Node:
        deep = _deepest(first, second, depth, context)
        result = fused_pair(Pair(first, second, comments), context, what="fuse", depth=deep, force=force)
        return block(*result.statements) if len(result.statements) > 1 else result.loop

    return program.changed([pair.holder], marked).changed([mark], joined)


def _deepest(first: For, second: For, most: int | None, context: Context) -> int:
    """How many levels of two nests have equal headers; at least 1, for the refusal to say what differs."""
    depth = 1
    while (most is None or depth < most) and header_problem(first, second, depth + 1, context) is None:
        depth += 1
    return depth


@dataclass(frozen=True, slots=True)
class DistributeStatements:
    """Give each of several statements a loop of its own at `level`; the others stay together in order."""

    stmts: tuple[int, ...]
    level: int
    force: bool = False

    @property
    def numbers(self) -> tuple[int, ...]:
        """The statements."""
        return self.stmts

    def check(self, program: NumberedProgram) -> For:
        """The loop to split.  Raises Refusal: ORIO-T102, T103, T106, T107."""
        found: dict[int, For] = {}
        for number in self.stmts:
            program.nest(number, "distribute")
            loop = program.loops(number, self.level, "level")[0]
            found[id(loop)] = loop
        if len(found) > 1:
            first, second = list(found.values())[:2]
            numbers = " and ".join(map(str, self.stmts))
            message = f"the statements {numbers} are not in one loop of level {self.level}"
            refuse("ORIO-T107", message, second, notes=[note("one of the loops", first)], argument="level")
        return next(iter(found.values()))

    def apply(self, program: NumberedProgram) -> NumberedProgram:
        """The loop split, and before it those inside it that hold several of the statements.

        Raises Refusal: ORIO-T102, T103, T106, T107, and those of Distribute.
        """
        loop = self.check(program)
        while (inner := self._mixed(program, loop)) is not None:
            program = self._split(program, inner)
            loop = self.check(program)
        return self._split(program, loop)

    def _mixed(self, program: NumberedProgram, loop: For) -> For | None:
        """An innermost loop inside `loop` that holds one of the statements and others beside it."""
        for part in _parts(loop):
            inside = _numbers_in(part, program)
            if len(inside) < 2 or not inside & set(self.stmts):
                continue
            if not isinstance(part, For):
                number = min(inside & set(self.stmts))
                message = f"statement {number} cannot be separated from the others in this statement"
                refuse("ORIO-T107", message, part, argument="stmts")
            return self._mixed(program, part) or part
        return None

    def _split(self, program: NumberedProgram, loop: For) -> NumberedProgram:
        groups: list[list[int]] = []
        before_alone = True
        for place, part in enumerate(_parts(loop)):
            alone = bool(_numbers_in(part, program) & set(self.stmts))
            if alone or before_alone:
                groups.append([])
            groups[-1].append(place)
            before_alone = alone
        split = tuple(map(tuple, groups))

        def change(node: Node, context: Context) -> Node:
            assert isinstance(node, For)
            result = distribute_loop(node, split, context, what="distribute", force=self.force)
            return result[0] if len(result) == 1 else block(*result)

        return program.changed([loop], change)


def _parts(loop: For) -> list[Node]:
    """The statements that `distribute_loop` counts: those in the innermost loop of the perfect nest."""
    view = CanonicalLoop.match(loop)
    body = nest(view)[-1].body if view is not None else loop.stmt
    return [item for item in body_statements(body) if not isinstance(item, (GuardedPragma, c_ast.Pragma))]


def _numbers_in(part: Node, program: NumberedProgram) -> set[int]:
    return {found.number for found in replace(program, tree=block(part)).occurrences()}


def aligned(program: NumberedProgram, one: int, two: int) -> NumberedProgram:
    """The program with the nests of two statements that are to be joined in the order of the one that is mapped.

    Raises Refusal: ORIO-T105 where both are mapped, and not in the same way.
    """
    first, second = mapping_of(program, one), mapping_of(program, two)
    if first is None and second is None:
        return program
    if first is not None and second is not None:
        if first is second:
            return program
        if (first.block, first.thread) != (second.block, second.thread):
            refuse(
                "ORIO-T105",
                f"statements {one} and {two} cannot become one kernel: {first.shown}, and {second.shown}",
                program.places[two],
                help="give `cuda` for one of them",
                argument="stmts",
            )
        return replace(program, mappings=tuple(m for m in program.mappings if m is not second))
    mapped = first or second
    assert mapped is not None
    other = two if first is not None else one
    around = indices(program.nest(other, "fuse"))
    missing = [name for name in mapped.order if name not in around]
    if missing:
        refuse(
            "ORIO-T105",
            f"statement {other} cannot join the kernel of statement {mapped.stmt}: no loop `{missing[0]}` is around it",
            program.places[other],
            argument="stmts",
        )
    return brought_out(with_own_nest(program, other, mapped), other, mapped)


def with_own_nest(program: NumberedProgram, number: int, mapped: Mapped) -> NumberedProgram:
    """The other statements in loops of their own, as far as they keep the mapped ones from being a perfect nest.

    Raises Refusal: ORIO-T030, T106, and those of Distribute.
    """
    while True:
        loops = program.nest(number, WHAT)
        around = indices(loops)
        wanted = 1 + max(around.index(name) for name in mapped.order)
        depth = perfect_depth(loops, program.context)
        if depth >= wanted:
            return program
        inside = {found.number for found in program.occurrences() if loops[depth - 1] in found.loops}
        if inside == {number}:
            require_perfect(program, number, wanted)
        program = DistributeStatements((number,), depth, force=mapped.force).apply(program)
