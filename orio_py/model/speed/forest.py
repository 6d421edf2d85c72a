"""An ensemble of extremely randomised trees that learns the logarithm of the speed within its series.

P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orio_py.model.regression_trees import Tree, joined, parted, plain_tree
from orio_py.model.speed.data import Array
from orio_py.model.stored import Arrays, Header

TREES = 60
LEAST_LEAF = 3
SHARE = 0.5
"""Of the columns that a split looks at."""


@dataclass(frozen=True, slots=True)
class ForestPredictor:
    """Trees whose mean is the logarithm (to base 2) of a variant's speed relative to the median of its space."""

    trees: tuple[Tree, ...]

    def scores(self, rows: Array) -> Array:
        """The expected speeds of standardised rows, relative to the median variant."""
        total = np.zeros(len(rows))
        for tree in self.trees:
            total += tree.predict(rows)[:, 0]
        return np.exp2(total / len(self.trees))

    def arrays(self) -> Arrays:
        """What is kept in a file: the trees, in as few bytes as hold them."""
        found = joined(self.trees)
        small = {"left": np.int32, "right": np.int32, "feature": np.int16, "threshold": np.float32}
        return {name: part.astype(small.get(name, np.float32)) for name, part in found.items()}


def grow_forest(rows: Array, speeds: Array, series: Array) -> ForestPredictor:
    """The trees for standardised rows, with the numbers of the series that they belong to."""
    # scikit-learn takes time to load, and sets variables in the environment that measurements depend on.
    from sklearn.ensemble import ExtraTreesRegressor

    levels = np.log2(speeds)
    for number in np.unique(series):
        own = series == number
        levels[own] -= np.median(levels[own])
    grown = ExtraTreesRegressor(TREES, min_samples_leaf=LEAST_LEAF, max_features=SHARE, random_state=0)
    grown.fit(rows.astype(np.float32), levels)
    return ForestPredictor(tuple(plain_tree(one) for one in grown.estimators_))


def read_forest(header: Header, arrays: Arrays, columns: int) -> ForestPredictor:
    """The trees of a file with so many columns.  Raises ValueError for what are none."""
    trees = parted(arrays)
    for tree in trees:
        tree.check(columns, 1)
    return ForestPredictor(trees)
