"""How good a ranking is, and what a feature tells.

Sources: section 7 and 8 of the paper (see `orio_py.model.speed.neighbours`): runs until 90 % of the best performance, in the
order of the ranking; the correlation of predicted and measured values; the redundancy of a feature and the performance,
R = I(X, Y) / (H(X) + H(Y)).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from orio_py.model.speed.data import Array, SpeedData

ENOUGH = 0.9
"""The share of the best speed that is to be reached."""

BINS = 10
"""Speeds and features are put into so many classes of equal size before their entropy is taken."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Runs to `ENOUGH` in the order of a ranking, those that a random order takes on average, and the correlations.

    `correlation` is Pearson's of scores and speeds, `rank_correlation` Spearman's.
    """

    runs: int
    random_runs: float
    correlation: float
    rank_correlation: float


def judge(scores: Array, speeds: Array) -> Judgement:
    """Judge scores (the higher, the faster) by measured speeds; equal scores count in the order given."""
    order = np.argsort(-scores, kind="stable")
    is_enough = speeds[order] >= ENOUGH * speeds.max()
    return Judgement(
        int(np.argmax(is_enough)) + 1,
        random_runs(speeds),
        _correlation(scores, speeds),
        rank_correlation(scores, speeds),
    )


def rank_correlation(a: Array, b: Array) -> float:
    """Spearman's rho, equal values at their mean rank; 0 where all of one are equal.

    C. Spearman, "The Proof and Measurement of Association between Two Things", American Journal of Psychology 15, 1904.

    >>> rank_correlation(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 9.0]))
    1.0
    """
    return _correlation(_ranks(a), _ranks(b))


def random_runs(speeds: Array) -> float:
    """The expected number of draws without replacement until the first that is fast enough."""
    return (len(speeds) + 1.0) / (float((speeds >= ENOUGH * speeds.max()).sum()) + 1.0)


def redundancies(data: SpeedData) -> Mapping[str, float]:
    """Per feature that changes: its redundancy with the speed (0: none), over all series."""
    rows = np.concatenate([one.rows for one in data.series])
    speeds = _classes(np.concatenate([one.speeds for one in data.series]))
    found: dict[str, float] = {}
    for name, column in zip(data.features, rows.T, strict=True):
        classes = _classes(column)
        total = _entropy(classes) + _entropy(speeds)
        if classes.max() > 0 and total > 0:
            found[name] = (total - _entropy(classes * (BINS + 1) + speeds)) / total
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _classes(values: Array) -> Array:
    edges = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
    return np.searchsorted(edges, values, side="right").astype(np.float64)


def _entropy(classes: Array) -> float:
    _, counts = np.unique(classes, return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def _ranks(values: Array) -> Array:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2.0)[places]


def _correlation(first: Array, second: Array) -> float:
    if len(first) < 2 or not first.std() or not second.std():
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
