"""Regression trees as plain arrays: a single decision tree, and an ensemble of randomised ones.

The decision tree is that of section 3.4.2 of the paper (see `orio_py.model.counters.table`), the ensemble that of its
authors' later programs: ten extremely randomised trees of unlimited depth.  scikit-learn grows the trees; what it grew
is kept as arrays, which say all that is needed to predict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.tree import DecisionTreeRegressor

from orio_py.model.counters.model import Array, Domain, TrainingSet

Places = npt.NDArray[np.int64]

TREES = 10
"""How many trees an ensemble has (n_estimators of the authors' programs)."""
CANDIDATES = 10
"""How many decision trees are grown, of which the best is kept."""
LEAF = -1


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree by its nodes, the root first: a row goes left where its feature is at most the threshold.

    `left` and `right` are -1 for a leaf, whose row of `values` is the prediction.
    """

    left: Places
    right: Places
    feature: Places
    threshold: Array
    values: Array

    def check(self, features: int, outputs: int) -> None:
        """Raises ValueError for a tree that is none: nodes after their parents, features and outputs that exist."""
        count = len(self.left)
        lengths = {len(part) for part in (self.right, self.feature, self.threshold, self.values)}
        if not count or lengths != {count} or self.values.shape != (count, outputs):
            raise ValueError("the arrays of a tree do not have the same length")
        inner = self.left != LEAF
        own = np.arange(count)[inner]
        for children in (self.left[inner], self.right[inner]):
            if ((children <= own) | (children >= count)).any():
                raise ValueError("a node of a tree comes before its parent")
        if ((self.feature[inner] < 0) | (self.feature[inner] >= features)).any():
            raise ValueError("a tree asks for a parameter that there is not")

    def predict(self, rows: Array) -> Array:
        """The values of the leaf that each row ends in."""
        # The trees compare single precision, and have thresholds between two such numbers.
        rows = rows.astype(np.float32).astype(np.float64)
        nodes = np.zeros(len(rows), dtype=np.int64)
        open_rows = np.flatnonzero(self.left[nodes] != LEAF)
        while len(open_rows):
            at = nodes[open_rows]
            goes_left = rows[open_rows, self.feature[at]] <= self.threshold[at]
            nodes[open_rows] = np.where(goes_left, self.left[at], self.right[at])
            open_rows = open_rows[self.left[nodes[open_rows]] != LEAF]
        return self.values[nodes]


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
    return TreeModel(training.domain, tuple(_tree(one) for one in found.estimators_))


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
        model = TreeModel(training.domain, (_tree(found),))
        grown.append((errors(model, training.part(rest)), model))
    return min(grown, key=lambda one: one[0])[1]


def errors(model: TreeModel, training: TrainingSet) -> tuple[float, float]:
    """Mean absolute error and root of the mean squared error, of the logarithms of all counters."""
    if not len(training.rows):
        return 0.0, 0.0
    apart = np.log1p(model.predict(training.rows)) - np.log1p(training.counters)
    return float(np.abs(apart).mean()), float(np.sqrt(np.square(apart).mean()))


def _tree(estimator: Any) -> Tree:
    grown = estimator.tree_
    values = np.asarray(grown.value, dtype=np.float64)
    return Tree(
        np.asarray(grown.children_left, dtype=np.int64),
        np.asarray(grown.children_right, dtype=np.int64),
        np.asarray(grown.feature, dtype=np.int64),
        np.asarray(grown.threshold, dtype=np.float64),
        values.reshape(len(values), -1),
    )


def joined(trees: Sequence[Tree]) -> dict[str, npt.NDArray[Any]]:
    """Trees as one set of arrays, one tree after the other; `sizes` tells them apart."""
    return {
        "sizes": np.array([len(tree.left) for tree in trees], dtype=np.int64),
        "left": np.concatenate([tree.left for tree in trees]),
        "right": np.concatenate([tree.right for tree in trees]),
        "feature": np.concatenate([tree.feature for tree in trees]),
        "threshold": np.concatenate([tree.threshold for tree in trees]),
        "values": np.concatenate([tree.values for tree in trees]),
    }


def parted(arrays: dict[str, npt.NDArray[Any]]) -> tuple[Tree, ...]:
    """The trees of `joined`.  Raises ValueError where the arrays do not go together, KeyError where one lacks."""
    sizes = [int(size) for size in arrays["sizes"]]
    if any(size < 1 for size in sizes) or sum(sizes) != len(arrays["left"]):
        raise ValueError("the sizes of the trees are not those of their arrays")
    trees: list[Tree] = []
    start = 0
    for size in sizes:
        end = start + size
        left, right, feature = (np.asarray(arrays[n][start:end], dtype=np.int64) for n in _INTEGERS)
        threshold, values = (np.asarray(arrays[n][start:end], dtype=np.float64) for n in _REALS)
        trees.append(Tree(left, right, feature, threshold, values))
        start = end
    return tuple(trees)


_INTEGERS = ("left", "right", "feature")
_REALS = ("threshold", "values")
