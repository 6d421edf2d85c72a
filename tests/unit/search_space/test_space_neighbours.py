"""Neighbourhoods against brute force on random constrained spaces, and on one too large to list."""

from __future__ import annotations

import random
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_spaces import points_of, space_of, spaces

from orio_py.frontend.expressions import parse_expression
from orio_py.search_space import paths
from orio_py.search_space.encoding import Encoding, Point
from orio_py.search_space.neighbours import Neighbours
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.parameter import Constraint, Parameter

FEW = settings(max_examples=60, deadline=None)


def hamming(one: Point, other: Point) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def drawn(space: SearchSpace, data: st.DataObject) -> tuple[Neighbours, list[Point], Point, random.Random]:
    points = points_of(space)
    rng = random.Random(data.draw(st.integers(0, 99)))
    return Neighbours(space), points, data.draw(st.sampled_from(points)), rng


@FEW
@given(spaces(), st.data())
def test_one_parameter_changed(space: SearchSpace, data: st.DataObject) -> None:
    if not space.size:
        return
    near, points, here, rng = drawn(space, data)
    expected = {point for point in points if hamming(point, here) == 1}
    found = near.hamming(here)
    assert len(found) == len(expected)
    assert set(found) == expected
    for parameter in range(len(here)):
        places = near.alternatives(here, parameter)
        assert places == sorted(p[parameter] for p in expected if p[parameter] != here[parameter])
    neighbour = near.random_neighbour(here, rng)
    assert neighbour in expected if expected else neighbour is None


@FEW
@given(spaces(), st.data())
def test_next_values_of_ordered_parameters(space: SearchSpace, data: st.DataObject) -> None:
    if not space.size:
        return
    near, points, here, _ = drawn(space, data)
    axes = near.encoding.axes
    everything: set[Point] = set()
    for i, a in enumerate(axes):
        if not a.is_ordered:
            everything.update(p for p in points if hamming(p, here) == 1 and p[i] != here[i])
            continue
        for direction in (-1, 1):
            beyond = [p for p in points if (a.ranks[p[i]] - a.ranks[here[i]]) * direction > 0]
            found = near.step(here, i, direction)
            if not beyond:
                assert found is None
                continue
            assert found in beyond
            everything.add(found)
            others = min(hamming(p, here) - 1 for p in beyond)
            assert hamming(found, here) - 1 == others
            if others == 0:
                alone = [p for p in beyond if hamming(p, here) == 1]
                assert found == min(alone, key=lambda p: abs(a.ranks[p[i]] - a.ranks[here[i]]))
    adjacent = near.adjacent(here)
    assert set(adjacent) == everything
    assert len(adjacent) == len(everything)
    assert set(near.adjacent(here, repair=False)) == {p for p in everything if hamming(p, here) == 1}


@FEW
@given(spaces(), st.data())
def test_random_points_within_a_distance(space: SearchSpace, data: st.DataObject) -> None:
    if not space.size:
        return
    near, points, here, rng = drawn(space, data)
    assert near.random(rng) in points
    changes = data.draw(st.integers(1, len(here)))
    mutated = near.mutate(here, changes, rng)
    assert mutated is None if len(points) == 1 else mutated in points
    assert mutated != here
    if changes == len(here) and mutated is not None:
        assert hamming(mutated, here) >= 1
    ranks = [a.ranks for a in near.encoding.axes]
    ordered = [a.is_ordered for a in near.encoding.axes]
    within = [
        p
        for p in points
        if p != here
        and all(abs(r[x] - r[y]) <= 1 or not o for r, o, x, y in zip(ranks, ordered, p, here, strict=True))
    ]
    close = near.random_near(here, rng)
    assert close in within if within and all(ordered) else close is None or close in within


@FEW
@given(spaces(), st.data())
def test_completions(space: SearchSpace, data: st.DataObject) -> None:
    near, points = Neighbours(space), points_of(space)
    axes = near.encoding.axes
    given_places = {
        i: data.draw(st.integers(0, a.size - 1)) for i, a in enumerate(axes) if data.draw(st.booleans())
    }
    expected = [p for p in points if all(p[i] == place for i, place in given_places.items())]
    found = near.complete(given_places, random.Random(1))
    assert found in expected if expected else found is None


@FEW
@given(spaces(), st.data())
def test_nearest_point_of_the_cube(space: SearchSpace, data: st.DataObject) -> None:
    near, points = Neighbours(space), points_of(space)
    coordinates = [data.draw(st.floats(0, 1)) for _ in near.encoding.axes]
    if not points:
        with pytest.raises(ValueError, match="empty space"):
            near.nearest(coordinates)
        return
    rows = [a.distances(x) for a, x in zip(near.encoding.axes, coordinates, strict=True)]

    def distance(point: Point) -> float:
        return sum(row[place] for row, place in zip(rows, point, strict=True))

    found = near.nearest(coordinates)
    assert found in points
    assert distance(found) == pytest.approx(min(map(distance, points)))


def test_a_random_completion_reaches_every_point() -> None:
    space = space_of([(1, 2, 3, 4), (1, 2, 3, 4), (1, 2)], ["{0} + {1} <= 5"])
    near, rng = Neighbours(space), random.Random(1)
    assert {near.complete({2: 1}, rng) for _ in range(300)} == {p for p in points_of(space) if p[2] == 1}
    mutated = {near.mutate((0, 0, 0), 3, rng) for _ in range(300)}
    assert mutated >= {p for p in points_of(space) if 0 not in p}
    assert {near.random_neighbour((0, 3, 0), rng) for _ in range(100)} == set(near.hamming((0, 3, 0)))


def test_forbidden_places() -> None:
    near = Neighbours(space_of([(1, 2), (1, 2)], ["{0} == {1}"]))
    assert near.cheapest([[inf, 0], [0, 0.5]]) == (1, 1)
    assert near.cheapest([[inf, 0], [0, inf]]) is None
    assert (0, 0) in near
    assert (0, 1) not in near


def chain(count: int, values: int) -> SearchSpace:
    lists = [tuple(range(1, values + 1))] * count
    names = [f"P{i}" for i in range(count)]
    return _named(names, lists, [f"{a} <= {b} * 2" for a, b in pairwise(names)])


def _named(names: list[str], lists: list[tuple[int, ...]], conditions: list[str]) -> SearchSpace:
    return SearchSpace(
        [Parameter(name, values) for name, values in zip(names, lists, strict=True)],
        [Constraint(f"c{i}", parse_expression(text)) for i, text in enumerate(conditions)],
    )


def test_a_space_of_ten_to_the_twenty() -> None:
    space = chain(24, 16)
    assert space.size > 10**20
    near, rng = Neighbours(space), random.Random(1)
    for _ in range(20):
        here = near.random(rng)
        for point in near.hamming(here):
            assert hamming(point, here) == 1
            assert near.encoding.configuration(point) in space
        for point in (*near.adjacent(here), near.mutate(here, 4, rng), near.random_near(here, rng)):
            assert point is not None
            assert near.encoding.configuration(point) in space
        assert near.nearest(near.encoding.coordinates(here)) == here


def test_long_searches_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "MOST_VISITS", 3)
    near, rng = Neighbours(chain(24, 16)), random.Random(1)
    for _ in range(20):
        assert near.nearest([rng.random() for _ in range(24)]) in near
    monkeypatch.setattr(paths, "MOST_STEPS", 3)
    assert near.complete({}, rng) is None


def test_points_and_coordinates() -> None:
    encoding = Encoding(space_of([(8, 2, 4), ("-O2", "-O3", "-Os"), (3,), (False, True)], []))
    point = (0, 2, 0, 1)
    assert encoding.point(encoding.configuration(point)) == point
    assert encoding.coordinates(point) == (1.0, 1.0, 0.5, 1.0)
    assert encoding.features(point) == (1.0, 0.0, 0.0, 1.0, 1.0)
    assert encoding.distance((0, 0, 0, 0), (2, 1, 0, 0)) == 1.5
    assert encoding.axes[1].distances(0.5) == [1.0, 0.0, 1.0]
    assert encoding.axes[0].distances(0.5) == [0.5, 0.5, 0.0]
    assert encoding.axes[0].differences(1) == [1.0, 0.0, 0.5]
    assert encoding.axes[1].differences(1) == [1.0, 0.0, 1.0]
    with pytest.raises(KeyError):
        encoding.point({"A": 3, "B": "-O2", "C": 3, "D": True})
