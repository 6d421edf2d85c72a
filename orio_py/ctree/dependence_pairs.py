"""Pairs of accesses that touch the same memory in iterations that a question asks about."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import gcd
from typing import Literal

from orio_py.ctree.access import Access, Instance
from orio_py.ctree.affine import Linear, is_fixed, is_iteration
from orio_py.ctree.dependence_scope import Level
from orio_py.ctree.dependence_sets import Solver

Kind = Literal["flow", "anti", "output"]

_VERBS: Mapping[Kind, str] = {
    "flow": "writes what {sink} reads later",
    "anti": "reads what {sink} overwrites later",
    "output": "writes what {sink} overwrites later",
}


@dataclass(frozen=True, slots=True)
class Dependence:
    """Two accesses to the same memory, at least one of them a write; `source` comes first in time.

    `direction` compares the iterations of source and sink for each of `indices`: `<` if the source's
    is earlier, `=`, `>`, or `*` for any.  `distance` counts the iterations between them, where that is
    the same for all that the question is about; `sizes` are values of parameters with which it happens.
    """

    source: Access
    sink: Access
    kind: Kind
    name: str
    direction: tuple[str, ...]
    indices: tuple[str, ...]
    distance: tuple[int, ...] | None = None
    sizes: tuple[tuple[str, int], ...] = ()

    @property
    def where(self) -> str:
        """The direction and the distance, for messages."""
        text = f"direction ({', '.join(self.direction)}) over ({', '.join(self.indices)})"
        return text if not self.distance else f"{text}, distance ({', '.join(map(str, self.distance))})"

    def __str__(self) -> str:
        verb = _VERBS[self.kind].format(sink=self.sink)
        return f"{self.kind} dependence on `{self.name}`: {self.source} {verb}, {self.where}"


@dataclass(frozen=True, slots=True)
class Relation:
    """How the iterations of a source and a sink are related: `shared` levels have equal iterations.

    `less` are pairs (symbol, limit): the sink's iteration is later by at least 1 and by at most `limit`,
    if that is not None; `greater` are symbols of which the sink's iteration is earlier.
    """

    shared: frozenset[str] = frozenset()
    less: tuple[tuple[str, int | None], ...] = ()
    greater: tuple[str, ...] = ()

    def rows(self) -> list[Linear]:
        """The constraints, each at least 0."""
        rows: list[Linear] = []
        for symbol, limit in self.less:
            rows.append({symbol + ">": 1, symbol + "<": -1, "": -1})
            if limit is not None:
                rows.append({symbol + "<": 1, symbol + ">": -1, "": limit})
        rows.extend({symbol + "<": 1, symbol + ">": -1, "": -1} for symbol in self.greater)
        return rows


def merged(instances: Sequence[Instance]) -> tuple[Instance, ...]:
    """One instance for all accesses to the same element in the same iterations, a write if any is."""
    found: dict[object, Instance] = {}
    for instance in instances:
        subscripts = tuple(None if s is None else s.key for s in instance.subscripts)
        key = (instance.name, subscripts, instance.domain_key, instance.levels, instance.path, instance.why)
        before = found.get(key)
        if before is None:
            found[key] = instance
        elif before.is_write != instance.is_write or before.also_reads:
            write = before if before.is_write else instance
            found[key] = replace(write, also_reads=True)
    return tuple(found.values())


def pairs(instances: Sequence[Instance], ignored: Collection[str]) -> Iterator[tuple[Instance, Instance]]:
    """Ordered pairs (source, sink) of accesses to one name, at least one a write.

    Of pairs that differ only by moving both accesses by the same distance, as between the copies of an
    unrolled body, one stands for all.
    """
    names: dict[str, dict[object, dict[tuple[int, ...], Instance]]] = {}
    for instance in instances:
        if instance.name not in ignored:
            shape, offset = _shape(instance)
            names.setdefault(instance.name, {}).setdefault(shape, {})[offset] = instance
    for shapes in names.values():
        groups = list(shapes.values())
        for place, first in enumerate(groups):
            for second in groups[place:]:
                yield from _distinct_pairs(first, second)


def unlike_pairs(instances: Sequence[Instance], one: str, two: str) -> Iterator[tuple[Instance, Instance]]:
    """Ordered pairs of accesses to two names that may overlap anyhow, at least one a write."""
    groups: list[list[Instance]] = []
    for name in (one, two):
        kinds: dict[object, Instance] = {}
        for instance in instances:
            if instance.name == name:
                kinds.setdefault(_kind(instance), instance)
        groups.append([replace(instance, subscripts=()) for instance in kinds.values()])
    for first, second in product(*groups):
        if first.is_write or second.is_write:
            yield first, second
            yield second, first


def _distinct_pairs(
    first: Mapping[tuple[int, ...], Instance], second: Mapping[tuple[int, ...], Instance]
) -> Iterator[tuple[Instance, Instance]]:
    """One pair for each distance between accesses of two shapes, in both directions."""
    if not any(group[next(iter(group))].is_write for group in (first, second)):
        return
    seen: set[tuple[int, ...]] = set()
    for here, source in first.items():
        for there, sink in second.items():
            distance = tuple(a - b for a, b in zip(here, there, strict=False))
            if distance not in seen:
                seen.add(distance)
                yield source, sink
                if first is not second:
                    yield sink, source


def _shape(instance: Instance) -> tuple[object, tuple[int, ...]]:
    """An access without the constants of its subscripts, and those constants."""
    offsets: list[int] = []
    forms: list[object] = []
    for subscript in instance.subscripts:
        offset = 0 if subscript is None else subscript.terms.get((), 0)
        offsets.append(offset)
        forms.append(None if subscript is None else subscript.shifted(-offset).key)
    return (tuple(forms), _kind(instance)), tuple(offsets)


def _kind(instance: Instance) -> object:
    """Equal for accesses that differ in nothing but what they touch."""
    return instance.is_write, instance.levels, instance.domain_key, instance.path, instance.why


@dataclass(frozen=True, slots=True)
class Conflict:
    """An iteration of a source (its symbols marked `<`) and one of a sink (marked `>`) that conflict.

    `doubt` is a reason why they may not really, if one is known; `equal` and `positive` are the
    constraints that they fulfil.
    """

    sample: Mapping[str, int]
    doubt: str | None
    equal: Sequence[Linear]
    positive: Sequence[Linear]


class Conflicts:
    """Finds iterations in which two accesses touch the same memory."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._rows: dict[tuple[int, str, frozenset[str]], _Rows] = {}

    def find(self, source: Instance, sink: Instance, relation: Relation) -> Conflict | None:
        """Related iterations in which the two touch the same memory, or None.  Raises Undecided."""
        first = self._marked(source, "<", relation.shared)
        second = self._marked(sink, ">", relation.shared)
        equal = [
            _difference(left, right)
            for left, right in zip(first.subscripts, second.subscripts, strict=False)
            if left is not None and right is not None
        ]
        if any(_has_no_solution(row) for row in equal):
            return None
        positive = [*relation.rows(), *first.domain, *second.domain]
        if self._solver.is_empty(equal, positive):
            return None
        if first.cases or second.cases:
            choices = (positive + rows for rows in _combined(first.cases + second.cases))
            possible = next((rows for rows in choices if not self._solver.is_empty(equal, rows)), None)
            if possible is None:
                return None
            positive = possible
        products = sorted(name for row in equal for name in row if "*" in name)
        doubt = f"the product `{products[0]}` is taken for any number" if products else None
        sample = self._solver.sample(equal, positive) or {}
        return Conflict(sample, source.why or sink.why or doubt, equal, positive)

    def distance(
        self, conflict: Conflict, symbols: Sequence[Level], shared: frozenset[str]
    ) -> tuple[int, ...] | None:
        """The iterations between source and sink for each loop, if no other pair has another distance."""
        found: list[int] = []
        for level in symbols:
            first, second = level.symbol + "<", level.symbol + ">"
            if level.symbol in shared:
                found.append(0)
                continue
            if first not in conflict.sample or second not in conflict.sample:
                return None
            distance = conflict.sample[second] - conflict.sample[first]
            for sign in (1, -1):
                other: Linear = {second: sign, first: -sign, "": -sign * distance - 1}
                if not self._solver.is_empty(conflict.equal, (*conflict.positive, other)):
                    return None
            found.append(distance // level.scale)
        return tuple(found)

    def _marked(self, instance: Instance, mark: str, shared: frozenset[str]) -> _Rows:
        key = (id(instance), mark, shared)
        rows = self._rows.get(key)
        if rows is None:
            subscripts = [None if s is None else s.linear() for s in instance.subscripts]
            domain = [row for row in (c.linear() for c in instance.domain) if row is not None]
            rows = self._rows[key] = _Rows(
                instance,
                [None if row is None else _marked(row, mark, shared) for row in subscripts],
                [_marked(row, mark, shared) for row in domain],
                [
                    [[_marked(c.linear() or {}, mark, shared) for c in part] for part in choice]
                    for choice in instance.cases
                ],
            )
        return rows


@dataclass(frozen=True, slots=True)
class _Rows:
    """The affine forms of an access on one side of a pair."""

    instance: Instance
    subscripts: list[Linear | None]
    domain: list[Linear]
    cases: list[list[list[Linear]]]


def _combined(cases: Sequence[Sequence[Sequence[Linear]]]) -> Iterator[list[Linear]]:
    """The constraints of every combination of alternatives."""
    return ([row for part in choice for row in part] for choice in product(*cases))


def dependence(
    source: Instance, sink: Instance, conflict: Conflict, relation: Relation, levels: Sequence[Level]
) -> Dependence:
    """The dependence that a conflict shows, over the common loops `levels`."""
    sample = conflict.sample
    if source.is_write and (not sink.is_write or sink.also_reads):
        kind: Kind = "flow"
    else:
        kind = "output" if source.is_write else "anti"
    return Dependence(
        source.access,
        sink.access,
        kind,
        source.name,
        tuple(_direction(level.symbol, sample, relation.shared) for level in levels),
        tuple(level.index for level in levels),
        sizes=tuple((name, value) for name, value in sample.items() if not is_iteration(name)),
    )


def common_levels(source: Instance, sink: Instance, depth: int | None) -> list[Level]:
    """The loops around both accesses, of the outer `depth` ones."""
    outer = zip(source.levels[:depth], sink.levels[:depth], strict=False)
    return [a for a, b in outer if a == b and a.index]


def _direction(symbol: str, sample: Mapping[str, int], shared: frozenset[str]) -> str:
    if symbol in shared:
        return "="
    first, second = sample.get(symbol + "<"), sample.get(symbol + ">")
    if first is None or second is None:
        return "*"
    return "<" if first < second else ">" if first > second else "="


def _marked(row: Linear, mark: str, shared: frozenset[str]) -> Linear:
    return {
        name if is_fixed(name) or name in shared else name + mark: coefficient
        for name, coefficient in row.items()
    }


def _has_no_solution(row: Linear) -> bool:
    """Whether the coefficients of an equation have a common divisor that its constant lacks."""
    divisor = gcd(*(coefficient for name, coefficient in row.items() if name))
    constant = row.get("", 0)
    return constant % divisor != 0 if divisor else constant != 0


def _difference(left: Linear, right: Linear) -> Linear:
    result = dict(left)
    for name, coefficient in right.items():
        result[name] = result.get(name, 0) - coefficient
    return {name: coefficient for name, coefficient in result.items() if coefficient}
