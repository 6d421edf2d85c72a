"""A Gaussian process over a pool of candidates that takes in one observation in about a millisecond.

C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006:
Matérn's covariance with ν = 3/2, length scales by the marginal likelihood with a log-normal prior (chapter
5), and the inverse of the factor of the covariances extended by one row per observation (appendix A.4).  A
general process computes that factor anew each time, and the predictions for all candidates with it.

What a trial of a candidate promises comes from its mean and spread: D. R. Jones, M. Schonlau and W. J. Welch, "Efficient Global Optimization of Expensive Black-Box Functions",
Journal of Global Optimization 13, 1998.
"""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr

from orio_py.model.base import Prediction

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


Array = npt.NDArray[np.float64]

USUAL_SCALE, SCALE_SPREAD = 0.7, 0.7
"""Centre and spread (of the logarithm) of the prior of length scales, for features in `[0, 1]`."""
MANY_FEATURES = 10
"""With more features than these, distances grow, and the usual length scale with them."""
USUAL_NOISE, NOISE_SPREAD = 1e-3, 1.0
"""The same for the noise, as a share of the variance."""
LIMITS = (np.log(0.05), np.log(20.0))
NOISE_LIMITS = (np.log(1e-5), np.log(0.5))
START_SPREAD = 0.5
STEPS = 10
"""Steps of the optimiser each time that the length scales are learned."""


class PoolProcess:
    """Predicts the candidates of a pool from observations; both are rows of features.

    `groups` numbers the features: those with the same number share a length scale.
    """

    def __init__(self, groups: npt.NDArray[np.intp]) -> None:
        self._groups = groups
        count = int(groups.max()) + 1
        self._centre = np.log(USUAL_SCALE * max(1.0, count / MANY_FEATURES) ** 0.5)
        self._usual: Array = np.append(np.full(count, self._centre), np.log(USUAL_NOISE))
        self._chosen = self._usual
        self._observed: Array = np.zeros((0, len(groups)))
        self._pool: Array = np.zeros((0, len(groups)))
        self._inverse: Array = np.zeros((0, 0))
        self._weights: Array = np.zeros((0, 0))
        self._squares: Array = np.zeros(0)
        self._explained: Array = np.zeros(0)
        self._settled: Array = np.zeros(0)
        self.observations = 0

    @property
    def candidates(self) -> int:
        """The size of the pool."""
        return len(self._pool)

    # --- learning ---

    def learn_scales(self, rows: Array, targets: Array, rng: random.Random) -> None:
        """Choose length scales and noise by observations; what was conditioned on is not touched.

        The targets have mean 0 and spread 1.  A few steps are made from a random start near the usual
        scales: what little data leaves open is another guess each time, and so a search that follows the
        model does not cling to one.  Takes tens of milliseconds for 100 rows.
        """
        count = len(self._chosen) - 1
        left, right = np.tril_indices(len(rows), -1)
        apart = np.zeros((count, len(left)))
        for column, group in enumerate(self._groups):
            apart[group] += np.square(rows[left, column] - rows[right, column])
        limits = np.array([LIMITS] * count + [NOISE_LIMITS])
        loss = _Loss(apart, targets, float(self._centre))
        start = self._usual + START_SPREAD * np.array([rng.gauss() for _ in self._usual])
        found = minimize(loss, start, method="L-BFGS-B", jac=True, bounds=limits, options={"maxiter": STEPS})
        self._chosen = found.x

    def condition(self, rows: Array, pool: Array) -> None:
        """Forget everything but the length scales; take in observations and a pool."""
        self._observed, self._pool = self._scaled(rows), self._scaled(pool)
        self._squares = np.square(self._pool).sum(axis=1)
        count = self.observations = len(rows)
        covariance = _covariance(_apart(self._observed, self._observed))
        covariance[np.diag_indices(count)] = 1.0 + self._noise
        factor = cholesky(covariance, lower=True, check_finite=False)
        self._inverse = np.zeros((2 * count + 32,) * 2)
        self._inverse[:count, :count] = _solved(factor, np.eye(count))
        self._weights = np.empty((len(self._inverse), len(pool)))
        self._weights[:count] = _solved(
            factor, _covariance(_apart(self._observed, self._pool, self._squares))
        )
        self._explained = np.square(self._weights[:count]).sum(axis=0)

    def append(self, row: Array) -> None:
        """Take in one more observation."""
        count = self.observations
        if count == len(self._inverse):
            self._grow()
        scaled = self._scaled(row[None])
        own = self._whitened(scaled)[:, 0]
        left = np.sqrt(max(1.0 + self._noise - own @ own, 1e-10))
        fresh = _covariance(_apart(scaled, self._pool, self._squares))[0]
        fresh -= own @ self._weights[:count]
        fresh /= left
        self._inverse[count, :count] = own @ self._inverse[:count, :count] / -left
        self._inverse[count, count] = 1.0 / left
        self._weights[count] = fresh
        self._explained += np.square(fresh)
        self._observed = np.concatenate([self._observed, scaled])
        self.observations += 1

    def extend(self, pool: Array) -> None:
        """Add candidates to the pool."""
        scaled, count = self._scaled(pool), self.observations
        fresh = self._whitened(scaled)
        weights = np.empty((len(self._inverse), self.candidates + len(pool)))
        weights[:count, : self.candidates] = self._weights[:count]
        weights[:count, self.candidates :] = fresh
        self._weights = weights
        self._explained = np.append(self._explained, np.square(fresh).sum(axis=0))
        self._pool = np.concatenate([self._pool, scaled])
        self._squares = np.append(self._squares, np.square(scaled).sum(axis=1))

    # --- predicting ---

    def predict(self, targets: Array, usual: float = 0.0, weight: int = 0) -> Prediction:
        """Mean and spread of each candidate, for the targets of the observations in their order.

        `usual` is the spread that is expected beforehand, with the weight of so many observations.
        """
        count = self.observations
        white = self._inverse[:count, :count] @ targets
        amplitude = max((float(white @ white) + weight * usual**2) / (count + weight), 1e-6)
        spread = np.sqrt(np.maximum(1.0 - self._explained, 1e-9) * amplitude)
        return Prediction(white @ self._weights[:count], spread)

    def fix(self, targets: Array) -> None:
        """Settle the targets of the observations, for `mean_at`."""
        count = self.observations
        inverse = self._inverse[:count, :count]
        self._settled = (inverse @ targets) @ inverse

    def mean_at(self, rows: Array) -> Array:
        """The mean at any rows, for the targets of `fix`."""
        return _covariance(_apart(self._scaled(rows), self._observed)) @ self._settled

    def share_of(self, trend: Array, targets: Array, expected: float, spread: float) -> float:
        """How much of a trend the targets have, both given for the observations in their order.

        The best estimate of the factor of the trend under the process (generalised least squares; chapter
        2.7 of the book), with a normal prior.
        """
        count = self.observations
        inverse = self._inverse[:count, :count]
        trend_white, white = inverse @ trend, inverse @ targets
        rest = white - expected * trend_white
        variance = max(float(min(rest @ rest, white @ white)) / count, 1e-6)
        certainty = 1.0 / spread**2
        fit = float(trend_white @ white) / variance + expected * certainty
        return fit / (float(trend_white @ trend_white) / variance + certainty)

    def nearness(self, rows: Array, first: int = 0) -> Array:
        """Per candidate from the `first` on its correlation with the nearest of some rows; 0 without any."""
        if not len(rows):
            return np.zeros(self.candidates - first)
        return _covariance(_apart(self._scaled(rows), self._pool[first:]).min(axis=0))

    # --- how ---

    @property
    def _noise(self) -> float:
        return float(np.exp(self._chosen[-1]))

    def _scaled(self, rows: Array) -> Array:
        return rows * np.exp(-self._chosen[:-1])[self._groups]

    def _whitened(self, scaled: Array) -> Array:
        count = self.observations
        return self._inverse[:count, :count] @ _covariance(_apart(self._observed, scaled))

    def _grow(self) -> None:
        count = self.observations
        inverse = np.zeros((2 * count + 32,) * 2)
        inverse[:count, :count] = self._inverse
        weights = np.empty((len(inverse), self.candidates))
        weights[:count] = self._weights
        self._inverse, self._weights = inverse, weights


class _Loss:
    """The negative logarithm of likelihood and prior, and its gradient, by length scales and noise.

    `apart` has the squared differences of all pairs of rows, a row per length scale; the pairs are those
    below the diagonal, in the order of `numpy.tril_indices`.  The variance is the best for the rest
    (analytically).
    """

    def __init__(self, apart: Array, targets: Array, centre: float) -> None:
        self._apart, self._targets, self._centre = apart, targets, centre
        self._below = np.tril_indices(len(targets), -1)

    def __call__(self, chosen: Array) -> tuple[float, Array]:
        count = len(self._targets)
        inverse, noise = np.exp(-2.0 * chosen[:-1]), float(np.exp(chosen[-1]))
        root = np.sqrt(3.0 * (inverse @ self._apart))
        decay = np.exp(-root)
        covariance = np.zeros((count, count))
        covariance[self._below] = (1.0 + root) * decay
        covariance[np.diag_indices(count)] = 1.0 + noise
        factor = cholesky(covariance, lower=True, check_finite=False)
        solved = cho_solve((factor, True), np.eye(count), check_finite=False)
        weights = solved @ self._targets
        variance = max(float(self._targets @ weights) / count, 1e-9)
        slope = solved - np.outer(weights, weights) / variance
        loss = 0.5 * count * np.log(variance) + float(np.log(np.diag(factor)).sum())
        gradient = np.empty(len(chosen))
        # The derivative of the covariance by the squared distance is -3/2 exp(-root); each pair stands twice.
        gradient[:-1] = 3.0 * inverse * (self._apart @ (slope[self._below] * decay))
        gradient[-1] = 0.5 * float(np.trace(slope)) * noise
        far = (chosen[:-1] - self._centre) / SCALE_SPREAD
        far_noise = (float(chosen[-1]) - np.log(USUAL_NOISE)) / NOISE_SPREAD
        gradient[:-1] += far / SCALE_SPREAD
        gradient[-1] += far_noise / NOISE_SPREAD
        return loss + 0.5 * float(far @ far) + 0.5 * float(far_noise) ** 2, gradient


def _solved(factor: Array, right: Array) -> Array:
    """What a lower triangular factor makes `right` of."""
    return solve_triangular(factor, right, lower=True, check_finite=False)


def _apart(rows: Array, others: Array, squares: Array | None = None) -> Array:
    """The squared distance of each row from each other row; `squares` has those of the others from 0."""
    found = rows @ others.T
    found *= -2.0
    found += np.square(rows).sum(axis=1)[:, None]
    found += np.square(others).sum(axis=1) if squares is None else squares
    return np.maximum(found, 0.0, out=found)


def _covariance(apart: Array) -> Array:
    """Matérn's covariance with ν = 3/2 at squared distances."""
    root = np.sqrt(3.0 * apart)
    decay = np.exp(-root)
    root += 1.0
    root *= decay
    return root
