"""The search space: every configuration that meets the constraints, counted but not listed."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

from orio_py.core.diagnostics import Diagnostic, DiagnosticError, fail
from orio_py.core.expr import Value, compile_expr, name_positions, show
from orio_py.core.registry import did_you_mean
from orio_py.search_space.algebra import Algebra, Variable
from orio_py.search_space.configuration import Configuration, value_key
from orio_py.search_space.counting import NOTHING, least_choice
from orio_py.search_space.groups import Conjunct, ConnectedVariables, clusters, conjuncts_of
from orio_py.search_space.sampling import sample_ranks
from orio_py.search_space.structure import Structure, build_structure, explain_failure
from orio_py.search_space.terms import ConstantTerm
from orio_py.spec.parameter import Constraint, Parameter

DEFAULT_LIMIT = 8_000_000
"""Steps that building the structure of one group may take: some seconds, less than a gigabyte."""


@dataclass(frozen=True, slots=True)
class Group:
    """Parameters that constraints connect: their names, those constraints' names, and the number of
    valid combinations; `nodes` is the size of the structure that holds them.
    """

    parameters: tuple[str, ...]
    constraints: tuple[str, ...]
    count: int
    cartesian: int
    nodes: int


class SearchSpace:
    """The configurations of parameters that meet all constraints; immutable.

    Values that a list repeats count once.  A constraint may use the parameters and the names in
    `fixed`; it rejects what it is false (or zero) for.  The structure is built when it is first needed;
    whatever needs it raises ORIO-P004 or P005 (a constraint without a truth value for a combination
    that all others allow) or P006 (a group is too large).

    Ranks count the configurations from 0 in lexicographic order of the values' places in their lists,
    the first name of `order` changing slowest.

    >>> from orio_py.spec.parameter import Parameter
    >>> space = SearchSpace([Parameter("U", (1, 2)), Parameter("V", (False, True))], [])
    >>> [c.show() for c in space]
    ['U=1, V=False', 'U=1, V=True', 'U=2, V=False', 'U=2, V=True']
    """

    def __init__(
        self,
        parameters: Sequence[Parameter],
        constraints: Sequence[Constraint] = (),
        fixed: Mapping[str, Value] | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
    ) -> None:
        """Raises ORIO-P001 (unknown name), P002 (duplicate name), P003 (no values)."""
        self.parameters = tuple(replace(p, values=_distinct(p.values)) for p in parameters)
        self.constraints = tuple(constraints)
        self.fixed: Mapping[str, Value] = dict(fixed or {})
        self._limit = limit
        if problems := (*self._check_parameters(), *self._check_constraints()):
            raise DiagnosticError(*problems)

    # --- what is in it ---

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names in written order."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def cartesian(self) -> int:
        """The number of combinations that ignore the constraints."""
        return math.prod(len(parameter.values) for parameter in self.parameters)

    @cached_property
    def size(self) -> int:
        """The exact number of valid configurations."""
        return math.prod(structure.root.count for structure in self._structures)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of parameters that constraints connect, by their first parameter."""
        return tuple(
            Group(
                tuple(variable.name for variable in structure.cluster.variables),
                tuple(dict.fromkeys(c.constraint.name for c in structure.cluster.conjuncts)),
                structure.root.count,
                math.prod(len(variable.values) for variable in structure.cluster.variables),
                structure.nodes,
            )
            for structure in self._structures
        )

    @property
    def structures(self) -> tuple[Structure, ...]:
        """The counted structure of each group; a combination of theirs is a configuration."""
        return self._structures

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The names from slowest to fastest changing: the written order, except within a group whose
        structure would be too large in that order, where the group's names trade places.
        """
        return tuple(variable.name for _, variable in self._walk)

    def __contains__(self, configuration: object) -> bool:
        """Whether it has exactly the parameters, listed values, and every constraint holds."""
        if not isinstance(configuration, Mapping):
            return False
        point = cast("Mapping[str, Value]", configuration)
        if len(point) != len(self.parameters):
            return False
        for name, places in self._places.items():
            if name not in point or value_key(point[name]) not in places:
                return False
        return self._holds({**self.fixed, **point})

    def __iter__(self) -> Iterator[Configuration]:
        return self.enumerate()

    # --- ranks ---

    def at(self, rank: int) -> Configuration:
        """The configuration of a rank.  Raises IndexError outside `0 … size - 1`."""
        places = self.places_at(rank)
        return Configuration(
            {p.name: p.values[place] for p, place in zip(self.parameters, places, strict=True)}
        )

    def places_at(self, rank: int) -> tuple[int, ...]:
        """The configuration of a rank as the place of each value in its list, in written order.

        Raises IndexError outside `0 … size - 1`.
        """
        if not 0 <= rank < self.size:
            raise IndexError(f"rank {rank} in a space of {self.size} configurations")
        nodes = [structure.root for structure in self._structures]
        places = [0] * len(self.parameters)
        box = self.size
        for number, variable in self._walk:
            node = nodes[number]
            others = box // node.count
            choice, child, before = node.descend(rank // others)
            rank -= before * others
            box = others * child.count
            nodes[number] = child
            places[variable.index] = choice
        return tuple(places)

    def rank(self, configuration: Mapping[str, Value]) -> int:
        """The rank of a configuration, the inverse of `at`.  Raises ValueError if it is not in the space."""
        if set(configuration) == set(self._places):
            places = {name: self._places[name].get(value_key(value)) for name, value in configuration.items()}
            rank, is_exact = self._count_before(places)
            if is_exact:
                return rank
        raise ValueError("the configuration is not in the space")

    def first_rank_from(self, coordinate: Sequence[int]) -> int:
        """The rank of the first configuration at or after a coordinate (places in the value lists, in
        written order), `size` if there is none.
        """
        return self._count_before(dict(zip(self.names, coordinate, strict=True)))[0]

    def enumerate(self, start: int = 0) -> Iterator[Configuration]:
        """The configurations in rank order from rank `start` on, made as they are asked for."""
        return (self.at(rank) for rank in range(start, self.size))

    def sample(self, n: int, rng: random.Random) -> list[Configuration]:
        """`n` distinct configurations (all, if there are fewer), each set and order equally likely."""
        return [self.at(rank) for rank in sample_ranks(self.size, n, rng)]

    def first(self) -> Configuration | None:
        """The lexicographically first configuration in written order; None if the space is empty.

        That is: each parameter in turn takes the first value of its list for which all constraints can
        still hold.
        """
        if self.size == 0:
            return None
        if self.order == self.names:
            return self.at(0)
        chosen: dict[str, Value] = {}
        for structure in self._structures:
            chosen.update(_first_in_written_order(structure))
        return Configuration({name: chosen[name] for name in self.names})

    def pin(self, name: str, value: Value) -> SearchSpace:
        """The part of the space where a parameter has one value.  Raises ORIO-P007, P008."""
        if name not in self._places:
            fail("ORIO-P007", f"there is no parameter `{name}`", help=did_you_mean(name, self._places))
        (parameter,) = [p for p in self.parameters if p.name == name]
        place = self._places[name].get(value_key(value))
        if place is None:
            fail("ORIO-P008", f"{show(value)} is not among the values of `{name}`", help=_listed(parameter))
        pinned = replace(parameter, values=(parameter.values[place],))
        parameters = [pinned if p is parameter else p for p in self.parameters]
        return SearchSpace(parameters, self.constraints, self.fixed, limit=self._limit)

    # --- how it is built ---

    @cached_property
    def _places(self) -> dict[str, dict[Hashable, int]]:
        return {
            p.name: {value_key(value): place for place, value in enumerate(p.values)} for p in self.parameters
        }

    @cached_property
    def _structures(self) -> tuple[Structure, ...]:
        variables = [Variable(i, p.name, p.values) for i, p in enumerate(self.parameters)]
        algebra = Algebra(variables, self.fixed)
        conjuncts = [part for constraint in self.constraints for part in conjuncts_of(constraint, algebra)]
        decided = [conjunct for conjunct in conjuncts if not conjunct.term.mask]
        if any(_is_false(conjunct) for conjunct in decided):
            return (_nothing(variables, conjuncts),)
        example = {**self.fixed, **{p.name: p.values[0] for p in self.parameters}}
        problems = list(explain_failure(decided, example))
        built: list[Structure] = []
        for cluster in clusters(variables, conjuncts):
            try:
                built.append(build_structure(cluster, algebra, example, limit=self._limit))
            except DiagnosticError as error:
                problems.extend(error.diagnostics)
        if problems:
            if any(structure.root.count == 0 for structure in built):
                return (_nothing(variables, conjuncts),)
            raise DiagnosticError(*problems)
        return tuple(built)

    @cached_property
    def _walk(self) -> tuple[tuple[int, Variable], ...]:
        """The variables in rank order with the number of their structure."""
        owner = {
            variable.index: number
            for number, structure in enumerate(self._structures)
            for variable in structure.order
        }
        upcoming = [iter(structure.order) for structure in self._structures]
        return tuple((owner[i], next(upcoming[owner[i]])) for i in range(len(self.parameters)))

    def _count_before(self, places: Mapping[str, int | None]) -> tuple[int, bool]:
        """How many configurations come before the given places, and whether they are one themselves."""
        nodes = [structure.root for structure in self._structures]
        box, rank = self.size, 0
        if box == 0:
            return 0, False
        for number, variable in self._walk:
            node, place = nodes[number], places[variable.name]
            if place is None:
                return rank, False
            others = box // node.count
            child, before = node.step(place)
            rank += before * others
            if child is None:
                return rank, False
            nodes[number] = child
            box = others * child.count
        return rank, True

    @cached_property
    def _tests(self) -> tuple[Callable[[Mapping[str, Value]], Value], ...]:
        return tuple(compile_expr(constraint.expression) for constraint in self.constraints)

    def _holds(self, environment: Mapping[str, Value]) -> bool:
        try:
            return all(test(environment) for test in self._tests)
        except DiagnosticError:
            return False

    def _check_parameters(self) -> Iterator[Diagnostic]:
        seen: set[str] = set()
        for p in self.parameters:
            if p.name in seen or p.name in self.fixed:
                other = "another parameter" if p.name in seen else "an input parameter"
                yield Diagnostic("ORIO-P002", f"`{p.name}` is also the name of {other}", p.position)
            if not p.values:
                yield Diagnostic("ORIO-P003", f"parameter `{p.name}` has no values; it needs one", p.position)
            seen.add(p.name)

    def _check_constraints(self) -> Iterator[Diagnostic]:
        known = {*self.names, *self.fixed}
        for constraint in self.constraints:
            for name, position in name_positions(constraint.expression):
                if name not in known:
                    yield Diagnostic(
                        "ORIO-P001",
                        f"constraint `{constraint.name}` uses the unknown name `{name}`",
                        position or constraint.position,
                        help=did_you_mean(name, known),
                    )


def _distinct(values: Sequence[Value]) -> tuple[Value, ...]:
    if all(type(value) is int for value in values):
        return tuple(dict.fromkeys(values))
    table: dict[Hashable, Value] = {}
    for value in values:
        table.setdefault(value_key(value), value)
    return tuple(table.values())


def _is_false(conjunct: Conjunct) -> bool:
    term = conjunct.term
    return isinstance(term, ConstantTerm) and isinstance(term.value, (bool, int, float)) and not term.value


def _nothing(variables: Sequence[Variable], conjuncts: Sequence[Conjunct]) -> Structure:
    """The structure of a space that a constraint without parameters rejects as a whole."""
    return Structure(ConnectedVariables(tuple(variables), tuple(conjuncts)), tuple(variables), NOTHING)


def _listed(parameter: Parameter) -> str:
    values = [show(value) for value in parameter.values[:12]]
    return f"the values are {', '.join(values)}{', …' if len(parameter.values) > 12 else ''}"


def _first_in_written_order(structure: Structure) -> dict[str, Value]:
    pinned: dict[int, int] = {}
    chosen: dict[str, Value] = {}
    for variable in structure.cluster.variables:
        level = structure.order.index(variable)
        choice = least_choice(structure.root, level, len(structure.order), pinned)
        pinned[level] = choice
        chosen[variable.name] = variable.values[choice]
    return chosen
