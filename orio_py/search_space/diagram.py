"""Reduced decision diagrams: one constraint as a graph that shares everything it can.

A diagram reads its parameters in a fixed order; each node has one child per value of its parameter.
Equal nodes are stored once and nodes whose children are all the same are left out, so that nodes with
different numbers accept different values (Bryant, "Graph-Based Algorithms for Boolean Function
Manipulation", 1986, with many values instead of two).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from orio_py.core.expr import Value
from orio_py.search_space.algebra import Algebra, Variable
from orio_py.search_space.terms import FALSE, TRUE, ConstantTerm, Failed, Term, work

REJECT = 0
ACCEPT = 1
FAIL = 1 << 62
"""The nodes without children: the condition is false, is true, cannot be evaluated."""
_LEVEL_BITS = 40

_LEAVES = (FAIL, ACCEPT, REJECT)
"""In the place that makes them the last of a list, so that the codes below index it."""
_REJECTED, _ACCEPTED, _FAILED = -1, -2, -3

Residues: TypeAlias = "list[list[tuple[int, ...]]]"
"""Per variable, for each open residue, the residue of the next level for each value, by its place there
or by the code of a leaf; a single one where the variable is not read."""
ResidueCache: TypeAlias = "dict[tuple[Term, tuple[int, ...]], Residues]"
"""Residues of conditions by the order in which their own variables are read."""


class StructureTooLargeError(Exception):
    """A structure needs more steps than allowed."""


class Effort:
    """Counts the steps (edges made) of building a structure.  Raises StructureTooLargeError."""

    __slots__ = ("limit", "used")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def spend(self, steps: int) -> None:
        """Charge steps before they are made."""
        self.used += steps
        if self.used > self.limit:
            raise StructureTooLargeError


class Diagrams:
    """A store of diagrams over variables in one order, shared by all constraints of a group."""

    def __init__(
        self, algebra: Algebra, order: Sequence[Variable], effort: Effort, known: ResidueCache
    ) -> None:
        """`known` is filled; it may serve several orders of the same variables."""
        self._algebra = algebra
        self._order = order
        self._effort = effort
        self._known = known
        self._positions = {variable.index: position for position, variable in enumerate(order)}
        self._numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        self._children: dict[int, tuple[int, ...]] = {}

    def end_of_level(self, position: int) -> int:
        """A number above those of all nodes that read a variable up to this place in the order, and
        below those of all later nodes and FAIL.
        """
        return (position + 1) << _LEVEL_BITS

    def children(self, node: int) -> tuple[int, ...]:
        """A node's children, one per value of its variable."""
        return self._children[node]

    def build(self, condition: Term) -> int:
        """The root of the diagram of a condition.  Raises StructureTooLargeError."""
        own = [variable for variable in self._order if condition.mask >> variable.index & 1]
        numbers = list(_LEAVES)
        for variable, layer in zip(reversed(own), reversed(self._residues(condition, own)), strict=True):
            position = self._positions[variable.index]
            nodes = [self._node(position, tuple([numbers[code] for code in codes])) for codes in layer]
            numbers = [*nodes, *_LEAVES]
        return numbers[0]

    def table(self, variable: Variable, leaves: tuple[int, ...]) -> int:
        """The root of the diagram that reads one variable, given the leaf for each of its values."""
        return self._node(self._positions[variable.index], leaves)

    def _residues(self, condition: Term, own: Sequence[Variable]) -> Residues:
        """Per variable of the condition, each open residue with what is left of it for each value."""
        key = (condition, tuple(variable.index for variable in own))
        if (layers := self._known.get(key)) is not None:
            return layers
        made: Residues = []
        level: list[Term] = [condition]
        for variable in own:
            layer: list[tuple[int, ...]] = []
            below: dict[Term, int] = {}
            for term in level:
                bound: tuple[Term, ...] = (term,)
                if term.mask >> variable.index & 1:
                    is_last = term.mask == 1 << variable.index
                    self._effort.spend(len(variable.values) * (1 if is_last else work(term)))
                    bound = self._algebra.bind_all(term, variable)
                layer.append(tuple([_code(residue, below) for residue in bound]))
            made.append(layer)
            level = list(below)
        self._known[key] = made
        return made

    def _node(self, position: int, children: tuple[int, ...]) -> int:
        first = children[0]
        if children.count(first) == len(children):
            return first
        key = (position, children)
        if (number := self._numbers.get(key)) is None:
            number = self._numbers[key] = (position << _LEVEL_BITS) + len(self._children) + 2
            self._children[number] = children
        return number


def leaf(value: Value) -> int:
    """The node of a condition's value; only booleans and numbers are true or false."""
    if isinstance(value, (bool, int, float)):
        return ACCEPT if value else REJECT
    return FAIL


def _code(term: Term, places: dict[Term, int]) -> int:
    """The code of a leaf, or the place of any other term, which gets the next one if it is new."""
    if term is FALSE:
        return _REJECTED
    if term is TRUE:
        return _ACCEPTED
    if isinstance(term, Failed):
        return _FAILED
    if isinstance(term, ConstantTerm):
        return {REJECT: _REJECTED, ACCEPT: _ACCEPTED, FAIL: _FAILED}[leaf(term.value)]
    return places.setdefault(term, len(places))
