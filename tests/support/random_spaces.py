"""Random constrained spaces that are small enough to be listed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hypothesis import strategies as st

from orio_py.core.expr import Value
from orio_py.frontend.expressions import parse_expression
from orio_py.search_space.encoding import Encoding, Point
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.parameter import Constraint, Parameter

LISTS: tuple[tuple[Value, ...], ...] = (
    (1, 2, 4, 8),
    (8, 1, 3),
    (1, 2, 3, 4, 5, 6, 7),
    (2,),
    (0.5, 2, 1),
    (False, True),
)
CONDITIONS = (
    "{0} * {1} <= 8",
    "{0} % {1} == 0",
    "{0} + {1} != 5",
    "{0} <= {1} or {2} > 1",
    "{0} * {1} + {2} <= 12",
    "{0} == {1} or {1} == {2}",
    "not ({0} == 1 and {2} > 2)",
)


def space_of(lists: Sequence[tuple[Value, ...]], conditions: Sequence[str]) -> SearchSpace:
    """A space with the parameters A, B, C, …; a condition names them by number."""
    names = "ABCDEFG"[: len(lists)]
    texts = [condition.format(*names) for condition in conditions]
    return SearchSpace(
        [Parameter(name, values) for name, values in zip(names, lists, strict=True)],
        [Constraint(f"c{i}", parse_expression(text)) for i, text in enumerate(texts)],
    )


@st.composite
def spaces(draw: st.DrawFn, most: int = 400) -> SearchSpace:
    """A space of at most `most` combinations, of numbers and words, with up to three constraints."""
    lists = draw(st.lists(st.sampled_from(LISTS), min_size=1, max_size=5))
    if draw(st.booleans()):
        lists.append(("-O2", "-O3", "-Os"))
    while len(lists) > 1 and _product(lists) > most:
        lists.pop(0)
    numeric = sum(1 for values in lists if not isinstance(values[0], str))
    conditions: list[str] = []
    for condition in draw(st.lists(st.sampled_from(CONDITIONS), max_size=3)):
        if numeric:
            chosen = draw(st.lists(st.integers(0, numeric - 1), min_size=3, max_size=3))
            conditions.append(condition.format(*(f"{{{i}}}" for i in chosen)))
    # A remainder by 0 or False has no value, so such lists are not divisors.
    lists = [tuple(v for v in values if v is not False) or (1,) for values in lists] if conditions else lists
    return space_of(lists, conditions)


def points_of(space: SearchSpace) -> list[Point]:
    """All points that meet the constraints, by trying every combination; not through the structure."""
    encoding = Encoding(space)
    every = itertools.product(*(range(a.size) for a in encoding.axes))
    return [point for point in every if encoding.configuration(point) in space]


def _product(lists: Sequence[tuple[Value, ...]]) -> int:
    product = 1
    for values in lists:
        product *= len(values)
    return product
