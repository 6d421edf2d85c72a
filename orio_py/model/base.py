"""What a surrogate is: something that learns from numbers and predicts a mean and a spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Features: TypeAlias = "Sequence[Sequence[float]] | npt.NDArray[np.float64]"
"""One row per configuration, one column per feature."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Mean and standard deviation for each row of features, in the unit of what was learned."""

    mean: npt.NDArray[np.float64]
    spread: npt.NDArray[np.float64]


class Surrogate(Protocol):
    """A model that can be fitted again and again."""

    def fit(self, features: Features, targets: Sequence[float]) -> None:
        """Learn from rows of features and a finite number for each; earlier rows are forgotten."""
        ...

    def predict(self, features: Features) -> Prediction:
        """What to expect of rows of features.  Only after `fit`."""
        ...
