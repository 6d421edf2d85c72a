"""Regression trees as plain arrays, which say all that is needed to predict and are kept in files.

scikit-learn grows them: L. Breiman and others, "Classification and Regression Trees", 1984; P. Geurts, D. Ernst and
L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[np.float64]"
Places: TypeAlias = "npt.NDArray[np.int64]"

LEAF = -1
_INTEGERS = ("left", "right", "feature")
_REALS = ("threshold", "values")


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


def plain_tree(estimator: Any) -> Tree:
    """What an estimator of scikit-learn has grown."""
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
