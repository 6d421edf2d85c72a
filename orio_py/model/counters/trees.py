"""Regression trees as plain arrays: a single decision tree, and an ensemble of randomised ones.

The decision tree is that of section 3.4.2 of the paper (see `orio_py.model.counters.table`), the ensemble that of its
authors' later programs: ten extremely randomised trees of unlimited depth.  scikit-learn grows the trees; what it grew
is kept as arrays, which say all that is needed to predict.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.tree import DecisionTreeRegressor

from orio_py.model.counters.model import Array, Domain, TrainingSet
from orio_py.model.regression_trees import Tree, plain_tree

TREES = 10
"""How many trees an ensemble has (n_estimators of the authors' programs)."""
CANDIDATES = 10
"""How many decision trees are grown, of which the best is kept."""


@dataclass(frozen=True, slots=True)
class TreeModel:
    """The mean of one or more trees.  With `is_logarithmic`, trees have the logarithm of 1 + a counter."""

    domain: Domain
    trees: tuple[Tree, ...]
    is_logarithmic: bool = True

    def predict(self, rows: Array) -> Array:
        """The counters of each row."""
        total = np.zeros((len(rows), len(self.domain.counters)))
        for tree in self.trees:
            total += tree.predict(rows)
        mean = total / len(self.trees)
        return np.maximum(0.0, np.expm1(mean) if self.is_logarithmic else mean)


def grow_ensemble(training: TrainingSet, seed: int = 0, trees: int = TREES) -> TreeModel:
    """An ensemble of extremely randomised trees.

    It learns logarithms, so that counters with large numbers do not decide alone where trees are split.
    """
    found = ExtraTreesRegressor(trees, random_state=seed)
    found.fit(training.rows, np.log1p(training.counters))
    return TreeModel(training.domain, tuple(plain_tree(one) for one in found.estimators_))


def grow_tree(training: TrainingSet, seed: int = 0) -> TreeModel:
    """The best of several decision trees, each grown on a half of the rows and tested on the other.

    The best has the least mean absolute error, of several the least root of the mean squared one.  The first tree is
    split greedily, others at random places, which is how their parent nodes come to differ.
    """
    rng = np.random.default_rng(seed)
    targets = np.log1p(training.counters)
    count = len(training.rows)
    grown: list[tuple[tuple[float, float], TreeModel]] = []
    for number in range(CANDIDATES if count > 1 else 1):
        order = rng.permutation(count)
        half, rest = order[: (count + 1) // 2], order[(count + 1) // 2 :]
        splitter = "best" if number == 0 else "random"
        found = DecisionTreeRegressor(splitter=splitter, random_state=seed + number)
        found.fit(training.rows[half], targets[half])
        model = TreeModel(training.domain, (plain_tree(found),))
        grown.append((errors(model, training.part(rest)), model))
    return min(grown, key=lambda one: one[0])[1]


def errors(model: TreeModel, training: TrainingSet) -> tuple[float, float]:
    """Mean absolute error and root of the mean squared error, of the logarithms of all counters."""
    if not len(training.rows):
        return 0.0, 0.0
    apart = np.log1p(model.predict(training.rows)) - np.log1p(training.counters)
    return float(np.abs(apart).mean()), float(np.sqrt(np.square(apart).mean()))
