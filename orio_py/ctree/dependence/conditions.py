"""Conditions on values that do not change under which a polynomial is at least 0 in all iterations of a nest.

    i*step + j < n   for all   0 <= i < rows, 0 <= j < columns      where   (rows - 1)*step + columns - 1 < n and step >= 0

Each iteration is replaced by the end of its range at which the polynomial is least, inner loops first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from orio_py.ctree.dependence.affine import Polynomial, is_fixed
from orio_py.ctree.dependence.scope import Constraint
from orio_py.ctree.dependence.terms import Proof

Sufficient = Callable[[Polynomial, Sequence[Constraint]], "tuple[Constraint, ...] | None"]
"""What makes a polynomial at least 0 under constraints: nothing where it is anyway, None where nothing is known to."""


def without_iterations(
    value: Polynomial, domain: Sequence[Constraint], proof: Proof, outer: tuple[Constraint, ...]
) -> tuple[Constraint, ...] | None:
    """Conditions on values that do not change under which a polynomial is at least 0 wherever all of `domain` are.

    A multiple of a constraint, which is at least 0, is taken away until no iteration is left.  None where that leads
    nowhere.
    """
    coefficients = value.iteration_coefficients()
    if coefficients is None:
        return None
    if value.is_parametric:
        return _where_positive(value, proof, outer)
    # Inner loops first: their bounds may mention the indices of the loops around.
    symbol = max(coefficients[0], key=depth)
    for constraint, multiple in _multiples(symbol, coefficients[0][symbol], domain):
        positive = () if multiple.value is not None else _where_positive(multiple, proof, outer)
        if positive is None:
            continue
        left = without_iterations(value - constraint * multiple, domain, proof, outer)
        if left is not None:
            return positive + left
    return None


def _where_positive(
    value: Polynomial, proof: Proof, outer: tuple[Constraint, ...]
) -> tuple[Constraint, ...] | None:
    """Where a value that does not change is at least 0; None if it never is."""
    if proof(value, outer):
        return ()
    return None if value.value is not None or proof(value.scaled(-1).shifted(-1), outer) else (value,)


def _multiples(
    symbol: str, factor: Polynomial, domain: Sequence[Constraint]
) -> Iterator[tuple[Constraint, Polynomial]]:
    """Constraints of which a multiple has an iteration just as often; it is that of an inner loop of theirs."""
    sign = 1 if factor.leading()[1] > 0 else -1
    for constraint in domain:
        parts = constraint.iteration_coefficients()
        if parts is None or symbol not in parts[0] or max(parts[0], key=depth) != symbol:
            continue
        own, number = parts[0][symbol].value, factor.value
        if own is None or own * sign <= 0:
            continue
        if number is not None and number % own == 0:
            yield constraint, Polynomial.constant(number // own)
        elif number is None and abs(own) == 1:
            yield constraint, factor.scaled(own)


def depth(symbol: str) -> tuple[bool, int, str]:
    """Larger for the symbols of inner loops, which are made later."""
    return not is_fixed(symbol), len(symbol), symbol
