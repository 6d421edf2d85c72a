"""Integer polynomials over parameters, in a normal form that makes equal ones compare equal.

A polynomial is a sorted tuple of (monomial, coefficient); a monomial is the sorted tuple of its
parameters' indices, repeated for powers; the empty monomial is the constant term.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TypeAlias

Monomial: TypeAlias = "tuple[int, ...]"
Polynomial: TypeAlias = "tuple[tuple[Monomial, int], ...]"
Ranges: TypeAlias = "Sequence[tuple[int, int]]"
"""The least and the largest value of each parameter, by index."""

ZERO: Polynomial = ()


def constant(value: int) -> Polynomial:
    """The polynomial that is `value` everywhere."""
    return (((), value),) if value else ZERO


def variable(index: int) -> Polynomial:
    """The polynomial that is one parameter's value."""
    return (((index,), 1),)


def constant_value(polynomial: Polynomial) -> int | None:
    """The value of a constant polynomial, None for any other."""
    if not polynomial:
        return 0
    return polynomial[0][1] if polynomial[-1][0] == () else None


def add(left: Polynomial, right: Polynomial, factor: int = 1) -> Polynomial:
    """`left + factor * right`."""
    table = dict(left)
    for monomial, coefficient in right:
        table[monomial] = table.get(monomial, 0) + factor * coefficient
    return _normal(table)


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """`left * right`."""
    table: dict[Monomial, int] = {}
    for first, a in left:
        for second, b in right:
            monomial = tuple(sorted(first + second))
            table[monomial] = table.get(monomial, 0) + a * b
    return _normal(table)


def substitute(polynomial: Polynomial, index: int, value: int) -> Polynomial:
    """The polynomial with one parameter replaced by a number."""
    table: dict[Monomial, int] = {}
    for monomial, coefficient in polynomial:
        if index in monomial:
            coefficient *= value ** monomial.count(index)
            monomial = tuple(other for other in monomial if other != index)
        table[monomial] = table.get(monomial, 0) + coefficient
    return _normal(table)


def evaluate_all(polynomial: Polynomial, values: Sequence[int]) -> list[int]:
    """The values of a polynomial in one parameter."""
    results = [0] * len(values)
    for monomial, coefficient in polynomial:
        power = len(monomial)
        results = [
            result + coefficient * (value**power if power != 1 else value)
            for result, value in zip(results, values, strict=True)
        ]
    return results


def substitute_all(
    polynomial: Polynomial, index: int, values: Sequence[int], ranges: Ranges
) -> list[tuple[Polynomial, int, int]]:
    """`substitute` for each value in turn, with the bounds of each result; the quick way for many."""
    table: dict[Monomial, list[tuple[int, int]]] = {}
    for monomial, coefficient in polynomial:
        rest = tuple([other for other in monomial if other != index])
        table.setdefault(rest, []).append((coefficient, len(monomial) - len(rest)))
    monomials = sorted(table)
    pattern: list[tuple[Monomial, int]] = []
    varying: list[tuple[int, list[tuple[int, int]], int, int]] = []
    base_low = base_high = 0
    for place, rest in enumerate(monomials):
        least, most = _monomial_bounds(rest, ranges)
        coefficient = sum(factor for factor, power in table[rest] if power == 0)
        pattern.append((rest, coefficient))
        if any(power for _, power in table[rest]):
            varying.append((place, table[rest], least, most))
        else:
            base_low += coefficient * (least if coefficient > 0 else most)
            base_high += coefficient * (most if coefficient > 0 else least)
    results: list[tuple[Polynomial, int, int]] = []
    for value in values:
        terms = pattern.copy()
        low, high, has_zero = base_low, base_high, False
        for place, powers, least, most in varying:
            coefficient = 0
            for factor, power in powers:
                coefficient += factor * (value if power == 1 else value**power)
            low += coefficient * (least if coefficient > 0 else most)
            high += coefficient * (most if coefficient > 0 else least)
            has_zero = has_zero or not coefficient
            terms[place] = (monomials[place], coefficient)
        results.append((tuple([t for t in terms if t[1]]) if has_zero else tuple(terms), low, high))
    return results


def content(polynomial: Polynomial) -> int:
    """The greatest common divisor of the coefficients of all terms but the constant one; not constant."""
    has_constant = polynomial[0][0] == ()
    return gcd(*[coefficient for _, coefficient in (polynomial[1:] if has_constant else polynomial)])


def divide(polynomial: Polynomial, divisor: int) -> Polynomial:
    """The polynomial divided by a number, rounded down where it does not divide a coefficient."""
    divided = ((monomial, coefficient // divisor) for monomial, coefficient in polynomial)
    return tuple([term for term in divided if term[1]])


def bounds(polynomial: Polynomial, ranges: Ranges) -> tuple[int, int]:
    """Numbers that no value of the polynomial falls below or exceeds, given each parameter's range."""
    low = high = 0
    for monomial, coefficient in polynomial:
        least, most = _monomial_bounds(monomial, ranges)
        low += coefficient * (least if coefficient > 0 else most)
        high += coefficient * (most if coefficient > 0 else least)
    return low, high


def _monomial_bounds(monomial: Monomial, ranges: Ranges) -> tuple[int, int]:
    least = most = 1
    for index in monomial:
        lower, upper = ranges[index]
        corners = (least * lower, least * upper, most * lower, most * upper)
        least, most = min(corners), max(corners)
    return least, most


def indices(polynomial: Polynomial) -> int:
    """The set of parameters that occur, as a bit mask."""
    mask = 0
    for monomial, _ in polynomial:
        for index in monomial:
            mask |= 1 << index
    return mask


def _normal(table: dict[Monomial, int]) -> Polynomial:
    return tuple(sorted(item for item in table.items() if item[1]))
