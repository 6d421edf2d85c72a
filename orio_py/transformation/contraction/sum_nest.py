"""Nests that sum products into the elements of an array, as `Contract` needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orio_py.ctree.build import literal_value
from orio_py.ctree.dependence.bands import may_permute_domain
from orio_py.ctree.dependence.legality import may_parallelise
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.loops import CanonicalLoop, body_statements, nest, sole_statement
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import copy_with, used_names, walk
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.forms import (
    loop_view,
    refuse_if_live,
    require_invariant_bound,
    require_no_jumps,
    require_stable_index,
)
from orio_py.transformation.types import index_type
from orio_py.transformation.verdicts import aliases_in, dependence_context, require_legal

WHAT = "Contract"
_FORM = "`x[…] += product` or `x[…] -= product`, or `x[…] = product` without a sum"


@dataclass(frozen=True, slots=True)
class SumAxis:
    """A loop with literal bounds: an index, its values from `start` on, and how many there are."""

    index: str
    start: int
    extent: int
    type: str = "int"

    @property
    def end(self) -> int:
        """The value behind the last one."""
        return self.start + self.extent


@dataclass(frozen=True, slots=True)
class SumNest:
    """`target operator value` for all values of the axes; each element of the target is summed by itself.

    `free` are the axes that the target has, `summed` the others, both outermost first.  Where `initial` is given, the
    target has that value before the sum.
    """

    free: tuple[SumAxis, ...]
    summed: tuple[SumAxis, ...]
    target: Node
    operator: str
    value: Node
    initial: Node | None
    type: str

    def axis(self, index: str) -> SumAxis | None:
        """The axis of an index."""
        return next((axis for axis in (*self.free, *self.summed) if axis.index == index), None)


def sum_nest(node: Node, context: Context, *, force: bool) -> SumNest:
    """The view of a nest.  Raises Refusal: ORIO-T020 to T029, T040, T041, T060, T150, T151."""
    loops, inner, statement, initial = _parts(node, context)
    for loop in (*loops, *inner):
        loop_view(loop.node, WHAT, replace(context, pragmas=()))
        require_stable_index(loop, WHAT, context)
        require_no_jumps(loop, WHAT)
        require_invariant_bound(loop, WHAT, context, force=force)
        refuse_if_live(loop, WHAT, context)
    target, operator, value = _assignment(statement, context)
    indices = used_names([target])
    free = [loop for loop in loops if loop.index in indices]
    summed = [loop for loop in (*loops, *inner) if loop.index not in indices]
    if any(loop.index in indices for loop in inner) or (initial is not None and len(free) < len(loops)):
        refuse(
            "ORIO-T150", f"{WHAT} needs sums inside the loops over the elements of `{_name(target)}`", node
        )
    if operator == "=" and summed:
        message = f"{WHAT} needs {_FORM}; `=` leaves the last product alone in `{_name(target)}`"
        refuse("ORIO-T150", message, statement)
    made = SumNest(
        tuple(sum_axis(loop, context) for loop in free),
        tuple(sum_axis(loop, context) for loop in summed),
        target,
        operator,
        value,
        initial,
        _element_type(target, context),
    )
    _require_apart(made, statement, context, force=force)
    _require_independent(loops, free, summed, context, force=force)
    return made


def _parts(
    node: Node, context: Context
) -> tuple[list[CanonicalLoop], list[CanonicalLoop], Node, Node | None]:
    """The loops around everything, those of a sum that begins with a value, the statement, and that value."""
    loops = nest(loop_view(node, WHAT, context))
    match body_statements(loops[-1].body):
        case [c_ast.Assignment(op="=") as first, c_ast.For() as second]:
            inner = CanonicalLoop.match(second)
            inside = nest(inner) if inner is not None else []
            statement = sole_statement(inside[-1].body) if inside else second
            if isinstance(statement, c_ast.Assignment) and _same(first.lvalue, statement.lvalue):
                return loops, inside, statement, first.rvalue
        case _:
            pass
    statement = sole_statement(loops[-1].body)
    if statement is None:
        refuse("ORIO-T150", f"{WHAT} needs loops around one statement: {_FORM}", loops[-1].node)
    return loops, [], statement, None


def _assignment(statement: Node, context: Context) -> tuple[Node, str, Node]:
    if not isinstance(statement, c_ast.Assignment) or statement.op not in ("=", "+=", "-="):
        refuse("ORIO-T150", f"{WHAT} needs a statement such as {_FORM}", statement)
    target, value = statement.lvalue, statement.rvalue
    if not isinstance(target, c_ast.ArrayRef) or not _name(target):
        refuse("ORIO-T150", f"{WHAT} needs an element of an array on the left", statement)
    parts = [*walk(target), *walk(value)]
    if any(isinstance(part, (c_ast.FuncCall, c_ast.Assignment, c_ast.StructRef)) for part in parts):
        refuse("ORIO-T150", f"{WHAT} needs a product of array elements, variables and numbers", statement)
    if context.effects(value).writes:
        refuse("ORIO-T150", f"{WHAT} needs a product that changes nothing", statement)
    if _name(target) in used_names([value]):
        refuse("ORIO-T150", f"{WHAT} cannot sum into `{_name(target)}`, which the product reads", statement)
    return target, statement.op, value


def sum_axis(loop: CanonicalLoop, context: Context) -> SumAxis:
    """The loop with literal bounds.  Raises Refusal: ORIO-T151."""
    start, count = _number(loop.start, context), _number(loop.bound, context)
    if start is None or count is None or loop.stride != 1 or loop.relation not in ("<", "<="):
        message = f"{WHAT} needs loops such as `for (i = 0; i < 16; i++)`: numbers as bounds, and a step of 1"
        refuse("ORIO-T151", message, loop.node, help="a macro that is a number will do")
    return SumAxis(loop.index, start, count - start + (loop.relation == "<="), index_type(loop, context))


def _number(bound: Node, context: Context) -> int | None:
    if isinstance(bound, c_ast.ID) and context.macros.get(bound.name, "").strip().isdecimal():
        return int(context.macros[bound.name])
    return literal_value(bound)


def _element_type(target: Node, context: Context) -> str:
    declared = context.declarations.get(_name(target))
    if declared is None or not declared.is_array_like:
        refuse(
            "ORIO-T060",
            f"{WHAT} needs the type of `{_name(target)}`, whose declaration is not visible",
            target,
        )
    return declared.type


def _require_apart(made: SumNest, statement: Node, context: Context, *, force: bool) -> None:
    """Nothing that the product reads may be an element of the target.  Raises Refusal: ORIO-T041."""
    aliases = aliases_in(context)
    own = (_name(made.target), _depth(made.target))
    for part in walk(made.value):
        spot = (_name(part), _depth(part)) if isinstance(part, (c_ast.ArrayRef, c_ast.ID)) else ("", 0)
        if spot[0] in context.declarations and aliases.may_overlap(own, spot):
            reason = f"`{own[0]}` and `{spot[0]}` may be the same memory"
            if force:
                context.overruled.add(f"{WHAT}: {reason}")
                continue
            message = f"{WHAT} cannot be shown to keep the result: {reason}"
            refuse("ORIO-T041", message, statement, help=aliases.advice(own, spot))


def _require_independent(
    loops: Sequence[CanonicalLoop],
    free: Sequence[CanonicalLoop],
    summed: Sequence[CanonicalLoop],
    context: Context,
    *,
    force: bool,
) -> None:
    """The free loops can be outermost, and none of them carries a dependence then.

    So elements of the target are summed each by itself, and the order within each sum is kept.
    """
    order = sorted(range(len(loops)), key=lambda k: loops[k] not in free)
    tested = dependence_context(context)
    if order != sorted(order):
        require_legal(may_permute_domain(loops, order, tested), WHAT, loops[0].node, context, force=force)
    body: Node = loops[-1].body
    ordered: list[CanonicalLoop] = []
    for place in reversed(order):
        view = CanonicalLoop.match(copy_with(loops[place].node, stmt=body))
        assert view is not None
        ordered.insert(0, view)
        body = view.node
    inside = {loop.index for loop in (*loops, *summed) if loop.declared_type is None}
    for depth, loop in enumerate(ordered[: len(free)]):
        around = replace(tested, surrounding=(*context.surrounding, *ordered[:depth]))
        verdict = may_parallelise(loop, around, private=frozenset(inside - {loop.index}))
        require_legal(verdict, WHAT, loop.node, context, force=force)


def _name(node: Node) -> str:
    """The array or variable of an access; empty for others."""
    while isinstance(node, c_ast.ArrayRef):
        node = node.name
    return str(node.name) if isinstance(node, c_ast.ID) else ""


def _depth(node: Node) -> int:
    return 1 + _depth(node.name) if isinstance(node, c_ast.ArrayRef) else 0


def _same(one: Node, two: Node) -> bool:
    return emit_expression(one) == emit_expression(two)
