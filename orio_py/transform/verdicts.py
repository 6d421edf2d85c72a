"""Turns the answers of the dependence test into refusals."""

from __future__ import annotations

from orio_py.ctree.build import add, call, literal_value
from orio_py.ctree.equal import equal
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node, c_ast
from orio_py.ctree.rewrite import Rewriter
from orio_py.ctree.simplify import simplify
from orio_py.ctree.verdict import DependenceContext, Illegal, Legal, Unknown, Verdict
from orio_py.transform.base import Context, note, refuse


def dependence_context(context: Context) -> DependenceContext:
    """What the dependence test is told of the surroundings."""
    return DependenceContext(
        context.declarations,
        context.live_after,
        tuple(analysed(loop) for loop in context.surrounding),
        noalias=context.assumptions.noalias,
        reassociate=context.assumptions.reassociate,
        exposed=context.exposed,
    )


def analysed(view: CanonicalLoop) -> CanonicalLoop:
    """The loop with the bounds of tiles, at any depth, as the minima and maxima that they are.

    `n - ii < 32 ? n : ii + 32` avoids an overflow, which integers without end do not have; the dependence
    test knows `min(n, ii + 32)`.
    """
    return CanonicalLoop.match(_Extremes().rewrite(view.node)) or view


class _Extremes(Rewriter):
    def visit_TernaryOp(self, node: c_ast.TernaryOp) -> Node:
        match node.cond:
            case c_ast.BinaryOp(op="<", left=c_ast.BinaryOp(op="-", left=first, right=second), right=limit):
                if equal(first, node.iftrue) and _is_away(node.iffalse, second, limit, 1):
                    return call("min", node.iftrue, node.iffalse)
                if equal(second, node.iftrue) and _is_away(node.iffalse, first, limit, -1):
                    return call("max", node.iftrue, node.iffalse)
            case c_ast.BinaryOp(op="<", left=c_ast.ID() as first, right=limit) if (
                literal_value(node.iftrue) == 0
            ):
                if _is_away(node.iffalse, first, limit, -1):
                    return call("max", node.iftrue, node.iffalse)
            case _:
                pass
        return self.generic(node)


def _is_away(value: Node, base: Node, limit: Node, sign: int) -> bool:
    """Whether `value` is `base` plus (`sign` 1) or minus the literal `limit`, or one nearer to `base`.

    Only then is the conditional the smaller or larger of its branches: `x - y < 4 ? x : y + 4`, with `<=`
    in the loop `x - y < 4 ? x : y + 3`.
    """
    distance = literal_value(limit)
    if distance is None:
        return False
    amounts = {sign * distance, sign * (distance - 1)}
    known = literal_value(base)
    if known is not None and (found := literal_value(value)) is not None:
        return found - known in amounts
    return any(equal(simplify(add(base, amount)), simplify(value)) for amount in amounts)


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
    match verdict:
        case Illegal(message=message, source=source, sink=sink):
            accesses = [access for access in (source, sink) if access is not None]
            notes = [
                note(f"{'writes' if access.is_write else 'reads'} `{access.text}`", access.position)
                for access in accesses
            ]
            place = accesses[0].position if accesses else None
            refuse("ORIO-T040", f"{what} would change the result: {message}", place or node, notes=notes)
        case Unknown(reason=reason, position=place):
            refuse(
                "ORIO-T041",
                f"{what} cannot be shown to keep the result: {reason}",
                place or node,
                help="add `force=True` to the transformation if you know that it is safe; the results of "
                "every variant are compared with the original's in any case",
            )
