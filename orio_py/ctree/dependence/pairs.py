"""Pairs of accesses that touch the same memory in iterations that a question asks about."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from orio_py.ctree.dependence.access import Access, Instance
from orio_py.ctree.dependence.affine import Linear
from orio_py.ctree.dependence.names import LOCATION, AccessKey

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
        name = f"`{self.name}`"
        if self.name.endswith(LOCATION):
            first = self.name.removesuffix(LOCATION)
            name = f"the memory location that the bit field `{first}` shares with its neighbours (C11 3.14)"
        return f"{self.kind} dependence on {name}: {self.source} {verb}, {self.where}"


@dataclass(frozen=True, slots=True)
class IterationRelation:
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


def unlike_pairs(
    instances: Sequence[Instance], one: AccessKey, two: AccessKey
) -> Iterator[tuple[Instance, Instance]]:
    """Ordered pairs of accesses under two names that may overlap anyhow, at least one a write."""
    groups: list[list[Instance]] = []
    for spot in (one, two):
        kinds: dict[object, Instance] = {}
        for instance in instances:
            if (instance.name, instance.depth) == spot:
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
