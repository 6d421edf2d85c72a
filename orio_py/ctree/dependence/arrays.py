"""Linearised subscripts `A[i*n + j]` as the subscripts `A[i][j]` that they stand for.

`i*n + j` is not affine, but where `j` provably lies in `0 … n-1`, two such subscripts are equal exactly
if `i` and `j` are.  The strides (here `n` and 1) are read off the accesses to an array; the rows need not
be declared anywhere.  A size in a stride is taken to be at least 1 if it is a parameter of the function, a
global variable or a macro; a local variable may be the index of a loop further out, and 0.
The idea is that of optimistic delinearisation (Grosser et al., ICS 2015), without its run-time tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import gcd

from orio_py.ctree.dependence.access import Instance
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.dependence.scope import Constraint
from orio_py.ctree.dependence.terms import Proof
from orio_py.ctree.symbols import CDeclaration

_ONE = Polynomial.constant(1)


def delinearised(
    instances: Sequence[Instance],
    proof: Proof,
    declarations: Mapping[str, CDeclaration],
    outer: tuple[Constraint, ...] = (),
) -> tuple[Instance, ...]:
    """The accesses with affine subscripts only; subscripts that resist become None, with the reason.

    `outer` is what is known of the loops around the nest.
    """
    variables = frozenset(name for name, declared in declarations.items() if declared.scope == "local")
    by_name = sorted(instances, key=lambda instance: instance.name)
    found: list[Instance] = []
    for _, group in groupby(by_name, key=lambda instance: instance.name):
        found.extend(_array(list(group), proof, variables, outer))
    return tuple(found)


def _array(
    instances: list[Instance], proof: Proof, variables: frozenset[str], outer: tuple[Constraint, ...]
) -> list[Instance]:
    depth = max(len(instance.subscripts) for instance in instances)
    for place in reversed(range(depth)):
        column = [i.subscripts[place] for i in instances if place < len(i.subscripts)]
        if any(s is not None and s.linear() is None for s in column):
            known = [s for s in column if s is not None]
            found: list[Instance] = []
            # In `i*n + i` the stride is not n+1 but n, if another access is `j*n + j - 1`.
            for leading in (False, True):
                strides = _strides(known, leading=leading)
                sizes = [stride for stride in strides or () if _is_size(stride, variables)]
                certain = outer + tuple(size.shifted(-1) for size in sizes)
                attempt = [_split(instance, place, strides, certain, proof) for instance in instances]
                if not found or _failures(attempt) < _failures(found):
                    found = attempt
                if _failures(found) == 0:
                    break
            instances = found
    return instances


def _failures(instances: list[Instance]) -> int:
    return sum(None in instance.subscripts for instance in instances)


def _is_size(stride: Polynomial, variables: frozenset[str]) -> bool:
    """Whether a stride is one product of sizes, which are never local variables."""
    words = {word for monomial in stride.terms for symbol in monomial for word in re.findall(r"\w+", symbol)}
    return len(stride.terms) == 1 and bool(words) and words.isdisjoint(variables)


def _strides(subscripts: list[Polynomial], *, leading: bool = False) -> tuple[Polynomial, ...] | None:
    """The strides of an array, largest first and ending in 1, each a multiple of the next.

    `leading` takes only the first term of each coefficient: the others belong to the column.
    """
    multiples: dict[tuple[object, ...], int] = {}
    shapes: dict[tuple[object, ...], Polynomial] = {}
    rests: list[Polynomial] = []
    for subscript in subscripts:
        parts = subscript.iteration_coefficients()
        if parts is None:
            return None
        rests.append(parts[1])
        for coefficient in parts[0].values():
            if coefficient.value is None:
                if leading:
                    coefficient = Polynomial({coefficient.leading()[0]: 1})
                content = gcd(*coefficient.terms.values())
                content = -content if coefficient.leading()[1] < 0 else content
                shape = Polynomial({m: c // content for m, c in coefficient.terms.items()})
                shapes[shape.key] = shape
                multiples[shape.key] = gcd(multiples.get(shape.key, 0), content)
    for key, shape in shapes.items():
        offsets = (rest.terms.get(shape.leading()[0], 0) for rest in rests)
        multiples[key] = gcd(multiples[key], *offsets)
    candidates = [shape.scaled(multiples[key]) for key, shape in shapes.items()]
    candidates.sort(key=lambda c: (len(c.leading()[0]), len(c.terms), sum(map(abs, c.terms.values())), c.key))
    return _chain(candidates)


def _chain(candidates: Iterable[Polynomial]) -> tuple[Polynomial, ...] | None:
    """The candidates that the others are sums of; None if they do not divide each other."""
    strides = [_ONE]
    for candidate in candidates:
        rest = candidate
        for stride in strides[:-1]:
            quotient, remaining = rest.divided(stride)
            if quotient.value is not None:
                rest = remaining
        if rest.value is not None:
            continue
        if strides[0] is not _ONE and candidate.divided(strides[0])[1].terms:
            return None
        strides.insert(0, candidate)
    return tuple(strides)


def _split(
    instance: Instance,
    place: int,
    strides: tuple[Polynomial, ...] | None,
    known: tuple[Constraint, ...],
    proof: Proof,
) -> Instance:
    if place >= len(instance.subscripts):
        return instance
    subscript = instance.subscripts[place]
    parts: list[Polynomial] | None = None
    if subscript is not None and strides is not None:
        parts = _parts(subscript, strides, instance.domain + known, proof)
    count = 1 if strides is None else len(strides)
    why = instance.why
    if parts is None and why is None:
        why = "its linearised subscript cannot be split into rows and columns that stay in their range"
    new = (None,) * count if parts is None else tuple(parts)
    before, after = instance.subscripts[:place], instance.subscripts[place + 1 :]
    return replace(instance, subscripts=before + new + after, why=why)


def _parts(
    subscript: Polynomial, strides: tuple[Polynomial, ...], domain: Sequence[Constraint], proof: Proof
) -> list[Polynomial] | None:
    """The coordinates of a subscript, outermost first, or None if one may leave its range."""
    stride = strides[0]
    if len(strides) == 1:
        return [subscript] if subscript.linear() is not None else None
    row, rest = _divided(subscript, stride)
    if row.linear() is None:
        return None
    for shift in (0, -1, 1):
        below = rest + stride.scaled(shift)
        inner = _parts(below, strides[1:], domain, proof)
        if inner is not None and _fits(inner, strides, domain, proof):
            return [row.shifted(-shift), *inner]
    return None


def _fits(
    inner: list[Polynomial], strides: tuple[Polynomial, ...], domain: Sequence[Constraint], proof: Proof
) -> bool:
    """Whether the next coordinate lies in its row: the rest then lies below the stride."""
    extent, left = (
        strides[0].divided(strides[1]) if strides[1].value is None else (strides[0], Polynomial({}))
    )
    if left.terms:
        return False
    return proof(inner[0], domain) and proof((extent - inner[0]).shifted(-1), domain)


def _divided(subscript: Polynomial, stride: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and rest, with the iterations kept whole: `i*(n+2)` is `i` times the stride."""
    parts = subscript.iteration_coefficients()
    if parts is None:
        return Polynomial({}), subscript
    quotient, rest = parts[1].divided(stride)
    for symbol, coefficient in parts[0].items():
        factor, remaining = coefficient.divided(stride)
        if factor.value is None:
            factor, remaining = Polynomial({}), coefficient
        quotient += Polynomial.symbol(symbol) * factor
        rest += Polynomial.symbol(symbol) * remaining
    return quotient, rest
