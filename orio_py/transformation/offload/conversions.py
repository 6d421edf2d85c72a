"""Comparisons that C does not make between the whole numbers that stand there.

    for (unsigned long i = 0; i < n; i++)
      if (i < n - 2) ...                    for an `int n` of 1 the right side is 18446744073709551615, not -1

Sums and conversions are taken not to leave a type at its upper end, as elsewhere; products of variables may.
"""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.nodes import Node, c_ast
from orio_py.transformation.offload.arithmetic import Arithmetic, ValueEnvironment


def compares_numbers(
    comparison: c_ast.BinaryOp, least: Mapping[str, int], arithmetic: Arithmetic, known: ValueEnvironment
) -> bool:
    """Whether a comparison says of the values of its sides, as polynomials, what it says in C.

    `least` are least values of scalars and indices.  Where C computes in an unsigned type no value may be below 0.
    """
    sides = comparison.left, comparison.right
    if not any(map(arithmetic.computes_unsigned, sides)):
        return all(_keeps(side, least, arithmetic, known) for side in sides)
    if comparison.op in {"==", "!="}:
        # A number below 0 becomes one that is larger than any subscript.
        return all(_is_linear(arithmetic.polynomial(side, known)) for side in sides)
    return all(_is_natural(side, least, arithmetic, known) for side in sides) and all(
        _keeps(side, least, arithmetic, known) for side in sides
    )


def _keeps(node: Node, least: Mapping[str, int], arithmetic: Arithmetic, known: ValueEnvironment) -> bool:
    """Whether nothing within an expression is computed in an unsigned type and may be below 0."""
    if arithmetic.computes_unsigned(node) and not _is_natural(node, least, arithmetic, known):
        return False
    match node:
        case c_ast.BinaryOp(op="+" | "-" | "*", left=left, right=right):
            return all(_keeps(side, least, arithmetic, known) for side in (left, right))
        case c_ast.UnaryOp(op="-" | "+", expr=inner) | c_ast.Cast(expr=inner):
            return _keeps(inner, least, arithmetic, known)
        case _:
            return True


def _is_natural(
    node: Node, least: Mapping[str, int], arithmetic: Arithmetic, known: ValueEnvironment
) -> bool:
    value = arithmetic.polynomial(node, known)
    if value is None:
        return False
    names = {symbol for monomial in value.terms for symbol in monomial}
    unsigned = {name: 0 for name in names if name not in least and arithmetic.is_never_negative(name)}
    return _is_linear(value) and arithmetic.is_natural(value, {**unsigned, **least})


def _is_linear(value: Polynomial | None) -> bool:
    return value is not None and all(len(monomial) <= 1 for monomial in value.terms)
