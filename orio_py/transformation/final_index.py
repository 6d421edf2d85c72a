"""Gives the indices of transformed loops the values that the original loops leave in them.

    for (i = s; i < n; i += 4) …        for (int ii = …) …
    return i;                           i = s < n ? n - (n - s - 1) % 4 + 3 : s;
                                        return i;

Where code after a nest reads the index of an inner loop, the transformed nest stands under the condition
that the loops around that one run at all; else the index keeps its value from before.  The distance from
start to bound has to fit in the type, where the step is not 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import NoReturn

from orio_py.ctree.build import (
    add,
    assign,
    binary,
    const,
    flat_block,
    ident,
    if_,
    literal_value,
    sub,
    ternary,
)
from orio_py.ctree.ctype import Rank
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop, header_index, jumps_out, loops_in, reasons, unmarked
from orio_py.ctree.nodes import MIRRORED, Compound, For, Node, array_of, c_ast
from orio_py.ctree.rewrite import assigned_names, declared_names, substitute, walk
from orio_py.ctree.simplify import simplify
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.certain_conditions import begins_at_most_at_bound, if_all, is_always_true
from orio_py.transformation.expression_types import expression_type
from orio_py.transformation.forms import require_pure, start_is_invariant
from orio_py.transformation.types import (
    fits_index,
    index_type,
    is_natural,
    means_its_literals,
    same_signedness,
    signedness_of_type,
)

_NARROW = re.compile(r"\b(char|short|_Bool|u?int(8|16)_t)\b")
_INTEGER_TEXT = re.compile(r"[\w\s()+*/%-]*")
_NUMBER = re.compile(r"\b\d\w*")
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_INTEGER_FUNCTIONS = frozenset(["abs", "labs", "llabs", "min", "max", "MIN", "MAX", "floord", "ceild"])


def is_live(view: CanonicalLoop, context: Context) -> bool:
    """Whether the index is declared before the loop and read after it."""
    return view.declared_type is None and view.index in context.live_after


def with_final_indices(result: Node, loops: Sequence[CanonicalLoop], what: str, context: Context) -> Node:
    """`result` with assignments that give the indices of a nest the values that they have after the nest.

    `loops` are the original perfectly nested loops, outermost first, whose bounds nothing changes; indices
    that nothing reads afterwards get no assignment, and without any the result is `result` itself.
    Raises Refusal: ORIO-T029 where the value cannot be written down.
    """
    if not any(is_live(loop, context) for loop in loops):
        return result
    return flat_block(*_settled(result, loops, 0, what, context))


def last_values(statement: Node, names: Set[str], what: str, context: Context) -> list[Node]:
    """What gives some indices the values that they have after a statement, which no longer sets them.

    Each index counts only loops, and `names` are read after the statement.  Raises Refusal: ORIO-T028, T029.
    """
    return _last_values(statement, frozenset(names), (), statement, what, context)


def _last_values(
    statement: Node,
    names: frozenset[str],
    outer: tuple[CanonicalLoop, ...],
    whole: Node,
    what: str,
    context: Context,
) -> list[Node]:
    """As `last_values`, for a statement of `whole` inside the loops `outer`."""
    match unmarked(statement):
        case Compound(block_items=items):
            found: list[Node] = []
            for item in reversed(items or []):
                found = [*_last_values(item, names, outer, whole, what, context), *found]
                names -= set(assigned_names(*(each for each in found if isinstance(each, c_ast.Assignment))))
            return found
        case For() as node if any(header_index(loop) in names for loop in loops_in(node)):
            loop = _as_it_ends(node, outer, whole, what, context)
            mine = _assignments(loop, what, context) if loop.index in names else []
            inner = _last_values(node.stmt, names - {loop.index}, (*outer, loop), whole, what, context)
            is_empty = equal(loop.start, loop.bound) and loop.relation in {"<", ">"}
            if not inner or (not is_empty and (runs_surely(loop, context) or equal(loop.start, loop.bound))):
                return [*inner, *mine]
            # Where the last iterations around leave it out, earlier ones may have run it.
            header = CanonicalLoop.match(node) or loop
            used = context.effects(header.start).reads | context.effects(header.bound).reads
            if used & {around.index for around in outer}:
                _refuse(loop, what, f"the loop `{loop.index}` runs a varying number of times")
            if is_empty:
                return mine
            for part in (loop.start, loop.bound):
                require_pure(part, what, context, force=False)
            if not _compares_as_the_index(loop, context):
                _refuse(loop, what, _other_types(loop))
            return [if_all([_runs(loop)], flat_block(*inner), context), *mine]
        case other:
            if name := next((n for loop in loops_in(other) if (n := header_index(loop)) in names), None):
                refuse("ORIO-T029", f"{what} cannot tell whether the loop over `{name}` runs", other)
            return []


def _as_it_ends(
    node: For, outer: Sequence[CanonicalLoop], whole: Node, what: str, context: Context
) -> CanonicalLoop:
    """A loop as it is in the last iteration of those around it; nothing in `whole` changes its bounds."""
    view = CanonicalLoop.match(node)
    if view is None:
        refuse("ORIO-T029", f"{what} cannot tell how this loop ends: {reasons(node)}", node)
    if (jump := jumps_out(node.stmt, (c_ast.Continue,))) is not None:
        refuse("ORIO-T029", f"{what} cannot tell where this loop ends: a jump may leave it", jump)
    loop = replace(_at_the_end(view, outer, what, context), body=whole)
    used = context.effects(loop.start).reads | context.effects(loop.bound).reads
    if inside := sorted(used & declared_names(whole)):
        _refuse(view, what, f"its range depends on `{inside[0]}`, which ends with the loops")
    return loop


def final_value(view: CanonicalLoop, what: str, context: Context) -> Node:
    """The index after the loop, as an expression of start and bound.  Raises Refusal: ORIO-T029."""
    _require_steady(view, what, context)
    if (value := _literal_final(view, context)) is not None:
        return const(value)
    if not _compares_as_the_index(view, context):
        _refuse(view, what, "its start and bound have other types than the index")
    after = _after(view, view.start, context)
    is_reached = runs_surely(view, context) or begins_at_most_at_bound(view, context)
    return after if is_reached else ternary(_runs(view), after, view.start)


def _settled(
    result: Node, loops: Sequence[CanonicalLoop], depth: int, what: str, context: Context
) -> list[Node]:
    """`result` and what follows it, for the loops from `depth` inwards, one of which is live."""
    loop, outer = loops[depth], loops[:depth]
    if not any(is_live(other, context) for other in loops[depth + 1 :]):
        return [result, *_assignments(_at_the_end(loop, outer, what, context), what, context)]
    _require_same_trips(loops, depth, what, context)
    inside = _settled(result, loops, depth + 1, what, context)
    live = is_live(loop, context)
    if runs_surely(loop, context):
        return [*inside, *(_assignments(loop, what, context) if live else [])]
    _require_steady(loop, what, context)
    if _compares_as_the_index(loop, context):
        after = _assignments(loop, what, context) if live else []
        return [if_all([_runs(loop)], flat_block(*inside), context), *after]
    if loop.declared_type is not None:
        _refuse(_live_inside(loops, depth, context), what, _other_types(loop))
    after = [assign(loop.index, loop.start), assign(loop.index, _direct(loop, context))] if live else []
    test = binary(loop.relation, ident(loop.index), loop.bound)
    return [assign(loop.index, loop.start), if_(test, flat_block(*inside, *after))]


def _assignments(loop: CanonicalLoop, what: str, context: Context) -> list[Node]:
    """What gives the index its final value: one assignment, or the header's own test where types differ."""
    _require_steady(loop, what, context)
    if _literal_final(loop, context) is not None or _compares_as_the_index(loop, context):
        return [assign(loop.index, final_value(loop, what, context))]
    test = binary(loop.relation, ident(loop.index), loop.bound)
    return [assign(loop.index, loop.start), if_(test, assign(loop.index, _direct(loop, context)))]


def _direct(loop: CanonicalLoop, context: Context) -> Node:
    """The final value of a loop that runs, where the index holds its start."""
    return _after(loop, ident(loop.index), context)


def _after(loop: CanonicalLoop, start: Node, context: Context) -> Node:
    """The first value beyond the bound of a loop that runs at least once."""
    step, bound = loop.stride, _widened(loop, context)
    over = 0 if loop.relation in {"<", ">"} else (1 if loop.upward else -1)
    if abs(step) == 1:
        return simplify(add(bound, over))
    return _beyond(loop, start, step)


def _last(loop: CanonicalLoop) -> Node:
    """The index in the last iteration of a loop that runs at least once."""
    return _beyond(loop, loop.start, 0)


def _beyond(loop: CanonicalLoop, start: Node, amount: int) -> Node:
    """The last value of the index plus `amount`; nothing in between leaves the range of the loop.

    With a stride of 1 the amount is 0.
    """
    bound, stride = loop.bound, abs(loop.stride)
    inside = (-1 if loop.upward else 1) * (loop.relation in {"<", ">"})
    if stride == 1:
        return simplify(add(bound, inside))
    room = _difference(bound, start) if loop.upward else _difference(start, bound)
    rest = binary("%", simplify(sub(room, abs(inside))), stride)
    if literal_value(bound) == 0 and not loop.upward:
        return simplify(add(rest, inside + amount))
    last = sub(bound, rest) if loop.upward else add(bound, rest)
    return simplify(add(last, inside + amount))


def _difference(left: Node, right: Node) -> Node:
    return left if literal_value(right) == 0 else sub(left, right)


def _runs(loop: CanonicalLoop) -> Node:
    """The condition under which the loop runs at all, with a literal on the right-hand side."""
    relation, start, bound = loop.relation, loop.start, loop.bound
    match bound:
        case c_ast.BinaryOp(op="-", left=limit, right=c_ast.Constant(value="1")) if relation == "<=":
            relation, bound = "<", limit
        case _:
            pass
    if literal_value(start) is not None and literal_value(bound) is None:
        return binary(MIRRORED[relation], bound, start)
    return binary(relation, start, bound)


def test_before(loop: CanonicalLoop, context: Context) -> Node | None:
    """The condition, before a loop, that it runs at all; None where types keep it from being written."""
    return _runs(loop) if _compares_as_the_index(loop, context) else None


def runs_surely(loop: CanonicalLoop, context: Context) -> bool:
    """Whether the loop has an iteration whatever the values are."""
    if loop.trip_count() is not None:
        return bool(loop.trip_count()) and means_its_literals(loop, context)
    if literal_value(loop.start) != 0 or loop.relation != "<=":
        return False
    return is_always_true(_runs(loop), context)


def _literal_final(loop: CanonicalLoop, context: Context) -> int | None:
    trips, start = loop.trip_count(), literal_value(loop.start)
    if trips is None or start is None or not means_its_literals(loop, context):
        return None
    return start + trips * loop.stride


def _compares_as_the_index(loop: CanonicalLoop, context: Context) -> bool:
    """Whether start and bound compare, and subtract, as index and bound do."""
    if equal(loop.start, loop.bound):
        return False
    kind = index_type(loop, context)
    start_fits = is_natural(loop.start, context) or (
        not _NARROW.search(kind) and fits_index(loop.start, kind, context)
    )
    if abs(loop.stride) == 1 and is_natural(loop.start, context) and signedness_of_type(kind) == "signed":
        return True
    if not start_fits or not same_signedness(kind, context, loop.start, loop.bound):
        return False
    # `n - s` in `int` may overflow where the index is a `long`.
    return abs(loop.stride) == 1 or not _is_wider(kind, (loop.start, loop.bound), context)


def _is_wider(kind: str, parts: Sequence[Node], context: Context) -> bool:
    """Whether the parts are computed in a smaller type than `kind`."""
    return _is_wide(kind) and not any(_is_wide_expression(part, context) for part in parts)


def _is_wide(kind: str) -> bool:
    return bool(set(kind.split()) - {"char", "short", "int", "signed", "unsigned", "_Bool"})


def _is_wide_expression(node: Node, context: Context) -> bool:
    for part in walk(node):
        match part:
            case c_ast.Constant(value=text) if "l" in text.lower():
                return True
            case c_ast.ID(name=name):
                declared = context.declarations.get(name)
                if declared is not None and declared.is_integer and _is_wide(declared.type):
                    return True
            case c_ast.StructRef() | c_ast.UnaryOp(op="*"):
                kind = expression_type(part, context)
                if kind is not None and kind.rank > Rank.INT:
                    return True
            case _:
                pass
    return False


def _widened(loop: CanonicalLoop, context: Context) -> Node:
    """The bound in the type of the index: `n + 1` may overflow in `int` where a `long` index does not."""
    kind, bound = index_type(loop, context), loop.bound
    if (
        loop.relation in {"<", ">"}
        or literal_value(bound) is not None
        or not _is_wider(kind, [bound], context)
    ):
        return bound
    words = c_ast.IdentifierType(kind.split())
    return c_ast.Cast(c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, words)), bound)


def _at_the_end(
    view: CanonicalLoop, outer: Sequence[CanonicalLoop], what: str, context: Context
) -> CanonicalLoop:
    """A loop as it is in the last iteration of the loops around it."""
    for loop in reversed(outer):
        start, bound = context.effects(view.start).reads, context.effects(view.bound).reads
        if loop.index not in start | bound:
            continue
        _require_steady(loop, what, context)
        last, kind = _last(loop), index_type(loop, context)
        same = same_signedness(kind, context, last) and not _is_wider(kind, [last], context)
        if not same or not _compares_as_the_index(loop, context):
            _refuse(view, what, _other_types(loop))
        start, bound = (simplify(substitute(part, loop.index, last)) for part in (view.start, view.bound))
        view = replace(view, start=start, bound=bound)
    return view


def _live_inside(loops: Sequence[CanonicalLoop], depth: int, context: Context) -> CanonicalLoop:
    """The first loop further inside whose index is read after the nest."""
    return next(loop for loop in loops[depth + 1 :] if is_live(loop, context))


def _other_types(loop: CanonicalLoop) -> str:
    return f"start and bound of the loop `{loop.index}` around it have other types than its index"


def _require_same_trips(loops: Sequence[CanonicalLoop], depth: int, what: str, context: Context) -> None:
    """A live inner index has its last value from the last iteration of the loops around it.

    That holds where each of them but the outermost runs the same number of times whatever the others do.
    """
    loop = loops[depth]
    used = context.effects(loop.start).reads | context.effects(loop.bound).reads
    if any(other.index in used for other in loops[:depth]):
        live = _live_inside(loops, depth, context)
        _refuse(live, what, f"the loop `{loop.index}` around it runs a varying number of times")


def _require_steady(view: CanonicalLoop, what: str, context: Context) -> None:
    """Start and bound are integers and have the same values after the loop."""
    for part, name in ((view.start, "start"), (view.bound, "bound")):
        if not start_is_invariant(replace(view, start=part), context):
            _refuse(view, what, f"its {name} has another value by then")
        if not _is_integer(part, context):
            _refuse(view, what, f"its {name} is not known to be an integer")


def _is_integer(part: Node, context: Context) -> bool:
    """Whether every operand of an expression is an integer."""
    match part:
        case c_ast.Constant():
            return _INTEGER.fullmatch(part.value) is not None
        case c_ast.ID(name=name):
            declared = context.declarations.get(name)
            return declared.is_integer if declared is not None else _is_integer_macro(name, context)
        case c_ast.ArrayRef():
            base = array_of(part)
            return isinstance(base, c_ast.ID) and _is_integer(base, context)
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=arguments)):
            return name in _INTEGER_FUNCTIONS and all(_is_integer(a, context) for a in arguments)
        case c_ast.UnaryOp(op="-" | "+" | "~", expr=operand):
            return _is_integer(operand, context)
        case c_ast.BinaryOp(left=left, right=right):
            return _is_integer(left, context) and _is_integer(right, context)
        case c_ast.TernaryOp(iftrue=left, iffalse=right):
            return _is_integer(left, context) and _is_integer(right, context)
        case c_ast.StructRef() | c_ast.UnaryOp(op="*"):
            return (kind := expression_type(part, context)) is not None and not kind.is_floating
        case _:
            return False


def _is_integer_macro(name: str, context: Context) -> bool:
    """Whether a name without declaration is an integer: a macro over numbers, or a variable of the file."""
    if (text := context.macros.get(name)) is None:
        return True
    return bool(_INTEGER_TEXT.fullmatch(text)) and all(map(_INTEGER.fullmatch, _NUMBER.findall(text)))


def _refuse(view: CanonicalLoop, what: str, why: str) -> NoReturn:
    refuse(
        "ORIO-T029",
        f"{what} cannot give `{view.index}`, which is read after the loop, its last value: {why}",
        view.node,
        help=f"assign `{view.index}` before it is read again, or use another variable as the loop index",
    )
