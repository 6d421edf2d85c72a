"""Turns the answers of the dependence test into refusals."""

from __future__ import annotations

from orio_py.ctree.dependence.alias import Aliases
from orio_py.ctree.dependence.verdict import DependenceContext, Illegal, Legal, Unknown, Verdict
from orio_py.ctree.nodes import Node
from orio_py.spec.assumptions import Promise
from orio_py.transformation.base import Context, note, refuse


def aliases_in(context: Context) -> Aliases:
    """What is known of the overlaps between variables."""
    apart = context.assumptions.noalias
    return Aliases(context.declarations, apart, context.exposed, context.structures, context.types)


def dependence_context(context: Context) -> DependenceContext:
    """What the dependence test is told of the surroundings."""
    return DependenceContext(
        context.declarations,
        context.live_after,
        context.surrounding,
        noalias=context.assumptions.noalias,
        reassociate=context.assumptions.reassociate,
        exposed=context.exposed,
        structures=context.structures,
        types=context.types,
        facts=context.facts,
    )


def require_legal(verdict: Verdict, what: str, node: Node, context: Context, *, force: bool) -> None:
    """A dependence, proven or possible, refuses; with `force` it is only noted for the output.

    Raises Refusal: ORIO-T040 (a dependence forbids it), ORIO-T041 (undecided).
    """
    if isinstance(verdict, Legal):
        return
    if force:
        reason = verdict.message if isinstance(verdict, Illegal) else verdict.reason
        context.overruled.add(f"{what}: {reason}")
        return
    notes = [
        note(f"{'writes' if access.is_write else 'reads'} `{access.text}`", access.position)
        for access in (verdict.source, verdict.sink)
        if access is not None
    ]
    match verdict:
        case Illegal(message=message, source=source, help=help):
            place = source.position if source is not None else None
            text = f"{what} would change the result: {message}"
            refuse("ORIO-T040", text, place or node, notes=notes, help=help)
        case Unknown(reason=reason, position=place, called=called):
            why = context.obstacles.get(called) if called is not None else None
            notes += [note(f"its body cannot stand in place of the call: {why}", place)] if why else []
            promise = "" if called is None or why else f" or promise `{Promise.CALLS}` for such statements"
            refuse(
                "ORIO-T041",
                f"{what} cannot be shown to keep the result: {reason}",
                place or node,
                notes=notes,
                help=f"add `force=True` to the transformation{promise} if you know that it is safe; the results of "
                "every variant are compared with the original's in any case",
            )
