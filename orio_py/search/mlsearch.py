"""Model-guided search as Orio's `Mlsearch`: trees learn the speed, and the best predicted are tried.

P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006, learn the
inverse of the time; each round proposes the configurations of highest predicted speed out of a sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf

from orio_py.search.base import Search, SearchContext
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, setting
from orio_py.search.pool import candidates


@dataclass(frozen=True, slots=True)
class MlsearchOptions:
    """`initial` random trials come first; then each round learns from all of them with `trees` trees and
    tries the best `batch` of `samples` random configurations and the neighbours of the best.
    """

    initial: int = setting(20, IntegerOption(1, 10**6))
    batch: int = setting(5, IntegerOption(1, 10**6))
    trees: int = setting(60, IntegerOption(1, 10**5))
    samples: int = setting(500, IntegerOption(1, 10**6))


def mlsearch(context: SearchContext, options: MlsearchOptions) -> Search:
    """Rounds of learning and trying."""
    return restarted(context, partial(learn_speeds, options=options))


def learn_speeds(memory: Memory, options: MlsearchOptions) -> Asking[None]:
    """Rounds until the space is exhausted."""
    # scikit-learn: imported here because of its time to load.
    from orio_py.model.forest import Forest

    yield from memory.ask(memory.draw_many(options.initial - len(memory)))
    while True:
        rows = [memory.encoding.features(point) for point in memory.known]
        least = memory.best_cost
        speeds = [least / cost if 0 < cost < inf else 0.0 for cost in memory.known.values()]
        pool = candidates(memory, options.samples)
        if len(rows[0]) == 0 or not pool:
            return
        forest = Forest(options.trees, seed=memory.rng.randrange(2**31))
        forest.fit(rows, speeds)
        predicted = forest.predict([memory.encoding.features(point) for point in pool]).mean
        order = sorted(range(len(pool)), key=lambda i: -predicted[i])
        yield from memory.ask(pool[i] for i in order[: options.batch])
