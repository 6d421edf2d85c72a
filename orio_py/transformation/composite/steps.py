"""Steps of a schedule: a transformation, and the loops of a statement that it is for."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, assert_never

from orio_py.ctree.loops import innermost_loops, loops_in, outermost_loops, remainder_loops
from orio_py.ctree.nodes import Node
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
        self.updates(node, context)
        return node

    def updates(self, node: Node, context: Context) -> bool:
        """Whether loops that are to be kernels update elements in single steps.  Raises Refusal where they cannot be kernels."""
        step = self.transformation
        return step.check_where(node, context, _heads(node) if step.loop is None else _counts(step.loop))


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
