"""Search spaces: counting, ranks, sampling, pins, messages."""

from __future__ import annotations

import collections
import itertools
import random

import pytest

from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.frontend.expressions import parse_expression
from orio_py.search_space import ordering
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.parameter import Constraint, Parameter

HERE = Position("spec.c", 3, 5)


def make(
    lists: dict[str, list[Value] | range],
    *conditions: str,
    fixed: dict[str, Value] | None = None,
    **options: int,
) -> SearchSpace:
    parameters = [Parameter(name, tuple(values), HERE) for name, values in lists.items()]
    constraints = [
        Constraint(f"c{i}", parse_expression(text, position=HERE), HERE) for i, text in enumerate(conditions)
    ]
    return SearchSpace(parameters, constraints, fixed, **options)


def only(error: pytest.ExceptionInfo[DiagnosticError]) -> Diagnostic:
    (diagnostic,) = error.value.diagnostics
    return diagnostic


def test_no_parameters_is_one_empty_configuration() -> None:
    space = make({})
    assert (space.cartesian, space.size, space.groups) == (1, 1, ())
    assert list(space) == [Configuration()]
    assert Configuration() in space


def test_no_constraints_is_the_product_in_written_order() -> None:
    space = make({"A": [3, 1], "B": ["x", "y", "z"]})
    assert [tuple(c.values()) for c in space] == list(itertools.product([3, 1], ["x", "y", "z"]))
    assert [group.parameters for group in space.groups] == [("A",), ("B",)]


def test_groups_are_the_connected_parameters() -> None:
    space = make(
        {"A": range(1, 5), "B": range(3), "C": range(1, 5), "D": range(2)},
        "C % A == 0 and B < 2",
        "N > 3",
        fixed={"N": 4},
    )
    assert [group.parameters for group in space.groups] == [("A", "C"), ("B",), ("D",)]
    assert [group.constraints for group in space.groups] == [("c0",), ("c0",), ()]
    assert [group.count for group in space.groups] == [8, 2, 2]
    assert [group.cartesian for group in space.groups] == [16, 3, 2]
    assert space.size == 32


def test_interleaved_groups_enumerate_in_written_order() -> None:
    space = make({"A": range(3), "B": range(3), "C": range(3), "D": range(3)}, "A != C", "B < D")
    expected = [p for p in itertools.product(range(3), repeat=4) if p[0] != p[2] and p[1] < p[3]]
    assert [tuple(c.values()) for c in space] == expected
    assert space.order == ("A", "B", "C", "D")


def test_repeated_values_count_once() -> None:
    space = make({"A": [1, 2, 1, 1]})
    assert space.size == space.cartesian == 2


def test_values_of_different_types_are_different() -> None:
    space = make({"A": [1, True, 1.0]}, "A == 1")
    assert space.size == 3
    assert [type(c["A"]) for c in space] == [int, bool, float]
    assert {"A": 2} not in space
    assert make({"A": [1]}).rank({"A": 1}) == 0
    assert {"A": True} not in make({"A": [1]})


def test_list_values_work() -> None:
    space = make({"P": [["i", "j"], ["j", "i"]], "U": [1, 2]}, "P[0] == 'i' or U == 1")
    assert space.size == 3
    assert all(c in space for c in space)
    assert len(set(space)) == 3


@pytest.mark.parametrize("condition", ["False", "N > 100", "A > 100", "A > 2 and A < 2"])
def test_empty_space(condition: str) -> None:
    space = make({"A": range(5), "B": range(5)}, condition, fixed={"N": 5})
    assert space.size == 0
    assert list(space) == []
    assert space.first() is None
    assert space.sample(3, random.Random(1)) == []
    assert space.first_rank_from((0, 0)) == 0
    assert {"A": 1, "B": 1} not in space
    with pytest.raises(IndexError):
        space.at(0)
    with pytest.raises(ValueError, match="not in the space"):
        space.rank({"A": 1, "B": 1})


def test_at_refuses_ranks_outside() -> None:
    space = make({"A": range(5)})
    for rank in (-1, 5):
        with pytest.raises(IndexError):
            space.at(rank)


def test_contains_refuses_other_shapes() -> None:
    space = make({"A": range(5), "B": range(2)})
    assert {"A": 1, "B": 1} in space
    for wrong in ({"A": 1}, {"A": 1, "C": 1}, {"A": 1, "B": 1, "C": 1}, {"A": 7, "B": 1}, 5, ("A", "B")):
        assert wrong not in space


def test_first_takes_the_first_possible_value_of_each_list() -> None:
    space = make({"A": [8, 4, 2], "B": [3, 5, 16], "C": [9, 1]}, "B % A == 0", "C < 5")
    first = space.first()
    assert first is not None
    assert dict(first) == {"A": 8, "B": 16, "C": 1}


def test_pins_compose() -> None:
    space = make({"A": range(1, 5), "B": range(1, 9), "C": range(3)}, "B % A == 0", "B > C")
    pinned = space.pin("B", 4).pin("C", 2)
    assert [dict(c) for c in pinned] == [{"A": a, "B": 4, "C": 2} for a in (1, 2, 4)]
    assert pinned.names == space.names
    assert space.size > pinned.size, "the space itself is unchanged"
    assert space.pin("A", 3).pin("B", 4).size == 0


def test_pin_messages() -> None:
    space = make({"UNROLL": range(1, 5), "B": ["x"]})
    with pytest.raises(DiagnosticError) as error:
        space.pin("UNROL", 2)
    assert (only(error).code, only(error).help) == ("ORIO-P007", "did you mean `UNROLL`?")
    with pytest.raises(DiagnosticError) as error:
        space.pin("UNROLL", 7)
    assert (only(error).code, only(error).help) == ("ORIO-P008", "the values are 1, 2, 3, 4")
    with pytest.raises(DiagnosticError):
        space.pin("UNROLL", "2")


def test_unknown_name_is_reported_with_the_nearest() -> None:
    with pytest.raises(DiagnosticError) as error:
        make({"U_I": [1]}, "U_J < 2", "N + M > 0", fixed={"N": 1})
    first, second = error.value.diagnostics
    assert (first.code, first.position, first.help) == ("ORIO-P001", HERE, "did you mean `U_I`?")
    assert "`c1`" in second.message
    assert "`M`" in second.message


def test_duplicate_names_and_empty_lists_are_all_reported() -> None:
    with pytest.raises(DiagnosticError) as error:
        SearchSpace([Parameter("A", (1,)), Parameter("A", (2,)), Parameter("N", ())], [], {"N": 3})
    assert [d.code for d in error.value.diagnostics] == ["ORIO-P002", "ORIO-P002", "ORIO-P003"]


def test_constraint_that_cannot_be_evaluated() -> None:
    space = make({"UF": [2, 1, 0], "B": [1, 2]}, "B % UF == 0")
    with pytest.raises(DiagnosticError) as error:
        _ = space.size
    problem = only(error)
    assert problem.code == "ORIO-P004"
    assert problem.position == HERE
    assert problem.message.startswith("constraint `c0` cannot be evaluated for B=1, UF=0: division by zero")


@pytest.mark.parametrize(
    "conditions",
    [
        ("UF != 0 and 4 % UF == 0",),
        ("4 % UF == 0", "UF > 0"),
        ("UF == 0 or 4 % UF == 0", "UF"),
        ("4 % UF == 0", "N < 0"),
    ],
)
def test_what_another_constraint_excludes_is_not_reported(conditions: tuple[str, ...]) -> None:
    space = make({"UF": [2, 1, 0]}, *conditions, fixed={"N": 3})
    assert space.size == (0 if "N < 0" in conditions else 2)


def test_constraint_without_parameters_that_cannot_be_evaluated() -> None:
    with pytest.raises(DiagnosticError) as error:
        _ = make({"A": [1]}, "N % 0 == 1", fixed={"N": 3}).size
    assert only(error).message.startswith("constraint `c0` cannot be evaluated for N=3: division by zero")


@pytest.mark.parametrize(
    ("condition", "shown"), [("F", "'-O2' for F='-O2'"), ("[A]", "[1] for A=1"), ("None", "None")]
)
def test_constraint_that_is_no_condition(condition: str, shown: str) -> None:
    with pytest.raises(DiagnosticError) as error:
        _ = make({"A": [1, 2], "F": ["-O2"]}, condition).size
    assert only(error).code == "ORIO-P005"
    assert only(error).message == f"constraint `c0` is {shown}; it has to be true or false"


def test_every_wrong_constraint_is_reported() -> None:
    with pytest.raises(DiagnosticError) as error:
        _ = make({"A": [0], "B": [0]}, "1 / A > 0", "1 / B > 0").size
    assert [d.message.split("`")[1] for d in error.value.diagnostics] == ["c0", "c1"]


def test_too_entangled_is_said_and_quick() -> None:
    lists: dict[str, list[Value] | range] = {f"P{i}": range(1, 60) for i in range(8)}
    tangled = " + ".join(f"({i + 3} ** P{i}) % 1009" for i in range(8))
    with pytest.raises(DiagnosticError) as error:
        _ = make(lists, f"({tangled}) % 7919 == 13", limit=200_000).size
    assert only(error).code == "ORIO-P006"
    assert only(error).position == HERE
    assert "8 parameters (P0, P1" in only(error).message


def test_pinning_makes_an_entangled_space_countable() -> None:
    lists: dict[str, list[Value] | range] = {f"P{i}": range(1, 60) for i in range(4)}
    space = make(lists, "(3 ** P0 % 101 + 5 ** P1 % 103 * P2) % 89 == P3 // (P1 % 7 + 1)", limit=400_000)
    with pytest.raises(DiagnosticError):
        _ = space.size
    pinned = space.pin("P0", 3).pin("P2", 7)
    brute = [
        c
        for c in itertools.product(range(1, 60), repeat=2)
        if (27 + 5 ** c[0] % 103 * 7) % 89 == c[1] // (c[0] % 7 + 1)
    ]
    assert pinned.size == len(brute)


def test_large_lists_stay_small() -> None:
    space = make({"A": range(10**5), "B": range(10**5)}, "B % 2 == 0")
    assert space.size == 10**5 * 5 * 10**4
    assert dict(space.at(space.size - 1)) == {"A": 99_999, "B": 99_998}
    assert sum(group.nodes for group in space.groups) <= 4


def test_sample_is_uniform() -> None:
    space = make({"A": range(1, 7), "B": range(1, 7), "C": [0, 1]}, "A % B == 0 or C == 1", "A + B > 3")
    rng, draws = random.Random(12345), 20_000
    seen = collections.Counter(c for _ in range(draws // 5) for c in space.sample(5, rng))
    assert set(seen) == set(space)
    expected = draws / space.size
    chi_square = sum((count - expected) ** 2 / expected for count in seen.values())
    freedom = space.size - 1
    assert chi_square < freedom + 4 * (2 * freedom) ** 0.5


def test_sample_of_everything_and_more() -> None:
    space = make({"A": range(4), "B": range(4)}, "A != B")
    for n in (12, 13, 10**30):
        drawn = space.sample(n, random.Random(2))
        assert len(drawn) == 12
        assert set(drawn) == set(space)
    assert space.sample(0, random.Random(2)) == space.sample(-1, random.Random(2)) == []
    assert space.sample(5, random.Random(7)) == space.sample(5, random.Random(7))


def test_spaces_beyond_machine_integers() -> None:
    space = make({f"P{i}": range(100) for i in range(40)}, *(f"P{i} <= P{i + 1}" for i in range(0, 40, 2)))
    assert space.size == 5050**20
    drawn = space.sample(100, random.Random(5))
    assert len(set(drawn)) == 100
    assert all(c in space and space.at(space.rank(c)) == c for c in drawn)
    assert dict(next(iter(space))) == dict.fromkeys(space.names, 0)
    assert space.at(space.size - 1) == Configuration(dict.fromkeys(space.names, 99))


def test_first_rank_from_a_coordinate() -> None:
    space = make({"A": [5, 6, 7], "B": [1, 2, 3], "C": [0, 1]}, "A % B == 0", "C < B")
    places = [tuple(list(p.values).index(c[p.name]) for p in space.parameters) for c in space]
    for coordinate in itertools.product(range(3), range(3), range(2)):
        expected = sum(place < coordinate for place in places)
        assert space.first_rank_from(coordinate) == expected


@pytest.fixture
def small_frontier_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering, "MOST_NODES_WRITTEN", 0.0)


@pytest.mark.usefixtures("small_frontier_first")
def test_other_orders_describe_the_same_space() -> None:
    lists: dict[str, list[Value] | range] = {name: range(1, 7) for name in ("A", "X", "B", "C", "Y")}
    conditions = ("A * B * C <= 20", "C % A == 0", "X < Y")
    space = make(lists, *conditions)
    assert space.order != space.names, "the example has to be one that is reordered"
    assert sorted(space.order) == sorted(space.names)
    expected = {
        Configuration(zip(lists, p, strict=True))
        for p in itertools.product(range(1, 7), repeat=5)
        if p[0] * p[2] * p[3] <= 20 and p[3] % p[0] == 0 and p[1] < p[4]
    }
    ranked = list(space)
    assert len(ranked) == space.size == len(expected)
    assert set(ranked) == expected
    assert [space.rank(c) for c in ranked] == list(range(space.size))
    keys = [tuple(c[name] for name in space.order) for c in ranked]
    assert keys == sorted(keys), "lexicographic in the stated order"
    assert all(list(c) == list(lists) for c in ranked), "configurations keep the written order"
    in_written_order = min(expected, key=lambda c: tuple(c.values()))
    assert space.first() == in_written_order


def test_written_order_is_kept_where_it_is_feasible() -> None:
    lists: dict[str, list[Value] | range] = {f"T{i}": range(1, 20) for i in range(6)}
    space = make(lists, "T0 % T3 == 0", "T1 % T4 == 0", "T2 % T5 == 0", "T3 * T4 * T5 <= 100")
    assert space.order == space.names
