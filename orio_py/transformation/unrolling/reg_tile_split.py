"""Decides how the copies of inner loops are fused when an outer loop is unrolled, and whether they may be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from orio_py.ctree.build import add, binary, ident, literal_value
from orio_py.ctree.dependence.affine import difference
from orio_py.ctree.dependence.jam import may_jam_ranges, never_exceeds
from orio_py.ctree.dependence.legality import may_jam
from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.known_functions import MAXIMUM_NAMES, MINIMUM_NAMES
from orio_py.ctree.loops import CanonicalLoop, loops_in
from orio_py.ctree.nodes import INCREMENTS, Node, c_ast
from orio_py.ctree.rewrite import copy_with, substitute, walk
from orio_py.transformation.base import Context, note, refuse
from orio_py.transformation.forms import loop_view, require_no_jumps, require_stable_index
from orio_py.transformation.loop_names import index_name
from orio_py.transformation.overwriting import overwritten
from orio_py.transformation.types import fits_index, index_type, signedness_of_type
from orio_py.transformation.unrolling.jam_locals import JamLocals
from orio_py.transformation.unrolling.jam_rewrite import Fusion, Split, fused_loops, with_header
from orio_py.transformation.verdicts import dependence_context, require_legal

_WORD = re.compile(r"[A-Za-z_]\w*")
_Sum = Mapping[str, int]
"""An expression as a sum: coefficients by the text of its terms, the constant under the empty text."""


@dataclass(frozen=True, slots=True)
class _Inner:
    """A loop that would be fused with its copies, and the loops between it and the unrolled one."""

    view: CanonicalLoop
    around: tuple[CanonicalLoop, ...]


def fusion_of(view: CanonicalLoop, factor: int, what: str, context: Context, *, force: bool) -> Fusion:
    """How the inner loops of `view` are fused when it is unrolled by `factor`.

    Raises Refusal: ORIO-T020 to T027 for an inner loop, T040, T041, T051.
    """
    inner = list(_inner_loops(view, what, context))
    declared = JamLocals.of(view, factor, what, context)
    dependent = [loop for loop in inner if depends(loop.view, view.index, context)]
    splits = {id(loop.view.node): _split(loop, view, factor, what, context) for loop in dependent}
    question = may_jam_ranges if splits else may_jam
    verdict = question(view, factor, dependence_context(context))
    require_legal(verdict, what, view.node, context, force=force)
    return Fusion(splits, declared)


def depends(inner: CanonicalLoop, index: str, context: Context) -> bool:
    """Whether the range of a loop depends on a variable."""
    return any(index in context.effects(part).reads for part in (inner.start, inner.bound))


def ranges_vary(view: CanonicalLoop, context: Context) -> bool:
    """Whether the range of a loop that would be fused depends on the index of `view`."""
    return any(
        view.index in context.effects(part).reads
        for loop, _, _ in fused_loops(view)
        for part in (loop.init, loop.cond, loop.next)
        if part is not None
    )


def _inner_loops(view: CanonicalLoop, what: str, context: Context) -> Iterator[_Inner]:
    for loop, around, pragmas in fused_loops(view):
        inner = loop_view(loop, what, replace(context, pragmas=tuple(pragmas)))
        require_stable_index(inner, what, context)
        require_no_jumps(inner, what)
        whole = CanonicalLoop.match(copy_with(loop, stmt=view.body)) or inner
        _require_invariant(whole, what, context)
        views = [v for other in around if (v := CanonicalLoop.match(other)) is not None]
        yield _Inner(inner, tuple(views))


def _require_invariant(view: CanonicalLoop, what: str, context: Context) -> None:
    """The bounds of a fused loop keep their value while all copies run.  Raises Refusal: ORIO-T027."""
    indices = frozenset(n for n in map(index_name, loops_in(view.body)) if n)
    inside = context.effects(view.body)
    changed = inside.scalar_writes - indices
    for part in (view.start, view.bound):
        used = context.effects(part)
        names = used.reads
        volatile = {n for n in names if n in context.declarations and _is_volatile(n, context)}
        problem = sorted(changed & names | inside.escaping & used.array_reads | volatile)
        if (found := overwritten(part, view, context, indices)) is not None:
            problem.append(found[0])
        if problem:
            refuse("ORIO-T027", f"{what} needs inner bounds that no copy changes: `{problem[0]}`", part)


def _is_volatile(name: str, context: Context) -> bool:
    return "volatile" in context.declarations[name].qualifiers


def _split(loop: _Inner, view: CanonicalLoop, factor: int, what: str, context: Context) -> Split:
    """How the copies of a loop are cut.  Raises Refusal: ORIO-T051."""
    inner = loop.view
    if (problem := _unsuitable(inner, view, context)) is not None:
        refuse(
            "ORIO-T051",
            f"{what} cannot fuse the copies of the loop `{inner.index}` for different `{view.index}`: {problem}",
            inner.node,
            notes=[note(f"loop `{view.index}`", view.node)],
        )
    start, bound = (
        _direction(part, view.index) * view.stride * inner.stride for part in (inner.start, inner.bound)
    )
    last_start = factor - 1 if start > 0 else 0 if start < 0 else None
    first_end = 0 if bound > 0 else factor - 1 if bound < 0 else None
    split = Split(inner, last_start, first_end, nested=False)
    return replace(split, nested=_is_nested(split, loop, view, factor, context))


def _unsuitable(inner: CanonicalLoop, view: CanonicalLoop, context: Context) -> str | None:
    """Why the ranges of the copies cannot be compared, or None."""
    kind = index_type(inner, context)
    for part in (inner.start, inner.bound):
        shown = emit_expression(part)
        slopes = _slopes(part, view.index)
        used = frozenset(n.name for n in walk(part) if isinstance(n, c_ast.ID))
        hidden = view.index in used and not any(
            isinstance(n, c_ast.ID) and n.name == view.index for n in walk(part)
        )
        if slopes is None or hidden:
            return f"`{shown}` is not a sum, minimum or maximum of sums"
        if signedness_of_type(kind) != "signed" and _may_wrap(part):
            return f"`{shown}` could wrap around below zero"
        if min(slopes) < 0 < max(slopes):
            return f"`{shown}` neither always grows nor always falls with `{view.index}`"
        if not fits_index(part, kind, context):
            return f"`{shown}` is not of the type of `{inner.index}`"
    step, slopes = abs(inner.stride), _slopes(inner.start, view.index) or [0]
    uneven = any(slope * view.stride % step for slope in slopes) or (len(slopes) > 1 and step > 1)
    return f"with a step of {step} they do not meet" if uneven and max(map(abs, slopes)) else None


def _is_nested(split: Split, loop: _Inner, view: CanonicalLoop, factor: int, context: Context) -> bool:
    """Whether the last start is surely not beyond the first end."""
    inner = split.inner
    start = _as_copy(inner.start, view, split.last_start)
    bound = _as_copy(inner.bound, view, split.first_end)
    test = binary(inner.relation, ident(inner.index), bound)
    probe = CanonicalLoop.match(with_header(inner.node, start, test, c_ast.EmptyStatement()))
    if probe is None:
        return False
    return never_exceeds(
        [view, *loop.around],
        (view.index, (factor - 1) * view.stride),
        (probe.start, probe.bound) if inner.upward else (probe.bound, probe.start),
        dependence_context(context),
        slack=0 if inner.relation in {"<", ">"} else 1,
    )


def _as_copy(expression: Node, view: CanonicalLoop, copy: int | None) -> Node:
    return substitute(expression, view.index, add(ident(view.index), (copy or 0) * view.stride))


def _direction(expression: Node, index: str) -> int:
    """1 where an expression grows with the index, -1 where it falls, 0 where it does not depend on it."""
    slopes = _slopes(expression, index) or [0]
    return 1 if max(slopes) > 0 else -1 if min(slopes) < 0 else 0


def _slopes(expression: Node, index: str) -> list[int] | None:
    """How the operands of a minimum or maximum, or a plain sum, grow with the index; None if unknown."""
    operands = _operands(expression)
    if operands is None:
        return None
    sums = [_sum(operand) for operand in operands]
    found: list[int] = []
    for terms in sums:
        if terms is None or any(index in _WORD.findall(text) for text in terms if text != index):
            return None
        found.append(terms.get(index, 0))
    return found


def _operands(expression: Node) -> list[Node] | None:
    """The operands of a minimum or maximum; the expression itself if it is neither."""
    match expression:
        case c_ast.TernaryOp(cond=c_ast.BinaryOp(op="<" | "<=" | ">" | ">=") as test):
            sums = [_sum(e) for e in (test.left, test.right, expression.iftrue, expression.iffalse)]
            if any(s is None for s in sums):
                return None
            left, right, first, second = (s or {} for s in sums)
            asked, gained = difference(left, right), difference(first, second)
            if asked not in (gained, difference({}, gained)):
                return None
            parts: Sequence[Node] = (expression.iftrue, expression.iffalse)
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=parts)):
            if name not in MINIMUM_NAMES | MAXIMUM_NAMES:
                return None
        case _:
            return [expression]
    found: list[Node] = []
    for part in parts:
        inner = _operands(part)
        if inner is None:
            return None
        found.extend(inner)
    return found


def _sum(node: Node) -> _Sum | None:
    """A sum of variables and numbers with literal factors; None for anything else."""
    value = literal_value(node)
    if value is not None:
        return {"": value} if value else {}
    match node:
        case c_ast.ID(name=name):
            return {name: 1}
        case c_ast.UnaryOp(op="-", expr=operand):
            inner = _sum(operand)
            return None if inner is None else difference({}, inner)
        case c_ast.BinaryOp(op="+" | "-" as op, left=first, right=second):
            left, right = _sum(first), _sum(second)
            if left is None or right is None:
                return None
            return difference(left, right if op == "-" else difference({}, right))
        case c_ast.BinaryOp(op="*", left=first, right=second):
            return _product(node, first, second)
        case c_ast.BinaryOp(op="/") if _is_plain(node):
            return {emit_expression(node): 1}
        case _:
            return None


def _product(node: Node, first: Node, second: Node) -> _Sum | None:
    factor, other = literal_value(first), second
    if factor is None:
        factor, other = literal_value(second), first
    if factor is None:
        return {emit_expression(node): 1} if _is_plain(node) else None
    inner = _sum(other)
    return None if inner is None else {text: factor * c for text, c in inner.items() if factor * c}


def _is_plain(node: Node) -> bool:
    """Whether an expression consists of variables, numbers and arithmetic alone."""
    kinds = (c_ast.BinaryOp, c_ast.UnaryOp, c_ast.ID, c_ast.Constant)
    steps = INCREMENTS | {"&", "*"}
    return all(
        isinstance(part, kinds) and not (isinstance(part, c_ast.UnaryOp) and part.op in steps)
        for part in walk(node)
    )


def _may_wrap(expression: Node) -> bool:
    """Whether unsigned arithmetic could give another value than that of the integers."""
    match expression:
        case c_ast.TernaryOp(cond=c_ast.BinaryOp() as test):
            compared = [_sum(test.left), _sum(test.right)]
            return any(s is None or any(c < 0 for c in s.values()) for s in compared)
        case c_ast.FuncCall(args=c_ast.ExprList(exprs=parts)):
            return any(_may_wrap(part) for part in parts)
        case _:
            return any(c < 0 for c in (_sum(expression) or {}).values())
