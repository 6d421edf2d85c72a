"""Tree ensembles: the mean of many trees, and how far the trees are apart.

P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006;
L. Breiman, "Random Forests", Machine Learning 45, 2001.  The trees are scikit-learn's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from orio_py.model.base import Features, Prediction


class Forest:
    """An ensemble of regression trees with a fixed seed.

    Extremely randomised trees unless `is_random_forest`.  `trees` is their number, `least_leaf` how
    many rows a leaf has at least, `share` the share of the features that a split looks at.  Fitting
    takes about 0.8 ms per tree with 100 rows.
    """

    def __init__(
        self,
        trees: int = 60,
        *,
        seed: int = 0,
        least_leaf: int = 1,
        share: float = 1.0,
        is_random_forest: bool = False,
    ) -> None:
        kind = RandomForestRegressor if is_random_forest else ExtraTreesRegressor
        self._trees = kind(
            trees,
            min_samples_leaf=least_leaf,
            max_features=share,
            bootstrap=is_random_forest,
            random_state=seed,
        )

    def fit(self, features: Features, targets: Sequence[float]) -> None:
        """Grow new trees.  Raises ValueError without rows or features."""
        self._trees.fit(np.asarray(features, dtype=np.float32), np.asarray(targets, dtype=np.float64))

    def predict(self, features: Features) -> Prediction:
        """The mean of the trees and the standard deviation between them."""
        # The trees themselves are asked: the ensemble checks its input anew for each, which for a few
        # rows takes longer than the prediction.
        rows = np.ascontiguousarray(features, dtype=np.float32)
        answers = np.stack([tree.tree_.predict(rows).reshape(len(rows)) for tree in self._trees.estimators_])
        return Prediction(answers.mean(axis=0), answers.std(axis=0))
