"""The expression language of specifications and recipes: its tree, its values and their evaluation.

The language is Python's notation for numbers, strings, lists, tuples, comprehensions, arithmetic,
comparison, conditions and a dozen functions; nothing in it can reach outside the expression.
`frontend.expressions` parses it.
"""

from __future__ import annotations

from orio_py.core.expr_eval import compile_expr, evaluate
from orio_py.core.expr_functions import FUNCTIONS
from orio_py.core.expr_limits import DEFAULT_LIMITS, Limits
from orio_py.core.expr_nodes import (
    Binary,
    BoolOp,
    Call,
    Clause,
    Compare,
    Comprehension,
    Conditional,
    Expr,
    ListExpr,
    Literal,
    Name,
    Subscript,
    TupleExpr,
    Unary,
    Value,
    bind,
    children,
    depth,
    name_positions,
    names_in,
    show,
    weight,
)

__all__ = [
    "DEFAULT_LIMITS",
    "FUNCTIONS",
    "Binary",
    "BoolOp",
    "Call",
    "Clause",
    "Compare",
    "Comprehension",
    "Conditional",
    "Expr",
    "Limits",
    "ListExpr",
    "Literal",
    "Name",
    "Subscript",
    "TupleExpr",
    "Unary",
    "Value",
    "bind",
    "children",
    "compile_expr",
    "depth",
    "evaluate",
    "name_positions",
    "names_in",
    "show",
    "weight",
]
