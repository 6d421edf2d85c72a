"""Questions about sets of integer points, answered by isl within a bounded effort."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from orio_py.ctree.dependence.affine import Linear, Polynomial, factors, is_fixed

if TYPE_CHECKING:
    import islpy as isl

MAXIMUM_OPERATIONS = 2_000_000
"""What isl may spend on one question about a nest; a matrix product uses less than a hundredth."""

_LARGEST = 2**62


System = tuple[Sequence[Linear], Sequence[Linear]]
"""Affine forms that are zero, and affine forms that are at least 0."""


class Undecided(Exception):
    """isl gave up, most often because the effort that it may spend was used up."""


class Solver:
    """Decides whether affine constraints have an integer solution; parameters are free integers.

    One solver serves one question about a nest, and shares its effort among the parts of it.
    """

    def __init__(self, operations: int = MAXIMUM_OPERATIONS) -> None:
        import islpy  # takes time to load, and a finished task asks no question

        self._isl = islpy
        self._context = islpy.Context()
        self._context.set_on_error(islpy.on_error.CONTINUE)
        self._context.set_max_operations(operations)
        self._values: dict[int, isl.Val] = {}
        self._known: dict[object, tuple[bool, tuple[Polynomial, ...]]] = {}

    def is_empty(self, equal: Sequence[Linear], positive: Sequence[Linear]) -> bool:
        """Whether no integer point has all of `equal` zero and all of `positive` at least 0.

        Raises Undecided.
        """
        columns = _columns((*equal, *positive))
        try:
            return self._set(columns, equal, positive).is_empty()
        except self._isl.Error as error:
            raise Undecided from error

    def sample(self, equal: Sequence[Linear], positive: Sequence[Linear]) -> Mapping[str, int] | None:
        """An integer point by name, or None if there is none.  Raises Undecided."""
        columns = _columns((*equal, *positive))
        try:
            point = self._set(columns, equal, positive).sample_point()
            if point.is_void():
                return None
            kind = self._isl.dim_type.set
            return {
                name: point.get_coordinate_val(kind, place).to_python() for name, place in columns.items()
            }
        except self._isl.Error as error:
            raise Undecided from error

    def is_nonnegative(self, value: Polynomial, domain: Iterable[Polynomial]) -> bool:
        """Whether a polynomial is at least 0 wherever all of `domain` are."""
        constraints = tuple(domain)
        # The answer holds the constraints, too: no others can have their identities later.
        key = (value.key, *map(id, constraints))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = (self._is_nonnegative(value, constraints), constraints)
        return found[0]

    def _is_nonnegative(self, value: Polynomial, domain: Sequence[Polynomial]) -> bool:
        negative = value.scaled(-1).shifted(-1).relaxed()
        if negative is None:
            return False
        rows = [row for row in (constraint.relaxed() for constraint in domain) if row is not None]
        try:
            return self.is_empty((), (*rows, *self._natural_products((*rows, negative)), negative))
        except Undecided:
            return False

    def _natural_products(self, rows: Sequence[Linear]) -> list[Linear]:
        """The products in relaxed forms that are at least 0, as their factors are."""
        products = {name: found for row in rows for name in row if (found := factors(name)) is not None}
        parts = {part for found in products.values() for part in found}
        natural = {part for part in parts if self.is_empty((), (*rows, {part: -1, "": -1}))}
        return [{name: 1} for name, found in products.items() if natural.issuperset(found)]

    def same_last_point(
        self, choices: Sequence[Sequence[Linear]], old: Sequence[str], new: Sequence[str]
    ) -> bool:
        """Whether the lexicographic maximum of the points is the same in two orders of the symbols.

        The points fulfil all constraints of one of the choices.  Fixed symbols are parameters, iterations
        in neither order any integers.  Raises Undecided.
        """
        names = _columns(row for positive in choices for row in positive)
        parameters = [name for name in names if is_fixed(name)]
        others = [name for name in names if not is_fixed(name) and name not in old]
        later = [name + ">" for name in old]
        columns = {name: place for place, name in enumerate((*parameters, *old, *others))}
        wide = {name: place for place, name in enumerate((*parameters, *old, *later))}
        equal: list[Linear] = []
        try:
            found = [self._set(columns, (), positive, len(parameters)) for positive in choices]
            parts = [
                part.to_set().project_out(self._isl.dim_type.set, len(old), len(others)) for part in found
            ]
            points = reduce(self._isl.Set.union, parts)
            pairs = points.lexmax().flat_product(points)
            for name in new:
                follows = self._set(wide, equal, [{name + ">": 1, name: -1, "": -1}], len(parameters))
                if not pairs.intersect(follows.to_set()).is_empty():
                    return False
                equal.append({name: 1, name + ">": -1})
        except self._isl.Error as error:
            raise Undecided from error
        return True

    def covers(self, symbols: Sequence[str], inner: Sequence[System], outer: Sequence[System]) -> bool:
        """Whether each point over `symbols` of one of the systems `inner` is one of a system `outer`.

        Fixed symbols are parameters, further ones any integers.  Raises Undecided.
        """
        rows = [row for equal, positive in (*inner, *outer) for row in (*equal, *positive)]
        names = _columns(rows)
        parameters = [name for name in names if is_fixed(name)]
        known = {*parameters, *symbols}
        others = [name for name in names if name not in known]
        columns = {name: place for place, name in enumerate((*parameters, *symbols, *others))}
        try:
            missing, found = (
                reduce(
                    self._isl.Set.union,
                    [self._points(columns, s, len(parameters), len(others)) for s in part],
                )
                for part in (inner, outer)
            )
            return missing.subtract(found).is_empty()
        except self._isl.Error as error:
            raise Undecided from error

    def _points(self, columns: Mapping[str, int], system: System, parameters: int, others: int) -> isl.Set:
        """The points of a system over the columns between the parameters and the last, `others` ones."""
        found = self._set(columns, *system, parameters).to_set()
        return found.project_out(self._isl.dim_type.set, len(columns) - parameters - others, others)

    def _set(
        self,
        columns: Mapping[str, int],
        equal: Sequence[Linear],
        positive: Sequence[Linear],
        parameters: int = 0,
    ) -> isl.BasicSet:
        space = self._isl.Space.set_alloc(self._context, parameters, len(columns) - parameters)
        kind = self._isl.dim_type
        return self._isl.BasicSet.from_constraint_matrices(
            space,
            self._matrix(columns, equal),
            self._matrix(columns, positive),
            kind.param,
            kind.set,
            kind.div,
            kind.cst,
        )

    def _matrix(self, columns: Mapping[str, int], rows: Sequence[Linear]) -> isl.Mat:
        matrix = self._isl.Mat.alloc(self._context, 0, len(columns) + 1).add_zero_rows(len(rows))
        values, last = self._values, len(columns)
        for place, row in enumerate(rows):
            for name, coefficient in row.items():
                value = values.get(coefficient)
                if value is None:
                    if abs(coefficient) > _LARGEST:
                        raise Undecided
                    value = values[coefficient] = self._isl.Val.int_from_si(self._context, coefficient)
                column = columns[name] if name else last
                matrix = matrix.set_element_val(place, column, value)
        return matrix


def _columns(rows: Iterable[Linear]) -> dict[str, int]:
    columns: dict[str, int] = {}
    for row in rows:
        for name in row:
            if name and name not in columns:
                columns[name] = len(columns)
    return columns
