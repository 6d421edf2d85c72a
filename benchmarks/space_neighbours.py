"""Times the neighbourhoods of large constrained spaces, each beside the same space's size.

Run: python benchmarks/space_neighbours.py [--seconds 0.3]
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

from orio_py.frontend.expressions import parse_expression
from orio_py.search_space.encoding import Point
from orio_py.search_space.neighbours import Neighbours
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.parameter import Constraint, Parameter


def space_of(lists: dict[str, Sequence[int]], conditions: Sequence[str]) -> SearchSpace:
    """A space with these parameters and written constraints."""
    return SearchSpace(
        [Parameter(name, tuple(values)) for name, values in lists.items()],
        [Constraint(f"c{i}", parse_expression(text)) for i, text in enumerate(conditions)],
    )


def convolution() -> SearchSpace:
    """Like the parameters of a two-dimensional convolution on a GPU."""
    lists = {
        "block_x": (1, 2, 4, 8, *range(16, 257, 16)),
        "block_y": (1, 2, 4, 8, 16),
        "tile_x": (1, 2, 3, 4),
        "tile_y": (1, 2, 3, 4),
        "read_only": (0, 1),
        "padding": (0, 1),
        "shared": (0, 1),
    }
    return space_of(lists, ["32 <= block_x * block_y <= 1024", "padding == 0 or shared == 1"])


def chain(count: int, values: int) -> SearchSpace:
    """Tile sizes of nested loops, each at most twice the next."""
    names = [f"T{i}" for i in range(count)]
    conditions = [f"{a} <= {b} * 2" for a, b in pairwise(names)]
    return space_of({name: range(1, values + 1) for name in names}, conditions)


def capacities() -> SearchSpace:
    """Ten groups of three tiles that divide each other and fit in a cache."""
    lists: dict[str, Sequence[int]] = {}
    conditions: list[str] = []
    for i in range(10):
        lists |= {f"{x}{i}": range(1, 33) for x in "ABC"}
        conditions += [f"B{i} % A{i} == 0", f"A{i} * B{i} + B{i} * C{i} <= 512"]
    return space_of(lists, conditions)


def time_of(call: Callable[[Point], object], points: Sequence[Point], seconds: float) -> float:
    """Seconds per call, the mean over as many calls as fit."""
    start, calls = time.process_time(), 0
    while time.process_time() - start < seconds:
        for point in points:
            call(point)
        calls += len(points)
    return (time.process_time() - start) / calls


def main() -> None:
    """Print one table per space."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.3, help="processor time per figure")
    seconds = parser.parse_args().seconds
    spaces = {"convolution": convolution(), "24 tiles": chain(24, 16), "10 caches": capacities()}
    print("microseconds of processor time per call; hamming and adjacent give all neighbours at once")
    for name, space in spaces.items():
        rng = random.Random(1)
        near = Neighbours(space)
        points = [near.random(rng) for _ in range(50)]
        count = sum(len(near.hamming(point)) for point in points) / len(points)
        cubes = {point: [rng.random() for _ in point] for point in points}
        half = {point: dict(list(enumerate(point))[::2]) for point in points}
        calls: dict[str, Callable[[Point], object]] = {
            "random point": lambda _, near=near, rng=rng: near.random(rng),
            "hamming, all": near.hamming,
            "adjacent, all": lambda p, near=near: near.adjacent(p, repair=False),
            "adjacent, all, repaired": near.adjacent,
            "random neighbour": lambda p, near=near, rng=rng: near.random_neighbour(p, rng),
            "mutate 3": lambda p, near=near, rng=rng: near.mutate(p, 3, rng),
            "random near": lambda p, near=near, rng=rng: near.random_near(p, rng),
            "complete half": lambda p, near=near, rng=rng, half=half: near.complete(half[p], rng),
            "nearest of the cube": lambda p, near=near, cubes=cubes: near.nearest(cubes[p]),
        }
        print(f"\n{name}: {len(space.names)} parameters, {space.size:.3g} configurations")
        print(f"  {count:.0f} Hamming neighbours on average")
        for title, call in calls.items():
            print(f"  {title:24} {time_of(call, points, seconds) * 1e6:9.1f}")


if __name__ == "__main__":
    main()
