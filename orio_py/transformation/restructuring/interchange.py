"""Interchange: exchange two loops of a perfect nest.

    for (i = 0; i < n; i++)             for (k = 0; k < n; k++)
      for (j = 0; j < n; j++)             for (j = 0; j < n; j++)
        for (k = 0; k < n; k++)             for (i = 0; i < n; i++)
          c[i][j] += a[i][k] * b[k][j];       c[i][j] += a[i][k] * b[k][j];

All other loops keep their places.  Every dependence has to keep its direction.  Source: R. Allen,
K. Kennedy, "Automatic loop interchange", SIGPLAN Symposium on Compiler Construction 1984.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import ClassVar

from orio_py.ctree.nodes import Node
from orio_py.transformation.arguments import text
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.loop_names import LoopName, first_present, index_name, show_loops
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.tiling.permute import Permut


@dataclass(frozen=True, slots=True)
class Interchange:
    """Exchange the loops over `first` and `second` in each perfect nest that has both."""

    first: str
    second: str
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with the two loops exchanged; `node` is not modified.

        Raises Refusal: ORIO-T015 to T029, T030, T031, T040, T041.
        """
        present = show_loops(node)
        for name, argument in ((self.first, "first"), (self.second, "second")):
            first_present(LoopName((name,)), present, node, argument)
        if self.first == self.second:
            refuse("ORIO-T016", f"the loop `{self.first}` is named twice", node, argument="second")
        wanted = {self.first, self.second}
        heads = {id(loop) for loop in _outermost(node, wanted) if wanted <= set(show_loops(loop))}
        if not heads:
            refuse(
                "ORIO-T030",
                f"the loops `{self.first}` and `{self.second}` do not form one perfect nest: they stand "
                "beside each other",
                node,
                argument="first",
            )
        return rewrite_where(node, lambda n: id(n) in heads, self._exchanged, context)

    def _exchanged(self, nest: Node, context: Context) -> Node:
        outer, inner = [name for name in show_loops(nest) if name in {self.first, self.second}]
        step = _Exchange((LoopName((inner,)), LoopName((outer,))), force=self.force)
        try:
            return step.apply(nest, context)
        except Refusal as refusal:
            argument = "first" if refusal.argument == "seq" else refusal.argument
            raise Refusal(*refusal.diagnostics, argument=argument) from None


class _Exchange(Permut):
    """The loops of one nest in their new order."""

    __slots__ = ()
    name: ClassVar = "Interchange"


def _outermost(node: Node, wanted: Set[str]) -> Iterator[Node]:
    """The loops of these indices that stand in no other of them."""
    stack = [node]
    while stack:
        current = stack.pop()
        if index_name(current) in wanted:
            yield current
        else:
            stack.extend(current)


ENTRY = Entry(
    "Interchange",
    "exchange two loops of a perfect nest",
    (
        ArgumentSpec("first", "index of a loop", "one of the two loops", text),
        ArgumentSpec("second", "index of a loop", "the other one", text),
        FORCE,
    ),
    Interchange,
)
