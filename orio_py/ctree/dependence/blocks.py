"""Linearised subscripts whose strides do not divide each other, as the numbers of nested blocks.

    out[i*sample + w*(j*sample + h*(k + c*b))]        out[b][k][j][i]

The elements that iterations of one loop touch, whatever the inner loops do, lie in a block; the blocks of different
iterations are apart where the stride of the loop is larger than any: two such subscripts are equal only if these
iterations are.  Blocks lie in the blocks of outer loops.  What is left in the smallest ones may be anything.

Source: the idea of nested strides is that of S. Chatterjee et al., "Generating local addresses and communication sets
for data-parallel programs", Journal of Parallel and Distributed Computing 26, 1995; the proof is the uniqueness of
quotient and rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orio_py.ctree.dependence.access import Instance
from orio_py.ctree.dependence.affine import Polynomial, is_fixed
from orio_py.ctree.dependence.conditions import Sufficient, depth
from orio_py.ctree.dependence.scope import Constraint

_ZERO = Polynomial.constant(0)


def in_blocks(
    instances: Sequence[Instance],
    place: int,
    outer: tuple[Constraint, ...],
    holds: Sufficient,
    *,
    coarse: bool = False,
) -> tuple[list[Instance], tuple[Constraint, ...]] | None:
    """The accesses to an array with the subscript at a place taken apart, and the conditions under which that is right.

    With `coarse` the blocks inside the largest ones are told apart only where that needs no further condition.  None
    where no loop is known to have blocks.
    """
    found = [
        instance.subscripts[place] if place < len(instance.subscripts) else None for instance in instances
    ]
    values = [value for value in found if value is not None and value.iteration_coefficients() is not None]
    if len(values) < len(instances):
        return None
    domains = [instance.domain + outer for instance in instances]
    for offset in (_fixed_part(values[0]), _ZERO):
        rests = [value - offset for value in values]
        numbers, rests, conditions = _numbers(rests, domains, holds, coarse=coarse)
        if numbers:
            parts = zip(instances, zip(*numbers, strict=True), rests, strict=True)
            return [_with_numbers(each, place, which, rest) for each, which, rest in parts], conditions
    return None


def _fixed_part(subscript: Polynomial) -> Polynomial:
    """What of a subscript has one value while the nest runs, loops around it included."""
    return Polynomial({product: c for product, c in subscript.terms.items() if all(map(is_fixed, product))})


def _numbers(
    rests: list[Polynomial], domains: Sequence[Sequence[Constraint]], holds: Sufficient, *, coarse: bool
) -> tuple[list[list[Polynomial]], list[Polynomial], tuple[Constraint, ...]]:
    """The numbers of the blocks that subscripts lie in, those of outer loops first, their places in these, and conditions."""
    numbers: list[list[Polynomial]] = []
    conditions: tuple[Constraint, ...] = ()
    for size in _sizes(rests):
        if all(rest.linear() is not None for rest in rests):
            break
        parts = [rest.divided_by_iterations(size) for rest in rests]
        needed = _inside(size, [rest for _, rest in parts], domains, holds)
        is_free = needed is not None and {c.key for c in needed} <= {c.key for c in conditions}
        if numbers and coarse and not is_free:
            continue
        if needed is not None and all(number.linear() is not None for number, _ in parts):
            numbers.append([number for number, _ in parts])
            rests = [rest for _, rest in parts]
            conditions += needed
    return numbers, rests, conditions


def _sizes(subscripts: Sequence[Polynomial]) -> list[Polynomial]:
    """The strides of loops that are no numbers, likely large ones first: products of many factors, and outer loops."""
    found: dict[object, tuple[tuple[object, ...], Polynomial]] = {}
    for subscript in subscripts:
        parts = subscript.iteration_coefficients()
        assert parts is not None
        for symbol, coefficient in parts[0].items():
            if coefficient.value is None:
                size = coefficient if coefficient.leading()[1] > 0 else coefficient.scaled(-1)
                order = (-len(size.leading()[0]), depth(symbol), size.key)
                found[size.key] = min(
                    found.get(size.key, (order, size)), (order, size), key=lambda each: each[0]
                )
    return [size for _, size in sorted(found.values(), key=lambda each: each[0])]


def _inside(
    size: Polynomial,
    rests: Sequence[Polynomial],
    domains: Sequence[Sequence[Constraint]],
    holds: Sufficient,
) -> tuple[Constraint, ...] | None:
    """When all places lie in blocks of a size: 0 <= place < size."""
    conditions: dict[object, Constraint] = {}
    for rest, domain in zip(rests, domains, strict=True):
        for value in (rest, (size - rest).shifted(-1)):
            needed = holds(value, domain)
            if needed is None:
                return None
            conditions.update((condition.key, condition) for condition in needed)
    return tuple(conditions.values())


def _with_numbers(
    instance: Instance, place: int, numbers: Sequence[Polynomial], rest: Polynomial
) -> Instance:
    """The access with the numbers of its blocks; what is left there may be any integer where it is not affine."""
    why = instance.why
    if rest.linear() is None:
        inner = max((s for product in rest.terms for s in product if s.startswith("@")), key=depth)
        rest = Polynomial.symbol(f"{inner}~")
        why = why or "its linearised subscript cannot be split into rows and columns that stay in their range"
    subscripts = (*instance.subscripts[:place], *numbers, rest, *instance.subscripts[place + 1 :])
    return replace(instance, subscripts=subscripts, why=why)
