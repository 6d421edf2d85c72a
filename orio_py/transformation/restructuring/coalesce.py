"""Coalesce: make one loop of two perfectly nested ones, which runs their iterations in the same order.

    for (i = 0; i < n; i++)         if (n > 0 && m > 0)
      for (j = 0; j < m; j++)         for (long long ij = 0; ij < (long long)n * m; ij++) {
        a[i][j] = 0;                        i = ij / m;
                                            j = ij % m;
                                            a[i][j] = 0;
                                          }

One loop of n * m iterations can be split evenly among threads where the outer loop has too few for them.  No
dependence is in the way, as the order of the iterations stays.  Source: C. Polychronopoulos, "Loop coalescing: a
compiler transformation for parallel machines", ICPP 1987.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orio_py.ctree.build import (
    add,
    assign,
    binary,
    block,
    cast_to,
    const,
    declare,
    for_,
    ident,
    literal_value,
    mul,
    sub,
    unary,
)
from orio_py.ctree.ctype import Rank
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop, find_loops, nest
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import used_names
from orio_py.ctree.simplify import simplify
from orio_py.transformation.arguments import new_index, text
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.certain_conditions import if_all
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.final_index import is_live, runs_surely, test_before, with_final_indices
from orio_py.transformation.forms import loop_view
from orio_py.transformation.loop_names import LoopName, first_present, show_loops
from orio_py.transformation.restructuring.loop_matching import require_steady
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.tiling.tile import require_new_names
from orio_py.transformation.types import (
    index_type,
    is_floating,
    is_wide,
    may_be_unsigned,
    signedness_of_type,
    without_suffix,
)


@dataclass(frozen=True, slots=True)
class Coalesce:
    """Make one loop over `index` of a loop, the one over `loop` if that is given, and the loop inside it."""

    index: str
    loop: str | None = None
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The coalesced loop; `node` is not modified.

        Raises Refusal: ORIO-T013, T015, T020 to T030, T077.
        """
        if self.loop is None:
            return self._coalesced(node, context)
        first_present(LoopName((self.loop,)), show_loops(node), node, "loop")
        chosen = {id(found) for found in find_loops(node, self.loop)}
        return rewrite_where(node, lambda n: id(n) in chosen, self._coalesced, context)

    def _coalesced(self, node: Node, context: Context) -> Node:
        view = loop_view(node, "Coalesce", context)
        loops = nest(view)
        if len(loops) < 2:
            refuse(
                "ORIO-T030", f"Coalesce needs a loop that is the whole body of the loop `{view.index}`", node
            )
        outer, inner = loops[0], loops[1]
        require_steady([outer, inner], "Coalesce", context, force=self.force, harmless=(c_ast.Continue,))
        loop_view(inner.node, "Coalesce", context)
        self._require_independent(outer, inner, context)
        _require_integers([outer, inner], context)
        require_new_names([self.index], view, context, argument="index")
        kind = _counter_type([outer, inner], context)
        outer_trips, inner_trips = _trips(outer, kind, context), _trips(inner, kind, context)
        if isinstance(inner_trips, c_ast.Cast) and _is_converted(inner_trips.expr, kind, context):
            inner_trips = inner_trips.expr
        here = ident(self.index)
        values = ((outer, binary("/", here, inner_trips)), (inner, binary("%", here, inner_trips)))
        used = used_names([inner.body])
        settings = [
            _set(loop, _value(loop, number), context)
            for loop, number in values
            # Compilers warn of a declared index that nothing reads.
            if loop.declared_type is None or loop.index in used
        ]
        result: Node = for_(
            declare(kind, self.index, const(0)),
            binary("<", here, simplify(mul(outer_trips, inner_trips))),
            unary("p++", here),
            block(*settings, inner.body),
        )
        # What follows for a live inner index stands under the condition that the outer loop runs.
        tested = (inner,) if is_live(inner, context) else (outer, inner)
        tests = [test for loop in tested if (test := _test(loop, context)) is not None]
        return with_final_indices(if_all(tests, result, context), [outer, inner], "Coalesce", context)

    def _require_independent(self, outer: CanonicalLoop, inner: CanonicalLoop, context: Context) -> None:
        for part in (inner.start, inner.bound):
            if outer.index in used_names([part]):
                refuse(
                    "ORIO-T030",
                    f"Coalesce needs an inner loop whose range is the same for every `{outer.index}`",
                    part,
                )


def _require_integers(loops: Sequence[CanonicalLoop], context: Context) -> None:
    """Iterations are counted by integers.  Raises Refusal: ORIO-T077."""
    for loop in loops:
        for part in (loop.start, loop.bound):
            if is_floating(part, context):
                refuse(
                    "ORIO-T077",
                    f"Coalesce cannot write down how often the loop over `{loop.index}` runs: "
                    f"`{emit_expression(part)}` is a floating-point number",
                    part,
                    help="compute it as an integer before the loop",
                )


def _counter_type(loops: Sequence[CanonicalLoop], context: Context) -> str:
    """The type in which iterations are counted: 64 bits, unsigned where an index is of such a type."""
    kinds = [index_type(loop, context) for loop in loops]
    unsigned = any(is_wide(kind) and signedness_of_type(kind) == "unsigned" for kind in kinds)
    return "unsigned long long" if unsigned else "long long"


def _is_converted(trips: Node, kind: str, context: Context) -> bool:
    """Whether C converts a number of iterations to the counter's type where it meets the counter."""
    own = expression_type(trips, context)
    if own is None or own.rank < Rank.LONG:
        return own is not None or not may_be_unsigned(trips, context)
    return own.unsigned == (signedness_of_type(kind) == "unsigned")


def _trips(loop: CanonicalLoop, kind: str, context: Context) -> Node:
    """How often a loop runs that does so at least once, in the counter's type.  Raises Refusal: ORIO-T077."""
    if (known := loop.trip_count()) is not None and literal_value(loop.start) is not None:
        return const(max(known, 1))
    wide = is_wide(index_type(loop, context))
    ends = without_suffix(loop.start), without_suffix(loop.bound)
    low, high = ends if loop.upward else ends[::-1]
    if wide and (literal_value(low) is None or (literal_value(low) or 0) < 0):
        refuse(
            "ORIO-T077",
            f"Coalesce cannot write down how often the loop over `{loop.index}` runs: the distance from its start to "
            f"its bound may not fit its type",
            loop.node,
            help="let it start at a number that is not negative",
        )
    distance = cast_to(kind, high)
    if literal_value(low) != 0:
        distance = sub(distance, low if _is_converted(low, kind, context) else cast_to(kind, low))
    step = abs(loop.stride)
    if loop.relation in {"<=", ">="}:
        return simplify(add(distance if step == 1 else binary("/", distance, step), 1))
    return distance if step == 1 else binary("/", simplify(add(distance, step - 1)), step)


def _value(loop: CanonicalLoop, number: Node) -> Node:
    """The index in the iteration of a number."""
    away = number if abs(loop.stride) == 1 else mul(number, abs(loop.stride))
    if literal_value(loop.start) == 0 and loop.upward:
        return away
    return add(loop.start, away) if loop.upward else sub(loop.start, away)


def _set(loop: CanonicalLoop, value: Node, context: Context) -> Node:
    """The statement that gives an index its value: a declaration where the loop has declared it."""
    kind = index_type(loop, context)
    fitting = value if is_wide(kind) else cast_to(kind, value)
    return (
        declare(kind, loop.index, fitting) if loop.declared_type is not None else assign(loop.index, fitting)
    )


def _test(loop: CanonicalLoop, context: Context) -> Node | None:
    """The condition that a loop runs at all; None where it surely does.  Raises Refusal: ORIO-T077."""
    if runs_surely(loop, context):
        return None
    test = test_before(loop, context)
    if test is None:
        refuse(
            "ORIO-T077",
            f"Coalesce cannot write down whether the loop over `{loop.index}` runs: start and bound have other types "
            "than the index",
            loop.node,
            help="declare all three with the same type",
        )
    return test


ENTRY = Entry(
    "Coalesce",
    "make one loop of two perfectly nested ones",
    (
        ArgumentSpec("index", "C identifier", "index of the new loop", new_index),
        ArgumentSpec(
            "loop",
            "index of a loop",
            "the outer one of the two loops; the one given without it",
            text,
            "None",
        ),
        FORCE,
    ),
    Coalesce,
)
