"""A search space whose configurations are listed, as a complete table of measurements has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from orio_py.core.expr import Value
from orio_py.search_space.algebra import Variable
from orio_py.search_space.configuration import value_key
from orio_py.search_space.counting import LEAF, NOTHING, CountNode
from orio_py.search_space.groups import ConnectedVariables
from orio_py.search_space.search_space import SearchSpace
from orio_py.search_space.structure import Structure
from orio_py.spec.parameter import Parameter

Row = tuple[int, ...]
"""The place of each parameter's value in its list."""


class ListedSpace(SearchSpace):
    """The search space that holds just the given rows; it has no constraints, and behaves as one with some.

    Parameters stand in groups of their own where all combinations of the groups are in the space.

    >>> from orio_py.spec.parameter import Parameter
    >>> parameters = [Parameter("U", (1, 2)), Parameter("V", (1, 2, 4))]
    >>> space = ListedSpace(parameters, [{"U": 1, "V": 4}, {"U": 2, "V": 1}, {"U": 2, "V": 4}])
    >>> [c.show() for c in space], {"U": 1, "V": 1} in space
    (['U=1, V=4', 'U=2, V=1', 'U=2, V=4'], False)
    """

    def __init__(self, parameters: Sequence[Parameter], rows: Iterable[Mapping[str, Value]]) -> None:
        """Raises ORIO-P002, P003; ValueError for a row that lacks a parameter or has a value not listed."""
        super().__init__(parameters)
        self._rows = frozenset(self._row(row) for row in rows)

    def pin(self, name: str, value: Value) -> ListedSpace:
        """The part of the space where a parameter has one value.  Raises ORIO-P007, P008."""
        pinned = super().pin(name, value)
        place = self._places[name][value_key(value)]
        level = self.names.index(name)
        rows = [row for row in self._rows if row[level] == place]
        return ListedSpace(pinned.parameters, map(self._values, rows))

    def _row(self, values: Mapping[str, Value]) -> Row:
        try:
            return tuple([places[value_key(values[name])] for name, places in self._places.items()])
        except KeyError as error:
            raise ValueError(f"{dict(values)} is not a combination of the parameters' values") from error

    def _values(self, row: Row) -> Mapping[str, Value]:
        return {p.name: p.values[place] for p, place in zip(self.parameters, row, strict=True)}

    def _holds(self, environment: Mapping[str, Value]) -> bool:
        return self._row(environment) in self._rows

    @cached_property
    def _structures(self) -> tuple[Structure, ...]:
        variables = tuple(Variable(i, p.name, p.values) for i, p in enumerate(self.parameters))
        if not self._rows:
            return (Structure(ConnectedVariables(variables, ()), variables, NOTHING),)
        groups: list[tuple[tuple[Variable, ...], frozenset[Row]]] = []
        for members in _split(variables, self._rows):
            indices = [variable.index for variable in members]
            groups.append((members, frozenset(tuple([row[i] for i in indices]) for row in self._rows)))
        return tuple(
            Structure(ConnectedVariables(members, ()), members, count_rows(found, len(members)))
            for members, found in groups
        )


def space_of_rows(rows: Sequence[Mapping[str, Value]]) -> ListedSpace:
    """The space of rows that tell no lists of values: each list holds what occurs, numbers ascending.

    Raises ValueError where there are no rows, or rows with different parameters.
    """
    if not rows:
        raise ValueError("there are no rows")
    return ListedSpace([Parameter(name, _values_of(name, rows)) for name in rows[0]], rows)


def _values_of(name: str, rows: Sequence[Mapping[str, Value]]) -> tuple[Value, ...]:
    found: dict[object, Value] = {}
    for row in rows:
        if name not in row:
            raise ValueError(f"{dict(row)} lacks the parameter `{name}`")
        found.setdefault(value_key(row[name]), row[name])
    numbers = [value for value in found.values() if isinstance(value, (bool, int, float))]
    return tuple(sorted(numbers) if len(numbers) == len(found) else found.values())


def _split(variables: Sequence[Variable], rows: frozenset[Row]) -> list[tuple[Variable, ...]]:
    """Groups of variables of which the rows are the product, by their first variable.

    Variables depend on each other where some pair of their values does not occur together.  Groups by that
    alone may still depend on each other by more than two variables; those that do become one.
    """
    owner = list(range(len(variables)))
    taken = [{row[i] for row in rows} for i in owner]
    for i in owner:
        for j in range(i):
            pairs = {(row[i], row[j]) for row in rows}
            if len(pairs) < len(taken[i]) * len(taken[j]) and owner[i] != owner[j]:
                low, high = sorted((owner[i], owner[j]))
                owner = [low if root == high else root for root in owner]
    groups = [tuple(v for v in variables if owner[v.index] == root) for root in sorted(set(owner))]
    dependent = tuple(v for members in groups if not _is_factor(members, rows) for v in members)
    apart = [members for members in groups if members[0] not in dependent]
    return sorted([*apart, *([] if not dependent else [_in_order(dependent)])], key=lambda g: g[0].index)


def _is_factor(members: Sequence[Variable], rows: frozenset[Row]) -> bool:
    """Whether the rows are the product of those of the members and those of all others."""
    inside = {v.index for v in members}
    own = {tuple([place for i, place in enumerate(row) if i in inside]) for row in rows}
    rest = {tuple([place for i, place in enumerate(row) if i not in inside]) for row in rows}
    return len(own) * len(rest) == len(rows)


def _in_order(variables: Sequence[Variable]) -> tuple[Variable, ...]:
    return tuple(sorted(variables, key=lambda variable: variable.index))


def count_rows(rows: Iterable[Row], width: int) -> CountNode:
    """The counting structure of distinct rows of `width` places each, of which there is at least one."""
    shared: dict[tuple[object, ...], CountNode] = {}
    nodes: dict[Row, CountNode] = dict.fromkeys(sorted(rows), LEAF)
    for _ in range(width):
        choices: dict[Row, dict[CountNode, list[int]]] = {}
        for prefix, child in nodes.items():
            choices.setdefault(prefix[:-1], {}).setdefault(child, []).append(prefix[-1])
        nodes = {}
        for prefix, united in choices.items():
            classes, children = tuple(tuple(places) for places in united.values()), tuple(united)
            key = (classes, children)
            if (node := shared.get(key)) is None:
                node = shared[key] = CountNode(classes, children)
            nodes[prefix] = node
    return nodes[()]
