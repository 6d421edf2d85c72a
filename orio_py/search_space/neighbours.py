"""Neighbourhoods of a search space, computed inside its structure: nothing is made and then rejected.

Everything works on points (places in the value lists) and takes time that grows with the structure that
is touched, not with the number of configurations.  Groups of parameters that no constraint connects are
independent, so that a change in one leaves the others as they are.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf

from orio_py.search_space.counting import CountNode
from orio_py.search_space.encoding import Encoding, Point
from orio_py.search_space.paths import (
    Choices,
    changes_at,
    cheapest_path,
    first_path,
    has_path,
    single_changes,
)
from orio_py.search_space.search_space import SearchSpace
from orio_py.search_space.structure import Structure


class _Part:
    """One structure, with the written positions of its parameters."""

    __slots__ = ("depth", "positions", "root")

    def __init__(self, structure: Structure) -> None:
        self.root = structure.root
        self.positions = tuple(variable.index for variable in structure.order)
        self.depth = len(self.positions)

    def choices(self, point: Point) -> Choices:
        return tuple([point[position] for position in self.positions])


class Neighbours:
    """The points of a space that lie near others.  A point that is handed in has to be one of the space.

    >>> from orio_py.frontend.expressions import parse_expression
    >>> from orio_py.spec.parameter import Constraint, Parameter
    >>> limits = [Constraint("c", parse_expression("A * B <= 4"))]
    >>> near = Neighbours(SearchSpace([Parameter("A", (1, 2, 4)), Parameter("B", (1, 2, 4))], limits))
    >>> near.hamming((1, 1))
    [(0, 1), (1, 0)]
    """

    def __init__(self, space: SearchSpace, encoding: Encoding | None = None) -> None:
        self.space = space
        self.encoding = Encoding(space) if encoding is None else encoding
        self._parts = tuple(_Part(structure) for structure in space.structures)
        self._where = {
            position: (part, level) for part in self._parts for level, position in enumerate(part.positions)
        }
        self._movable = [i for i, a in enumerate(self.encoding.axes) if a.size > 1]

    # --- single points ---

    def __contains__(self, point: Point) -> bool:
        return all(has_path(part.root, part.choices(point)) for part in self._parts)

    def at(self, rank: int) -> Point:
        """The point of a rank of the space.  Raises IndexError."""
        return self.space.places_at(rank)

    def random(self, rng: random.Random) -> Point:
        """A point, each equally likely.  Raises ValueError if there is none."""
        return self.at(rng.randrange(self.space.size))

    def nearest(self, coordinates: Sequence[float]) -> Point:
        """The point nearest to one of the unit cube, by the sum of `Axis.distances`.

        The nearest indeed unless the search for it becomes long, then one that is near.  Raises
        ValueError if the space is empty.
        """
        rows = [a.distances(x) for a, x in zip(self.encoding.axes, coordinates, strict=True)]
        if (found := self.cheapest(rows)) is None:
            raise ValueError("an empty space has no nearest point")
        return found

    def cheapest(self, costs: Sequence[Sequence[float]]) -> Point | None:
        """The point with the least sum of `costs[parameter][place]`; infinity forbids a place.

        None if the space is empty, or if nothing is found without what is forbidden.
        """
        place = [0] * len(self.encoding.axes)
        for part in self._parts:
            path = cheapest_path(part.root, [costs[position] for position in part.positions])
            if path is None:
                return None
            for position, choice in zip(part.positions, path, strict=True):
                place[position] = choice
        return tuple(place)

    # --- one parameter ---

    def alternatives(self, point: Point, parameter: int) -> list[int]:
        """The other places that one parameter can take while all others stay; ascending."""
        part, level = self._where[parameter]
        return changes_at(part.root, part.choices(point), level)

    def hamming(self, point: Point) -> list[Point]:
        """All points that differ in exactly one parameter, by parameter, then by place."""
        return [
            _with(point, position, place)
            for position, places in enumerate(self._changes(point))
            for place in places
        ]

    def adjacent(self, point: Point, *, repair: bool = True) -> list[Point]:
        """Per ordered parameter the next lower and higher value that keeps all others, per category all
        other values.

        Where no value in a direction keeps the others, `repair` gives the nearest point in that
        direction (`step`).  No point is given twice.
        """
        found: dict[Point, None] = {}
        for position, places in enumerate(self._changes(point)):
            axis = self.encoding.axes[position]
            if not axis.is_ordered:
                found.update(dict.fromkeys(_with(point, position, place) for place in places))
                continue
            for direction in (-1, 1):
                near = self._next(point, position, places, direction)
                if near is None and repair:
                    near = self._repaired(point, position, direction)
                if near is not None:
                    found[near] = None
        return list(found)

    def step(self, point: Point, parameter: int, direction: int) -> Point | None:
        """The next point where an ordered parameter is lower (`direction` -1) or higher (1).

        Only that parameter changes if it can; else as few others as possible do, by as little as
        possible.  None if no point has it lower or higher.
        """
        near = self._next(point, parameter, self.alternatives(point, parameter), direction)
        return self._repaired(point, parameter, direction) if near is None else near

    def random_neighbour(self, point: Point, rng: random.Random) -> Point | None:
        """A point that differs in one parameter: a random parameter that can change, then a random value.

        None if no parameter can change alone.
        """
        for position in rng.sample(self._movable, len(self._movable)):
            if places := self.alternatives(point, position):
                return _with(point, position, rng.choice(places))
        return None

    # --- several parameters ---

    def mutate(self, point: Point, changes: int, rng: random.Random) -> Point | None:
        """A point where `changes` random parameters have random other values, as far as they can.

        Parameters that the constraints tie to those that are not among them keep their values.  More
        parameters join in where none of them can change.  None if there is no other point, or if none
        is found in a few milliseconds.
        """
        order = rng.sample(self._movable, len(self._movable))
        for number in range(min(max(changes, 1), len(order)), len(order) + 1):
            free = set(order[:number])

            def prefer(position: int, node: CountNode, free: set[int] = free) -> Iterable[int]:
                here = point[position]
                if position not in free:
                    return (here,)
                return (*_shuffled(node, rng, here), here)

            found = self._follow(point, free, prefer)
            if found is not None and found != point:
                return found
        return None

    def random_near(self, point: Point, rng: random.Random, radius: int = 1) -> Point | None:
        """A random other point where ordered parameters are at most `radius` ranks away.

        Any number of parameters changes; a category stays or becomes a random other.  None if there is
        no such point.
        """
        choices = [self._within(position, point[position], radius, rng) for position in range(len(point))]
        for must in rng.sample(self._movable, len(self._movable)):

            def prefer(position: int, node: CountNode, must: int = must) -> Iterable[int]:
                places = [p for p in choices[position] if position != must or p != point[position]]
                rng.shuffle(places)
                return places

            if (found := self._follow(point, self._movable, prefer)) is not None:
                return found
        return None

    def complete(self, partial: Mapping[int, int], rng: random.Random) -> Point | None:
        """A random point with the given places of some parameters (by written position).

        Open parameters take their values in proportion to the points that remain, as if nothing after
        them were given.  None if no point has these places.
        """

        def prefer(position: int, node: CountNode) -> Iterable[int]:
            given = partial.get(position)
            return _weighted(node, rng) if given is None else (given,)

        return self._follow((0,) * len(self.encoding.axes), range(len(self.encoding.axes)), prefer)

    # --- how ---

    def _changes(self, point: Point) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in point]
        for part in self._parts:
            changes = single_changes(part.root, part.choices(point))
            for position, places in zip(part.positions, changes, strict=True):
                found[position] = places
        return found

    def _next(self, point: Point, position: int, places: Sequence[int], direction: int) -> Point | None:
        ranks = self.encoding.axes[position].ranks
        here = ranks[point[position]]
        beyond = [place for place in places if (ranks[place] - here) * direction > 0]
        if not beyond:
            return None
        return _with(point, position, min(beyond, key=lambda place: abs(ranks[place] - here)))

    def _repaired(self, point: Point, position: int, direction: int) -> Point | None:
        """The point with the fewest changes beside that of one parameter, the nearest of equals."""
        part, _ = self._where[position]
        axes = self.encoding.axes
        rows = [_cost_of_change(axes[other].differences(point[other])) for other in part.positions]
        ranks, here = axes[position].ranks, axes[position].ranks[point[position]]
        rows[part.positions.index(position)] = [
            abs(rank - here) / len(ranks) if (rank - here) * direction > 0 else inf for rank in ranks
        ]
        path = cheapest_path(part.root, rows)
        return None if path is None else _replaced(point, part.positions, path)

    def _within(self, position: int, place: int, radius: int, rng: random.Random) -> list[int]:
        axis = self.encoding.axes[position]
        if axis.is_ordered:
            rank = axis.ranks[place]
            return [axis.places[r] for r in range(max(rank - radius, 0), min(rank + radius + 1, axis.size))]
        others = [other for other in range(axis.size) if other != place]
        return [place, rng.choice(others)] if others else [place]

    def _follow(
        self, point: Point, positions: Iterable[int], prefer: Callable[[int, CountNode], Iterable[int]]
    ) -> Point | None:
        """The point with the groups of some parameters chosen anew; None if one of them has no path."""
        for part in dict.fromkeys(self._where[position][0] for position in positions):

            def prefer_here(level: int, node: CountNode, part: _Part = part) -> Iterable[int]:
                return prefer(part.positions[level], node)

            path = first_path(part.root, part.depth, prefer_here)
            if path is None:
                return None
            point = _replaced(point, part.positions, path)
        return point


def _with(point: Point, position: int, place: int) -> Point:
    return (*point[:position], place, *point[position + 1 :])


def _replaced(point: Point, positions: Sequence[int], places: Sequence[int]) -> Point:
    changed = list(point)
    for position, place in zip(positions, places, strict=True):
        changed[position] = place
    return tuple(changed)


def _cost_of_change(differences: Sequence[float]) -> list[float]:
    return [1.0 + difference if difference else 0.0 for difference in differences]


def _shuffled(node: CountNode, rng: random.Random, but: int) -> list[int]:
    places = [place for places in node.classes for place in places if place != but]
    rng.shuffle(places)
    return places


def _weighted(node: CountNode, rng: random.Random) -> Iterator[int]:
    first = node.descend(rng.randrange(node.count))[0]
    yield first
    yield from _shuffled(node, rng, first)
