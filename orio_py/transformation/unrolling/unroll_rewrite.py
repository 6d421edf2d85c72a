"""The loops that unrolling makes: copies of a body, a main loop and a loop over what remains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import NoReturn

from orio_py.ctree import build
from orio_py.ctree.build import (
    add,
    advance,
    assign,
    binary,
    block,
    declare,
    for_,
    ident,
    literal_value,
    mul,
    sub,
)
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop, header_index
from orio_py.ctree.nodes import MIRRORED, Comment, Compound, For, Node, c_ast, substatements
from orio_py.ctree.rewrite import walk, walk_statements
from orio_py.ctree.simplify import simplify
from orio_py.ctree.symbols import CDeclaration
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.certain_conditions import is_always_true
from orio_py.transformation.expression_types import constant_value
from orio_py.transformation.forms import start_is_invariant
from orio_py.transformation.hoisting import hoisted
from orio_py.transformation.types import (
    control_type,
    index_type,
    is_floating,
    is_narrow,
    is_natural,
    same_signedness,
    signedness,
    signedness_of_type,
    without_cast,
    without_suffix,
)
from orio_py.transformation.unrolling.body_copies import Copies
from orio_py.transformation.unrolling.leaving import Leaving, may_break, may_leave

MAXIMUM_STATEMENTS = 10_000
"""A transformation that would make more statements than this is refused before it begins."""

MAXIMUM_LOOPS = 4_000
"""More loops than this are refused after the step that made them."""

MAXIMUM_BOUND = 2_000
"""The operands and operators of the longest condition of a loop."""

Make = Callable[[CanonicalLoop, int, Context], list[Node]]
"""What makes the body of the main loop: the statements of a number of iterations."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What an unrolled loop consists of, in this order.

    `declarations` and `before` stand before the main loop; there may be no loop over a remainder.  `left` is the
    variable that tells whether the main loop was left, behind which the remainder does not run.
    """

    main: For
    remainder: For | None
    declarations: tuple[Node, ...] = ()
    before: tuple[Node, ...] = ()
    left: str | None = None

    def joined(self, between: tuple[Node, ...] = ()) -> Node:
        """All of it as one statement, with other statements between the loops."""
        rest: tuple[Node, ...] = () if self.remainder is None else (self.remainder,)
        if self.left is not None:
            rest = tuple(build.if_(build.unary("!", ident(self.left)), block(loop)) for loop in rest)
        everything = (*self.declarations, *self.before, self.main, *between, *rest)
        return self.main if len(everything) == 1 else block(*everything)


def count_statements(node: Node) -> int:
    """The number of statements, without blocks and comments."""
    return sum(1 for item in walk_statements(node) if is_counted(item))


def is_counted(statement: Node) -> bool:
    """Whether a statement counts as one: blocks and comments do not."""
    return not isinstance(statement, (Compound, Comment, c_ast.EmptyStatement))


def unrolled_size(node: Node, factors: Mapping[str, int]) -> int:
    """How many statements the tile has: each as often as the factors of the loops around it say."""
    total = 0
    stack = [(node, 1)]
    while stack:
        current, times = stack.pop()
        if isinstance(current, For):
            times *= factors.get(header_index(current) or "", 1)
        # The copies of a loop become one loop.
        total += 1 if isinstance(current, For) else times * is_counted(current)
        stack.extend((child, times) for child in substatements(current))
    return total


def require_size(number: int, what: str, node: Node, argument: str) -> None:
    """The number of statements is within the limit.  Raises Refusal: ORIO-T050."""
    if number > MAXIMUM_STATEMENTS:
        refuse(
            "ORIO-T050",
            f"{what} would make {number} statements; the limit is {MAXIMUM_STATEMENTS}",
            node,
            help="take smaller factors, or give the tuning specification a constraint on their product",
            argument=argument,
        )


def require_moderate(node: Node) -> None:
    """A step has not made more loops, or longer bounds, than later steps and compilers can follow: ORIO-T050.

    Steps of which each doubles what is there, as Peel of every loop or Tile of the same one, end here.
    """
    loops = [statement for statement in walk_statements(node) if isinstance(statement, For)]
    if len(loops) > MAXIMUM_LOOPS:
        _refuse_size(f"the recipe makes {len(loops)} loops; the limit is {MAXIMUM_LOOPS}", node)
    for loop in loops:
        if (
            loop.cond is not None
            and sum(1 for _ in islice(walk(loop.cond), MAXIMUM_BOUND + 1)) > MAXIMUM_BOUND
        ):
            name = header_index(loop) or ""
            _refuse_size(
                f"the recipe makes a bound of `{name}` of more than {MAXIMUM_BOUND} operands and operators",
                node,
            )


def _refuse_size(message: str, node: Node) -> NoReturn:
    refuse("ORIO-T050", message, node, help="take fewer steps on the same loops")


def copies(view: CanonicalLoop, factor: int, context: Context) -> list[Node]:
    """The statements of `factor` consecutive iterations; comments stay in the first."""
    return _copies(view, factor, Leaving.of(view, None, context) if may_leave(view.body) else None, context)


def _copies(view: CanonicalLoop, factor: int, leaving: Leaving | None, context: Context) -> list[Node]:
    made = Copies(view, view.body, context)
    result: list[Node] = []
    for number in range(factor):
        copy = made.at(number) if number else made.first()
        result.extend(copy if leaving is None else leaving.apply(copy, number))
    return result


def _that_tells(view: CanonicalLoop, context: Context) -> tuple[str, Make]:
    """The variable that tells that a `break` has ended the main loop, and what makes copies that set it."""
    left = context.names(view.node).fresh(f"{view.index}_left")

    def make(loop: CanonicalLoop, factor: int, around: Context) -> list[Node]:
        return _copies(loop, factor, Leaving.of(loop, left, around), around)

    return left, make


def apply(
    view: CanonicalLoop, factor: int, context: Context, *, make: Make = copies, canonical: bool = False
) -> Node:
    """The unrolled loop, with a body from `make`; `canonical` asks for a plain main test."""
    parts = parts_of(view, factor, context, make=make, canonical=canonical)
    return view.node if parts is None else parts.joined()


def parts_of(
    view: CanonicalLoop, factor: int, context: Context, *, make: Make = copies, canonical: bool = False
) -> Parts | None:
    """The parts of the unrolled loop; None if it never has `factor` iterations.

    With a floating-point bound the end of the main loop cannot be computed by divisions of integers.
    """
    before, view = hoisted(view, context)
    trips = known_trips(view, context)
    left: str | None = None
    if may_break(view.body) and (canonical or trips is None or trips % factor):
        left, make = _that_tells(view, context)
        before = (*before, declare("int", left, 0))
    if canonical and not is_floating(view.bound, context):
        parts = with_limit(view, factor, context, make=make)
    else:
        parts = with_test(view, factor, context, make=make)
    return None if parts is None else replace(parts, declarations=(*before, *parts.declarations), left=left)


def with_test(view: CanonicalLoop, factor: int, context: Context, *, make: Make = copies) -> Parts | None:
    """The unrolled loop; the main loop's test says that `factor` iterations remain."""
    trips = known_trips(view, context)
    if (trips is not None and trips < factor) or _is_too_short(view, factor, context):
        return None
    step = factor * view.stride
    body = block(*make(view, factor, context))
    declared = view.declared_type is not None
    if trips is not None and trips % factor == 0:
        return Parts(for_(view.node.init, view.node.cond, advance(view.index, step), body), None)
    init = assign(view.index, view.start) if declared else view.node.init
    main = for_(init, main_test(view, factor, context), advance(view.index, step), body)
    remainder = for_(None, view.node.cond, view.node.next, view.body)
    index = (declare(index_type(view, context), view.index),) if declared else ()
    return Parts(main, remainder, index)


def known_trips(view: CanonicalLoop, context: Context) -> int | None:
    """The number of iterations where start and bound are literals, or differ by one: `i + 1` and `i + 3`."""
    if equal(view.start, view.bound):
        return int(view.relation in {"<=", ">="})
    if is_natural(view.start, context):
        return replace(view, bound=without_suffix(without_cast(view.bound))).trip_count()
    (base, first), (other, last) = _offset(view.start), _offset(view.bound)
    signed = all(signedness(part, context) == "signed" for part in (view.start, view.bound))
    if base is None or other is None or not signed or not equal(base, other):
        return None
    distance = (last - first if view.upward else first - last) + (view.relation in {"<=", ">="})
    return max(0, -(-distance // abs(view.stride)))


def _is_too_short(view: CanonicalLoop, factor: int, context: Context) -> bool:
    """Whether an unsigned index has too little room below a literal bound, whatever its start is."""
    limit = literal_value(without_suffix(view.bound)) if view.upward else None
    if limit is None or not CDeclaration("", index_type(view, context)).is_unsigned:
        return False
    return limit - view.stride * (factor - 1) < (1 if view.relation == "<" else 0)


def _may_end_below(view: CanonicalLoop, context: Context) -> bool:
    """Whether compilers see that no index is below `bound - span`, which is at most 0: `(long)TEN - 28`, `sizeof(p) - 8`."""
    if isinstance(view.bound, c_ast.UnaryOp) and view.bound.op == "sizeof":
        return True
    unsigned = CDeclaration("", index_type(view, context)).is_unsigned
    return unsigned and isinstance(view.bound, c_ast.Cast) and constant_value(view.bound, context) is not None


def _offset(node: Node) -> tuple[Node | None, int]:
    """An expression as a base plus a literal."""
    match node:
        case c_ast.BinaryOp(op="+" | "-" as op, left=left, right=right):
            amount = literal_value(right)
            if amount is not None:
                base, inner = _offset(left)
                return base, inner + (amount if op == "+" else -amount)
            return node, 0
        case _:
            return (None, value) if (value := literal_value(node)) is not None else (node, 0)


def with_limit(view: CanonicalLoop, factor: int, context: Context, *, make: Make = copies) -> Parts:
    """The unrolled loop with the end of the main loop in a variable of its own.

    Both loops compare their index with an expression that stays as it is, which is what OpenMP and
    vectorising compilers want.  The variable takes only values that the index takes.
    """
    kind = index_type(view, context)
    names = context.names(view.node)
    last = names.fresh(f"{view.index}_last")
    span, step = abs(view.stride) * (factor - 1), abs(view.stride) * factor
    here = ident(last)
    room = sub(view.bound, here) if view.upward else sub(here, view.bound)
    strict = view.relation in {"<", ">"}
    if strict and abs(view.stride) == 1:
        ample: Node = binary(view.relation, here, view.bound)
        amount = mul(binary("/", room, step), step)
    else:
        enough = binary(">" if strict else ">=", room, span)
        ample = binary("&&", binary(view.relation, here, view.bound), enough)
        amount = add(mul(binary("/", sub(room, span + 1 if strict else span), step), step), step)
    guard = build.if_(ample, assign(last, amount, "+=" if view.upward else "-="))
    relation = "<" if view.upward else ">"
    body = block(*make(view, factor, context))
    main = for_(
        _start_at(view, view.start),
        binary(relation, ident(view.index), here),
        advance(view.index, factor * view.stride),
        body,
    )
    remainder = for_(_start_at(view, here), view.node.cond, view.node.next, view.body)
    return Parts(main, remainder, (declare(kind, last, view.start),), (guard,))


def main_test(view: CanonicalLoop, factor: int, context: Context) -> Node:
    """The condition under which at least `factor` iterations remain, without overflow.

    With a start that is known, `bound - span` cannot leave the type once the bound lies beyond
    `start + span`; otherwise the distance between index and bound decides.
    """
    span = abs(view.stride) * (factor - 1)
    index, bound, start = ident(view.index), view.bound, view.start
    beyond, kind = view.relation, signedness_of_type(index_type(view, context))
    if view.upward:
        fixed, away = literal_value(start), ">" if beyond == "<" else ">="
        limit = literal_value(without_suffix(bound) if kind == "unsigned" else bound)
        if limit is not None and kind != "unknown":
            # Nothing wraps around: the unsigned index has room enough (`_is_too_short`).
            return binary(beyond, index, limit - span)
        if _wraps_below(view, context) or _may_end_below(view, context):
            return binary("&&", binary(beyond, index, bound), binary(away, sub(bound, index), span))
        # As an `int`, the difference would be compared with an unsigned index, of which compilers warn.
        mixed = kind == "unsigned" and _is_int(bound, context)
        last = simplify(sub(bound, c_ast.Constant("unsigned int", f"{span}u") if mixed else span))
        if fixed is not None and fixed >= 0:
            enough, remaining = binary(away, bound, fixed + span), binary(beyond, index, last)
            return remaining if is_always_true(enough, context) else binary("&&", enough, remaining)
        if start_is_invariant(view, context) and same_signedness(
            index_type(view, context), context, start, bound
        ):
            runs, enough = binary(away, bound, start), binary(away, sub(bound, start), span)
            first = enough if is_always_true(runs, context) else binary("&&", runs, enough)
            return binary("&&", first, binary(beyond, index, last))
        return binary("&&", binary(beyond, index, bound), binary(away, sub(bound, index), span))
    lowest = literal_value(bound)
    if lowest is not None and (lowest >= 0 or kind == "signed"):
        return binary(beyond, index, lowest + span)
    return binary("&&", binary(beyond, index, bound), binary(beyond, sub(index, bound), span))


def _wraps_below(view: CanonicalLoop, context: Context) -> bool:
    """Whether compilers warn of a short index below a constant's value minus something, which may be negative."""
    short = control_type(view, context) != index_type(view, context)
    is_macro = isinstance(view.bound, c_ast.ID) and view.bound.name in context.macros
    has_size = any(isinstance(part, c_ast.UnaryOp) and part.op == "sizeof" for part in walk(view.bound))
    return short and (is_macro or has_size)


def _is_int(bound: Node, context: Context) -> bool:
    """Whether a bound is an `int` that compilers know to be no less than 0.

    It was shorter, or made one by a cast, or is a macro for a number, or one of two numbers, or a number's lower bits,
    or whether something holds, or a sum of these.
    """
    match bound:
        case c_ast.Cast():
            return signedness_of_type(emit_type(bound.to_type)) == "signed"
        case c_ast.UnaryOp(op="!"):
            return True
        case c_ast.BinaryOp(op=op) if op in MIRRORED:
            return True
        case c_ast.TernaryOp() | c_ast.BinaryOp(op="&"):
            return signedness(bound, context) == "signed"
        case c_ast.BinaryOp(op="+" | "-", left=left, right=right):
            return all(_is_int(part, context) or is_natural(part, context) for part in (left, right))
        case c_ast.ID():
            declared = context.declarations.get(bound.name)
            return is_natural(bound, context) or (declared is not None and is_narrow(declared))
        case _:
            return False


def _start_at(view: CanonicalLoop, start: Node) -> Node:
    if view.declared_type is None:
        return assign(view.index, start)
    return c_ast.DeclList([declare(view.declared_type, view.index, start)])
