"""The dependence verdicts against brute force: random nests, run in both orders at several sizes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations

from orio_py.core.source import SourceFile
from orio_py.ctree.dependence import (
    DependenceContext,
    Illegal,
    Legal,
    Unknown,
    may_jam,
    may_parallelise,
    may_reorder,
    may_vectorise,
)
from orio_py.ctree.loops import CanonicalLoop, loops_in
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.symbols import CDeclaration

Env = dict[str, int]
Place = tuple[str, tuple[int, ...]]
LARGE = [{"n": 9, "m": 8}, {"n": 15, "m": 7}]
SIZES = [{"n": n, "m": m} for n, m in ((1, 3), (2, 2), (3, 2), (4, 5), (5, 4), (6, 6))]


@dataclass(frozen=True)
class Expression:
    """C text and the function that it means."""

    text: str
    value: Callable[[Mapping[str, int]], int]


@dataclass(frozen=True)
class Reference:
    name: str
    subscripts: tuple[Expression, ...]

    @property
    def text(self) -> str:
        return self.name + "".join(f"[{s.text}]" for s in self.subscripts)

    def place(self, env: Mapping[str, int]) -> Place:
        return self.name, tuple(s.value(env) for s in self.subscripts)


@dataclass(frozen=True)
class Assign:
    target: Reference
    op: str
    reads: tuple[Reference, ...]
    salt: int

    def lines(self) -> Iterator[str]:
        terms = [r.text for r in self.reads] + [str(self.salt)]
        yield f"{self.target.text} {self.op} {' + '.join(terms)};"


@dataclass(frozen=True)
class If:
    left: Expression
    op: str
    right: Expression
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]

    def lines(self) -> Iterator[str]:
        yield f"if ({self.left.text} {self.op} {self.right.text}) {{"
        for statement in self.body:
            yield from statement.lines()
        yield "} else {"
        for statement in self.otherwise:
            yield from statement.lines()
        yield "}"

    def holds(self, env: Mapping[str, int]) -> bool:
        left, right = self.left.value(env), self.right.value(env)
        return {"<": left < right, "==": left == right, "!=": left != right, ">=": left >= right}[self.op]


@dataclass(frozen=True)
class Loop:
    index: str
    start: Expression
    relation: str
    bound: Expression
    stride: int
    body: tuple[Statement, ...]

    def lines(self) -> Iterator[str]:
        step = f"{self.index} += {self.stride}" if self.stride > 0 else f"{self.index} -= {-self.stride}"
        test = f"{self.index} {self.relation} {self.bound.text}"
        yield f"for ({self.index} = {self.start.text}; {test}; {step}) {{"
        for statement in self.body:
            yield from statement.lines()
        yield "}"

    def values(self, env: Mapping[str, int]) -> range:
        bound = self.bound.value(env)
        if self.relation == "<=":
            bound += 1
        elif self.relation == ">=":
            bound -= 1
        return range(self.start.value(env), bound, self.stride)


Statement = Assign | If | Loop


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

    def state(self, scalars: frozenset[str]) -> dict[Place, object]:
        return {p: v for p, v in self.cells.items() if p[1] or p[0] in scalars}


def run(statement: Statement, env: Env, memory: Memory) -> None:
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


class Maker:
    """Draws nests."""

    def __init__(self, seed: int, *, scalars: float = 0.0, linearised: float = 0.0) -> None:
        self.random = random.Random(seed)
        self.scalars = scalars
        self.linearised = linearised
        self.triangular = 0.3
        self.proper = False
        self.salt = 0

    def affine(self, names: Sequence[str], largest: int = 2) -> Expression:
        draw = self.random
        chosen = draw.sample(names, min(len(names), draw.choice([1, 1, 1, 2]))) if names else []
        terms = [(name, draw.choice([1, 1, 1, 1, -1, largest])) for name in chosen]
        constant = draw.choice([0, 0, 0, 1, -1, 2])
        parts = [name if c == 1 else f"-{name}" if c == -1 else f"{c} * {name}" for name, c in terms]
        text = " + ".join([*parts, *([str(constant)] if constant > 0 or not parts else [])])
        text += f" - {-constant}" if constant < 0 and parts else ""
        if not parts:
            constant = max(constant, 0)
            text = str(constant)
        return Expression(text, lambda env: constant + sum(c * env[name] for name, c in terms))

    def subscript(self, names: Sequence[str]) -> Expression:
        draw = self.random
        kind = draw.random()
        if kind < 0.06:
            name, divisor = draw.choice(names), draw.choice([2, 3])
            return Expression(f"{name} / {divisor}", lambda env: int(env[name] / divisor))
        if kind < 0.12:
            name, divisor = draw.choice(names), draw.choice([2, 3])
            return Expression(
                f"{name} % {divisor}", lambda env: env[name] - divisor * int(env[name] / divisor)
            )
        if kind < 0.17:
            inner = self.affine(names)
            return Expression(f"{inner.text} + n", lambda env: inner.value(env) + env["n"])
        return self.affine(names)

    def reference(self, names: Sequence[str]) -> Reference:
        draw = self.random
        if draw.random() < self.scalars:
            return Reference(draw.choice("st"), ())
        if draw.random() < self.linearised:
            return Reference("L", (self.linear(names),))
        if draw.random() < 0.5:
            return Reference("A", (self.subscript(names), self.subscript(names)))
        return Reference("B", (self.subscript(names),))

    def linear(self, names: Sequence[str]) -> Expression:
        """A subscript `(row)*n + column`; a proper one has its column in 0 … n-1."""
        draw = self.random
        row, column = self.affine(names), self.affine(names, 1)
        if self.proper:
            name, shift = draw.choice(names), draw.choice([0, 0, 0, 1])
            column = Expression(f"{name} - {shift}", lambda env: env[name] - shift)
        return Expression(
            f"({row.text}) * n + {column.text}", lambda env: row.value(env) * env["n"] + column.value(env)
        )

    def assign(self, names: Sequence[str]) -> Assign:
        self.salt += 1
        reads = tuple(self.reference(names) for _ in range(self.random.choice([0, 1, 1, 2])))
        op = self.random.choice(["=", "=", "=", "+="])
        return Assign(self.reference(names), op, reads, self.salt)

    def header(self, index: str, outer: Sequence[str]) -> tuple[Expression, str, Expression, int]:
        draw = self.random
        stride = draw.choice([1, 1, 1, 2, 3])
        low: Expression = Expression(text := str(draw.choice([0, 0, 0, 1, 2])), lambda env: int(text))
        size = draw.choice("nnm4")
        high = Expression(size, lambda env: env[size] if size in env else int(size))
        if outer and draw.random() < self.triangular / 2:
            other, shift = draw.choice(outer), draw.choice([0, 0, 1])
            low = Expression(f"{other} + {shift}", lambda env: env[other] + shift)
        elif outer and draw.random() < self.triangular / 2:
            other = draw.choice(outer)
            high = Expression(other, lambda env: env[other])
        if draw.random() < 0.25:
            last = Expression(f"{high.text} - 1", lambda env, high=high: high.value(env) - 1)
            return last, ">=", low, -stride
        return low, draw.choice(["<", "<", "<="]), high, stride

    def statements(self, names: Sequence[str], deeper: int) -> tuple[Statement, ...]:
        draw = self.random
        found: list[Statement] = []
        for _ in range(draw.choice([1, 1, 2, 3])):
            kind = draw.random()
            if kind < 0.15:
                body = (self.assign(names),)
                otherwise = (self.assign(names),) if draw.random() < 0.4 else ()
                op = draw.choice(["<", "==", "!=", ">="])
                found.append(If(self.affine(names), op, self.affine(names), body, otherwise))
            elif deeper and kind < 0.6:
                index = "ijk"[len(names)]
                inner = self.statements([*names, index], deeper - 1)
                found.append(Loop(index, *self.header(index, names), inner))
            else:
                found.append(self.assign(names))
        return tuple(found)

    def perfect(self, depth: int) -> Loop:
        names = list("ijk"[:depth])
        body = self.statements(names, 0)
        for place in reversed(range(depth)):
            loop = Loop(names[place], *self.header(names[place], names[:place]), body)
            body = (loop,)
        return loop

    def square(self, depth: int) -> Loop:
        """A perfect nest of loops over 1 … n-1, so that columns stay in their rows."""
        self.proper = True
        names = list("ijk"[:depth])
        body = self.statements(names, 0)
        one, size = Expression("1", lambda env: 1), Expression("n", lambda env: env["n"])
        for name in reversed(names):
            loop = Loop(name, one, "<", size, 1, body)
            body = (loop,)
        return loop

    def imperfect(self, triangular: bool = True) -> Loop:
        self.triangular = 0.3 if triangular else 0.0
        return Loop("i", *self.header("i", ()), self.statements(["i"], 2))


def text_of(nest: Loop) -> str:
    return "\n".join(nest.lines())


def matched(nest: Loop) -> list[CanonicalLoop]:
    source = SourceFile("nest.c", text_of(nest).encode())
    tree = parse_statements(source.text, source=source, start=0)
    loops = [CanonicalLoop.match(loop) for loop in loops_in(tree)]
    assert all(loop is not None for loop in loops)
    return [loop for loop in loops if loop is not None]


def band(nest: Loop, depth: int) -> list[Loop]:
    found = [nest]
    while len(found) < depth:
        inner = found[-1].body[0]
        assert isinstance(inner, Loop)
        found.append(inner)
    return found


def iterations(loops: Sequence[Loop], env: Env) -> Iterator[Env]:
    if not loops:
        yield env
        return
    for value in loops[0].values(env):
        yield from iterations(loops[1:], {**env, loops[0].index: value})


def execute(bodies: Sequence[tuple[Env, Sequence[Statement]]], numbers: Sequence[int]) -> Memory:
    memory = Memory()
    for number, (env, body) in zip(numbers, bodies, strict=True):
        memory.now = number
        for statement in body:
            run(statement, env, memory)
    return memory


def conflicts(memory: Memory) -> Iterator[tuple[int, int]]:
    """Pairs of times, the earlier first, at which array accesses conflict."""
    by_place: dict[Place, list[tuple[int, bool]]] = {}
    for now, place, is_write in memory.trace:
        if place[1]:
            by_place.setdefault(place, []).append((now, is_write))
    for accesses in by_place.values():
        for first, first_writes in accesses:
            for second, second_writes in accesses:
                if first < second and (first_writes or second_writes):
                    yield first, second


INTEGERS = {
    name: CDeclaration(name, "int", (), 0, frozenset(), frozenset(), None, f"int {name}", False, "local")
    for name in ("n", "m", "s", "t")
}


def context(live: frozenset[str] = frozenset()) -> DependenceContext:
    return DependenceContext(INTEGERS, live)


def reorder_case(
    nest: Loop, depth: int, order: Sequence[int], live: frozenset[str] = frozenset()
) -> tuple[object, bool, bool]:
    """The verdict, whether a size computes something else, and whether a size reverses a conflict."""
    verdict = may_reorder(matched(nest)[:depth], order, context(live))
    loops = band(nest, depth)
    body = loops[-1].body
    differs = reverses = False
    for sizes in SIZES if isinstance(verdict, Legal) else SIZES + LARGE:
        points = list(iterations(loops, dict(sizes)))
        signs = {loop.index: 1 if loop.stride > 0 else -1 for loop in loops}
        keys = [tuple(signs[loops[o].index] * env[loops[o].index] for o in order) for env in points]
        new = sorted(range(len(points)), key=lambda p: keys[p])
        old_run = execute([(env, body) for env in points], range(len(points)))
        new_run = execute([(points[p], body) for p in new], new)
        differs = differs or old_run.state(live) != new_run.state(live)
        rank = {number: place for place, number in enumerate(new)}
        reverses = reverses or any(rank[a] > rank[b] for a, b in conflicts(old_run))
        if differs and reverses:
            break
    return verdict, differs, reverses


def parallel_case(nest: Loop, shuffle: random.Random) -> tuple[object, bool, bool]:
    """The verdict with private scalars, whether another order computes something else, and conflicts."""
    private = frozenset(name for name in "st" if re.search(rf"\b{name} \+?=", text_of(nest)))
    verdict = may_parallelise(matched(nest)[0], context(), private=private)
    differs = carried = False
    for sizes in SIZES if isinstance(verdict, Legal) else SIZES + LARGE:
        points = list(iterations([nest], dict(sizes)))
        shared = execute([(env, nest.body) for env in points], range(len(points)))
        carried = carried or any(True for _ in conflicts(shared)) or scalar_carried(shared, private)
        for order in (range(len(points))[::-1], shuffle.sample(range(len(points)), len(points))):
            memory = Memory()
            for number in order:
                for name in private:
                    memory.cells[name, ()] = ("no value", number)
                for statement in nest.body:
                    run(statement, points[number], memory)
            differs = differs or memory.state(frozenset()) != shared.state(frozenset())
        if differs and carried:
            break
    return verdict, differs, carried


def scalar_carried(memory: Memory, private: frozenset[str]) -> bool:
    """Whether an iteration reads a private scalar that it has not written."""
    written: set[tuple[int, Place]] = set()
    for now, place, is_write in memory.trace:
        if is_write:
            written.add((now, place))
        elif place[0] in private and (now, place) not in written:
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
                    for value in loop.values(copies[0]):
                        self.body(loop.body, [{**env, loop.index: value} for env in copies])
            else:
                for env in copies:
                    for item in group:
                        key = (id(item), tuple(sorted(env.items())))
                        self.memory.now = self.numbers.setdefault(key, len(self.numbers))
                        run(item, env, self.memory)


def jam_case(nest: Loop, factor: int) -> tuple[object, bool, bool]:
    """The verdict, whether a size computes something else, and whether a size reverses a conflict."""
    verdict = may_jam(matched(nest)[0], factor, context())
    differs = reverses = False
    for sizes in SIZES if isinstance(verdict, Legal) else SIZES + LARGE:
        points = list(iterations([nest], dict(sizes)))
        numbers: dict[object, int] = {}
        old, new = Memory(), Memory()
        for env in points:
            Jammed(old, numbers).body(nest.body, [env])
        for start in range(0, len(points), factor):
            Jammed(new, numbers).body(nest.body, points[start : start + factor])
        differs = differs or old.state(frozenset()) != new.state(frozenset())
        rank = {now: place for place, now in enumerate(dict.fromkeys(now for now, _, _ in new.trace))}
        reverses = reverses or any(rank[a] > rank[b] for a, b in conflicts(old))
        if differs and reverses:
            break
    return verdict, differs, reverses


def is_bound_refusal(verdict: object) -> bool:
    return isinstance(verdict, Illegal | Unknown) and "bounds of the loop" in str(verdict)


@dataclass
class Tally:
    """How often a verdict was Legal, and how often it refused something harmless."""

    legal: int = 0
    harmless: int = 0
    needless: int = 0

    def add(self, verdict: object, differs: bool, conflicting: bool, nest: Loop) -> None:
        legal = isinstance(verdict, Legal)
        assert not (legal and (differs or conflicting)), f"{verdict}\n{text_of(nest)}"
        self.legal += legal
        self.harmless += not conflicting
        self.needless += not conflicting and not legal

    def check(self, share: float) -> None:
        assert self.legal > 10
        assert self.needless <= share * self.harmless, (
            f"{self.needless} of {self.harmless} refused needlessly"
        )


def other_orders(depth: int) -> list[tuple[int, ...]]:
    return list(permutations(range(depth)))[1:]


def test_reordering_keeps_array_dependences() -> None:
    tally = Tally()
    for seed in range(200):
        maker = Maker(seed)
        depth = maker.random.choice([2, 2, 3])
        nest = maker.perfect(depth)
        order = maker.random.choice(other_orders(depth))
        verdict, differs, reverses = reorder_case(nest, depth, order)
        if not is_bound_refusal(verdict):
            tally.add(verdict, differs, reverses, nest)
    tally.check(0.10)


def test_reordering_with_linearised_arrays() -> None:
    tally = Tally()
    for seed in range(60):
        maker = Maker(1000 + seed, linearised=0.7)
        nest = maker.square(2)
        tally.add(*reorder_case(nest, 2, (1, 0)), nest)
    tally.check(0.10)


def test_any_subscripts_are_handled_soundly() -> None:
    for seed in range(60):
        maker = Maker(2000 + seed, linearised=0.5)
        nest = maker.perfect(2)
        verdict, differs, reverses = reorder_case(nest, 2, (1, 0))
        assert not (isinstance(verdict, Legal) and (differs or reverses)), text_of(nest)


def test_reordering_with_scalars() -> None:
    legal = 0
    for seed in range(100):
        maker = Maker(3000 + seed, scalars=0.35)
        nest = maker.perfect(2)
        live = frozenset(maker.random.choice(["", "", "s", "st"]))
        verdict, differs, _ = reorder_case(nest, 2, (1, 0), live)
        assert not (isinstance(verdict, Legal) and differs), f"{live}\n{text_of(nest)}"
        legal += isinstance(verdict, Legal)
    assert legal > 5


def test_parallel_loops() -> None:
    tally = Tally()
    for seed in range(150):
        maker = Maker(4000 + seed, scalars=maker_scalars(seed))
        nest = maker.imperfect()
        verdict, differs, carried = parallel_case(nest, maker.random)
        if not is_bound_refusal(verdict):
            tally.add(verdict, differs, carried, nest)
    tally.check(0.10)


def maker_scalars(seed: int) -> float:
    return 0.3 if seed % 3 == 0 else 0.0


def test_vector_loops_carry_nothing() -> None:
    tally = Tally()
    for seed in range(80):
        maker = Maker(5000 + seed)
        nest = maker.perfect(1)
        verdict = may_vectorise(matched(nest)[0], context())
        carried = False
        for sizes in SIZES + LARGE:
            points = list(iterations([nest], dict(sizes)))
            carried = carried or any(conflicts(execute([(e, nest.body) for e in points], range(len(points)))))
        tally.add(verdict, False, carried, nest)
    tally.check(0.10)


def test_inner_loops_with_what_surrounds_them() -> None:
    tally = Tally()
    for seed in range(60):
        maker = Maker(8000 + seed, linearised=0.5)
        nest = maker.square(2) if seed % 3 else maker.perfect(2)
        outer, inner = matched(nest)
        verdict = may_vectorise(inner, DependenceContext(INTEGERS, surrounding=(outer,)))
        body, carried = band(nest, 2)[1].body, False
        for sizes in SIZES + LARGE:
            for env in iterations([nest], dict(sizes)):
                points = list(iterations(band(nest, 2)[1:], env))
                memory = execute([(e, body) for e in points], range(len(points)))
                carried = carried or any(True for _ in conflicts(memory))
        if seed % 3:
            tally.add(verdict, False, carried, nest)
        assert not (isinstance(verdict, Legal) and carried), text_of(nest)
    tally.check(0.10)


def test_unroll_and_jam() -> None:
    tally = Tally()
    for seed in range(120):
        maker = Maker(6000 + seed)
        nest = maker.imperfect(triangular=False)
        verdict, differs, reverses = jam_case(nest, maker.random.choice([2, 3]))
        if not is_bound_refusal(verdict):
            tally.add(verdict, differs, reverses, nest)
    tally.check(0.10)


def test_unroll_and_jam_with_scalars() -> None:
    legal = 0
    for seed in range(80):
        maker = Maker(7000 + seed, scalars=0.3)
        nest = maker.imperfect(triangular=False)
        verdict, differs, _ = jam_case(nest, 2)
        assert not (isinstance(verdict, Legal) and differs), text_of(nest)
        legal += isinstance(verdict, Legal)
    assert legal > 5
