"""What really happens in random nests whose loops are tiled, fused, split, reversed or jammed by value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from brute_force import (
    Jam,
    Jammed,
    Memory,
    Reorder,
    Sizes,
    carries,
    execute,
    has_scalars,
    reverses,
    run,
    written_scalars,
)
from random_nests import DECLARATIONS, Env, Loop, Statement, band, iterations, matched

from orio_py.ctree.dependence.bands import may_permute_domain, may_tile
from orio_py.ctree.dependence.distance import independent_iterations
from orio_py.ctree.dependence.fusion import may_distribute, may_fuse, may_reverse
from orio_py.ctree.dependence.jam import may_jam_ranges
from orio_py.ctree.dependence.legality import DependenceContext, Illegal, Legal, Verdict
from orio_py.ctree.nodes import Compound, Node

Keys = Callable[[Env], tuple[int, ...]]


class Permute(Reorder):
    """May a perfect nest run in another order, whatever its bounds?"""

    def verdict(self) -> Verdict:
        loops = matched(self.nest)[: self.depth]
        return may_permute_domain(loops, self.order, DependenceContext(DECLARATIONS, self.live))


@dataclass
class Tile:
    """May a perfect nest run in tiles, wherever they begin?"""

    nest: Loop
    depth: int
    live: frozenset[str] = frozenset()

    def verdict(self) -> Verdict:
        return may_tile(matched(self.nest)[: self.depth], DependenceContext(DECLARATIONS, self.live))

    def clashes(self, sizes: Sizes) -> bool:
        loops = band(self.nest, self.depth)
        signs = [1 if loop.stride > 0 else -1 for loop in loops]

        def tiled(size: int, first: int) -> Keys:
            def keys(env: Env) -> tuple[int, ...]:
                values = [sign * env[loop.index] for sign, loop in zip(signs, loops, strict=True)]
                return (*((value - first) // size for value in values), *values)

            return keys

        choices = [tiled(size, first) for size in (2, 3, 5) for first in range(size)]
        return differs_in_order(self.nest, self.depth, choices, sizes, self.live)


def differs_in_order(
    nest: Loop, depth: int, choices: Iterable[Keys], sizes: Sizes, live: frozenset[str]
) -> bool:
    """Whether a perfect nest clashes with itself in one of the orders."""
    loops = band(nest, depth)
    body = loops[-1].body
    points = list(iterations(loops, dict(sizes)))
    old_run = execute(enumerate(points), body)
    for keys in choices:
        new = sorted(range(len(points)), key=lambda p: keys(points[p]))
        if reverses(old_run, {number: place for place, number in enumerate(new)}):
            return True
        if has_scalars(nest) and old_run.state(live) != execute(((p, points[p]) for p in new), body).state(
            live
        ):
            return True
    return False


@dataclass
class Reverse:
    """May a loop run backwards?"""

    nest: Loop
    live: frozenset[str] = frozenset()

    def verdict(self) -> Verdict:
        return may_reverse(matched(self.nest)[0], DependenceContext(DECLARATIONS, self.live))

    def clashes(self, sizes: Sizes) -> bool:
        points = list(iterations([self.nest], dict(sizes)))
        old = execute(enumerate(points), self.nest.body)
        if carries(old):
            return True
        new = execute(reversed(list(enumerate(points))), self.nest.body)
        return has_scalars(self.nest) and old.state(self.live) != new.state(self.live)


@dataclass
class Independent:
    """Are at least two consecutive iterations independent?"""

    nest: Loop

    def verdict(self) -> Verdict:
        excused = written_scalars(self.nest)
        count = independent_iterations(matched(self.nest)[0], DependenceContext(DECLARATIONS), excused)
        return Legal() if count >= 2 else Illegal("an iteration depends on the one before it")

    def clashes(self, sizes: Sizes) -> bool:
        points = list(iterations([self.nest], dict(sizes)))
        memory = execute(enumerate(points), self.nest.body)
        for accesses in memory.by_place():
            times = sorted(set(accesses))
            for now, is_write in times:
                if any(abs(now - other) == 1 and (is_write or also) for other, also in times):
                    return True
        return False


@dataclass
class Split:
    """May the statements of a loop run in loops of their own, the groups in this order?"""

    nest: Loop
    depth: int
    groups: tuple[tuple[int, ...], ...]
    live: frozenset[str] = frozenset()

    def verdict(self) -> Verdict:
        loops = matched(self.nest)[: self.depth]
        context = DependenceContext(DECLARATIONS, self.live)
        return may_distribute(loops, _items(loops[-1].body), self.groups, context)

    def clashes(self, sizes: Sizes) -> bool:
        loops = band(self.nest, self.depth)
        points = list(iterations(loops, dict(sizes)))
        whole = [(env, (number,)) for env in points for number in range(len(loops[-1].body))]
        split = [(env, (number,)) for group in self.groups for env in points for number in sorted(group)]
        return _differ(loops[-1].body, whole, split, self.live)


@dataclass
class Fuse:
    """May two nests with equal headers be one, the first with the first statements of the body?"""

    nest: Loop
    depth: int
    first: int
    live: frozenset[str] = frozenset()

    def verdict(self) -> Verdict:
        loops = matched(self.nest)[: self.depth]
        items = _items(loops[-1].body)
        one, two = Compound(items[: self.first]), Compound(items[self.first :])
        return may_fuse(loops, one, two, DependenceContext(DECLARATIONS, self.live))

    def clashes(self, sizes: Sizes) -> bool:
        loops = band(self.nest, self.depth)
        points = list(iterations(loops, dict(sizes)))
        numbers = range(len(loops[-1].body))
        parts = (tuple(numbers[: self.first]), tuple(numbers[self.first :]))
        apart = [(env, part) for part in parts for env in points]
        fused = [(env, part) for env in points for part in parts]
        return _differ(loops[-1].body, apart, fused, self.live)


Runs = Sequence[tuple[Env, tuple[int, ...]]]
"""Parts of a body, by the numbers of their statements, in iterations."""


def _differ(body: Sequence[Statement], old: Runs, new: Runs, live: frozenset[str]) -> bool:
    """Whether two orders of the same runs of statements clash."""
    names = {_name(*part): number for number, part in enumerate(old)}
    memories: list[Memory] = []
    for parts in (old, new):
        memory = Memory()
        for env, part in parts:
            memory.now = names[_name(env, part)]
            for number in part:
                run(body[number], env, memory)
        memories.append(memory)
    rank = {names[_name(*part)]: place for place, part in enumerate(new)}
    return reverses(memories[0], rank) or memories[0].state(live) != memories[1].state(live)


def _name(env: Env, part: tuple[int, ...]) -> object:
    return tuple(sorted(env.items())), part


class ByValue(Jammed):
    """Like `Jammed`, with copies whose inner loops have different ranges: they meet at equal values."""

    def loop(self, loop: Loop, copies: Sequence[Env]) -> None:
        ranges = [loop.values(env) for env in copies]
        for value in sorted({v for found in ranges for v in found}, reverse=loop.stride < 0):
            here = [env for env, found in zip(copies, ranges, strict=True) if value in found]
            self.body(loop.body, [{**env, loop.index: value} for env in here])


@dataclass
class JamRanges(Jam):
    """May iterations of the outer loop be interleaved in its inner loops, by the values of their indices?"""

    way: type[Jammed] = ByValue

    def verdict(self) -> Verdict:
        return may_jam_ranges(matched(self.nest)[0], self.factor, DependenceContext(DECLARATIONS, self.live))


def _items(body: Node) -> list[Node]:
    assert isinstance(body, Compound)
    return list(body.block_items or [])
