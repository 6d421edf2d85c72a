"""The pointers to structures that code follows for certain: `p` in `p->n`."""

from __future__ import annotations

from orio_py.ctree.known_functions import CHECKS
from orio_py.ctree.nodes import Node, c_ast

_EXPECT = "__builtin_expect"


def followed(node: Node) -> frozenset[str]:
    """The pointers that an expression, a declaration or the condition of an `if` follows whatever the values."""
    match node:
        case c_ast.StructRef(name=c_ast.ID(name=name), type="->"):
            return frozenset({name})
        case c_ast.BinaryOp(op="&&" | "||", left=first) | c_ast.TernaryOp(cond=first) | c_ast.If(cond=first):
            return followed(first)
        case c_ast.UnaryOp(op="&" | "sizeof"):
            return frozenset()
        case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in CHECKS or _may_be_unevaluated(name):
            return frozenset()
        case c_ast.Decl(init=value):
            return frozenset() if value is None else followed(value)
        case _:
            return frozenset[str]().union(*map(followed, node))


def followed_where(condition: Node, truth: bool) -> frozenset[str]:
    """The pointers that were followed where a condition turned out to hold, or not to."""
    match condition:
        case c_ast.UnaryOp(op="!", expr=inner):
            return followed_where(inner, not truth)
        case c_ast.BinaryOp(op="&&" | "||" as op, left=left, right=right) if (op == "&&") == truth:
            return followed_where(left, truth) | followed_where(right, truth)
        case _:
            return followed(condition)


def _may_be_unevaluated(name: str) -> bool:
    """Whether a compiler may answer a call from the types of its arguments."""
    return name.startswith("__builtin_") and name != _EXPECT
