"""A portfolio: several searchers share what they learn, and those that find new bests get more trials.

J. Ansel et al., "OpenTuner: An Extensible Framework for Program Autotuning", PACT 2014: a bandit with
sliding window whose credit is the area under the curve of new bests (Á. Fialho, M. Schoenauer and
M. Sebag, "Toward Comparison-based Adaptive Operator Selection", GECCO 2010).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import inf, log, sqrt
from typing import TypeAlias

from orio_py.record.outcome import Outcome
from orio_py.search.annealing import AnnealingOptions, anneal
from orio_py.search.base import Batch, Results, Search, SearchContext
from orio_py.search.basin_hopping import BasinHoppingOptions, hop
from orio_py.search.bayesian import BayesianOptions, expect
from orio_py.search.differential_evolution import DifferentialEvolutionOptions, evolve_by_differences
from orio_py.search.direct import DirectOptions, divide
from orio_py.search.firefly import FireflyOptions, glow
from orio_py.search.genetic import GeneticOptions, evolve
from orio_py.search.iterated_local import IteratedOptions, iterate
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.mlsearch import MlsearchOptions, learn_speeds
from orio_py.search.msimplex import MSimplexOptions, regular_simplex
from orio_py.search.multistart import MultistartOptions, descent_from_random
from orio_py.search.options import IntegerOption, RealOption, WordsOption, setting
from orio_py.search.random_local import RandomLocalOptions, sample_and_descend
from orio_py.search.simplex import SimplexOptions, random_simplex
from orio_py.search.swarm import SwarmOptions, fly
from orio_py.search_space.encoding import Point

Episode: TypeAlias = "Callable[[Memory], Asking[None]]"

TECHNIQUES: Mapping[str, Episode] = {
    "annealing": partial(anneal, options=AnnealingOptions()),
    "basinhopping": partial(hop, options=BasinHoppingOptions()),
    "bayesian": partial(expect, options=BayesianOptions()),
    "direct": partial(divide, options=DirectOptions()),
    "evolution": partial(evolve_by_differences, options=DifferentialEvolutionOptions()),
    "firefly": partial(glow, options=FireflyOptions()),
    "genetic": partial(evolve, options=GeneticOptions()),
    "ils": partial(iterate, options=IteratedOptions()),
    "mlsearch": partial(learn_speeds, options=MlsearchOptions()),
    "msimplex": partial(regular_simplex, options=MSimplexOptions()),
    "multistart": partial(descent_from_random, options=MultistartOptions()),
    "randomlocal": partial(sample_and_descend, options=RandomLocalOptions()),
    "simplex": partial(random_simplex, options=SimplexOptions()),
    "swarm": partial(fly, options=SwarmOptions()),
}
"""The searchers that can take part, with their default options."""


@dataclass(frozen=True, slots=True)
class PortfolioOptions:
    """`techniques` take part; the bandit looks back on `window` uses, and adds `exploration` times the
    usual bound for those that were used little.
    """

    techniques: tuple[str, ...] = setting(
        ("multistart", "genetic", "evolution", "msimplex"), WordsOption(tuple(TECHNIQUES))
    )
    window: int = setting(100, IntegerOption(1, 10**6))
    exploration: float = setting(0.05, RealOption(0, 100))


def portfolio(context: SearchContext, options: PortfolioOptions) -> Search:
    """The techniques, each with what all of them learned."""
    return restarted(context, partial(compete, options=options))


def compete(memory: Memory, options: PortfolioOptions) -> Asking[None]:
    """One use of a technique after the other, without an end."""
    bandit = Bandit(options.techniques, options.window, options.exploration)
    running = {name: _endless(memory, TECHNIQUES[name]) for name in options.techniques}
    waiting: dict[str, Batch] = {name: next(search) for name, search in running.items()}
    while True:
        name = bandit.choose()
        before = memory.best_cost
        results = yield from _answer(memory, waiting[name])
        waiting[name] = running[name].send(results)
        bandit.reward(name, is_best=memory.best_cost < before)


def _answer(memory: Memory, batch: Batch) -> Asking[Results]:
    """The results of a batch; what other techniques tried since it was made is not proposed again."""
    points = [memory.encoding.point(configuration) for configuration in batch]
    new = [point for point in points if point not in memory.known]
    found: dict[Point, Outcome] = {}
    if new:
        results = yield [memory.encoding.configuration(point) for point in new]
        found.update(zip(new, results, strict=True))
    return [found[point] if point in found else memory.outcomes[point] for point in points]


def _endless(memory: Memory, episode: Episode) -> Search:
    """Episodes without an end, each of which proposes something."""
    while True:
        before = len(memory)
        yield from episode(memory)
        if len(memory) == before:
            yield from memory.ask([memory.draw()])


class Bandit:
    """Chooses between techniques by the bests they found lately.

    The credit of a technique is the area under the curve that rises by one with each of its uses that
    found a new best, as a share of the largest possible; late bests count more than early ones.
    """

    def __init__(self, names: tuple[str, ...], window: int, exploration: float) -> None:
        self._names = names
        self._exploration = exploration
        self._uses: deque[tuple[str, bool]] = deque(maxlen=window)

    def choose(self) -> str:
        """The technique with the highest score; those that were not used in the window come first."""
        return max(self._names, key=self._score)

    def reward(self, name: str, *, is_best: bool) -> None:
        """Take note of a use."""
        self._uses.append((name, is_best))

    def _score(self, name: str) -> float:
        own = [is_best for user, is_best in self._uses if user == name]
        if not own:
            return inf
        area = sum(i for i, is_best in enumerate(own, 1) if is_best)
        credit = 2 * area / (len(own) * (len(own) + 1))
        return credit + self._exploration * sqrt(2 * log(len(self._uses)) / len(own))
