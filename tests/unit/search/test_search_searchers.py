"""Searchers: what each proposes, whatever the results."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.frontend.expressions import parse_expression
from orio_py.record.outcome import Outcome
from orio_py.search.base import Search, SearchContext, drive
from orio_py.search.catalog import NOT_AVAILABLE, SEARCHERS, find, start_search
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.parameter import Constraint, Parameter

HERE = Position("spec.c", 9, 3)
EVERY = pytest.mark.parametrize("name", list(SEARCHERS))


def space_of(*conditions: str, **lists: range) -> SearchSpace:
    parameters = [Parameter(name, tuple(values)) for name, values in lists.items()]
    return SearchSpace(
        parameters, [Constraint(f"c{i}", parse_expression(t)) for i, t in enumerate(conditions)]
    )


SMALL = space_of("B % A == 0", A=range(1, 6), B=range(1, 13), C=range(2))
HUGE = space_of(*(f"P{i} <= P{i + 1}" for i in range(19)), **{f"P{i}": range(30) for i in range(20)})


def context(space: SearchSpace, seed: int = 1, **options: Value) -> SearchContext:
    return SearchContext(space, random.Random(seed), options, batch_size=4)


def quick(name: str, space: SearchSpace, seed: int = 1) -> Search:
    """The searcher, where it learns with few trees."""
    few: dict[str, Value] = {"trees": 3, "initial": 10} if name in ("mlsearch", "bayesian") else {}
    return start_search(name, context(space, seed, **few))


def objective(configuration: Configuration) -> float | None:
    total = sum(value for value in configuration.values() if isinstance(value, int))
    return None if total % 5 == 0 else 1.0 / (1 + total)


def proposed(name: str, space: SearchSpace, seed: int = 1, trials: int | None = None) -> list[Configuration]:
    return [c for c, _ in drive(quick(name, space, seed), objective, trials)]


@pytest.mark.share(3)
@EVERY
def test_all_points_once_and_none_outside(name: str) -> None:
    tried = proposed(name, SMALL)
    assert len(tried) == len(set(tried)) == SMALL.size
    assert set(tried) == set(SMALL)


@EVERY
@pytest.mark.parametrize("count", [1, 5])
def test_tiny_spaces(name: str, count: int) -> None:
    space = space_of(A=range(count))
    assert len(set(proposed(name, space))) == count


@EVERY
def test_empty_space_proposes_nothing(name: str) -> None:
    assert proposed(name, space_of("A > 9", A=range(5))) == []


@pytest.mark.share(3)
@EVERY
def test_same_seed_same_sequence(name: str) -> None:
    assert proposed(name, HUGE, 3, 24) == proposed(name, HUGE, 3, 24)


@pytest.mark.share(3)
@EVERY
def test_huge_space(name: str) -> None:
    assert HUGE.size > 10**13
    tried = proposed(name, HUGE, 1, 40)
    assert len(set(tried)) == 40
    assert all(c in HUGE for c in tried)


@EVERY
def test_survives_nothing_but_failures(name: str) -> None:
    trials = drive(quick(name, SMALL), lambda _: None)
    assert len(trials) == SMALL.size


@pytest.mark.parametrize("name", ["exhaustive", "random"])
def test_batches_are_small_and_never_empty(name: str) -> None:
    search = start_search(name, context(SMALL))
    sizes = [len(batch) for batch in search]
    assert set(sizes[:-1]) == {4}
    assert 1 <= sizes[-1] <= 4


@EVERY
def test_stops_when_told(name: str) -> None:
    assert len(proposed(name, HUGE, 1, 7)) == 7
    assert proposed(name, HUGE, 1, 0) == []


def test_exhaustive_goes_in_rank_order() -> None:
    assert proposed("exhaustive", SMALL) == list(SMALL)
    assert dict(proposed("exhaustive", SMALL)[0]) == {"A": 1, "B": 1, "C": 0}


@pytest.mark.parametrize("option", ["start_coord", "exhaustive_start_coord", "Exhaustive_Start_Coord"])
def test_exhaustive_starts_at_a_coordinate(option: str) -> None:
    found = start_search("Exhaustive", context(SMALL, **{option: [1, 4, 1]}))
    tried = [c for c, _ in drive(found, objective)]
    assert tried == [c for c in SMALL if (c["A"], c["B"], c["C"]) >= (2, 5, 1)]


def test_random_differs_by_seed_and_is_uniform() -> None:
    assert proposed("random", HUGE, 1, 20) != proposed("random", HUGE, 2, 20)
    space = space_of(A=range(10))
    first = [proposed("random", space, seed, 1)[0]["A"] for seed in range(2000)]
    chi_square = sum((first.count(a) - 200) ** 2 / 200 for a in range(10))
    assert chi_square < 9 + 4 * 18**0.5


def test_random_has_no_preferred_start() -> None:
    starts = {proposed("random", SMALL, seed, 1)[0] for seed in range(20)}
    assert len(starts) > 5


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Exhaustive", "exhaustive"),
        ("EXHAUSTIVE", "exhaustive"),
        ("Randomsearch", "random"),
        ("Randomsimple", "random"),
        ("Randomlocal", "randomlocal"),
        ("Simplex", "simplex"),
        ("MSimplex", "msimplex"),
        ("Annealing", "annealing"),
        ("ChaosGA", "chaosga"),
        ("Direct", "direct"),
        ("Firefly", "firefly"),
        ("Mlsearch", "mlsearch"),
        ("greedy_ils", "ils"),
        ("mls", "multistart"),
        ("pso", "swarm"),
        ("Random", "random"),
        ("random", "random"),
    ],
)
def test_names(written: str, name: str) -> None:
    assert find(written).name == name


def failure(name: str, **options: Value) -> Diagnostic:
    with pytest.raises(DiagnosticError) as error:
        start_search(name, context(SMALL, **options), HERE)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.position == HERE
    return diagnostic


def test_unknown_searcher_names_the_nearest() -> None:
    problem = failure("exhausive")
    assert (problem.code, problem.help) == ("ORIO-P020", "did you mean `exhaustive`?")


@pytest.mark.parametrize("name", NOT_AVAILABLE)
def test_searchers_of_orio_that_do_not_exist_here(name: str) -> None:
    problem = failure(name)
    assert problem.code == "ORIO-P021"
    assert "`exhaustive`, `random`" in problem.message


def test_unknown_options() -> None:
    problem = failure("exhaustive", start_cord=[0, 0, 0])
    assert (problem.code, problem.help) == ("ORIO-P022", "did you mean `start_coord`?")
    assert failure("random", simplex_x0=[1]).help == "known names: local_distance"


def test_random_search_takes_orios_option_without_effect() -> None:
    plain = list(start_search("random", context(SMALL)))
    assert list(start_search("random", context(SMALL, random_local_distance=1))) == plain


@pytest.mark.parametrize("value", [3, "abc", [0, 0], [0, 0, 2], [0, -1, 0], [0, 1.0, 0], [0, True, 0], None])
def test_wrong_start_coordinates(value: Value) -> None:
    if value is None:
        assert next(start_search("exhaustive", context(SMALL, start_coord=None)))
    else:
        assert failure("exhaustive", start_coord=value).code == "ORIO-P023"


NUMBERS: list[tuple[str, str, Value, str]] = [
    ("simplex", "reflection_coef", "x", "a number from 0.01 to 10"),
    ("simplex", "expansion_coef", [], "at least one number"),
    ("simplex", "simplex_contraction_coef", [0.5, 2.0], "a number from 0.01 to 1"),
    ("msimplex", "size", 0, "an integer from 1 to 1000000"),
    ("msimplex", "search_distance", True, "an integer from 0 to 8"),
    ("annealing", "cooling_factor", 1.5, "a number from 0.01 to 0.999999"),
    ("annealing", "mutation", float("nan"), "a number from 0 to 1"),
    ("genetic", "chaos", "henon", "one of `none`, `logistic`, `tent`"),
    ("portfolio", "techniques", ["genetic", "luck"], "one of `annealing`"),
    ("portfolio", "techniques", 3, "a list of `annealing`"),
]


@pytest.mark.parametrize(("name", "option", "value", "needed"), NUMBERS)
def test_wrong_values_of_options(name: str, option: str, value: Value, needed: str) -> None:
    problem = failure(name, **{option: value})
    assert problem.code == "ORIO-P023"
    assert f"; it needs {needed}" in problem.message


RIGHT: list[tuple[str, dict[str, Value]]] = [
    ("Simplex", {"reflection_coef": [1, 1.5], "expansion_coef": 2, "local_distance": 2, "x0": [0, 0, 0]}),
    ("Simplex", {"contraction_coef": [0.5, 0.75], "shrinkage_coef": 0.6, "local_distance": 0}),
    ("MSimplex", {"size": 2, "x0": [4, 9, 1], "search_distance": 2}),
    ("Annealing", {"cooling_factor": 0.9, "trials_limit": 5, "moves_limit": 2, "local_distance": 1}),
    ("Annealing", {"final_temperature_ratio": 0.05, "initial_temperature": 2, "mutation": 0.2}),
    ("Randomlocal", {"local_distance": 2, "samples": 3}),
    ("genetic", {"chaos": "Tent", "population": 4}),
    ("evolution", {"strategy": "rand"}),
    ("evolution", {"strategy": "current", "population": 5}),
    ("ils", {"neighbourhood": "adjacent", "ils_patience": 3}),
    ("direct", {"local_distance": 0}),
    ("bayesian", {"model": "process", "initial": 60}),
    ("portfolio", {"techniques": ["simplex", "swarm", "firefly", "ils", "direct"], "window": 7}),
    ("portfolio", {"techniques": "annealing+basinhopping+randomlocal", "exploration": 1}),
]


@pytest.mark.parametrize(("name", "options"), RIGHT)
def test_options_in_use(name: str, options: dict[str, Value]) -> None:
    tried = [c for c, _ in drive(start_search(name, context(SMALL, **options)), objective)]
    assert len(tried) == len(set(tried)) == SMALL.size


@pytest.mark.parametrize("name", ["simplex", "msimplex"])
def test_simplices_begin_at_a_coordinate(name: str) -> None:
    (first, *_) = next(start_search(name, context(SMALL, x0=[2, 5, 1])))
    assert dict(first) == {"A": 3, "B": 6, "C": 1}


def test_options_are_checked_before_anything_is_counted() -> None:
    with pytest.raises(DiagnosticError):
        start_search("random", context(HUGE, wrong=1))


def test_batches_can_be_taken_one_by_one() -> None:
    search = start_search("random", context(HUGE))
    batch = next(search)
    for _ in islice(range(10), 5):
        batch = search.send([Outcome.of(configuration, None) for configuration in batch])
    search.close()
    assert len(batch) == 4
