"""Permut: exchange the loops of a perfect nest.

    for (i = 0; i < n; i++)             for (k = 0; k < n; k++)
      for (j = 0; j < n; j++)             for (i = 0; i < n; i++)
        for (k = 0; k < n; k++)             for (j = 0; j < n; j++)
          c[i][j] += a[i][k] * b[k][j];       c[i][j] += a[i][k] * b[k][j];

Every dependence has to keep its direction.  Where bounds depend on indices that come to the inside, as in a
triangle, the loops get other bounds for the same iterations:

    for (i = 0; i < n; i++)             for (j = 0; j < n; j++)
      for (j = 0; j <= i; j++)            for (i = j; i < n; i++)
        a[i][j] = b[j][i];                  a[i][j] = b[j][i];

Source: M. Wolf, M. Lam, "A loop transformation theory and an algorithm to maximize parallelism", IEEE TPDS
2(4), 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import ClassVar

from orio_py.ctree.bounds import Intractable, reordered
from orio_py.ctree.build import block
from orio_py.ctree.dependence.bands import may_permute_domain
from orio_py.ctree.dependence.verdict import Illegal, Legal, Verdict
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.linear_expressions import leaves
from orio_py.ctree.loops import CanonicalLoop, loops_in, nest
from orio_py.ctree.nodes import Comment, Compound, For, Node
from orio_py.ctree.rewrite import copy_with, used_names, walk
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.arguments import sequence
from orio_py.transformation.base import Context, Refusal, note, refuse
from orio_py.transformation.certain_conditions import if_all, is_always_true
from orio_py.transformation.context import with_inner_declarations
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.final_index import is_live, test_before, with_final_indices
from orio_py.transformation.forms import (
    loop_view,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
    require_start_that_fits,
    start_is_invariant,
)
from orio_py.transformation.loop_names import LoopName, first_present, show_loops
from orio_py.transformation.simpler.counted_steps import is_total
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.types import (
    control_type,
    index_type,
    same_signedness,
    signedness,
    signedness_of_type,
    subtracts,
)
from orio_py.transformation.verdicts import dependence_context, require_legal

_MOST_LOOPS_TRIED = 4


@dataclass(frozen=True, slots=True)
class Permut:
    """Bring the named loops of each perfect nest into the order of `seq`, outermost first.

    A name has to exist; one in a list (`['k']`) may be missing; of several in a tuple the first that
    exists counts.  Loops that are not named keep their places.
    """

    name: ClassVar = "Permut"
    """What messages call it."""

    seq: tuple[LoopName, ...]
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The tree with the loops exchanged; the same object where they stand in that order.

        Raises Refusal: ORIO-T015 to T029, T030, T031, T040, T041.
        """
        wanted = self._names(node)
        if len(wanted) < 2:
            return node
        nests = maximal_nests(node)
        heads = {id(loops[0].node) for loops in nests if set(wanted) <= {loop.index for loop in loops}}
        if not heads:
            refuse(
                "ORIO-T030",
                f"the loops {', '.join(f'`{n}`' for n in wanted)} do not form one perfect nest: there are "
                "statements between them, or they stand beside each other",
                node,
                help=f"perfect nests here: {show_nests(nests)}",
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
        view = loop_view(head, self.name, context)
        loops = nest(view)
        order = _order([loop.index for loop in loops], wanted)
        if order == sorted(order):
            return head
        moved = [k for k, old in enumerate(order) if k != old]
        for loop in loops:
            require_start_that_fits(loop, self.name, context)
        _check_forms(loops, moved, context, what=self.name, force=self.force)
        headers = _headers(loops, order, context, what=self.name)
        verdict = _verdict(view, order, context)
        if isinstance(verdict, Illegal) and not self.force:
            self._refuse(verdict, view, wanted, context)
        require_legal(verdict, self.name, loops[moved[0]].node, context, force=self.force)
        _require_ends(loops, headers, context)
        result = _rebuilt(loops, headers, order)
        if any(loop.trip_count() == 0 for loop in nest(loop_view(result, self.name, context))):
            return head  # Nothing runs, and a header like `i = 0; i < 0` makes compilers warn.
        result = _guarded(result, loops, headers, order, context, what=self.name)
        if not any(is_live(loop, context) for loop in loops[moved[0] :]):
            return result
        for loop in loops:
            require_no_jumps(loop, self.name)
            require_invariant_bound(around_body(loop, loops), self.name, context, force=self.force)
        return with_final_indices(result, loops, self.name, context)

    def _refuse(self, verdict: Verdict, view: CanonicalLoop, wanted: Sequence[str], context: Context) -> None:
        """Refuse, with another order that is legal where there is one."""
        try:
            require_legal(verdict, self.name, view.node, context, force=False)
        except Refusal as refusal:
            other = _legal_order(view, wanted, context)
            if other is None:
                raise
            text = f"legal here: seq=[{', '.join(map(repr, other))}]"
            given = [replace(diagnostic, help=text) for diagnostic in refusal.diagnostics]
            raise Refusal(*given, argument=refusal.argument) from None


def _verdict(view: CanonicalLoop, order: Sequence[int], context: Context) -> Verdict:
    """Whether the nest may run in the new order."""
    return may_permute_domain(nest(view), order, dependence_context(context))


def _legal_order(view: CanonicalLoop, wanted: Sequence[str], context: Context) -> list[str] | None:
    """The first other order of the named loops that is possible and legal."""
    if len(wanted) > _MOST_LOOPS_TRIED:
        return None
    loops = nest(view)
    present = [loop.index for loop in loops]
    for names in permutations(sorted(wanted, key=present.index)):
        order = _order(present, names)
        if list(names) == list(wanted) or order == sorted(order):
            continue
        try:
            _headers(loops, order, context, what=Permut.name)
        except Refusal:
            continue
        if isinstance(_verdict(view, order, context), Legal):
            return list(names)
    return None


def _order(present: list[str], wanted: Sequence[str]) -> list[int]:
    places = sorted(present.index(name) for name in wanted)
    order = list(range(len(present)))
    for place, name in zip(places, wanted, strict=True):
        order[place] = present.index(name)
    return order


def _check_forms(
    loops: Sequence[CanonicalLoop], moved: Sequence[int], context: Context, *, what: str, force: bool
) -> None:
    for loop in loops[moved[0] : moved[-1] + 1]:
        require_stable_index(loop, what, context)
        require_no_jumps(loop, what)
    for loop in loops[moved[0] : moved[-1] + 1]:
        whole = around_body(loop, loops)
        require_invariant_bound(whole, what, context, force=force)
        if not start_is_invariant(whole, context):
            refuse("ORIO-T027", f"{what} needs a start that keeps its value while the nest runs", loop.node)


def around_body(loop: CanonicalLoop, loops: Sequence[CanonicalLoop]) -> CanonicalLoop:
    """A loop of the nest directly around the innermost body, without the loops in between."""
    return CanonicalLoop.match(copy_with(loop.node, stmt=loops[-1].body)) or loop


def _headers(
    loops: Sequence[CanonicalLoop], order: Sequence[int], context: Context, *, what: str
) -> list[For]:
    """The loops with the headers that they have in the new order.  Raises Refusal: ORIO-T031."""
    if (pair := _inverted(loops, order)) is None:
        return [loop.node for loop in loops]
    unsigned = _require_simple_types(loops, pair, context)
    try:
        exact = any(control_type(loop, context) != index_type(loop, context) for loop in loops)
        return reordered(loops, order, surrounding=context.surrounding, unsigned=unsigned, exact=exact)
    except Intractable as problem:
        loop = problem.loop
        refuse(
            "ORIO-T031",
            f"{what} cannot bound the loop `{loop.index}` in the new order: {problem.reason}",
            loop.node,
            argument="seq",
        )


def _require_ends(loops: Sequence[CanonicalLoop], headers: Sequence[For], context: Context) -> None:
    """No new test always holds: `j >= 0` for an unsigned `j`.  Raises Refusal: ORIO-T031."""
    inside = with_inner_declarations(loops[0].node, context)
    for loop, header in zip(loops, headers, strict=True):
        if header is not loop.node and header.cond is not None and is_always_true(header.cond, inside):
            refuse(
                "ORIO-T031",
                f"the loop `{loop.index}` would not end in the new order: `{emit_expression(header.cond)}` always holds",
                loop.node,
                argument="seq",
            )


def _inverted(
    loops: Sequence[CanonicalLoop], order: Sequence[int]
) -> tuple[CanonicalLoop, CanonicalLoop] | None:
    """The first loop whose bounds use the index of one that comes to the inside, and that one."""
    for place, number in enumerate(order):
        loop = loops[number]
        # By name: `sizeof(j)` does not read `j`, which has to be declared around it all the same.
        used = used_names((loop.start, loop.bound))
        for later in order[place + 1 :]:
            if loops[later].index in used:
                return loop, loops[later]
    return None


def _require_simple_types(
    loops: Sequence[CanonicalLoop], pair: tuple[CanonicalLoop, CanonicalLoop], context: Context
) -> bool:
    """Whether indices and bounds are unsigned, all of them; `pair` is a loop and the inner one that bounds it.

    Raises Refusal: ORIO-T031 where they are mixed.
    """
    loop, inner = pair
    kinds = {signedness_of_type(index_type(other, context)) for other in loops}

    def no(reason: str) -> None:
        refuse(
            "ORIO-T031",
            f"the bounds of loop `{loop.index}` use `{inner.index}`, which would become an inner loop, and {reason}",
            loop.node,
            notes=[note(f"loop `{inner.index}`", inner.node)],
            argument="seq",
        )

    for other in loops:
        parts = [leaf for part in (other.start, other.bound) for leaf in leaves(part)]
        if len(kinds) > 1 or not same_signedness(index_type(other, context), context, *parts):
            no("the types of indices and bounds are not all signed or all unsigned")
    indices = {other.index for other in loops}
    for other in loops if kinds == {"unsigned"} else ():
        below = [part for part in walk(other.start) if subtracts(part, context)]
        if any(not context.effects(part).reads & indices for part in below):
            no(
                f"the start of the loop `{other.index}` may wrap around below zero, where that loop does not run"
            )
    return kinds == {"unsigned"}


def maximal_nests(node: Node) -> list[list[CanonicalLoop]]:
    """The perfect nests of canonical loops in a statement."""
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


def _rebuilt(loops: Sequence[CanonicalLoop], headers: Sequence[For], order: Sequence[int]) -> Node:
    body = loops[-1].body
    for place in range(len(loops) - 1, -1, -1):
        header = headers[order[place]]
        stmt = body if place == len(loops) - 1 else in_place_of(loops[place].body, body)
        body = copy_with(header, stmt=stmt)
    return body


def _guarded(
    result: Node,
    loops: Sequence[CanonicalLoop],
    headers: Sequence[For],
    order: Sequence[int],
    context: Context,
    *,
    what: str,
) -> Node:
    """The nest behind the condition that loops run which protected the test of one that is now around them.

    With an unsigned `n` of 0, `j < n - 1` is true for a long time; inside `for (i = 0; i < n; i++)` nothing
    evaluated it, nor `p->rows`.  Raises Refusal: ORIO-T031 where the condition cannot be written.
    """
    protecting: set[int] = set()
    indices = frozenset(loop.index for loop in loops)
    for place, number in enumerate(order):
        inner = {other for other in order[place + 1 :] if other < number}
        if not (is_total(loops[number].start) and is_total(loops[number].bound)):
            protecting |= inner
        if headers[number] is not loops[number].node:
            apart = _differences(headers[number], indices, context)
            # A loop whose own header has the difference does not protect from it.
            protecting |= {k for k in inner if apart - _differences(loops[k].node, indices, context)}
        elif _may_wrap(loops[number], context):
            protecting |= inner
    tests: list[Node] = []
    for number in sorted(protecting):
        loop = loops[number]
        used = context.effects(loop.start).reads | context.effects(loop.bound).reads
        test = test_before(loop, context)
        if test is None or used & {other.index for other in loops}:
            refuse(
                "ORIO-T031",
                f"{what} cannot move the loop `{loop.index}` to the inside: where it does not run, the original "
                "never evaluates the header of a loop around it, which could wrap around below zero or be invalid",
                loop.node,
                argument="seq",
            )
        if not loop.trip_count():
            tests.append(test)
    return if_all(tests, result, context)


def _may_wrap(loop: CanonicalLoop, context: Context) -> bool:
    """Whether the header of a loop, evaluated for any values, could wrap around below zero."""
    unsigned = CDeclaration("", index_type(loop, context)).is_unsigned
    if signedness(loop.bound, context) == "unsigned" or unsigned:
        below = loop.relation == ">=" or (loop.relation == ">" and abs(loop.stride) > 1)
        if below:
            return True
    return any(subtracts(part, context) for end in (loop.start, loop.bound) for part in walk(end))


def _differences(header: For, indices: frozenset[str], context: Context) -> set[str]:
    """The differences in a header that could wrap around, without those that have an index of the nest.

    New headers have the latter so that they do not wrap.
    """
    loop = CanonicalLoop.match(header)
    assert loop is not None
    parts = [part for end in (loop.start, loop.bound) for part in walk(end) if subtracts(part, context)]
    return {emit_expression(part) for part in parts if not context.effects(part).reads & indices}


def in_place_of(holder: Node, new: Node) -> Node:
    """`holder`, the body around an inner loop of a perfect nest, with `new` for the loop; comments stay."""
    if isinstance(holder, Compound):
        items = [i if isinstance(i, Comment) else in_place_of(i, new) for i in holder.block_items or []]
        return block(*items)
    return new


def show_nests(nests: Sequence[Sequence[CanonicalLoop]]) -> str:
    """The indices of nests, for messages."""
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
