"""Which elements of an array some consecutive iterations of the outermost axis touch.

    y[i * m + j] += x[i + 1];           iteration t of i = 2, 3, …: m elements of y from 2 m + m t on,
                                        1 element of x from 3 + t on

A launch in several queues copies no more than that before and behind a slice of the iterations.  Where the
elements of an iteration are not known to move on evenly, the array is copied in one piece.

Source: CUDA C++ Best Practices Guide, section 10.1.2 (overlapping transfers with computation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orio_py.ctree.build import as_long, binary
from orio_py.ctree.dependence.affine import Polynomial
from orio_py.ctree.loops import CanonicalLoop
from orio_py.ctree.nodes import Node
from orio_py.kernel.plan import SlicePlan
from orio_py.transformation.offload.arithmetic import Arithmetic
from orio_py.transformation.offload.element_accesses import ElementAccess
from orio_py.transformation.offload.index_ranges import Unbounded, ends


def slice_plan(
    uses: Sequence[ElementAccess],
    flats: Sequence[Polynomial | None],
    outer: CanonicalLoop,
    axes: int,
    first: tuple[Node | None, Polynomial | None],
    arithmetic: Arithmetic,
    known: Mapping[str, int],
) -> SlicePlan | None:
    """The elements of a buffer for an iteration of the loop `outer`, one of the `axes` mapped ones; None if unknown.

    `flats` are the flat subscripts of `uses`, `first` that of the buffer's first element as a node, None for 0,
    and as a polynomial, None where it is none; `known` are the least values of scalars.
    """
    lowers: dict[object, Polynomial] = {}
    uppers: dict[object, Polynomial] = {}
    factor: Polynomial | None = None
    for use, flat in zip(uses, flats, strict=True):
        if flat is None:
            return None
        for largest, found in ((False, lowers), (True, uppers)):
            for end in _ends(flat, use, outer, axes, arithmetic, known, largest=largest):
                parts = _split(end, outer.index, use)
                if parts is None or (factor is not None and factor.key != parts[0].key):
                    return None
                factor = parts[0]
                found[parts[1].key] = parts[1]
    if factor is None or not factor.terms or not lowers or not uppers:
        return None
    start = arithmetic.polynomial(outer.start, {})
    begin = factor * (arithmetic.opaque(outer.start) if start is None else start)
    lows = arithmetic.tightest(lowers.values(), smallest=True, minimums=known)
    highs = arithmetic.tightest(uppers.values(), smallest=False, minimums=known)
    low = arithmetic.extreme([begin + end for end in lows], largest=False)
    high = arithmetic.extreme([begin + end.shifted(1) for end in highs], largest=True)
    if len(lows) == len(highs) == 1:
        reach = arithmetic.expression(highs[0].shifted(1) - lows[0])
    else:
        reach = binary("-", as_long(high), low)
    node, origin = first
    inside = low if node is None else binary("-", as_long(low), node)
    if origin is not None and len(lows) == 1:
        inside = arithmetic.expression(begin + lows[0] - origin)
    return SlicePlan(arithmetic.expression(factor.scaled(outer.stride)), inside, reach)


def _ends(
    flat: Polynomial,
    use: ElementAccess,
    outer: CanonicalLoop,
    axes: int,
    arithmetic: Arithmetic,
    known: Mapping[str, int],
    *,
    largest: bool,
) -> list[Polynomial | None]:
    """The ends of a subscript in one iteration of the outer loop; None where they are not known."""
    inner = [level for level in use.levels if level.index != outer.index]
    try:
        return [*ends(flat, inner, axes - 1, known, arithmetic, largest=largest)]
    except Unbounded:
        return [None]


def _split(end: Polynomial | None, index: str, use: ElementAccess) -> tuple[Polynomial, Polynomial] | None:
    """The steady factor of an index, and the steady rest; None where one of them is not steady."""
    if end is None:
        return None
    factor = Polynomial.total(
        (tuple(symbol for symbol in monomial if symbol != index), coefficient)
        for monomial, coefficient in end.terms.items()
        if monomial.count(index) == 1
    )
    rest = end - factor * Polynomial.symbol(index)
    indices = {level.index for level in use.levels}
    if any(symbol in indices for part in (factor, rest) for monomial in part.terms for symbol in monomial):
        return None
    return factor, rest
