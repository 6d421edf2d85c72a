"""Numbers at one place of the iteration space, with how they change from there along each loop.

An expression of subscripts and bounds is evaluated once, at a representative iteration, together with its partial
derivatives (forward differentiation).  For affine expressions these are the coefficients, and the numbers hold
everywhere; for others they hold near that iteration.

Source: A. Griewank and A. Walther, "Evaluating Derivatives", 2nd edition, SIAM 2008, chapter 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, nan
from typing import NamedTuple

Slopes = Mapping[int, float]
"""By the number of a loop, or of a dimension of a launch: the change from one iteration to the next."""

NO_SLOPES: Slopes = {}


class LinearValue(NamedTuple):
    """A value, `nan` where it is not known; whole numbers are `int`, as C divides them differently."""

    value: float
    slopes: Slopes = NO_SLOPES

    @property
    def is_known(self) -> bool:
        """Whether the value is a number."""
        return isfinite(self.value)


UNKNOWN = LinearValue(nan)


def plus(first: LinearValue, second: LinearValue, sign: int = 1) -> LinearValue:
    """`first + sign * second`."""
    value = first.value + sign * second.value
    if not second.slopes:
        return LinearValue(value, first.slopes)
    if not first.slopes and sign == 1:
        return LinearValue(value, second.slopes)
    slopes = dict(first.slopes)
    for loop, slope in second.slopes.items():
        slopes[loop] = slopes.get(loop, 0) + sign * slope
    return LinearValue(value, slopes)


def times(first: LinearValue, second: LinearValue) -> LinearValue:
    """The product.

    >>> times(LinearValue(3, {1: 1}), LinearValue(8))
    LinearValue(value=24, slopes={1: 8})
    """
    value = first.value * second.value
    if not first.slopes and not second.slopes:
        return LinearValue(value)
    slopes = {loop: slope * second.value for loop, slope in first.slopes.items()}
    for loop, slope in second.slopes.items():
        slopes[loop] = slopes.get(loop, 0) + slope * first.value
    return LinearValue(value, slopes)


def quotient(first: LinearValue, second: LinearValue) -> LinearValue:
    """C's division: whole numbers towards zero.  Unknown where the divisor is 0 or not known."""
    if not second.value or not second.is_known or not first.is_known:
        return UNKNOWN
    if isinstance(first.value, int) and isinstance(second.value, int):
        value: float = abs(first.value) // abs(second.value)
        value = value if (first.value < 0) == (second.value < 0) else -value
    else:
        value = first.value / second.value
    return LinearValue(value, {loop: slope / second.value for loop, slope in first.slopes.items()})


def remainder(first: LinearValue, second: LinearValue) -> LinearValue:
    """C's remainder; it changes as the dividend does, near where it is taken."""
    whole = quotient(first, second)
    if not whole.is_known:
        return UNKNOWN
    return LinearValue(first.value - whole.value * second.value, first.slopes)
