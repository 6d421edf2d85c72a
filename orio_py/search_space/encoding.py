"""Configurations as places in the value lists, as points of the unit cube, and as features of models."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from orio_py.core.expr import Value
from orio_py.search_space.configuration import Configuration, value_key
from orio_py.search_space.search_space import SearchSpace

Point: TypeAlias = "tuple[int, ...]"
"""A configuration as the place of each value in its parameter's list, in written order, from 0."""


@dataclass(frozen=True, slots=True)
class CubeAxis:
    """One parameter as an axis of the unit cube.

    A parameter whose values are all numbers is ordered by size, and so are booleans; the values of any
    other are categories, whose order means nothing.  `ranks` has the rank of each place of the written
    list, `places` the place of each rank; of categories both are the places themselves.
    """

    name: str
    values: tuple[Value, ...]
    is_ordered: bool
    ranks: tuple[int, ...]
    places: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.values)

    def coordinate(self, place: int) -> float:
        """The rank on a scale from 0 to 1; the middle if there is only one value."""
        return self.ranks[place] / (len(self.ranks) - 1) if len(self.ranks) > 1 else 0.5

    def distances(self, coordinate: float) -> list[float]:
        """How far each place is from a coordinate of `[0, 1]`.

        On an ordered axis that is the difference of coordinates.  The categories divide the axis into
        cells of equal length; the place in whose cell the coordinate lies is at 0, all others at 1.
        """
        size = len(self.ranks)
        if self.is_ordered:
            return [abs(self.coordinate(place) - coordinate) for place in range(size)]
        cell = min(max(int(coordinate * size), 0), size - 1)
        return [0.0 if rank == cell else 1.0 for rank in self.ranks]

    def differences(self, place: int) -> list[float]:
        """How far each place is from one of them: the difference of coordinates, 1 between categories."""
        if not self.is_ordered:
            return [0.0 if other == place else 1.0 for other in range(self.size)]
        here = self.coordinate(place)
        return [abs(self.coordinate(other) - here) for other in range(self.size)]


def axis(name: str, values: Sequence[Value]) -> CubeAxis:
    """The axis of a parameter.

    >>> axis("U", (8, 2, 4)).ranks, axis("F", ("-O3", "-O2")).is_ordered
    ((2, 0, 1), False)
    """
    numbers = [value for value in values if isinstance(value, (bool, int, float))]
    is_ordered = len(numbers) == len(values) and all(number == number for number in numbers)
    places = range(len(values))
    if is_ordered:
        places = sorted(places, key=numbers.__getitem__)
    ranks = [0] * len(values)
    for rank, place in enumerate(places):
        ranks[place] = rank
    return CubeAxis(name, tuple(values), is_ordered, tuple(ranks), tuple(places))


class Encoding:
    """Turns the configurations of a space into points, coordinates and features, and back."""

    def __init__(self, space: SearchSpace) -> None:
        self.axes: tuple[CubeAxis, ...] = tuple(axis(p.name, p.values) for p in space.parameters)

    def point(self, configuration: Mapping[str, Value]) -> Point:
        """The places of its values.  Raises KeyError for a missing name or a value that is not listed."""
        places = self._places
        return tuple(places[a.name][value_key(configuration[a.name])] for a in self.axes)

    def configuration(self, point: Point) -> Configuration:
        """The inverse of `point`; whether the constraints hold is not looked at."""
        return Configuration({a.name: a.values[place] for a, place in zip(self.axes, point, strict=True)})

    def coordinates(self, point: Point) -> tuple[float, ...]:
        """The point in the unit cube: one coordinate from 0 to 1 per parameter."""
        return tuple(a.coordinate(place) for a, place in zip(self.axes, point, strict=True))

    def features(self, point: Point) -> tuple[float, ...]:
        """What a model sees: the coordinate of an ordered parameter, one 0 or 1 per category of others.

        Parameters with a single value are left out.
        """
        found: list[float] = []
        for table, place in zip(self._features, point, strict=True):
            found.extend(table[place])
        return tuple(found)

    def distance(self, one: Point, other: Point) -> float:
        """The sum over the parameters of the difference of coordinates, 1 between different categories."""
        return sum(
            (abs(a.coordinate(p) - a.coordinate(q)) if a.is_ordered else 1.0)
            for a, p, q in zip(self.axes, one, other, strict=True)
            if p != q
        )

    @cached_property
    def _places(self) -> dict[str, dict[Hashable, int]]:
        return {a.name: {value_key(value): place for place, value in enumerate(a.values)} for a in self.axes}

    @cached_property
    def _features(self) -> list[list[tuple[float, ...]]]:
        """Per axis and place, the numbers that it contributes to the features."""
        return [[_features_of(a, place) for place in range(a.size)] for a in self.axes]


def _features_of(a: CubeAxis, place: int) -> tuple[float, ...]:
    if a.size == 1:
        return ()
    if a.is_ordered or a.size == 2:
        return (a.coordinate(place),)
    return tuple(1.0 if other == place else 0.0 for other in range(a.size))
