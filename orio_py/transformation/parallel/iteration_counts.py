"""How often compilers run a loop behind a directive, which count its iterations beforehand in the type of its index.

    short i;                              70 000 iterations are 4 464 in `short`
    for (i = lo; i < hi; i += 2)

    int i;                                if (lo < hi)
    for (i = lo; i < hi; i++)               for (i = lo; i < hi; i++)

gcc subtracts without a comparison, so that a loop of an `int` from `INT_MAX` to `INT_MIN` would run twice where C runs it
never; and a bound of a wider type becomes another number.  C's own comparison of start and bound comes first.
Of `int` and wider types the distance of a loop that runs is taken to fit: there are no arrays of so many elements.

Source: OpenMP API 4.5, section 2.6, and 5.2, section 4.4.2 (loop iteration counts).
"""

from __future__ import annotations

from orio_py.ctree.build import literal_value, sub
from orio_py.ctree.ctype import CType, Rank
from orio_py.ctree.emit import emit_expression
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node
from orio_py.ctree.simplify import simplify
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.certain_conditions import index_kind, means_the_same
from orio_py.transformation.expression_types import constant_value, expression_type
from orio_py.transformation.types import (
    bound_wraps,
    index_type,
    is_floating,
    is_natural,
    may_be_unsigned,
    signedness,
    signedness_of_type,
)

_Range = tuple[int, int]


def may_run_where_c_does_not(loop: CanonicalLoop, context: Context, *, in_order: bool = False) -> bool:
    """Whether a compiler may run a loop behind a directive that has no iterations.

    `in_order` says that it compares the index with the bound, as it does for `simd`.
    """
    kind = index_kind(loop, context)
    if kind is None or loop.trip_count() is not None:
        return False
    if not means_the_same(loop.bound, kind, context) and not _is_natural_range(loop, context):
        return True
    if in_order or kind.unsigned or literal_value(simplify(sub(loop.bound, loop.start))) is not None:
        return False  # gcc compares unsigned numbers first.
    parts = (loop.start, loop.bound)
    if any(constant_value(part, context) is not None for part in parts):
        return False  # A number that a program names is near 0.
    near, far = (_range(part, kind, context) for part in (parts if loop.upward else parts[::-1]))
    limits = kind.reach
    return limits is not None and far[0] - near[1] < limits[0]


def _is_natural_range(loop: CanonicalLoop, context: Context) -> bool:
    """Whether a loop counts upwards from a number to an unsigned one, which is no less where the loop runs, and else small."""
    own = expression_type(loop.bound, context)
    return own is not None and own.unsigned and loop.upward and is_natural(loop.start, context)


def _range(part: Node, kind: CType, context: Context) -> _Range:
    """The values that a start or a bound may have in a loop that runs, as the index's type has them."""
    low, high = kind.reach or (0, 0)
    if (value := constant_value(part, context)) is not None:
        return value, value
    own = expression_type(part, context)
    least, most = (None if own is None else own.reach) or (low, high)
    return max(low, least), min(high, most)


def _passing_number(loop: CanonicalLoop, context: Context) -> int | None:
    """How many iterations a loop may have, where a narrow type does not hold their number; None where all is well."""
    kind = index_kind(loop, context)
    if kind is None or not kind.is_narrow or kind.rank is Rank.BOOL or kind.limits is None:
        return None
    start, bound = _range(loop.start, kind, context), _range(loop.bound, kind, context)
    most = bound[1] - start[0] if loop.upward else start[1] - bound[0]
    is_bound_reached = loop.relation in {"<=", ">="}
    if is_bound_reached and not (loop.upward and bound[1] == (kind.reach or kind.limits)[1]):
        most += 1  # A loop up to the largest number of all does not end.
    return most if most + abs(loop.stride) - 1 > kind.limits[1] else None


def require_count(
    loop: CanonicalLoop, schedule: str, what: str, context: Context, *, in_order: bool = False
) -> None:
    """OpenMP runs the loop as often as C does; `in_order` is as above.  Raises Refusal: ORIO-T091."""
    if (problem := count_problem(loop, schedule, context, in_order=in_order)) is not None:
        refuse("ORIO-T091", f"{what} would change the result: {problem}", loop.node)


def count_problem(
    loop: CanonicalLoop, schedule: str, context: Context, *, in_order: bool = False
) -> str | None:
    """Why OpenMP would run a loop another number of times than C does, or None."""
    kind = index_type(loop, context)
    if set(kind.split()) & {"_Bool", "bool"}:
        # OpenMP 4.5, section 2.6: the test and the increment of such an index are none of its forms.
        return f"OpenMP does not count with `{loop.index}` of type `{kind}`"
    for part in (loop.start, loop.bound):
        if is_floating(part, context):
            return f"OpenMP counts in integers, and `{emit_expression(part)}` is a floating-point number"
        unsigned = (
            signedness(part, context) == "unsigned" if part is loop.start else may_be_unsigned(part, context)
        )
        mixed = signedness_of_type(kind) == "signed" and unsigned
        from_natural = loop.upward and is_natural(loop.start, context)
        if mixed and not from_natural and not is_natural(part, context):
            # OpenMP before 5.1 computes the number of iterations in the type of the index (4.4.2).
            return f"`{loop.index}` is signed, and `{emit_expression(part)}` may not be"
    if bound_wraps(loop, context):
        # The compiler converts the bound to the type of the index (OpenMP 4.5, section 2.6).
        return f"`{emit_expression(loop.bound)}` may be negative or too large for `{kind} {loop.index}`"
    if not in_order and (number := _passing_number(loop, context)) is not None:
        return f"OpenMP counts up to {number} iterations in `{kind}`, the type of `{loop.index}`"
    narrow = signedness_of_type(kind) == "unsigned" or set(kind.split()) >= {"unsigned"}
    if narrow and not loop.upward and not _is_wide(kind) and schedule not in {"", "static", "auto"}:
        return (
            f"gcc 12 runs a loop wrong that counts an index of type `{kind}` down and has "
            f"`schedule({schedule})`; take `static`, or count with a signed index"
        )
    return None


def _is_wide(kind: str) -> bool:
    return "long" in kind.split() or kind in {"size_t", "uintptr_t", "uintmax_t", "uint64_t"}
