"""Pairs of accesses that touch the same memory in iterations that a question asks about."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import Literal

from orio_py.ctree.access import Access, Instance
from orio_py.ctree.affine import Linear, is_fixed
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
    is earlier, `=`, `>`, or `*` for any.
    """

    source: Access
    sink: Access
    kind: Kind
    name: str
    direction: tuple[str, ...]
    indices: tuple[str, ...]

    @property
    def where(self) -> str:
        """The direction, for messages."""
        return f"direction ({', '.join(self.direction)}) over ({', '.join(self.indices)})"

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
    kept = (instance.is_write, instance.levels, instance.domain_key, instance.path, instance.why)
    return (tuple(forms), kept), tuple(offsets)


class Conflicts:
    """Finds iterations in which two accesses touch the same memory."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._rows: dict[tuple[int, str, frozenset[str]], _Rows] = {}

    def find(
        self, source: Instance, sink: Instance, relation: Relation
    ) -> tuple[Mapping[str, int], str | None] | None:
        """An iteration of the source (its symbols marked `<`) and of the sink (marked `>`), or None.

        With it a reason to doubt that there is such an iteration, if one is known.  Raises Undecided.
        """
        first = self._marked(source, "<", relation.shared)
        second = self._marked(sink, ">", relation.shared)
        equal = [
            _difference(left, right)
            for left, right in zip(first.subscripts, second.subscripts, strict=False)
            if left is not None and right is not None
        ]
        if any(_has_no_solution(row) for row in equal):
            return None
        positive = (*relation.rows(), *first.domain, *second.domain)
        if self._solver.is_empty(equal, positive):
            return None
        products = sorted(name for row in equal for name in row if "*" in name)
        doubt = f"the product `{products[0]}` is taken for any number" if products else None
        return self._solver.sample(equal, positive) or {}, source.why or sink.why or doubt

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
            )
        return rows


@dataclass(frozen=True, slots=True)
class _Rows:
    """The affine forms of an access on one side of a pair."""

    instance: Instance
    subscripts: list[Linear | None]
    domain: list[Linear]


def dependence(
    source: Instance, sink: Instance, sample: Mapping[str, int], shared: frozenset[str], depth: int | None
) -> Dependence:
    """The dependence that a sample of iterations shows, over the outer `depth` common loops."""
    common = [
        a for a, b in zip(source.levels[:depth], sink.levels[:depth], strict=False) if a == b and a.index
    ]
    direction = tuple(_direction(level.symbol, sample, shared) for level in common)
    if source.is_write and (not sink.is_write or sink.also_reads):
        kind: Kind = "flow"
    else:
        kind = "output" if source.is_write else "anti"
    indices = tuple(level.index for level in common)
    return Dependence(source.access, sink.access, kind, source.name, direction, indices)


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
