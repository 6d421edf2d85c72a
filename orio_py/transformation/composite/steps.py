"""Steps of a schedule: a transformation, and the loops of a statement that it is for."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import Any, assert_never

from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop, innermost_loops, loops_in, outermost_loops
from orio_py.ctree.nodes import Comment, Compound, For, GuardedPragma, Node
from orio_py.ctree.rewrite import walk_statements
from orio_py.transformation.base import Context
from orio_py.transformation.loop_names import LoopName, first_present, index_name, show_loops
from orio_py.transformation.sites import Choice, rewrite_where


class Loops(Enum):
    """Which loops, where that does not depend on names."""

    ITS_OWN = "those that the transformation finds in the statement by itself"
    HEADS = "the outermost ones but those over remainders"
    KERNELS = "the outermost ones, those over remainders as what is left over"


@dataclass(frozen=True, slots=True)
class Named:
    """The loops of one name."""

    loop: LoopName
    absent: tuple[str, ...] = ()
    """Indices that count as there although no loop has them."""


@dataclass(frozen=True, slots=True)
class Over:
    """The loops over an index, of which there may be none: the innermost ones or all others."""

    index: str
    innermost: bool = True


Place = Loops | Named | Over
"""Which loops of a statement."""


@dataclass(frozen=True, slots=True)
class ScheduleStep:
    """A transformation, and the loops that it is for."""

    transformation: Any
    """A frozen dataclass with `apply` and `force`; None where the loops have to be there and nothing else."""
    loops: Place = Loops.ITS_OWN

    def having(self, **fields: object) -> ScheduleStep:
        """The step with other values of fields of its transformation."""
        if self.transformation is None:
            return self
        return replace(self, transformation=replace(self.transformation, **fields))

    def apply(self, node: Node, context: Context) -> Node:
        """The statement with these loops transformed.  Raises Refusal: ORIO-T015, and the transformation's."""
        step, loops = self.transformation, self.loops
        match loops:
            case Loops.ITS_OWN:
                return step.apply(node, context)
            case Loops.HEADS:
                return step.apply_where(node, context, _heads(node))
            case Loops.KERNELS:
                rest = {id(loop) for loop in remainder_loops(node)}
                outer = {id(loop) for loop in outermost_loops(node)}
                chosen = _among(outer) if step.loop is None else _counts(step.loop)
                return step.apply_where(node, context, chosen, _among(rest))
            case Named(loop, absent):
                name = first_present(loop, show_loops(node) + absent, node, "loop")
                if name is None or step is None:
                    return node
                return rewrite_where(node, _counts(name), step.apply, context)
            case Over(index, innermost):
                chosen = {id(loop) for loop in loops_in(node) if index_name(loop) == index}
                simple = {id(loop) for loop in innermost_loops(node)}
                chosen = chosen & simple if innermost else chosen - simple
                return rewrite_where(node, _among(chosen), step.apply, context) if chosen else node
            case _:
                assert_never(loops)

    def tried(self, node: Node, context: Context) -> Node:
        """As `apply`, for a result that is dropped; for kernels it is enough to look at the loops."""
        if self.loops is not Loops.KERNELS:
            return self.apply(node, context)
        step = self.transformation
        step.check_where(node, context, _heads(node) if step.loop is None else _counts(step.loop))
        return node


def _heads(node: Node) -> Choice:
    """The outermost loops but those over remainders, which are looked for when the first statement asks."""

    @cache
    def heads() -> set[int]:
        remainders = {id(loop) for loop in remainder_loops(node)}
        return {id(loop) for loop in outermost_loops(node)} - remainders

    return lambda statement: id(statement) in heads()


def _among(nodes: Set[int]) -> Choice:
    return lambda statement: id(statement) in nodes


def _counts(name: str) -> Choice:
    return lambda statement: index_name(statement) == name


def remainder_loops(node: Node) -> list[For]:
    """The loops over the iterations that an unrolled loop before them leaves."""
    found: list[For] = []
    for current in walk_statements(node):
        items = (current.block_items or []) if isinstance(current, Compound) else []
        loops = [item for item in items if not isinstance(item, (Comment, GuardedPragma))]
        for first, second in pairwise(loops):
            if isinstance(first, For) and isinstance(second, For) and _is_remainder(first, second):
                found.append(second)
    return found


def _is_remainder(main: For, rest: For) -> bool:
    first, second = CanonicalLoop.match(main), CanonicalLoop.match(rest)
    if first is None or second is None or first.index != second.index:
        return False
    grows = abs(first.stride) > abs(second.stride) and first.stride % second.stride == 0
    return grows and equal(first.bound, second.start)
