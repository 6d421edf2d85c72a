"""Statements that combine a variable, or an element, with a value by one operator.

    s += e;  s -= e;  s = e + s;  s++;          +
    m = e < m ? e : m;  if (e < m) m = e;       min
    ok = e && ok;                               &&

Their values are not used, as in `y[i] = (s += x[i])`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from orio_py.ctree.ctype import CType, Rank
from orio_py.ctree.equal import equal
from orio_py.ctree.expression_effects import is_repeatable
from orio_py.ctree.loops import sole_statement
from orio_py.ctree.nodes import INCREMENTS, Node, c_ast, substatements

_COMPOUND: Mapping[str, str] = {"+=": "+", "-=": "+", "*=": "*", "&=": "&", "|=": "|", "^=": "^"}
_EXTREMES: Mapping[str, str] = {
    **dict.fromkeys(["min", "MIN", "imin", "fmin", "fminf", "fminl"], "min"),
    **dict.fromkeys(["max", "MAX", "imax", "fmax", "fmaxf", "fmaxl"], "max"),
}


_MODULAR = frozenset({"+", "*", "^"})


@dataclass(frozen=True, slots=True)
class Update:
    """One accumulating statement: its operator, how often it names the target, and what it adds."""

    operator: str
    uses: int
    value: Node | None
    place: Node
    target: Node


def wraps_around(operator: str | None, own: CType | None, values: Iterable[CType | None]) -> bool:
    """Whether values are combined in an unsigned type, modulo its width: their order is of no matter (C99 6.2.5p9)."""
    if operator not in _MODULAR or own is None or not own.unsigned or own.is_narrow or own.is_floating:
        return False
    return all(
        kind is not None and not kind.is_floating and (kind.unsigned or kind.rank <= own.rank)
        for kind in values
    )


def cuts_off(operator: str, own: CType, value: CType | None) -> bool:
    """Whether another order of steps on a variable of a type may change more than rounding does.

    A sum in an integer drops the fraction in each step, and a largest value the bits by which it was the largest;
    a truth value is made of each sum.  `value` is the type of what is combined with it, None where that is not known.
    """
    if own.is_floating:
        return False
    if own.rank is Rank.BOOL:
        return operator not in {"&", "|", "&&", "||"}
    if operator not in {"+", "*", "min", "max"}:
        return False
    if value is None or operator in {"+", "*"}:
        return value is None or value.is_floating
    if value.is_floating or (own.rank >= Rank.INT and own.rank >= value.rank):
        return False  # Values are compared as what they become.
    outer, inner = own.limits, value.reach
    return value != own and (outer is None or inner is None or inner[0] < outer[0] or outer[1] < inner[1])


def accumulating_steps(body: Node, is_target: Callable[[Node], bool]) -> list[Update]:
    """The statements that combine a target with a value, in the order of the source."""
    found: list[Update] = []
    stack = [body]
    while stack:
        node = stack.pop()
        target = _assigned(node)
        step = None if target is None or not is_target(target) else _step(node, target)
        if step is not None:
            found.append(step)
        else:
            stack.extend(reversed(substatements(node)))
    return found


def _assigned(node: Node) -> Node | None:
    """What a statement changes that may be an accumulating one."""
    match node:
        case c_ast.UnaryOp(op=op, expr=target) if op in INCREMENTS:
            return target
        case c_ast.Assignment(lvalue=target):
            return target
        case c_ast.If(iftrue=then, iffalse=None) if isinstance(
            only := sole_statement(then), c_ast.Assignment
        ):
            return only.lvalue
        case _:
            return None


def _step(node: Node, target: Node) -> Update | None:
    match node:
        case c_ast.UnaryOp():
            return Update("+", 1, None, node, target)
        case c_ast.Assignment(op=op, rvalue=value):
            if op in _COMPOUND:
                return Update(_COMPOUND[op], 1, value, node, target)
            return _plain(node, value, target) if op == "=" else None
        case c_ast.If(cond=condition, iftrue=then, iffalse=None):
            return _conditional(node, condition, sole_statement(then), target)
        case _:
            return None


def _plain(node: Node, value: Node, target: Node) -> Update | None:
    """`s = …` with `s` as one operand on the right."""
    match value:
        case c_ast.BinaryOp(op="+" | "-") if _is_term(value, target, {"+", "-"}):
            return Update("+", 2, value, node, target)
        case c_ast.BinaryOp(op="*" | "&" | "|" | "^" as op) if _is_term(value, target, {op}):
            return Update(op, 2, value, node, target)
        case c_ast.BinaryOp(op="&&" | "||" as op, left=other, right=last) if equal(last, target):
            # With the variable first, `other` would not always be evaluated in the original.
            return Update(op, 2, other, node, target)
        case c_ast.TernaryOp(cond=condition, iftrue=first, iffalse=second):
            return _extreme_step(node, condition, first, second, target, uses=3)
        case c_ast.FuncCall(name=c_ast.ID(name=function), args=c_ast.ExprList(exprs=[first, second])):
            if function in _EXTREMES and equal(first, target) != equal(second, target):
                return Update(_EXTREMES[function], 2, second if equal(first, target) else first, node, target)
            return None
        case _:
            return None


def _conditional(node: Node, condition: Node, then: Node | None, target: Node) -> Update | None:
    """`if (e < m) m = e;`."""
    match then:
        case c_ast.Assignment(op="=", rvalue=value):
            return _extreme_step(node, condition, value, target, target, uses=2)
        case _:
            return None


def _extreme_step(
    node: Node, condition: Node, chosen: Node, rejected: Node, target: Node, *, uses: int
) -> Update | None:
    """`condition ? chosen : rejected` as the smaller or larger of the variable and another value."""
    if not isinstance(condition, c_ast.BinaryOp) or condition.op not in {"<", "<=", ">", ">="}:
        return None
    other = rejected if equal(chosen, target) else chosen
    if equal(chosen, target) == equal(rejected, target) or not is_repeatable(other):
        return None
    smaller, larger = condition.left, condition.right
    if ">" in condition.op:
        smaller, larger = larger, smaller
    if equal(smaller, chosen) and equal(larger, rejected):
        return Update("min", uses, other, node, target)
    if equal(smaller, rejected) and equal(larger, chosen):
        return Update("max", uses, other, node, target)
    return None


def _is_term(node: Node, target: Node, operators: set[str]) -> bool:
    """Whether the target is one operand of a chain of operators, not on the right of a minus."""
    if isinstance(node, c_ast.BinaryOp) and node.op in operators:
        right = node.op != "-" and _is_term(node.right, target, operators)
        return _is_term(node.left, target, operators) or right
    return equal(node, target)
