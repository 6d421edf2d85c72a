"""Bayesian optimisation: a model of the logarithm of time, and what it expects to gain.

D. R. Jones, M. Schonlau and W. J. Welch, "Efficient Global Optimization of Expensive Black-Box
Functions", Journal of Global Optimization 13, 1998 (expected improvement); with a forest as the model as
in F. Hutter, H. H. Hoos and K. Leyton-Brown, "Sequential Model-Based Optimization for General Algorithm
Configuration", LION 2011.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import erf, exp, inf, log, pi, sqrt

from orio_py.search.base import Search, SearchContext
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, RealOption, Word, setting
from orio_py.search.pool import candidates
from orio_py.search_space.encoding import Point

MODELS = ("forest", "process")
"""Extremely randomised trees, or a Gaussian process."""


@dataclass(frozen=True, slots=True)
class BayesianOptions:
    """`initial` random trials come first; then the `model` learns from all of them, and of `candidates`
    random configurations and the neighbours of the best the one with the highest expected improvement is
    tried, or the `batch` highest.  A `forest` has `trees` trees; `exploration` is what a trial
    has to gain beyond the best, as a logarithm of time.  With probability `local` the candidates are the
    neighbours of the best alone, which keeps a model that is wrong elsewhere from being asked there.
    """

    model: str = setting("forest", Word(MODELS))
    initial: int = setting(15, IntegerOption(1, 10**6))
    batch: int = setting(1, IntegerOption(1, 10**6))
    candidates: int = setting(300, IntegerOption(1, 10**6))
    trees: int = setting(20, IntegerOption(1, 10**5))
    exploration: float = setting(0.0, RealOption(-10, 10))
    local: float = setting(0.0, RealOption(0, 1))


def bayesian(context: SearchContext, options: BayesianOptions) -> Search:
    """Trials of the highest expected improvement, one after the other."""
    return restarted(context, partial(expect, options=options))


def expect(memory: Memory, options: BayesianOptions) -> Asking[None]:
    """Trials until the space is exhausted."""
    # scikit-learn: imported here because of its time to load.
    from orio_py.model.forest import Forest
    from orio_py.model.gaussian_process import GaussianProcess

    yield from memory.ask(memory.draw_many(options.initial - len(memory)))
    process = GaussianProcess()
    while True:
        pool = _near_best(memory, options.local) or candidates(memory, options.candidates)
        rows = [memory.encoding.features(point) for point in memory.known]
        if len(rows[0]) == 0 or not pool:
            return
        targets = logarithms(list(memory.known.values()))
        is_process = options.model == "process"
        model = process if is_process else Forest(options.trees, seed=memory.rng.randrange(2**31))
        model.fit(rows, targets)
        found = model.predict([memory.encoding.features(point) for point in pool])
        goal = min(targets) - options.exploration
        gains = [
            expected_improvement(goal - mean, spread)
            for mean, spread in zip(found.mean.tolist(), found.spread.tolist(), strict=True)
        ]
        yield from memory.ask(_best(pool, gains, options.batch, memory.rng))


def _near_best(memory: Memory, share: float) -> list[Point]:
    """With that probability the unknown Hamming neighbours of the best; else nothing."""
    if memory.best is None or memory.rng.random() >= share:
        return []
    return [point for point in memory.near.hamming(memory.best) if point not in memory.known]


def logarithms(costs: Sequence[float]) -> list[float]:
    """The logarithms of costs; a failure counts as the worst success, and as 0 where there is none."""
    finite = [log(cost) for cost in costs if 0 < cost < inf]
    worst, best = max(finite, default=0.0), min(finite, default=0.0)
    return [worst if cost == inf else log(cost) if cost > 0 else best for cost in costs]


def expected_improvement(gain: float, spread: float) -> float:
    """What a normal variable is expected to lie below a goal, which is `gain` above its mean.

    >>> round(expected_improvement(0.0, 1.0), 4), expected_improvement(2.0, 0.0)
    (0.3989, 2.0)
    """
    if spread <= 1e-12:
        return max(gain, 0.0)
    z = gain / spread
    return gain * (1 + erf(z / sqrt(2))) / 2 + spread * exp(-z * z / 2) / sqrt(2 * pi)


def _best(pool: Sequence[Point], gains: Sequence[float], count: int, rng: random.Random) -> list[Point]:
    """The candidates of highest gain; equal gains in random order."""
    order = sorted(range(len(pool)), key=lambda i: (-gains[i], rng.random()))
    return [pool[i] for i in order[:count]]
