"""What a trial of a candidate promises, from a model's mean and spread.

D. R. Jones, M. Schonlau and W. J. Welch, "Efficient Global Optimization of Expensive Black-Box Functions",
Journal of Global Optimization 13, 1998.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr, ndtr

from orio_py.model.base import Prediction

Array = npt.NDArray[np.float64]

_FAR = -6.0
"""So many spreads below the best, the improvement is computed by its asymptote: it underflows otherwise."""

LEAST_DOUBT = 0.15
"""Even beside trials whether a candidate fails is not certain, on a scale where failing is 0 and not is 1."""


def log_expected_improvement(prediction: Prediction, best: float, widen: float = 1.0) -> Array:
    """The logarithm of how far each candidate falls below `best` on average, 0 where it does not.

    `widen` multiplies the spread: above 1 the unknown counts for more.
    """
    spread = np.maximum(prediction.spread * widen, 1e-12)
    z = (best - prediction.mean) / spread
    density = -0.5 * np.square(z) - 0.5 * np.log(2 * np.pi)
    near = np.maximum(z, _FAR)
    exact: Array = np.log(near * ndtr(near) + np.exp(-0.5 * np.square(near)) / np.sqrt(2 * np.pi))
    asymptote: Array = density - 2.0 * np.log(np.maximum(-z, 1.0))
    found: Array = np.log(spread)
    found += np.where(z > _FAR, exact, asymptote)
    return found


def log_validity(prediction: Prediction, share: float) -> Array:
    """The logarithm of the chance that a candidate does not fail.

    The prediction is of 1 for a trial that did not fail and 0 for one that did, less their `share`: how many
    did not.  Far from all trials the chance is near that share, on a failed one it is nothing.
    """
    margin = prediction.mean + share - 0.5
    return log_ndtr(margin / np.maximum(prediction.spread, LEAST_DOUBT))
