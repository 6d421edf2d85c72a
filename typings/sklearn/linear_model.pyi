# The parts of scikit-learn's linear models that are used here.
from typing import Any

import numpy as np
import numpy.typing as npt

class LogisticRegression:
    coef_: npt.NDArray[np.float64]
    def __init__(self, *, fit_intercept: bool = ..., C: float = ..., max_iter: int = ...) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = ...) -> LogisticRegression: ...
