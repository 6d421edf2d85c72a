"""Features as models see them: on a logarithmic scale or as they are, and standardised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orio_py.model.speed.data import Array, SpeedSeries

_LEAST_WIDTH = 1e-9


@dataclass(frozen=True, slots=True)
class FeatureScaling:
    """How rows of features become columns of mean 0 and standard deviation 1; those that never change are left out.

    With `is_logarithmic` a feature x counts as log2(1 + |x|), with its sign.  `centre` and `width` are the mean and the
    deviation of each feature, `width` 0 for one that is left out.  Features relative to the median variant of the same
    space were tried beside these and transferred no better (the table of `docs/reference/speed-models.md`).
    """

    is_logarithmic: bool
    centre: Array
    width: Array

    @classmethod
    def fit(cls, series: Sequence[SpeedSeries], *, is_logarithmic: bool) -> FeatureScaling:
        """The scaling of what is learned from."""
        columns = _columns(np.concatenate([one.rows for one in series]), is_logarithmic=is_logarithmic)
        width = columns.std(axis=0)
        return cls(is_logarithmic, columns.mean(axis=0), np.where(width > _LEAST_WIDTH, width, 0.0))

    def scaled(self, rows: Array) -> Array:
        """Standardised rows."""
        kept = self.width > 0
        columns = _columns(rows, is_logarithmic=self.is_logarithmic)
        return (columns - self.centre)[:, kept] / self.width[kept]


def _columns(rows: Array, *, is_logarithmic: bool) -> Array:
    return np.sign(rows) * np.log2(1.0 + np.abs(rows)) if is_logarithmic else rows
