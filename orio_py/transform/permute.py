"""Permut: exchange the loops of a perfect nest.

    for (i = 0; i < n; i++)             for (k = 0; k < n; k++)
      for (j = 0; j < n; j++)             for (i = 0; i < n; i++)
        for (k = 0; k < n; k++)             for (j = 0; j < n; j++)
          c[i][j] += a[i][k] * b[k][j];       c[i][j] += a[i][k] * b[k][j];

Every dependence has to keep its direction.  Source: M. Wolf, M. Lam, "A loop transformation theory and an
algorithm to maximize parallelism", IEEE TPDS 2(4), 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.ctree.build import block
from orio_py.ctree.dependence import may_reorder
from orio_py.ctree.loops import CanonicalLoop, loops_in, nest
from orio_py.ctree.nodes import Comment, Compound, For, Node
from orio_py.ctree.rewrite import copy_with
from orio_py.transform.arguments import sequence
from orio_py.transform.base import Context, note, refuse
from orio_py.transform.entry import FORCE, ArgumentSpec, Entry
from orio_py.transform.forms import (
    loop_view,
    refuse_if_live,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
    start_is_invariant,
)
from orio_py.transform.loop_names import LoopName, first_present, show_loops
from orio_py.transform.sites import rewrite_where
from orio_py.transform.verdicts import analysed, dependence_context, require_legal


@dataclass(frozen=True, slots=True)
class Permut:
    """Bring the named loops of each perfect nest into the order of `seq`, outermost first.

    A name has to exist; one in a list (`['k']`) may be missing; of several in a tuple the first that
    exists counts.  Loops that are not named keep their places.
    """

    seq: tuple[LoopName, ...]
    force: bool = False

    def check(self, node: Node, context: Context) -> None:
        """Whether `apply` would succeed.  Raises Refusal: ORIO-T015 to T029, T030, T031, T040, T041."""
        self.apply(node, context)

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with the loops exchanged; the same object where they stand in that order."""
        wanted = self._names(node)
        if len(wanted) < 2:
            return node
        nests = _maximal_nests(node)
        heads = {id(loops[0].node) for loops in nests if set(wanted) <= {loop.index for loop in loops}}
        if not heads:
            refuse(
                "ORIO-T030",
                f"the loops {', '.join(f'`{n}`' for n in wanted)} do not form one perfect nest: there are "
                "statements between them, or they stand beside each other",
                node,
                help=f"perfect nests here: {_show_nests(nests)}",
                argument="seq",
            )

        def change(head: Node, inner: Context) -> Node:
            return self._reordered(head, wanted, inner)

        return rewrite_where(node, lambda n: id(n) in heads, change, context)

    def _names(self, node: Node) -> list[str]:
        present = show_loops(node)
        names = [first_present(name, present, node, "seq") for name in self.seq]
        found = [name for name in names if name is not None]
        for name in found:
            if found.count(name) > 1:
                refuse("ORIO-T016", f"the loop `{name}` is named twice", node, argument="seq")
        return found

    def _reordered(self, head: Node, wanted: Sequence[str], context: Context) -> Node:
        view = loop_view(head, "Permut", context)
        loops = nest(view)
        order = _order([loop.index for loop in loops], wanted)
        if order == sorted(order):
            return head
        moved = [k for k, old in enumerate(order) if k != old]
        _check_forms(loops, order, moved, context, force=self.force)
        verdict = may_reorder(nest(analysed(view)), order, dependence_context(context))
        require_legal(verdict, "Permut", loops[moved[0]].node, context, force=self.force)
        return _rebuilt(loops, order)


def _order(present: list[str], wanted: Sequence[str]) -> list[int]:
    places = sorted(present.index(name) for name in wanted)
    order = list(range(len(present)))
    for place, name in zip(places, wanted, strict=True):
        order[place] = present.index(name)
    return order


def _check_forms(
    loops: Sequence[CanonicalLoop],
    order: Sequence[int],
    moved: Sequence[int],
    context: Context,
    *,
    force: bool,
) -> None:
    for loop in loops[moved[0] : moved[-1] + 1]:
        require_stable_index(loop, "Permut", context)
        require_no_jumps(loop, "Permut")
        refuse_if_live(loop, "Permut", context)
    for place, number in enumerate(order):
        loop = loops[number]
        used = context.expanded(context.effects(loop.start).reads | context.effects(loop.bound).reads)
        for later in order[place + 1 :]:
            inner = loops[later]
            if inner.index in used:
                refuse(
                    "ORIO-T031",
                    f"the bounds of loop `{loop.index}` use `{inner.index}`, which would become an inner loop",
                    loop.node,
                    notes=[note(f"loop `{inner.index}`", inner.node)],
                    argument="seq",
                )
    for loop in loops[moved[0] : moved[-1] + 1]:
        whole = CanonicalLoop.match(copy_with(loop.node, stmt=loops[-1].body)) or loop
        require_invariant_bound(whole, "Permut", context, force=force)
        if not start_is_invariant(whole, context):
            refuse("ORIO-T027", "Permut needs a start that keeps its value while the nest runs", loop.node)


def _maximal_nests(node: Node) -> list[list[CanonicalLoop]]:
    result: list[list[CanonicalLoop]] = []
    inside: set[int] = set()
    for loop in loops_in(node):
        view = CanonicalLoop.match(loop)
        if view is None or id(loop) in inside:
            continue
        loops = nest(view)
        inside |= {id(other.node) for other in loops}
        result.append(list(loops))
    return result


def _rebuilt(loops: Sequence[CanonicalLoop], order: Sequence[int]) -> Node:
    body = loops[-1].body
    for place in range(len(loops) - 1, -1, -1):
        header = loops[order[place]].node
        stmt = (
            body if place == len(loops) - 1 else _in_place_of(loops[place + 1].node, loops[place].body, body)
        )
        body = copy_with(header, stmt=stmt)
    return body


def _in_place_of(old: For, holder: Node, new: Node) -> Node:
    """`holder`, the body around the loop `old`, with `new` instead; comments stay."""
    if holder is old:
        return new
    if isinstance(holder, Compound):
        items = [i if isinstance(i, Comment) else _in_place_of(old, i, new) for i in holder.block_items or []]
        return block(*items)
    return new


def _show_nests(nests: Sequence[Sequence[CanonicalLoop]]) -> str:
    return "; ".join(", ".join(loop.index for loop in loops) for loops in nests) or "none"


ENTRY = Entry(
    "Permut",
    "exchange the loops of a perfect nest",
    (
        ArgumentSpec(
            "seq",
            "list of loops: 'i', ['i'] for one that may be missing, ('ii', 'i') for the first that exists",
            "the new order, outermost first",
            sequence,
        ),
        FORCE,
    ),
    Permut,
)
