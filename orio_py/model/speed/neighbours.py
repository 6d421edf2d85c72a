"""Principal components and nearest neighbours, as published.

T. Remmelg, B. Hagedorn, L. Li, M. Steuwer, S. Gorlatch and C. Dubach, "High-Level Hardware Feature Extraction for GPU
Performance Prediction of Stencils", GPGPU 2020, section 5: standardised features are projected to the principal components
that explain 95 % of the variance, and the throughputs of the k = 5 nearest variants averaged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orio_py.model.speed.data import Array
from orio_py.model.stored import Arrays, Header

EXPLAINED = 0.95
NEAREST = 5
_ROWS_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class NeighbourPredictor:
    """`components` are the directions kept, a row each; `points` the training rows projected to them."""

    components: Array
    points: Array
    speeds: Array

    def scores(self, rows: Array) -> Array:
        """The mean speed of the nearest variants, for each standardised row."""
        projected = rows @ self.components.T
        found = [self._nearest(projected[k : k + _ROWS_AT_ONCE]) for k in range(0, len(rows), _ROWS_AT_ONCE)]
        return np.concatenate(found) if found else np.zeros(0)

    def _nearest(self, projected: Array) -> Array:
        apart = (
            np.square(projected).sum(axis=1)[:, None]
            - 2.0 * projected @ self.points.T
            + np.square(self.points).sum(axis=1)
        )
        nearest = np.argsort(apart, axis=1, kind="stable")[:, :NEAREST]
        return self.speeds[nearest].mean(axis=1)

    def arrays(self) -> Arrays:
        """What is kept in a file; single precision is enough for distances."""
        single = {name: np.asarray(getattr(self, name), dtype=np.float32) for name in _ARRAYS}
        return {**single}


_ARRAYS = ("components", "points", "speeds")


def fit_neighbours(rows: Array, speeds: Array, series: Array) -> NeighbourPredictor:
    """The predictor of standardised rows with their speeds."""
    # The rows have mean 0, so that the right singular vectors are the principal components.
    _, values, directions = np.linalg.svd(rows, full_matrices=False)
    explained = np.cumsum(np.square(values)) / max(float(np.square(values).sum()), 1e-300)
    count = int(np.searchsorted(explained, EXPLAINED)) + 1
    kept = directions[:count]
    return NeighbourPredictor(kept, rows @ kept.T, speeds)


def read_neighbours(header: Header, arrays: Arrays, columns: int) -> NeighbourPredictor:
    """The predictor of a file with so many columns.  Raises ValueError where its arrays do not go together."""
    components, points, speeds = (np.asarray(arrays[name], dtype=np.float64) for name in _ARRAYS)
    if components.ndim != 2 or components.shape[1] != columns or points.ndim != 2 or not len(points):
        raise ValueError("its components do not go with its features")
    if points.shape != (len(speeds), len(components)) or speeds.ndim != 1:
        raise ValueError("its neighbours do not go with their speeds")
    return NeighbourPredictor(components, points, speeds)
