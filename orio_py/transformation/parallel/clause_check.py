"""Whether the clauses of an OpenMP pragma say what the loop behind it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orio_py.ctree.dependence.scalars import scalar_flow
from orio_py.ctree.effects import copied_pointers
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node
from orio_py.transformation.base import Context, refuse
from orio_py.transformation.parallel.data_sharing import assigned_scalars, starts_are_comparable
from orio_py.transformation.parallel.iteration_counts import count_problem
from orio_py.transformation.parallel.pragma_text import Clauses
from orio_py.transformation.parallel.reductions import accumulation, induction_step

_LOGICAL = frozenset({"&&", "||"})
_OPERATORS = frozenset({"+", "-", "*", "&", "|", "^", "&&", "||", "min", "max"})


def require_clauses(
    given: Clauses, loops: Sequence[CanonicalLoop], what: str, context: Context, *, force: bool
) -> None:
    """Reductions, `lastprivate` and `linear` fit the nest.  Raises Refusal: ORIO-T091."""
    for problem, place in clause_problems(given, loops, context):
        if force:
            context.overruled.add(f"{what}: {problem}")
        else:
            refuse("ORIO-T091", f"{what} would change the result: {problem}", place)


def clause_problems(
    given: Clauses, loops: Sequence[CanonicalLoop], context: Context
) -> Iterator[tuple[str, Node]]:
    """What is wrong with the clauses, and where."""
    for loop in loops:
        if (problem := count_problem(loop, given.schedule, context)) is not None:
            yield problem, loop.node
    body, node = loops[-1].body, loops[0].node
    assigned = frozenset(assigned_scalars(body, context))
    indices = {loop.index for loop in loops}
    flow = scalar_flow([body])
    for operator, name in given.operators:
        if operator in _OPERATORS and (
            problem := _reduction_problem(operator, name, assigned, loops, context)
        ):
            yield problem
    for name in sorted(given.last - indices):
        if name not in flow.assigned:
            yield f"`lastprivate({name})`, but not every iteration assigns `{name}`", node
        elif not starts_are_comparable(loops, context):
            yield f"`lastprivate({name})`, and whether the loop runs at all cannot be written down", node
    for name in sorted((given.private - given.first - indices) & flow.exposed - assigned):
        if _has_value(name, loops, context):
            continue
        yield f"`{name}` is private and has no value there", node
    for name in sorted(given.private & copied_pointers(body)):
        declared = context.declarations.get(name)
        if declared is not None and declared.dimensions and declared.scope != "parameter":
            yield f"the address of a thread's own `{name}` is stored, which is gone behind the loop", node
    for name, step in given.linear:
        if name not in indices and str(induction_step(body, name, context)) != step:
            yield f"`linear({name}: {step})`, but not every iteration adds {step} to `{name}`", node


def _has_value(name: str, loops: Sequence[CanonicalLoop], context: Context) -> bool:
    """Whether iterations write elements of a private array; which of them come before its reads is the user's word."""
    return name in context.effects(loops[-1].body).array_writes


def _reduction_problem(
    operator: str, name: str, assigned: frozenset[str], loops: Sequence[CanonicalLoop], context: Context
) -> tuple[str, Node] | None:
    """What is wrong with a reduction; those of whole arrays, and of variables left alone, are taken as they are."""
    found = accumulation(loops[-1].body, name, context)
    declared = context.declarations.get(name)
    if found is None:
        if name in assigned:
            return f"the loop does more with `{name}` than to combine values by `{operator}`", loops[0].node
        unchanged = operator not in _LOGICAL or declared is None or declared.type in {"_Bool", "bool"}
        return None if unchanged else (f"the loop does not combine values in `{name}`", loops[0].node)
    if found.operator != ("+" if operator == "-" else operator):
        return f"`reduction({operator}: {name})`, but the operator is `{found.operator}`", found.place
    if found.truth and not (found.certain and starts_are_comparable(loops, context)):
        return f"`{name}` becomes 0 or 1 even where no iteration changes it", found.place
    return None
