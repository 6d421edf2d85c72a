"""A Gaussian process with a length scale per feature and a noise that it learns.

C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006:
Matérn's covariance with ν = 5/2, scales by the marginal likelihood.  The process is scikit-learn's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, Matern, WhiteKernel

from orio_py.model.base import Features, Prediction

GROWTH = 1.2
"""The scales are learned anew when there are this many times as many rows as the last time."""
STEPS = 12
"""Steps of the optimiser per learning of the scales."""


class GaussianProcess:
    """A Gaussian process for features in `[0, 1]`; what it learns is scaled to mean 0 and spread 1.

    The time of a fit grows with the cube of the rows: 100 rows of ten features take some 10 ms, and ten
    times that where the scales are learned anew.
    """

    def __init__(self) -> None:
        self._kernel: Kernel | None = None
        self._rows = 0
        self._process: GaussianProcessRegressor | None = None

    def fit(self, features: Features, targets: Sequence[float]) -> None:
        """Condition on the rows; learn the scales where there are many more than the last time."""
        rows = np.asarray(features, dtype=np.float64)
        is_due = self._kernel is None or len(rows) >= GROWTH * self._rows
        kernel = _start(rows.shape[1]) if self._kernel is None else self._kernel
        process = GaussianProcessRegressor(
            kernel, alpha=1e-8, optimizer=_optimise if is_due else None, normalize_y=True
        )
        with warnings.catch_warnings():
            # A scale at its bound is a feature without influence.
            warnings.simplefilter("ignore", ConvergenceWarning)
            process.fit(rows, np.asarray(targets, dtype=np.float64))
        if is_due:
            self._kernel, self._rows = process.kernel_, len(rows)
        self._process = process

    def predict(self, features: Features) -> Prediction:
        """Mean and standard deviation of the process.  Raises ValueError before the first fit."""
        if self._process is None:
            raise ValueError("the process was not fitted")
        return Prediction(*self._process.predict(np.asarray(features, dtype=np.float64), return_std=True))


def _start(count: int) -> Kernel:
    scale = Matern([0.5] * count, (0.05, 20.0), nu=2.5)
    return ConstantKernel(1.0, (0.05, 20.0)) * scale + WhiteKernel(1e-2, (1e-6, 1.0))


def _optimise(
    objective: Callable[..., tuple[float, npt.NDArray[np.float64]]],
    start: npt.NDArray[np.float64],
    bounds: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], float]:
    found = minimize(objective, start, method="L-BFGS-B", jac=True, bounds=bounds, options={"maxiter": STEPS})
    return found.x, found.fun
