"""Spaces of listed rows agree with the spaces of constraints that hold the same configurations."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orio_py.core.diagnostics import DiagnosticError
from orio_py.frontend.expressions import parse_expression
from orio_py.search_space.listed import ListedSpace, space_of_rows
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.parameter import Constraint, Parameter

LISTS = {"A": (1, 2, 4), "B": (1, 2, 3, 4), "F": ("-O2", "-O3"), "V": (False, True)}
PARAMETERS = [Parameter(name, values) for name, values in LISTS.items()]


def rows_that(*conditions):
    space = SearchSpace(
        PARAMETERS, [Constraint(f"c{k}", parse_expression(c)) for k, c in enumerate(conditions)]
    )
    return space, list(space)


@pytest.mark.parametrize(
    ("conditions", "groups"),
    [
        ((), [("A",), ("B",), ("F",), ("V",)]),
        (("A * B <= 4",), [("A", "B"), ("F",), ("V",)]),
        (("A * B <= 4", "V or F == '-O2'"), [("A", "B"), ("F", "V")]),
        (("A != 2 or V", "B % 2 == 0 or F == '-O3'"), [("A", "V"), ("B", "F")]),
        (("A + B + V <= 5",), [("A", "B", "V"), ("F",)]),
        # every pair of values occurs, and yet A, B and V depend on each other
        (("(A == 4) + (B == 4) + V != 1",), [("A", "B", "V"), ("F",)]),
        (("A == 2",), [("A",), ("B",), ("F",), ("V",)]),
    ],
    ids=range(7),
)
def test_they_rank_enumerate_and_pin_as_constraints_do(conditions, groups):
    space, rows = rows_that(*conditions)
    mixed = random.Random(3).sample(rows, len(rows))
    listed = ListedSpace(PARAMETERS, mixed)
    assert list(listed) == rows
    assert listed.size == len(rows)
    assert listed.cartesian == space.cartesian
    assert [group.parameters for group in listed.groups] == groups
    assert [listed.rank(row) for row in rows] == list(range(len(rows)))
    for point in itertools.product(*LISTS.values()):
        values = dict(zip(LISTS, point, strict=True))
        assert (values in listed) == (values in space)
    assert {**rows[0], "A": 9} not in listed
    assert list(listed.pin("B", 2)) == [row for row in rows if row["B"] == 2]
    assert listed.first() == rows[0]
    assert len(set(listed.sample(5, random.Random(1)))) == 5


@settings(max_examples=60, deadline=None)
@given(st.sets(st.tuples(*(st.sampled_from(values) for values in LISTS.values())), min_size=1))
def test_any_set_of_rows_is_a_space(points):
    rows = [dict(zip(LISTS, point, strict=True)) for point in sorted(points, key=str)]
    listed = ListedSpace(PARAMETERS, rows)
    assert {tuple(row.values()) for row in listed} == points
    assert listed.size == len(points)


def test_lists_of_values_come_from_the_rows():
    space = space_of_rows([{"U": 8, "F": "b"}, {"U": 2, "F": "a"}, {"U": 8, "F": "a"}])
    assert {p.name: p.values for p in space.parameters} == {"U": (2, 8), "F": ("b", "a")}


def test_what_is_refused():
    assert ListedSpace(PARAMETERS, []).size == 0
    for bad in ([], [{"U": 1}, {"V": 1}]):
        with pytest.raises(ValueError, match=r"no rows|lacks the parameter"):
            space_of_rows(bad)
    with pytest.raises(ValueError, match="is not a combination"):
        ListedSpace(PARAMETERS, [{"A": 1, "B": 9, "F": "-O2", "V": True}])
    with pytest.raises(DiagnosticError) as caught:
        ListedSpace(PARAMETERS, []).pin("X", 1)
    assert caught.value.diagnostics[0].code == "ORIO-P007"
