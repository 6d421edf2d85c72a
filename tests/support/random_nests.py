"""Random loop nests: C text, and what it means, so that every iteration can be run in Python."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from orio_py.core.source import SourceFile
from orio_py.ctree.loops import CanonicalLoop, loops_in
from orio_py.ctree.parse import parse_statements
from orio_py.ctree.symbols import CDeclaration

Env = dict[str, int]
Place = tuple[str, tuple[int, ...]]

SCALARS = ("s", "t")


@dataclass(frozen=True)
class Expression:
    """C text and the function that it means."""

    text: str
    value: Callable[[Mapping[str, int]], int]


@dataclass(frozen=True)
class Reference:
    """An element of an array, or a scalar."""

    name: str
    subscripts: tuple[Expression, ...]

    @property
    def text(self) -> str:
        return self.name + "".join(f"[{s.text}]" for s in self.subscripts)

    def place(self, env: Mapping[str, int]) -> Place:
        return self.name, tuple([s.value(env) for s in self.subscripts])


@dataclass(frozen=True)
class Assign:
    """`target op reads + salt;`: the salt makes the values of different statements different."""

    target: Reference
    op: str
    reads: tuple[Reference, ...]
    salt: int

    def lines(self) -> Iterator[str]:
        terms = [r.text for r in self.reads] + [str(self.salt)]
        yield f"{self.target.text} {self.op} {' + '.join(terms)};"


@dataclass(frozen=True)
class If:
    """`if (left op right) body else otherwise`."""

    left: Expression
    op: str
    right: Expression
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]

    def lines(self) -> Iterator[str]:
        yield f"if ({self.left.text} {self.op} {self.right.text}) {{"
        for statement in self.body:
            yield from statement.lines()
        if self.otherwise:
            yield "} else {"
            for statement in self.otherwise:
                yield from statement.lines()
        yield "}"

    def holds(self, env: Mapping[str, int]) -> bool:
        left, right = self.left.value(env), self.right.value(env)
        return {"<": left < right, "==": left == right, "!=": left != right, ">=": left >= right}[self.op]


@dataclass(frozen=True)
class Loop:
    """A `for` loop."""

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

    @property
    def text(self) -> str:
        return "\n".join(self.lines())

    @property
    def innermost(self) -> Loop:
        """The innermost loop of a perfect nest."""
        return self.body[0].innermost if isinstance(self.body[0], Loop) else self


Statement = Assign | If | Loop


@dataclass(frozen=True)
class Features:
    """How often a nest has what; `proper` linearised subscripts stay in their rows."""

    scalars: float = 0.0
    temporaries: float = 0.0
    linearised: float = 0.0
    proper: bool = False
    quotients: float = 0.0
    conditions: float = 0.15
    triangular: float = 0.3
    extremes: float = 0.1
    downward: float = 0.25
    strided: float = 0.4
    tiles: float = 0.0


@dataclass
class Maker:
    """Draws nests."""

    random: random.Random
    features: Features = field(default_factory=Features)
    salt: int = 0

    # Expressions

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
        return Expression(text, lambda env: constant + sum([c * env[name] for name, c in terms]))

    def subscript(self, names: Sequence[str]) -> Expression:
        draw = self.random
        if names and draw.random() < self.features.quotients:
            name, divisor = draw.choice(names), draw.choice([2, 3])
            if draw.random() < 0.5:
                return Expression(f"{name} / {divisor}", lambda env: int(env[name] / divisor))
            return Expression(
                f"{name} % {divisor}", lambda env: env[name] - divisor * int(env[name] / divisor)
            )
        inner = self.affine(names)
        if draw.random() < 0.05:
            return Expression(f"{inner.text} + n", lambda env: inner.value(env) + env["n"])
        return inner

    def linear(self, names: Sequence[str]) -> Expression:
        """A subscript `(row) * n + column`; a proper one has its column in 0 … n-1."""
        draw = self.random
        row, column = self.affine(names), self.affine(names, 1)
        if self.features.proper and names:
            name, shift = draw.choice(names), draw.choice([0, 0, 0, 1])
            column = Expression(f"{name} - {shift}", lambda env: env[name] - shift)
        return Expression(
            f"({row.text}) * n + {column.text}", lambda env: row.value(env) * env["n"] + column.value(env)
        )

    def element(self, names: Sequence[str]) -> Reference:
        draw = self.random
        if draw.random() < self.features.linearised:
            return Reference("L", (self.linear(names),))
        if draw.random() < 0.5:
            return Reference("A", (self.subscript(names), self.subscript(names)))
        return Reference("B", (self.subscript(names),))

    def reference(self, names: Sequence[str]) -> Reference:
        if self.random.random() < self.features.scalars:
            return Reference(self.random.choice(SCALARS), ())
        return self.element(names)

    # Statements

    def assign(self, names: Sequence[str]) -> Assign:
        reads = tuple(self.reference(names) for _ in range(self.random.choice([0, 1, 1, 2])))
        return self.assigned(self.reference(names), self.random.choice(["=", "=", "=", "+="]), reads)

    def assigned(self, target: Reference, op: str, reads: tuple[Reference, ...]) -> Assign:
        self.salt += 1
        return Assign(target, op, reads, self.salt)

    def temporary(self, names: Sequence[str]) -> list[Statement]:
        """A scalar that is set and then used."""
        scalar = Reference(self.random.choice(SCALARS), ())
        used = self.assigned(self.element(names), "=", (scalar, self.reference(names)))
        return [self.assigned(scalar, "=", (self.element(names),)), used]

    def header(self, index: str, outer: Sequence[str]) -> tuple[Expression, str, Expression, int]:
        draw, features = self.random, self.features
        if outer and features.tiles and draw.random() < features.tiles:
            return self.tile(outer)
        if features.proper:
            return self.within(outer)
        stride = draw.choice([2, 3]) if draw.random() < features.strided else 1
        low: Expression = Expression(text := str(draw.choice([0, 0, 0, 1, 2])), lambda env: int(text))
        size = draw.choice("nnm4")
        high = Expression(size, lambda env: env[size] if size in env else int(size))
        if outer and draw.random() < features.triangular / 2:
            other, shift = draw.choice(outer), draw.choice([0, 0, 1])
            low = Expression(f"{other} + {shift}", lambda env: env[other] + shift)
        elif outer and draw.random() < features.triangular / 2:
            high = _shifted(draw.choice(outer), draw.choice([0, 0, 1]))
        if draw.random() < features.extremes:
            others = [*outer, "m"] if features.triangular else ["m"]
            also = _shifted(draw.choice(others), draw.choice([0, 1, 3]))
            if draw.random() < 0.5:
                high = _extreme("min", high, also, min)
            else:
                low = _extreme("max", low, also, max)
        if draw.random() < features.downward:
            last = Expression(f"{high.text} - 1", lambda env, high=high: high.value(env) - 1)
            return last, ">=", low, -stride
        return low, draw.choice(["<", "<", "<="]), high, stride

    def tile(self, outer: Sequence[str]) -> tuple[Expression, str, Expression, int]:
        """A header over the block of an outer index whose size is no number; others overlap or leave gaps."""
        draw = self.random
        other, size, shift = draw.choice(outer), draw.choice("mmmn"), draw.choice([0, 0, 0, 1, -1])
        width, more = draw.choice([size, size, size, "m", "4"]), draw.choice([0, 0, 0, 1, -1])
        low = Expression(f"{other} * {size} + {shift}", lambda env: env[other] * env[size] + shift)
        high = Expression(
            f"{low.text} + {width} + {more}",
            lambda env: low.value(env) + (env[width] if width in env else int(width)) + more,
        )
        if draw.random() < 0.3:
            high = _extreme("min", high, Expression("n", lambda env: env["n"]), min)
        if draw.random() < self.features.downward:
            return Expression(f"{high.text} - 1", lambda env: high.value(env) - 1), ">=", low, -1
        return low, "<", high, 1

    def within(self, outer: Sequence[str]) -> tuple[Expression, str, Expression, int]:
        """A header with an index in 1 … n-1, so that proper columns stay in their rows."""
        draw, features = self.random, self.features
        stride = draw.choice([2, 3]) if draw.random() < features.strided / 2 else 1
        low, high = Expression("1", lambda env: 1), Expression("n", lambda env: env["n"])
        if outer and draw.random() < features.triangular / 2:
            low = _shifted(draw.choice(outer), draw.choice([0, 1]))
        elif outer and draw.random() < features.triangular / 2:
            high = _shifted(draw.choice(outer), draw.choice([0, 1]))
        if draw.random() < features.downward / 2:
            return Expression(f"{high.text} - 1", lambda env: high.value(env) - 1), ">=", low, -stride
        return low, "<", high, stride

    def statements(self, names: Sequence[str], deeper: int) -> tuple[Statement, ...]:
        draw = self.random
        found: list[Statement] = []
        for _ in range(draw.choice([1, 1, 2, 3])):
            kind = draw.random()
            if draw.random() < self.features.temporaries:
                found.extend(self.temporary(names))
            elif kind < self.features.conditions:
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

    # Nests

    def perfect(self, depth: int) -> Loop:
        names = list("ijk"[:depth])
        body = self.statements(names, 0)
        for place in reversed(range(depth)):
            loop = Loop(names[place], *self.header(names[place], names[:place]), body)
            body = (loop,)
        return loop

    def imperfect(self) -> Loop:
        return Loop("i", *self.header("i", ()), self.statements(["i"], 2))


def _shifted(name: str, shift: int) -> Expression:
    return Expression(f"{name} + {shift}" if shift else name, lambda env: env[name] + shift)


def _extreme(name: str, one: Expression, two: Expression, of: Callable[[int, int], int]) -> Expression:
    return Expression(f"{name}({one.text}, {two.text})", lambda env: of(one.value(env), two.value(env)))


DECLARATIONS: Mapping[str, CDeclaration] = {
    **{n: CDeclaration(n, "int", text=f"int {n}", is_parameter=True, scope="parameter") for n in "nm"},
    **{n: CDeclaration(n, "int", text=f"int {n}") for n in (*SCALARS, *"ijk")},
}


def matched(nest: Loop) -> list[CanonicalLoop]:
    """The loops of a nest as the dependence test sees them, in the order of the source."""
    source = SourceFile("nest.c", nest.text.encode())
    tree = parse_statements(source.text, source=source, start=0)
    loops = [CanonicalLoop.match(loop) for loop in loops_in(tree)]
    assert all(loop is not None for loop in loops)
    return [loop for loop in loops if loop is not None]


def band(nest: Loop, depth: int) -> list[Loop]:
    """The outer `depth` loops of a perfect nest."""
    found = [nest]
    while len(found) < depth:
        inner = found[-1].body[0]
        assert isinstance(inner, Loop)
        found.append(inner)
    return found


def iterations(loops: Sequence[Loop], env: Env) -> Iterator[Env]:
    """The values of the indices in the order of the nest."""
    if not loops:
        yield env
        return
    for value in loops[0].values(env):
        yield from iterations(loops[1:], {**env, loops[0].index: value})
