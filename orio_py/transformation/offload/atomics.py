"""Arrays into which the iterations of a nest only accumulate, so that each statement is one step of a device.

    for (i = 0; i < n; i++) {           kernel:
      count[class_of[i]]++;               count[class_of[i]] += 1;            atomic
      if (x[i] > top[c[i]])               top[c[i]] = x[i] > top[c[i]] ? x[i] : top[c[i]];      atomic
        top[c[i]] = x[i];
    }

A plan holds such statements in one form, from which each language makes its own update.  Nothing else in the nest may
use the array, and no statement may use the value.

Sources: CUDA C++ Programming Guide, section 7.14 (atomic functions); The OpenCL Specification 1.2, sections 6.12.11
and 9.7; OpenMP API 4.5, section 2.13.6; OpenACC 2.7, section 2.12.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from orio_py.ctree.build import assign, binary, call, const, literal_value, ternary
from orio_py.ctree.dependence.verdict import Verdict
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast, reference_parts
from orio_py.ctree.rewrite import Rewriter
from orio_py.ctree.updates import Update, accumulating_steps
from orio_py.kernel.functions import device_function
from orio_py.kernel.plan import BufferPlan, UpdateCopy
from orio_py.kernel.types import UPDATED, device_type
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.offload.arguments import OffloadArguments
from orio_py.transformation.parallel.array_sharing import (
    MOST_ELEMENTS,
    accumulated,
    array_in_the_way,
    may_be_atomic,
)
from orio_py.transformation.parallel.data_sharing import Sharing, verdict_of
from orio_py.transformation.types import declaration

_MOST_COPIED = 4096
"""Elements: 32 KiB of `double`, of 48 KiB that groups have everywhere."""

_EXTREMES = {"min": "<", "max": ">"}


@dataclass(frozen=True, slots=True)
class AnyOrder:
    """What iterations of a nest share, and what the dependence test says of it, and of which loop.

    `remark` says why an array that iterations only accumulate into is not updated in single steps.
    """

    shared: Sharing
    verdict: Verdict
    loop: CanonicalLoop
    remark: str | None = None


def with_atomics(
    shared: Sharing, loops: Sequence[CanonicalLoop], context: Context, *, pragmas: bool, without: Set[str]
) -> AnyOrder:
    """The atomic statements with which a nest's iterations do not depend on each other through arrays.

    Arrays for which there are none are left as they are, and those of `without`.  `pragmas` says that the statements
    stay as they are, behind directives.
    """
    while True:
        found, loop = verdict_of(loops, shared, context)
        name = array_in_the_way(found)
        more = None
        if name is not None and name not in shared.names | without:
            more = _updates(name, loops, context, pragmas=pragmas)
        if more is None:
            remark = None if name is None else _too_short(name, loops, context)
            return AnyOrder(shared, found, loop, remark)
        shared = shared.joined(more)


def _updates(name: str, loops: Sequence[CanonicalLoop], context: Context, *, pragmas: bool) -> Sharing | None:
    """What makes the updates of an array atomic; None where it has other uses, or a type that devices do not update."""
    declared = declaration(name, context)
    if declared is None or not declared.is_array_like or declared.qualifiers & {"volatile", "_Atomic"}:
        return None
    found = accumulated(declared, loops, context)
    if found is None or device_type(declared.type) not in UPDATED:
        return None
    sums, steps = found
    if not all(may_be_atomic(step) or (not pragmas and _is_extreme(step)) for step in steps):
        return None
    return Sharing(atomic=(sums,), updates=tuple(step.place for step in steps))


def _too_short(name: str, loops: Sequence[CanonicalLoop], context: Context) -> str | None:
    """Why the elements of an array that iterations accumulate into are too short to be updated by devices."""
    declared = declaration(name, context)
    if (
        declared is None
        or device_type(declared.type) in UPDATED
        or accumulated(declared, loops, context) is None
    ):
        return None
    return (
        f"iterations only accumulate into `{name}`, and devices update elements of 32 and 64 bits in one step; "
        f"`{declared.type}` is none of these, and is widened where it is known that there are no more than {MOST_ELEMENTS} elements"
    )


def _is_extreme(step: Update) -> bool:
    return step.operator in _EXTREMES and step.value is not None


def require_single_updates(shared: Sharing, arguments: OffloadArguments) -> None:
    """Items that update elements in steps do one iteration at a time.  Raises Refusal: ORIO-T127, T141."""
    for name, code, given in (
        ("registerTile", "ORIO-T127", arguments.registers is not None),
        ("vectorWidth", "ORIO-T141", arguments.vector > 1),
    ):
        if given and shared.atomic:
            found = shared.atomic[0]
            message = f"`{name}` does iterations at once, which update elements of `{found.name}` one by one"
            refuse(code, message, found.place, help=f"leave `{name}` out", argument=name)


def update_copies(
    shared: Sharing, buffers: Sequence[BufferPlan], arguments: OffloadArguments, node: Node
) -> tuple[UpdateCopy, ...]:
    """The arrays of which each group has a copy in local memory.  Raises Refusal: ORIO-T130."""
    if not arguments.copies:
        return ()
    operators = {found.name: found.operator for found in shared.atomic}
    found = tuple(
        UpdateCopy(b.name, b.type, operators[b.name], count)
        for b in buffers
        if b.name in operators and (count := literal_value(b.count)) is not None and 0 < count <= _MOST_COPIED
    )
    if not found:
        refuse(
            "ORIO-T130",
            f"`cacheUpdates` finds no array of a constant size up to {_MOST_COPIED} elements that several iterations update",
            node,
            help="leave `cacheUpdates` out",
            argument="cacheUpdates",
        )
    return found


def in_one_form(body: Node, arrays: Set[str]) -> Node:
    """A body whose statements that update `arrays` are `a[k] OP= e`, `a[k] = e < a[k] ? e : a[k]` or `a[k] = fmin(a[k], e)`."""
    steps = accumulating_steps(body, lambda target: _name(target) in arrays)
    return _Updates({id(step.place): _update(step) for step in steps}).rewrite(body) if steps else body


def _name(target: Node) -> str | None:
    base = reference_parts(target)[0]
    return base.name if isinstance(target, c_ast.ArrayRef) and isinstance(base, c_ast.ID) else None


def _update(step: Update) -> Node:
    target, value = step.target, step.value
    if step.operator in _EXTREMES:
        assert value is not None
        return _extreme(step, target, value)
    match step.place:
        case c_ast.UnaryOp(op=op):
            return assign(target, const(1), "+=" if "+" in op else "-=")
        case c_ast.Assignment(op="=", rvalue=c_ast.BinaryOp(op=op, left=left, right=right)):
            return assign(target, right if equal(left, target) else left, f"{op}=")
        case _:
            return step.place


def _extreme(step: Update, target: Node, value: Node) -> Node:
    if isinstance(step.place, c_ast.Assignment) and isinstance(step.place.rvalue, c_ast.FuncCall):
        name = step.place.rvalue.name
        if isinstance(name, c_ast.ID) and device_function(name.name) is not None:
            return assign(target, call(name.name, target, value))
    return assign(target, ternary(binary(_EXTREMES[step.operator], value, target), value, target))


class _Updates(Rewriter):
    """Puts statements in the places of others, which are given by identity."""

    def __init__(self, statements: dict[int, Node]) -> None:
        self._statements = statements

    def visit_UnaryOp(self, node: c_ast.UnaryOp) -> Node:
        return self._statements.get(id(node)) or self.generic(node)

    def visit_Assignment(self, node: c_ast.Assignment) -> Node:
        return self._statements.get(id(node)) or self.generic(node)

    def visit_If(self, node: c_ast.If) -> Node:
        return self._statements.get(id(node)) or self.generic(node)
