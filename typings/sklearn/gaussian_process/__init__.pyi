from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.gaussian_process.kernels import Kernel

class GaussianProcessRegressor:
    kernel_: Kernel
    def __init__(
        self,
        kernel: Kernel,
        *,
        alpha: float = ...,
        optimizer: Callable[..., tuple[npt.NDArray[np.float64], float]] | None = ...,
        normalize_y: bool = ...,
        random_state: int = ...,
    ) -> None: ...
    def fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> GaussianProcessRegressor: ...
    def predict(
        self, X: npt.NDArray[np.float64], return_std: Literal[True]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
