"""What really happens in random nests: every iteration is run, and every access to memory recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from random_nests import (
    DECLARATIONS,
    SCALARS,
    Assign,
    Env,
    If,
    Loop,
    Place,
    Statement,
    band,
    iterations,
    matched,
)

from orio_py.ctree.dependence.legality import (
    DependenceContext,
    Verdict,
    may_jam,
    may_parallelise,
    may_reorder,
    may_vectorise,
)

Sizes = Mapping[str, int]


class Memory:
    """Cells with values that depend on everything that was ever combined into them."""

    def __init__(self) -> None:
        self.cells: dict[Place, object] = {}
        self.trace: list[tuple[int, Place, bool]] = []
        self.now = 0

    def read(self, place: Place) -> object:
        self.trace.append((self.now, place, False))
        return self.cells.get(place, place)

    def write(self, place: Place, value: object) -> None:
        self.trace.append((self.now, place, True))
        self.cells[place] = hash(value)

    def state(self, live: frozenset[str] = frozenset()) -> dict[Place, object]:
        """The contents of the arrays and of the scalars that are read afterwards."""
        return {p: v for p, v in self.cells.items() if p[1] or p[0] in live}

    def by_place(self) -> Iterator[list[tuple[int, bool]]]:
        """The accesses to each element of an array: when, and whether they write."""
        places: dict[Place, list[tuple[int, bool]]] = {}
        for now, place, is_write in self.trace:
            if place[1]:
                places.setdefault(place, []).append((now, is_write))
        yield from places.values()


def run(statement: Statement, env: Env, memory: Memory) -> None:
    """Execute a statement."""
    match statement:
        case Assign():
            values: list[object] = [memory.read(r.place(env)) for r in statement.reads]
            target = statement.target.place(env)
            if statement.op != "=":
                values.append(memory.read(target))
            memory.write(target, (statement.salt, *values))
        case If():
            for inner in statement.body if statement.holds(env) else statement.otherwise:
                run(inner, env, memory)
        case Loop():
            for value in statement.values(env):
                for inner in statement.body:
                    run(inner, {**env, statement.index: value}, memory)


def execute(points: Iterable[tuple[int, Env]], body: Sequence[Statement]) -> Memory:
    """Run a body in numbered iterations."""
    memory = Memory()
    for number, env in points:
        memory.now = number
        for statement in body:
            run(statement, env, memory)
    return memory


def reverses(memory: Memory, rank: Mapping[int, int]) -> bool:
    """Whether two accesses to an array element conflict that a new order of the iterations exchanges."""
    for accesses in memory.by_place():
        latest = latest_write = -1
        for now, is_write in accesses:
            place = rank[now]
            if place < (latest if is_write else latest_write):
                return True
            latest = max(latest, place)
            latest_write = max(latest_write, place) if is_write else latest_write
    return False


def carries(memory: Memory) -> bool:
    """Whether accesses to an array element conflict in different iterations."""
    return any(
        any(is_write for _, is_write in accesses) and len({now for now, _ in accesses}) > 1
        for accesses in memory.by_place()
    )


def passes_on(memory: Memory, names: Iterable[str]) -> bool:
    """Whether an iteration reads one of the scalars that it has not written."""
    written: set[tuple[int, Place]] = set()
    for now, place, is_write in memory.trace:
        if place[0] in names:
            if is_write:
                written.add((now, place))
            elif (now, place) not in written:
                return True
    return False


@dataclass
class Reorder:
    """May a perfect nest run in another order?"""

    nest: Loop
    depth: int
    order: tuple[int, ...]
    live: frozenset[str] = frozenset()

    def verdict(self) -> Verdict:
        loops = matched(self.nest)[: self.depth]
        return may_reorder(loops, self.order, DependenceContext(DECLARATIONS, self.live))

    def clashes(self, sizes: Sizes) -> bool:
        loops = band(self.nest, self.depth)
        body = loops[-1].body
        points = list(iterations(loops, dict(sizes)))
        signs = {loop.index: 1 if loop.stride > 0 else -1 for loop in loops}
        keys = [tuple([signs[loops[o].index] * env[loops[o].index] for o in self.order]) for env in points]
        new = sorted(range(len(points)), key=lambda p: keys[p])
        old_run = execute(enumerate(points), body)
        if reverses(old_run, {number: place for place, number in enumerate(new)}):
            return True
        if not has_scalars(self.nest):
            return False
        new_run = execute(((p, points[p]) for p in new), body)
        return old_run.state(self.live) != new_run.state(self.live)


@dataclass
class Parallelise:
    """May the iterations of the outer loop run at the same time, with their own scalars?"""

    nest: Loop
    private: frozenset[str]

    def verdict(self) -> Verdict:
        context = DependenceContext(DECLARATIONS)
        return may_parallelise(matched(self.nest)[0], context, private=self.private)

    def clashes(self, sizes: Sizes) -> bool:
        points = list(iterations([self.nest], dict(sizes)))
        memory = execute(enumerate(points), self.nest.body)
        if carries(memory) or passes_on(memory, self.private):
            return True
        return self._shared(memory)

    def _shared(self, memory: Memory) -> bool:
        scalars: dict[Place, list[tuple[int, bool]]] = {}
        for now, place, is_write in memory.trace:
            if not place[1] and place[0] not in self.private:
                scalars.setdefault(place, []).append((now, is_write))
        return any(len({n for n, _ in a}) > 1 and any(w for _, w in a) for a in scalars.values())


@dataclass
class Vectorise:
    """May a loop inside others be declared free of dependences?"""

    nest: Loop
    depth: int

    def verdict(self) -> Verdict:
        *outer, inner = matched(self.nest)[: self.depth]
        return may_vectorise(inner, DependenceContext(DECLARATIONS, surrounding=tuple(outer)))

    def clashes(self, sizes: Sizes) -> bool:
        loops = band(self.nest, self.depth)
        for env in iterations(loops[:-1], dict(sizes)):
            memory = execute(enumerate(iterations(loops[-1:], env)), loops[-1].body)
            if carries(memory) or self._passes_on(memory):
                return True
        return False

    def _passes_on(self, memory: Memory) -> bool:
        """Whether an iteration reads a scalar, other than a sum, that another has written."""
        for name in SCALARS:
            first: dict[int, bool] = {}
            writers: set[int] = set()
            for now, place, is_write in memory.trace:
                if place == (name, ()):
                    first.setdefault(now, is_write)
                    writers |= {now} if is_write else set()
            readers = {now for now, is_write in first.items() if not is_write}
            if any(writers - {now} for now in readers) and not is_sum(self.nest, name):
                return True
        return False


class Jammed:
    """Runs copies of a body for several iterations of a loop, with inner loops fused."""

    def __init__(self, memory: Memory, numbers: dict[object, int]) -> None:
        self.memory = memory
        self.numbers = numbers

    def body(self, items: Sequence[Statement], copies: Sequence[Env]) -> None:
        for is_loop, found in groupby(items, key=lambda item: isinstance(item, Loop)):
            group = list(found)
            if is_loop:
                for loop in group:
                    assert isinstance(loop, Loop)
                    self.loop(loop, copies)
            else:
                for env in copies:
                    for item in group:
                        key = (id(item), tuple(sorted(env.items())))
                        self.memory.now = self.numbers.setdefault(key, len(self.numbers))
                        run(item, env, self.memory)

    def loop(self, loop: Loop, copies: Sequence[Env]) -> None:
        for value in loop.values(copies[0]):
            self.body(loop.body, [{**env, loop.index: value} for env in copies])


@dataclass
class Jam:
    """May iterations of the outer loop be interleaved in its inner loops?"""

    nest: Loop
    factor: int
    live: frozenset[str] = frozenset()
    way: type[Jammed] = Jammed

    def verdict(self) -> Verdict:
        return may_jam(matched(self.nest)[0], self.factor, DependenceContext(DECLARATIONS, self.live))

    def clashes(self, sizes: Sizes) -> bool:
        points = list(iterations([self.nest], dict(sizes)))
        numbers: dict[object, int] = {}
        old = Memory()
        for env in points:
            self.way(old, numbers).body(self.nest.body, [env])
        return any(self._differs(old, numbers, points, first) for first in range(self.factor))

    def _differs(self, old: Memory, numbers: dict[object, int], points: list[Env], first: int) -> bool:
        """Whether groups of iterations that begin with `first` are in the way of each other."""
        new = Memory()
        for start in range(first - self.factor, len(points), self.factor):
            if group := points[max(start, 0) : max(start + self.factor, 0)]:
                self.way(new, numbers).body(self.nest.body, group)
        order = dict.fromkeys(now for now, _, _ in new.trace)
        if reverses(old, {now: place for place, now in enumerate(order)}):
            return True
        return has_scalars(self.nest) and old.state(self.live) != new.state(self.live)


def has_scalars(nest: Loop) -> bool:
    return bool(used_scalars(nest))


def used_scalars(nest: Loop) -> frozenset[str]:
    return frozenset(name for name in SCALARS if re.search(rf"\b{name}\b", nest.text))


def written_scalars(nest: Loop) -> frozenset[str]:
    return frozenset(name for name in SCALARS if re.search(rf"\b{name} \+?=", nest.text))


def is_sum(nest: Loop, name: str) -> bool:
    """Whether statements only add to a scalar, as in `s += …` and `s = s + …`."""
    for item in assignments(nest.body):
        times = [r.name for r in item.reads].count(name)
        if times != (item.target.name == name and item.op == "="):
            return False
    return True


def assignments(statements: Sequence[Statement]) -> Iterator[Assign]:
    for statement in statements:
        match statement:
            case Assign():
                yield statement
            case If():
                yield from assignments((*statement.body, *statement.otherwise))
            case Loop():
                yield from assignments(statement.body)
