"""A linear ranker that learns which of two variants of a series is the faster one.

R. Herbrich, T. Graepel and K. Obermayer, "Large Margin Rank Boundaries for Ordinal Regression", Advances in Large Margin
Classifiers, 2000 (differences of the features of pairs are what is classified); here by logistic regression, each pair
weighted by how far apart the logarithms of its speeds are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orio_py.model.speed.data import Array
from orio_py.model.stored import Arrays, Header

PAIRS = 20_000
LEAST_DIFFERENCE = 0.05
"""Pairs whose speeds are closer than this (logarithm to base 2) say nothing: measurements differ by as much."""
REGULARISATION = 0.1
"""The inverse of the strength, as scikit-learn counts it."""


@dataclass(frozen=True, slots=True)
class PairRanker:
    """The weight of each standardised column."""

    weights: Array

    def scores(self, rows: Array) -> Array:
        """What ranks rows; it is no speed."""
        return rows @ self.weights

    def arrays(self) -> Arrays:
        """What is kept in a file."""
        return {"weights": self.weights}


def fit_pairs(rows: Array, speeds: Array, series: Array) -> PairRanker:
    """The ranker for standardised rows, from pairs within each series."""
    # scikit-learn takes time to load, and sets variables in the environment that measurements depend on.
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    first, second = rng.integers(len(rows), size=(2, PAIRS * 4))
    apart = np.log2(speeds[first] / speeds[second])
    usable = (series[first] == series[second]) & (np.abs(apart) > LEAST_DIFFERENCE)
    first, second, apart = (part[usable][:PAIRS] for part in (first, second, apart))
    if len(np.unique(apart > 0)) < 2:
        return PairRanker(0.0 * rows[0])
    fitted = LogisticRegression(fit_intercept=False, C=REGULARISATION, max_iter=500)
    fitted.fit(rows[first] - rows[second], apart > 0, sample_weight=np.abs(apart))
    return PairRanker(np.asarray(fitted.coef_, dtype=np.float64).reshape(-1))


def read_pairs(header: Header, arrays: Arrays, columns: int) -> PairRanker:
    """The ranker of a file with so many columns.  Raises ValueError where there are others."""
    weights = np.asarray(arrays["weights"], dtype=np.float64)
    if weights.shape != (columns,):
        raise ValueError("its weights do not go with its features")
    return PairRanker(weights)
