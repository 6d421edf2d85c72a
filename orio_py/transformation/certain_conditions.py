"""Tests that hold whatever the values are, and code behind those that may fail."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from orio_py.ctree.build import as_long, binary, if_, literal_value
from orio_py.ctree.ctype import CType, common, ctype
from orio_py.ctree.emit_expression import emit_type
from orio_py.ctree.equal import equal
from orio_py.ctree.evaluate import NoValueError, Number, evaluate
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import MIRRORED, NEGATED, Node, c_ast
from orio_py.ctree.rewrite import walk
from orio_py.ctree.unit.value_ranges import facts_of
from orio_py.transformation.base import Context
from orio_py.transformation.expression_types import constant_value, expression_type
from orio_py.transformation.types import (
    index_type,
    is_computed_unsigned,
    is_converted,
    is_wide,
    is_within,
    signedness,
    words_of,
)

_OF_SHORT_UNSIGNED = (0, 2**16)
"""No less than 0, and computed as `int`: values of `unsigned char` and `unsigned short`."""


def runs(loop: CanonicalLoop) -> Node:
    """The condition that a loop runs, with a literal on the right-hand side."""
    if literal_value(loop.start) is not None:
        return binary(MIRRORED[loop.relation], loop.bound, loop.start)
    return binary(loop.relation, loop.start, loop.bound)


def is_always_true(test: Node, context: Context) -> bool:
    """Whether a comparison says no more than that an unsigned value is not negative, or equal to itself, or what is known.

    Compilers warn of the first ones (-Wtype-limits, -Wtautological-compare).
    """
    if _is_known(test, context):
        return True
    match test:
        case c_ast.BinaryOp(op="<=" | ">=", left=left, right=right) if equal(left, right):
            return True
        case (
            c_ast.BinaryOp(op=">=" | ">", left=value, right=limit)
            | c_ast.BinaryOp(op="<=" | "<", left=limit, right=value)
        ) if _is_negative(limit):
            return is_within(value, _OF_SHORT_UNSIGNED, context)
        case (
            c_ast.BinaryOp(op=">=", left=value, right=limit)
            | c_ast.BinaryOp(op="<=", left=limit, right=value)
        ):
            known = (
                signedness(value, context) == "unsigned"
                or is_converted(value, limit, context)
                or _is_widened(value, context)
                or is_computed_unsigned(value, context)
                or is_within(value, _OF_SHORT_UNSIGNED, context)
            )
            return _is_zero(limit) and known
        case _:
            return False


def _is_known(test: Node, context: Context) -> bool:
    """Whether a comparison follows from what is known before the region."""
    if not context.facts or not isinstance(test, c_ast.BinaryOp) or test.op not in {"<", "<=", ">", ">="}:
        return False
    needed = tuple(facts_of(test, True, context.declarations))
    distances = [[(one - fact).value for fact in context.facts] for one in needed]
    return bool(needed) and all(any(d is not None and d >= 0 for d in found) for found in distances)


def never_holds(test: Node, context: Context) -> bool:
    """Whether a comparison is the contrary of one that always holds: `u < 0` for an unsigned `u`, or `k < k`."""
    match test:
        case c_ast.BinaryOp(op="<" | ">" as op, left=left, right=right):
            return is_always_true(binary(NEGATED[op], left, right), context)
        case _:
            return False


def _is_negative(number: Node) -> bool:
    """Whether an expression is a literal below 0, also as a number of a type that holds it: `(long)-3`."""
    while isinstance(number, c_ast.Cast):
        kind = ctype(emit_type(number.to_type))
        if kind is None or kind.unsigned or kind.is_narrow or kind.is_floating:
            return False
        number = number.expr
    return (literal_value(number) or 0) < 0


def _is_zero(number: Node) -> bool:
    """Whether an expression is 0 in some notation: `0u`, `0x0`, a null character, `(long)0`."""
    while isinstance(number, c_ast.Cast):
        number = number.expr
    if not isinstance(number, c_ast.Constant):
        return literal_value(number) == 0
    try:
        return evaluate(number, dict[str, Number]().__getitem__).value == 0
    except NoValueError:
        return False


def _is_widened(value: Node, context: Context) -> bool:
    """Whether a value is unsigned before a cast to a wider type, as in `(long)(n - 1)`."""
    if not isinstance(value, c_ast.Cast) or not is_wide(words_of(value.to_type, context)):
        return False
    names = [context.declarations.get(part.name) for part in walk(value.expr) if isinstance(part, c_ast.ID)]
    narrow = all(known is not None and not is_wide(known.type) for known in names)
    return narrow and signedness(value.expr, context) == "unsigned"


def if_all(tests: Iterable[Node], then: Node, context: Context, *, otherwise: Node | None = None) -> Node:
    """`then` behind those of the tests that can fail; where one does, `otherwise`."""
    needed = [test for test in tests if not is_always_true(test, context)]
    return if_(reduce(lambda a, b: binary("&&", a, b), needed), then, otherwise) if needed else then


def as_stored(loop: CanonicalLoop, context: Context) -> CanonicalLoop:
    """The loop with its start as the number that the index becomes, for comparisons with the bound."""
    kind = index_kind(loop, context)
    own = expression_type(loop.start, context)
    if kind is None or own is None or means_the_same(loop.start, kind, context):
        return loop
    return replace(loop, start=as_long(loop.start, index_type(loop, context)))


def index_kind(loop: CanonicalLoop, context: Context) -> CType | None:
    """The type of a loop's index, None where it is not known."""
    words = index_type(loop, context)
    return ctype(context.types.get(words, words))


def means_the_same(part: Node, kind: CType, context: Context) -> bool:
    """Whether a start or a bound in the type of the index is what C compares the index with."""
    value, limits = constant_value(part, context), kind.limits
    if value is not None and limits is not None and limits[0] <= value <= limits[1]:
        return True
    own = expression_type(part, context)
    if own is None or own == kind:
        return own is not None
    reach = own.reach
    is_inside = limits is not None and reach is not None and limits[0] <= reach[0] and reach[1] <= limits[1]
    return is_inside or common(kind, own) == kind


def begins_at_most_at_bound(view: CanonicalLoop, context: Context) -> bool:
    """Whether a loop ends at its bound also where it does not run: from 0 to an unsigned number, or back."""
    if abs(view.stride) != 1 or view.relation not in {"<", ">"}:
        return False
    lowest, highest = (view.start, view.bound) if view.upward else (view.bound, view.start)
    return literal_value(lowest) == 0 and is_computed_unsigned(highest, context)
