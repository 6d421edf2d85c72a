"""Least squares with non-linear terms, a model for each combination of the binary parameters.

Section 3.4.1 of the paper (see `orio_py.model.counters.table`): each counter is a sum of main effects of the other
parameters, their interactions and their squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from orio_py.model.counters.model import Array, Domain, TrainingSet

LEVELS = 3
"""How many values of a parameter are chosen to train on: the least, one in the middle, the greatest."""

Terms = tuple[tuple[int, ...], ...]
"""Per term the columns that are multiplied; none for the constant, one twice for a square."""


@dataclass(frozen=True, slots=True)
class Subspace:
    """The coefficients where the binary parameters have some values: a row per term, a column per counter."""

    binary: tuple[float, ...]
    coefficients: Array


@dataclass(frozen=True, slots=True)
class RegressionModel:
    """Sums of terms, by subspaces.

    `binary` and `others` are the places of parameters with two values and with more; the latter are shifted by
    `centre` and divided by `width`.  Predictions stay between the `least` and the `most` that was counted: sums of terms
    leave them far behind where nothing was counted, and fall below 0.  Where the binary parameters have values that no subspace has, the nearest counts.
    """

    domain: Domain
    binary: tuple[int, ...]
    others: tuple[int, ...]
    centre: Array
    width: Array
    terms: Terms
    subspaces: tuple[Subspace, ...]
    least: Array
    most: Array

    def predict(self, rows: Array) -> Array:
        """The counters of each row."""
        values = design(rows[:, self.others], self.centre, self.width, self.terms)
        corners = np.array([subspace.binary for subspace in self.subspaces]).reshape(len(self.subspaces), -1)
        apart = np.abs(rows[:, None, self.binary] - corners[None]).sum(axis=2)
        nearest = apart.argmin(axis=1)
        found = np.zeros((len(rows), len(self.domain.counters)))
        for place, subspace in enumerate(self.subspaces):
            members = nearest == place
            found[members] = values[members] @ subspace.coefficients
        return np.clip(found, self.least, self.most)


def design(others: Array, centre: Array, width: Array, terms: Terms) -> Array:
    """The value of each term for each row."""
    scaled = (others - centre) / width
    columns = [np.prod(scaled[:, list(term)], axis=1) if term else np.ones(len(others)) for term in terms]
    return np.stack(columns, axis=1)


def fit_regression(training: TrainingSet) -> RegressionModel:
    """Fit a model.

    Of each subspace those rows are used whose other parameters all have one of three values, as long as they are
    enough for the terms; else all of its rows.  Interactions are of as high an order as the rows of the smallest
    subspace allow.
    """
    rows = training.rows
    levels = [np.unique(rows[:, place]) for place in range(rows.shape[1])]
    binary = tuple(place for place, found in enumerate(levels) if len(found) == 2)
    others = tuple(place for place, found in enumerate(levels) if len(found) > 2)
    centre = np.array([(levels[place][0] + levels[place][-1]) / 2 for place in others])
    width = np.array([(levels[place][-1] - levels[place][0]) / 2 for place in others])
    corners = np.unique(rows[:, binary], axis=0)
    members = [np.flatnonzero((rows[:, binary] == corner).all(axis=1)) for corner in corners]
    terms = chosen_terms(len(others), min(len(found) for found in members))
    is_chosen = np.ones(len(rows), dtype=np.bool_)
    for place in others:
        found = levels[place]
        is_chosen &= np.isin(rows[:, place], found[[0, len(found) // 2, -1]])
    subspaces: list[Subspace] = []
    for corner, places in zip(corners, members, strict=True):
        few = places[is_chosen[places]]
        used = few if len(few) >= 2 * len(terms) else places
        values = design(rows[used][:, others], centre, width, terms)
        coefficients: Array = np.linalg.lstsq(values, training.counters[used], rcond=None)[0].astype(
            np.float64
        )
        subspaces.append(Subspace(tuple(float(value) for value in corner), coefficients))
    limits = training.counters.min(axis=0), training.counters.max(axis=0)
    return RegressionModel(training.domain, binary, others, centre, width, terms, tuple(subspaces), *limits)


def chosen_terms(parameters: int, rows: int) -> Terms:
    """Constant and main effects, then squares, then interactions of growing order while there are two rows per term."""
    places = range(parameters)
    terms: list[tuple[int, ...]] = [(), *((place,) for place in places)]
    groups: list[list[tuple[int, ...]]] = [[(place, place) for place in places]]
    groups += [list(combinations(places, order)) for order in range(2, parameters + 1)]
    for group in groups:
        if 2 * (len(terms) + len(group)) > rows:
            break
        terms += group
    return tuple(terms)
