"""How costs become what a model learns."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

USUAL_SHARE = 0.75
"""The slowest quarter counts as slow, however slow it is: what matters is to tell the fast ones apart."""


def standardised(values: Sequence[float] | Array) -> Array:
    """Shifted and scaled to mean 0 and spread 1; all 0 where the values are equal."""
    found = np.asarray(values, dtype=np.float64)
    spread = float(found.std())
    return (found - found.mean()) / (spread if spread > 0 else 1.0)


def winsorised(costs: Sequence[float]) -> Array:
    """The logarithm of costs, the slowest quarter levelled, with mean 0 and spread 1.

    Objectives other than times may be negative; they are taken as they are.
    """
    values = np.array(costs, dtype=np.float64)
    values = np.log(values) if values.min() > 0 else values
    ordered = np.sort(values)
    # The quantile as `numpy.quantile` has it, which takes ten times longer.
    low, part = divmod(USUAL_SHARE * (len(values) - 1), 1.0)
    steps = ordered[int(low) :]
    usual = steps[0] if part == 0.0 else steps[0] + part * (steps[1] - steps[0])
    return standardised(np.minimum(values, usual))


def selection(count: int, limit: int, rng: random.Random) -> list[int]:
    """All places of an ordered list, or the first half of the limit and a random selection of the others."""
    if count <= limit:
        return list(range(count))
    half = limit // 2
    return [*range(half), *sorted(rng.sample(range(half, count), limit - half))]
