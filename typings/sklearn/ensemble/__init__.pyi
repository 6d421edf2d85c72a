from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

class _Tree:
    def predict(self, X: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]: ...

class _Estimator:
    tree_: _Tree

class _Forest:
    estimators_: Sequence[_Estimator]
    def __init__(
        self,
        n_estimators: int = ...,
        *,
        min_samples_leaf: int = ...,
        max_features: float = ...,
        bootstrap: bool = ...,
        random_state: int = ...,
    ) -> None: ...
    def fit(self, X: npt.NDArray[np.float32 | np.float64], y: npt.NDArray[np.float64]) -> _Forest: ...
    def predict(self, X: npt.NDArray[np.float32 | np.float64]) -> npt.NDArray[np.float64]: ...

class ExtraTreesRegressor(_Forest): ...
class RandomForestRegressor(_Forest): ...
