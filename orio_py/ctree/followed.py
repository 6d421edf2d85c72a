"""What code evaluates for certain: the pointers that it follows, `p` in `p->n` and `*p`, and the elements that it reads."""

from __future__ import annotations

from collections.abc import Iterator

from orio_py.ctree.emit_expression import emit_expression
from orio_py.ctree.known_functions import CHECKS
from orio_py.ctree.nodes import Node, c_ast

_EXPECT = "__builtin_expect"


def followed(node: Node) -> frozenset[str]:
    """The pointers that an expression, a declaration or the condition of an `if` follows whatever the values."""
    return frozenset(name for part in _evaluated(node) if (name := _followed_by(part)) is not None)


def _followed_by(part: Node) -> str | None:
    match part:
        case (
            c_ast.StructRef(type="->", name=c_ast.ID(name=name))
            | c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name))
        ):
            return name
        case _:
            return None


def followed_where(condition: Node, truth: bool) -> frozenset[str]:
    """The pointers that were followed where a condition turned out to hold, or not to."""
    match condition:
        case c_ast.UnaryOp(op="!", expr=inner):
            return followed_where(inner, not truth)
        case c_ast.BinaryOp(op="&&" | "||" as op, left=left, right=right) if (op == "&&") == truth:
            return followed_where(left, truth) | followed_where(right, truth)
        case _:
            return followed(condition)


def members_followed(node: Node) -> frozenset[str]:
    """The members that are pointers and that are followed whatever the values, as their text: `s->in` in `s->in->n`."""
    return frozenset(
        emit_expression(part.name)
        for part in _evaluated(node)
        if isinstance(part, c_ast.StructRef) and part.type == "->" and isinstance(part.name, c_ast.StructRef)
    )


def elements_used(node: Node) -> frozenset[str]:
    """The elements of arrays that are read or written whatever the values, as their text."""
    return frozenset(emit_expression(part) for part in _evaluated(node) if isinstance(part, c_ast.ArrayRef))


def _evaluated(node: Node) -> Iterator[Node]:
    """The parts of an expression, a declaration or the condition of an `if` that are evaluated whatever the values."""
    match node:
        case c_ast.BinaryOp(op="&&" | "||", left=first) | c_ast.TernaryOp(cond=first) | c_ast.If(cond=first):
            yield from _evaluated(first)
        case c_ast.UnaryOp(op="&" | "sizeof"):
            pass
        case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in CHECKS or _may_be_unevaluated(name):
            pass
        case c_ast.Decl(init=value):
            yield from () if value is None else _evaluated(value)
        case _:
            yield node
            for child in node:
                yield from _evaluated(child)


def _may_be_unevaluated(name: str) -> bool:
    """Whether a compiler may answer a call from the types of its arguments."""
    return name.startswith("__builtin_") and name != _EXPECT
