"""Iterations in which two accesses touch the same memory, and the dependences that they show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd

from orio_py.ctree.dependence.access import Instance
from orio_py.ctree.dependence.affine import Linear, difference, factors, is_fixed, is_iteration
from orio_py.ctree.dependence.pairs import Dependence, IterationRelation, Kind
from orio_py.ctree.dependence.scope import Constraint, Level
from orio_py.ctree.dependence.sets import Solver


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
    """Finds iterations in which two accesses touch the same memory.

    `outer` is what is known of the loops around the nest.
    """

    def __init__(self, solver: Solver, outer: Sequence[Constraint] = ()) -> None:
        self._solver = solver
        self._outer = _linear(outer)
        self._plain: dict[int, _Rows] = {}
        self._rows: dict[tuple[int, str, frozenset[str]], _Rows] = {}
        self._names: dict[tuple[str, frozenset[str]], dict[str, str]] = {}
        self._possible: dict[object, bool] = {}
        self._natural: dict[str, bool] = {}

    def find(self, source: Instance, sink: Instance, relation: IterationRelation) -> Conflict | None:
        """Related iterations in which the two touch the same memory, or None.  Raises Undecided."""
        if not self._may_be_later(source, sink, relation):
            return None
        system = self._system(source, sink, relation)
        if system is None:
            return None
        equal, positive = system
        products = sorted(name for row in equal for name in row if "*" in name)
        doubt = f"the product `{products[0]}` is taken for any number" if products else None
        sample = self._solver.sample(equal, positive) or {}
        return Conflict(sample, source.why or sink.why or doubt, equal, positive)

    def _may_be_later(self, source: Instance, sink: Instance, relation: IterationRelation) -> bool:
        """Whether they conflict at all where the sink is later in the loop that carries the relation.

        One answer often settles several relations.
        """
        if not relation.greater or len(relation.less) != 1:
            return True
        outer = [level.symbol for level in source.levels]
        carrying = relation.less[0][0]
        if carrying not in outer:
            return True
        shared = relation.shared.intersection(outer[: outer.index(carrying)])
        key = (id(source), id(sink), relation.less, shared)
        if key not in self._possible:
            system = self._system(source, sink, IterationRelation(shared, relation.less))
            self._possible[key] = system is not None
        return self._possible[key]

    def _system(
        self, source: Instance, sink: Instance, relation: IterationRelation
    ) -> tuple[list[Linear], list[Linear]] | None:
        """The constraints on conflicting iterations, or None if nothing fulfils them."""
        first = self._marked(source, "<", relation.shared)
        second = self._marked(sink, ">", relation.shared)
        equal = [
            difference(left, right)
            for left, right in zip(first.subscripts, second.subscripts, strict=False)
            if left is not None and right is not None
        ]
        if any(_has_no_solution(row) for row in equal):
            return None
        related = relation.rows()
        # What both sides share is written down once.
        domains = [*first.domain, *(row for row in second.domain if row not in first.common)]
        near = _connected([*equal, *related], domains)
        if self._solver.is_empty(equal, [*related, *near]):
            return None
        positive = [*related, *domains, *self._outer]
        grown = self._grown([*equal, *positive], relation)
        if len(near) < len(positive) - len(related) and self._solver.is_empty(equal, positive):
            return None
        cases = first.cases + second.cases + grown
        if not cases:
            return equal, positive
        choices = (positive + rows for rows in _combined(cases))
        possible = next((rows for rows in choices if not self._solver.is_empty(equal, rows)), None)
        return None if possible is None else (equal, possible)

    def _grown(self, rows: Sequence[Linear], relation: IterationRelation) -> list[list[list[Linear]]]:
        """How the products of later iterations differ, in cases: `@i*n` grows by at least `n` where that is not negative."""
        later = {symbol: (">", "<") for symbol, _ in relation.less}
        later |= dict.fromkeys(relation.greater, ("<", ">"))
        names = {name[:-1] for row in rows for name in row if name.endswith((">", "<"))}
        found: dict[str, list[list[Linear]]] = {}
        for name in sorted(names):
            match factors(name):
                case (symbol, factor) if symbol in later:
                    large, small = (name + mark for mark in later[symbol])
                    up, down = found.setdefault(factor, [[{factor: 1}], [{factor: -1, "": -1}]])
                    up.append({large: 1, small: -1, factor: -1})
                    down.append({small: 1, large: -1, factor: 1})
                case _:
                    pass
        return [signs[:1] if self._is_natural(factor) else signs for factor, signs in found.items()]

    def _is_natural(self, parameter: str) -> bool:
        """Whether a parameter is known not to be negative."""
        if parameter not in self._natural:
            self._natural[parameter] = self._solver.is_empty((), (*self._outer, {parameter: -1, "": -1}))
        return self._natural[parameter]

    def distance(
        self, conflict: Conflict, levels: Sequence[Level], shared: frozenset[str]
    ) -> tuple[int, ...] | None:
        """The iterations between source and sink for each loop, if no other pair has another distance."""
        found: list[int] = []
        for level in levels:
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
        """The affine forms of an access, with marks on the iterations that the sides do not share."""
        key = (id(instance), mark, shared)
        rows = self._rows.get(key)
        if rows is None:
            plain = self._plain.get(id(instance))
            if plain is None:
                plain = self._plain[id(instance)] = _rows_of(instance)
            names = self._names.setdefault((mark, shared), {})

            def marked(row: Linear) -> Linear:
                return {names.get(name) or named(name): value for name, value in row.items()}

            def named(name: str) -> str:
                product = factors(name)
                is_shared = name in shared or (product is not None and product[0] in shared)
                names[name] = name if is_fixed(name) or is_shared else name + mark
                return names[name]

            subscripts = [None if row is None else marked(row) for row in plain.subscripts]
            domain = [marked(row) for row in plain.domain]
            cases = [[[marked(row) for row in part] for part in choice] for choice in plain.cases]
            common = [new for new, old in zip(domain, plain.domain, strict=True) if new == old]
            rows = self._rows[key] = _Rows(instance, subscripts, domain, cases, common)
        return rows


@dataclass(frozen=True, slots=True)
class _Rows:
    """The affine forms of an access; those in `common` are the same for both sides of a pair."""

    instance: Instance
    subscripts: list[Linear | None]
    domain: list[Linear]
    cases: list[list[list[Linear]]]
    common: list[Linear]


def _rows_of(instance: Instance) -> _Rows:
    return _Rows(
        instance,
        [None if subscript is None else subscript.linear() for subscript in instance.subscripts],
        _linear(instance.domain),
        [[_linear(part) for part in choice] for choice in instance.cases],
        [],
    )


def _linear(constraints: Sequence[Constraint]) -> list[Linear]:
    return [row for constraint in constraints if (row := constraint.relaxed()) is not None]


def _connected(roots: Sequence[Linear], rows: Sequence[Linear]) -> list[Linear]:
    """The constraints that say something of the iterations in `roots`, directly or through others."""
    reached = {name for row in roots for name in row if is_iteration(name)}
    waiting = [(row, {name for name in row if is_iteration(name)}) for row in rows]
    found: list[Linear] = []
    while True:
        left: list[tuple[Linear, set[str]]] = []
        for row, names in waiting:
            if names and reached.isdisjoint(names):
                left.append((row, names))
            else:
                found.append(row)
                reached |= names
        if len(left) == len(waiting):
            return found
        waiting = left


def _combined(cases: Sequence[Sequence[Sequence[Linear]]]) -> Iterator[list[Linear]]:
    """The constraints of every combination of alternatives."""
    return ([row for part in choice for row in part] for choice in product(*cases))


def dependence(
    source: Instance, sink: Instance, conflict: Conflict, relation: IterationRelation, levels: Sequence[Level]
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


def _has_no_solution(row: Linear) -> bool:
    """Whether the coefficients of an equation have a common divisor that its constant lacks."""
    divisor = gcd(*(coefficient for name, coefficient in row.items() if name))
    constant = row.get("", 0)
    return constant % divisor != 0 if divisor else constant != 0
