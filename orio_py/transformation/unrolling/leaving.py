"""Copies of a body that may leave the loop by `break` or `goto`.

    for (i = 0; i < n; i++) {           int i_left = 0;
      if (x[i] < 0)                     for (i = 0; n > 1 && i < n - 1; i += 2) {
        break;                            if (x[i] < 0) {
      y[i] = x[i];                          i_left = 1;
    }                                       break;
                                          }
                                          y[i] = x[i];
                                          if (x[i + 1] < 0) {
                                            i += 1;
                                            i_left = 1;
                                            break;
                                          }
                                          y[i + 1] = x[i + 1];
                                        }
                                        if (!i_left)
                                          for (; i < n; i++) …

A copy that leaves gives the index the value of its own iteration where that may be read behind the loop, and tells
that the loop over the remaining iterations has nothing to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orio_py.ctree.build import assign, block, const
from orio_py.ctree.loops import CanonicalLoop, jumps_out
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import Rewriter
from orio_py.transformation.base import Context

LEAVING = (c_ast.Break, c_ast.Goto)
"""Jumps behind which the loop does not go on; labels inside the loop are not among what copies may hold."""


def may_break(body: Node) -> bool:
    """Whether a `break` ends the loop around a body."""
    return isinstance(jumps_out(body, (c_ast.Goto, c_ast.Return, c_ast.Continue, c_ast.Label)), c_ast.Break)


def may_leave(body: Node) -> bool:
    """Whether a `break`, `goto` or `return` ends the loop around a body."""
    return jumps_out(body, (c_ast.Continue, c_ast.Label)) is not None


@dataclass(frozen=True, slots=True)
class Leaving:
    """What a copy does before it leaves the loop; `flag` is the variable that tells of it, if one does."""

    view: CanonicalLoop
    flag: str | None
    sets_index: bool

    @classmethod
    def of(cls, view: CanonicalLoop, flag: str | None, context: Context) -> Leaving:
        """For the copies of a loop's body."""
        outside = view.declared_type is None
        return cls(view, flag, outside and (view.index in context.live_after | context.exposed))

    def apply(self, statements: Iterable[Node], number: int) -> list[Node]:
        """The statements of the copy of a number."""
        return [_Leaving(self._index(number), self._left()).rewrite(each) for each in statements]

    def _index(self, number: int) -> list[Node]:
        amount = number * self.view.stride
        if not amount or not self.sets_index:
            return []
        return [assign(self.view.index, abs(amount), "+=" if amount > 0 else "-=")]

    def _left(self) -> list[Node]:
        return [] if self.flag is None else [assign(self.flag, const(1))]


class _Leaving(Rewriter):
    """Puts statements before the jumps that leave a loop; inner loops and `switch` keep their own `break`."""

    def __init__(self, index: list[Node], left: list[Node], *, inside: bool = False) -> None:
        self._index = index
        self._left = left
        self._inside = inside

    def visit_Break(self, node: Node) -> Node:
        return node if self._inside else _together([*self._index, *self._left, node])

    def visit_Goto(self, node: Node) -> Node:
        return _together([*self._index, node])

    def visit_For(self, node: For) -> Node:
        return self._apart(node)

    def visit_While(self, node: Node) -> Node:
        return self._apart(node)

    def visit_DoWhile(self, node: Node) -> Node:
        return self._apart(node)

    def visit_Switch(self, node: Node) -> Node:
        return self._apart(node)

    def _apart(self, node: Node) -> Node:
        if self._inside:
            return self.generic(node)
        return _Leaving(self._index, self._left, inside=True).generic(node)


def _together(items: list[Node]) -> Node:
    return items[0] if len(items) == 1 else block(*items)
