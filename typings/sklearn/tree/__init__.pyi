import numpy as np
import numpy.typing as npt

class DecisionTreeRegressor:
    def __init__(self, *, splitter: str = ..., random_state: int = ...) -> None: ...
    def fit(
        self, X: npt.NDArray[np.float32 | np.float64], y: npt.NDArray[np.float64]
    ) -> DecisionTreeRegressor: ...
