"""Tile: run a loop in blocks of consecutive iterations (strip-mining).

    for (i = 0; i < n; i++)             for (int ii = 0; ii < n; ii += 32)
      y[i] = a * x[i];                    for (i = ii; i < (n - ii < 32 ? n : ii + 32); i++)
                                            y[i] = a * x[i];

The iterations keep their order; moving the new loop outwards is the work of `Permut`.  Source: M. Wolfe,
"More iteration space tiling", Supercomputing 1989.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from orio_py.core.names import C_KEYWORDS
from orio_py.ctree.build import add, assign, binary, declare, for_, ident, literal_value, sub, ternary
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import copy_with, used_names
from orio_py.transform.arguments import new_index, positive_int
from orio_py.transform.base import Context, refuse
from orio_py.transform.entry import FORCE, ArgumentSpec, Entry
from orio_py.transform.forms import (
    loop_view,
    refuse_if_live,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
)
from orio_py.transform.types import control_type, is_natural, signedness_of_type
from orio_py.transform.unrolled import advance

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Tile:
    """Run a loop in blocks of `tsize` index values, counted by a new loop over `tindex` (1 = unchanged)."""

    tsize: int
    tindex: str
    force: bool = False

    def check(self, node: Node, context: Context) -> CanonicalLoop:
        """The loop as `apply` needs it.  Raises Refusal: ORIO-T011, T013, T014, T020 to T029."""
        if self.tsize < 1:
            refuse(
                "ORIO-T011", f"the tile size is {self.tsize}; it must be at least 1", node, argument="tsize"
            )
        view = loop_view(node, "Tile", context)
        self._check_name(view, context)
        if self.tsize == 1:
            return view
        if self.tsize % abs(view.stride):
            refuse(
                "ORIO-T014",
                f"the tile size {self.tsize} is not a multiple of the loop's step {abs(view.stride)}",
                node,
                argument="tsize",
            )
        require_stable_index(view, "Tile", context)
        require_no_jumps(view, "Tile")
        require_invariant_bound(view, "Tile", context, force=self.force)
        refuse_if_live(view, "Tile", context)
        return view

    def apply(self, node: Node, context: Context) -> Node:
        """The loop over blocks around the loop over one block; `node` is not modified."""
        view = self.check(node, context)
        if self.tsize == 1:
            return node
        kind, here = control_type(view, context), ident(self.tindex)
        limit = self._limit(view, context)
        inner = copy_with(
            view.node,
            init=_starting_at(view.node, here),
            cond=binary(view.relation, ident(view.index), limit),
        )
        step = self._step(view, kind)
        cond = binary(view.relation, here, view.bound)
        return for_(declare(kind, self.tindex, view.start), cond, step, inner)

    def _limit(self, view: CanonicalLoop, context: Context) -> Node:
        # `bound - tindex` stays in the type where `tindex + tsize` may not.
        here, strict = ident(self.tindex), view.relation in {"<", ">"}
        end = self.tsize if strict else self.tsize - abs(view.stride)
        last = add(here, end) if view.upward else sub(here, end)
        trips = view.trip_count() if is_natural(view.start, context) else None
        if trips is not None and trips % (self.tsize // abs(view.stride)) == 0:
            return last
        room = sub(view.bound, here) if view.upward else self._above(view)
        return ternary(binary("<", room, self.tsize), view.bound, last)

    def _above(self, view: CanonicalLoop) -> Node:
        here = ident(self.tindex)
        return here if literal_value(view.bound) == 0 else sub(here, view.bound)

    def _step(self, view: CanonicalLoop, kind: str) -> Node:
        if view.upward or signedness_of_type(kind) == "signed":
            return advance(self.tindex, self.tsize if view.upward else -self.tsize)
        # An unsigned index must not step below zero: the last step ends just where the test fails.
        here = ident(self.tindex)
        if view.relation == ">":
            more = binary(">", self._above(view), self.tsize)
            return assign(self.tindex, ternary(more, sub(here, self.tsize), view.bound))
        more = binary(">=", self._above(view), self.tsize)
        return assign(self.tindex, ternary(more, sub(here, self.tsize), sub(view.bound, 1)))

    def _check_name(self, view: CanonicalLoop, context: Context) -> None:
        name = self.tindex
        if not _IDENTIFIER.fullmatch(name) or name in C_KEYWORDS:
            refuse("ORIO-T013", f"{name!r} is not a C identifier", view.node, argument="tindex")
        if name == view.index:
            refuse(
                "ORIO-T013",
                f"the tile index has the name of the loop, `{name}`; it needs one of its own",
                view.node,
                help=f"for example `{context.names(view.node).fresh(name + name)}`",
                argument="tindex",
            )
        if name in context.expanded(used_names([view.node])) or name in context.reserved:
            refuse(
                "ORIO-T013",
                f"the tile index `{name}` is a name that the loop already uses",
                view.node,
                help=f"for example `{context.names(view.node).fresh(name)}` is free",
                argument="tindex",
            )


def _starting_at(loop: For, start: Node) -> Node:
    match loop.init:
        case c_ast.DeclList(decls=[declaration]):
            return copy_with(loop.init, decls=[copy_with(declaration, init=start)])
        case c_ast.Assignment() as given:
            return copy_with(given, rvalue=start)
        case _:
            raise AssertionError("a canonical loop starts with an assignment or a declaration")


ENTRY = Entry(
    "Tile",
    "run a loop in blocks of consecutive iterations",
    (
        ArgumentSpec(
            "tsize",
            "integer, at least 1, a multiple of the loop's step",
            "length of a block in index values",
            positive_int,
        ),
        ArgumentSpec("tindex", "C identifier", "index of the new loop over the blocks", new_index),
        FORCE,
    ),
    Tile,
)
