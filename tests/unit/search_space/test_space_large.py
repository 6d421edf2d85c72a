"""The 20-parameter example of the benchmark: about 10^20 points, counted exactly."""

from __future__ import annotations

import importlib.util
import itertools
import random
from pathlib import Path
from types import ModuleType

import pytest

from orio_py.core.expr import evaluate
from orio_py.search_space.search_space import SearchSpace

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "space_construction.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("space_construction", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tiles(values: tuple[int, ...]) -> int:
    """The combinations of both tile levels, by loops over the outer level and its divisors."""

    def volume(i: int, j: int, k: int) -> int:
        return (i * j + i * k + j * k) * 8

    inner = {t2: [t1 for t1 in values if t1 == 1 or t2 % t1 == 0] for t2 in values}
    return sum(
        volume(*point) <= 32768
        for outer in itertools.product(values, repeat=3)
        if volume(*outer) <= 1048576
        for point in itertools.product(*(inner[t2] for t2 in outer))
    )


def registers() -> int:
    """The combinations of unroll factors and register tiles."""
    third = {(i, j): min(40, 1024 // (i * j)) for i in range(1, 41) for j in range(1, 41)}
    factors = {r: [u for u in range(1, 41) if r == 1 or u % r == 0] for r in range(1, 25)}
    unrolled = {
        (i, j): sum(third[u, v] for u in factors[i] for v in factors[j])
        for i, j in itertools.product(range(1, 25), repeat=2)
    }
    return sum(
        unrolled[i, j]
        for i, j, k in itertools.product(range(1, 25), repeat=3)
        if i * j + i * k + j * k <= 150 and i * j * k <= 150
    )


def test_the_usual_example_is_counted_exactly(example: ModuleType) -> None:
    space: SearchSpace = example.space_of(example.LISTS, example.USUAL)
    assert len(space.parameters) == 20
    assert space.cartesian > 8 * 10**19
    assert space.size == tiles(example.TILES) * registers() * 6 * 2**6 * 4
    assert 3e-5 < space.size / space.cartesian < 6e-5
    assert sum(group.nodes for group in space.groups) < 20_000


@pytest.mark.share(2)
@pytest.mark.parametrize("name", ["USUAL", "ENTANGLED"])
def test_a_thousand_distinct_valid_points(example: ModuleType, name: str) -> None:
    space: SearchSpace = example.space_of(example.LISTS, getattr(example, name))
    assert sum(group.nodes for group in space.groups) < 60_000
    drawn = space.sample(1000, random.Random(1))
    assert len(set(drawn)) == 1000
    expressions = [constraint.expression for constraint in space.constraints]
    assert all(evaluate(e, {**example.CACHES, **point}) for point in drawn for e in expressions)
    assert all(space.at(space.rank(point)) == point for point in drawn)


@pytest.mark.proof
def test_entangled_example_loses_only_what_its_constraints_reject(example: ModuleType) -> None:
    usual: SearchSpace = example.space_of(example.LISTS, example.USUAL)
    entangled: SearchSpace = example.space_of(example.LISTS, example.ENTANGLED)
    kept = sum(point in entangled for point in usual.sample(4000, random.Random(5)))
    expected = 4000 * entangled.size / usual.size
    assert abs(kept - expected) < 5 * expected**0.5
