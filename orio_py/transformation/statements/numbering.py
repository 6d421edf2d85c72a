"""The numbered statements of a region, and the loops around them while transformations move and copy them.

Statements count from 0 in the order of the text; loops, blocks and declarations are not counted.  A
statement keeps its number for the whole recipe.  It is known by its place in the user's file, which
copy-on-write rewriting keeps: copies that unrolling makes have the number of their original, statements
that a transformation adds have none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import cast

from orio_py.core.registry import nearest
from orio_py.core.source import Position
from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node, Transform, c_ast, substatements
from orio_py.kernel.plan import AxisBinding, Role
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.loop_names import index_name
from orio_py.transformation.sites import Change, rewrite_where

LoopPlace = str | int
"""A loop around a statement: its index, or its level, counted from 1 for the outermost."""

_AROUND = (Compound, For, c_ast.While, c_ast.DoWhile, c_ast.Label, Transform)
_NOT_COUNTED = (
    Comment,
    GuardedPragma,
    c_ast.Pragma,
    c_ast.EmptyStatement,
    c_ast.Decl,
    c_ast.DeclList,
    c_ast.Typedef,
    c_ast.StaticAssert,
)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One copy of a numbered statement; `loops` are the `for` loops around it, outermost first."""

    number: int
    node: Node
    loops: tuple[For, ...]

    @property
    def indices(self) -> tuple[str, ...]:
        """The indices of the loops around; `?` for a loop without one."""
        return indices(self.loops)


@dataclass(frozen=True, slots=True)
class Mapped:
    """Loops around a statement that become dimensions of a grid and of its blocks, x first.

    `headers` are the loops without their bodies as the command found them, in the order of `order`; `force` says
    that the dependence test is overruled.
    """

    stmt: int
    block: tuple[str, ...]
    thread: tuple[str, ...]
    headers: tuple[str, ...] = ()
    force: bool = False

    @property
    def order(self) -> tuple[str, ...]:
        """The loops as they stand in the nest, outermost first: those over blocks, and the fastest last."""
        return (*reversed(self.block), *reversed(self.thread))

    @property
    def placements(self) -> tuple[AxisBinding, ...]:
        """The dimension of each loop, in that order."""
        blocks = [AxisBinding(Role.GROUPS, place) for place in range(len(self.block))]
        threads = [AxisBinding(Role.ITEMS, place) for place in range(len(self.thread))]
        return (*reversed(blocks), *reversed(threads))

    @property
    def shown(self) -> str:
        """The mapping in words."""
        block, thread = (", ".join(f"`{name}`" for name in names) for names in (self.block, self.thread))
        return f"statement {self.stmt} has blocks over {block} and threads over {thread}"


@dataclass(frozen=True, slots=True)
class NumberedProgram:
    """The code of a region while a recipe is applied to it; `places` are its statements, by number.

    `mappings` are the nests that become kernels when all commands have been applied; `simple` is then the code after
    those commands that neither copy statements nor move elements into scalars.
    """

    tree: Compound
    places: tuple[Position, ...]
    context: Context
    mappings: tuple[Mapped, ...] = ()
    simple: Compound | None = None

    @classmethod
    def of(cls, tree: Compound, context: Context) -> NumberedProgram:
        """The user's code with its statements numbered."""
        return cls(tree, tuple(n.coord for n in _counted(tree) if isinstance(n.coord, Position)), context)

    def occurrences(self) -> list[Occurrence]:
        """Every copy of every numbered statement, in the order of the text."""
        numbers = {place: number for number, place in enumerate(self.places)}
        found: list[Occurrence] = []
        stack: list[tuple[Node, tuple[For, ...]]] = [(self.tree, ())]
        while stack:
            node, loops = stack.pop()
            number = numbers.get(node.coord) if _is_counted(node) else None
            if number is not None:
                found.append(Occurrence(number, node, loops))
                continue
            inner = (*loops, node) if isinstance(node, For) else loops
            stack.extend((child, inner) for child in reversed(substatements(node)))
        return found

    def copies(self, number: int) -> list[Occurrence]:
        """The copies of one statement.  Raises Refusal: ORIO-T102, ORIO-T106."""
        if not 0 <= number < len(self.places):
            last = len(self.places) - 1
            valid = f"the statements here are 0 to {last}" if last > 0 else "the only statement here is 0"
            found = valid if self.places else "this region has no statement"
            refuse("ORIO-T102", f"there is no statement {number}; {found}", None, argument="stmt")
        copies = [found for found in self.occurrences() if found.number == number]
        if not copies:
            message = f"statement {number} is no statement of its own any more after the commands before this"
            refuse("ORIO-T106", message, self.places[number], argument="stmt")
        return copies

    def nest(self, number: int, what: str) -> tuple[For, ...]:
        """The loops around a statement.  Raises Refusal: ORIO-T102, ORIO-T106 where it has several copies."""
        copies = self.copies(number)
        different = {tuple(id(loop) for loop in copy.loops) for copy in copies}
        if len(different) != 1:
            refuse(
                "ORIO-T106",
                f"{what} needs statement {number} in one nest, but earlier commands have left "
                f"{len(different)} of them around its copies",
                self.places[number],
                help=f"write `{what}` before the commands that copy the statement, such as `unroll`",
                argument="stmt",
            )
        return copies[0].loops

    def loops(self, number: int, loop: LoopPlace, argument: str) -> list[For]:
        """The loops that `loop` means around the copies of a statement.

        There are several where a loop around them was unrolled.  Raises Refusal: ORIO-T102, T103, T106.
        """
        found: dict[int, For] = {}
        for copy in self.copies(number):
            chosen = _chosen(copy, loop, argument)
            found[id(chosen)] = chosen
        if len(found) > 1 and (rest := [loop for loop in found.values() if loop.init is None]):
            refuse(
                "ORIO-T106",
                f"an earlier command has unrolled the loop `{index_name(rest[0])}` around statement {number}",
                self.places[number],
                help="write this command before it",
                argument=argument,
            )
        return list(found.values())

    def changed(self, nodes: Collection[Node], change: Change) -> NumberedProgram:
        """The program with `change` applied to the given loops or blocks of its tree."""
        chosen = {id(node) for node in nodes}
        tree = rewrite_where(self.tree, lambda n: id(n) in chosen, change, self.context)
        return self if tree is self.tree else replace(self, tree=cast("Compound", tree))


def indices(loops: Collection[For]) -> tuple[str, ...]:
    """The indices of loops; `?` for a loop without one."""
    return tuple(index_name(loop) or "?" for loop in loops)


def _chosen(copy: Occurrence, loop: LoopPlace, argument: str) -> For:
    names = copy.indices
    around = (
        f"the loops around it are {', '.join(f'`{n}`' for n in names)}" if names else "no loop is around it"
    )
    if isinstance(loop, int):
        if 1 <= loop <= len(names):
            return copy.loops[loop - 1]
        message = f"statement {copy.number} is in no loop of level {loop}; {around}"
        refuse("ORIO-T103", message, copy.node, argument=argument)
    if loop in names:
        return copy.loops[names.index(loop)]
    message = f"statement {copy.number} is in no loop `{loop}`; {around}"
    near = nearest(loop, names)
    advice = f"did you mean `{near}`?" if near is not None else None
    refuse("ORIO-T103", message, copy.node, help=advice, argument=argument)


def _counted(tree: Node) -> Iterator[Node]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if _is_counted(node):
            yield node
        elif isinstance(node, _AROUND):
            stack.extend(reversed(substatements(node)))


def _is_counted(node: Node) -> bool:
    return not isinstance(node, (*_AROUND, *_NOT_COUNTED))
