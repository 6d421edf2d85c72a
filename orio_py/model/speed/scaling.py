"""Features as models see them: on a logarithmic scale or as they are, relative to the space or not, and standardised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orio_py.model.speed.data import Array, SpeedSeries


@dataclass(frozen=True, slots=True)
class FeatureScaling:
    """How rows of features become columns of mean 0 and standard deviation 1; those that never change are left out.

    With `is_logarithmic` a feature x counts as log2(1 + |x|), with its sign.  With `is_relative` there are further columns:
    the differences from the median variant of the same space, which tell what is much or little for this kernel.
    `centre` and `width` are the mean and the deviation of each column, `width` 0 for one that is left out.
    """

    is_logarithmic: bool
    is_relative: bool
    centre: Array
    width: Array

    @classmethod
    def fit(cls, series: Sequence[SpeedSeries], *, is_logarithmic: bool, is_relative: bool) -> FeatureScaling:
        """The scaling of what is learned from."""
        plain = cls(is_logarithmic, is_relative, np.zeros(0), np.zeros(0))
        columns = np.concatenate([plain.columns(one.rows, one.rows) for one in series])
        width = columns.std(axis=0)
        return cls(is_logarithmic, is_relative, columns.mean(axis=0), np.where(width > 1e-9, width, 0.0))

    def columns(self, rows: Array, space: Array) -> Array:
        """The columns before they are standardised; `space` are variants of the same space, `rows` among them."""
        found = self._measured(rows)
        if not self.is_relative:
            return found
        return np.concatenate([found, found - np.median(self._measured(space), axis=0)], axis=1)

    def scaled(self, rows: Array, space: Array) -> Array:
        """Standardised rows."""
        kept = self.width > 0
        return (self.columns(rows, space) - self.centre)[:, kept] / self.width[kept]

    def _measured(self, rows: Array) -> Array:
        return np.sign(rows) * np.log2(1.0 + np.abs(rows)) if self.is_logarithmic else rows
