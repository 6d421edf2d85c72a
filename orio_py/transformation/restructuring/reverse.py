"""Reverse: run the iterations of a loop in reverse order.

    for (i = 0; i < n; i++)             for (i = n - 1; i >= 0; i--)
      a[i] = b[i] * c;                    a[i] = b[i] * c;

    for (unsigned i = 0; i < n; i++)    for (unsigned i = n; i > 0; i--)
      a[i] = b[i] * c;                    a[i - 1] = b[i - 1] * c;

No iteration may depend on another one.  The second form, in which the index runs one step ahead, is taken
where the index could not go below its first value, or above it.  Source: M. Wolf, M. Lam, "A data locality
optimizing algorithm", PLDI 1991; R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures",
Morgan Kaufmann 2001, section 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from orio_py.ctree.build import add, assign, binary, const, ident, literal_value, mul, sub, ternary, unary
from orio_py.ctree.ctype import Rank, ctype
from orio_py.ctree.dependence.fusion import may_reverse
from orio_py.ctree.loops import CanonicalLoop, find_loops, nest
from orio_py.ctree.nodes import For, Node, c_ast
from orio_py.ctree.rewrite import copy_with, substitute
from orio_py.ctree.simplify import simplify
from orio_py.transformation.arguments import text
from orio_py.transformation.base import Context, Refusal, refuse
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.final_index import final_value, is_live, with_final_indices
from orio_py.transformation.forms import loop_view
from orio_py.transformation.loop_names import LoopName, first_present, show_loops
from orio_py.transformation.restructuring.loop_matching import require_steady, starting_at
from orio_py.transformation.sites import rewrite_where
from orio_py.transformation.types import fits_index, index_type
from orio_py.transformation.verdicts import dependence_context, require_legal


@dataclass(frozen=True, slots=True)
class Reverse:
    """Run a loop, the one over `loop` if that is given, from its last iteration to its first."""

    loop: str | None = None
    force: bool = False

    def apply(self, node: Node, context: Context) -> Node:
        """The loop that counts the other way; `node` is not modified.

        Raises Refusal: ORIO-T015, T020 to T029, T040, T041, T077.
        """
        if self.loop is None:
            return self._turned(node, context)
        first_present(LoopName((self.loop,)), show_loops(node), node, "loop")
        chosen = {id(found) for found in find_loops(node, self.loop)}
        return rewrite_where(node, lambda n: id(n) in chosen, self._turned, context)

    def _turned(self, node: Node, context: Context) -> Node:
        view = loop_view(node, "Reverse", context)
        trips = view.trip_count()
        if trips is not None and trips < 2:
            return node
        loops = nest(view)
        require_steady([view], "Reverse", context, force=self.force)
        if any(is_live(inner, context) for inner in loops[1:]):
            require_steady(loops[1:], "Reverse", context, force=self.force)
        verdict = may_reverse(
            view,
            dependence_context(context),
            restored=frozenset(loop.index for loop in loops),
        )
        require_legal(verdict, "Reverse", node, context, force=self.force)
        result = _direct(view, context) or _ahead(view, context)
        return with_final_indices(result, loops, "Reverse", context)


def _direct(view: CanonicalLoop, context: Context) -> For | None:
    """The loop from the last index value to the first; None where the index may have no value beyond it."""
    start, stride = view.start, view.stride
    kind = index_type(view, context)
    first, trips = literal_value(start), view.trip_count()
    beyond = start if first is None else const(first - stride)
    if first is not None and not _in_range(first - stride, kind):
        return None
    if first is None and not _leaves_room(start, stride):
        return None
    if first is not None and trips is not None:
        last: Node | None = const(first + (trips - 1) * stride)
    elif not _in_range(-1, kind) or not _holds(kind, context, start, view.bound):
        # Where nothing runs, the last value can be one below 0, and would be a large one of an unsigned type.
        return None
    else:
        last = _last(view, beyond)
    if last is None:
        return None
    relation = ">=" if view.upward else "<="
    cond = binary(relation, ident(view.index), start)
    if first is None:
        cond = binary(relation[0], ident(view.index), simplify(sub(start, stride)))
    return _turned_header(view, last, cond, view.body)


def _last(view: CanonicalLoop, beyond: Node) -> Node | None:
    """The last index value, or one beyond the first where the loop does not run."""
    over = (1 if view.upward else -1) if view.relation in {"<", ">"} else 0
    last = simplify(sub(view.bound, over))
    if abs(view.stride) == 1:
        return last
    first = literal_value(view.start)
    if first is None or first < 0 or not view.upward:
        return None
    steps = binary("/", last if first == 0 else simplify(sub(last, first)), view.stride)
    runs = binary(">" if view.relation == "<" else ">=", view.bound, view.start)
    whole = mul(steps, view.stride)
    return ternary(runs, whole if first == 0 else add(const(first), whole), beyond)


def _leaves_room(start: Node, stride: int) -> bool:
    """Whether the start is `x - c` or `x + c`, so that one step back stays within what `x` is."""
    match start:
        case c_ast.BinaryOp(op="+" | "-" as op, right=right):
            amount = literal_value(right) or 0
            return (amount if op == "+" else -amount) * stride >= stride * stride
        case _:
            return False


def _in_range(value: int, kind: str) -> bool:
    """Whether an index of the type can have the value, for certain."""
    known = ctype(kind)
    low, high = (known.limits if known is not None else None) or (0, 127)
    # A plain `char` may be unsigned.
    return (0 if kind == "char" else max(low, -high)) <= value <= min(high, 2**31 - 1)


def _holds(kind: str, context: Context, *expressions: Node) -> bool:
    """Whether an index of the type holds the values of the expressions, whatever they are."""
    for expression in expressions:
        value = literal_value(expression)
        if value is not None:
            if not _in_range(value, kind):
                return False
        elif (known := ctype(kind)) is not None and known.rank < Rank.INT:
            declared = context.declarations.get(getattr(expression, "name", ""))
            if not isinstance(expression, c_ast.ID) or declared is None or declared.type != kind:
                return False
        elif not fits_index(expression, kind, context):
            return False
    return True


def _ahead(view: CanonicalLoop, context: Context) -> For:
    """The loop in which the index is one step ahead: it takes only values that it takes in the original."""
    kind = index_type(view, context)
    if not _holds(kind, context, view.start):
        refuse(
            "ORIO-T077",
            f"Reverse compares the index with its start, which may not fit its type, `{kind}`",
            view.start,
            help="declare both with the same type",
        )
    relation = ">" if view.upward else "<"
    cond = binary(relation, ident(view.index), view.start)
    body = simplify(substitute(view.body, view.index, add(ident(view.index), -view.stride)))
    return _turned_header(view, _end(view, kind, context), cond, body)


def _end(view: CanonicalLoop, kind: str, context: Context) -> Node:
    """The index after the loop; at least something that is not beyond the start where it does not run."""
    over = 0 if view.relation in {"<", ">"} else (1 if view.upward else -1)
    if abs(view.stride) == 1 and _holds(kind, context, view.bound):
        return simplify(add(view.bound, over))
    try:
        return final_value(view, "Reverse", replace(context, live_after=frozenset()))
    except Refusal:
        refuse(
            "ORIO-T077",
            f"Reverse cannot write down where the loop over `{view.index}` ends: start and bound have other "
            f"types than the index, `{kind}`",
            view.bound,
            help="declare all three with the same type",
        )


def _turned_header(view: CanonicalLoop, start: Node, cond: Node, body: Node) -> For:
    index = ident(view.index)
    if abs(view.stride) == 1:
        step: Node = unary("p--" if view.upward else "p++", index)
    else:
        step = assign(index, abs(view.stride), "-=" if view.upward else "+=")
    return copy_with(view.node, init=starting_at(view.node, start), cond=cond, next=step, stmt=body)


ENTRY = Entry(
    "Reverse",
    "run the iterations of a loop in reverse order",
    (
        ArgumentSpec("loop", "index of a loop", "the loop to turn; the one given without it", text, "None"),
        FORCE,
    ),
    Reverse,
)
