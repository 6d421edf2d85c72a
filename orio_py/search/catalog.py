"""The registry of searchers.

What stands here is held to the contract of searchers by tests that run over the whole registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from orio_py.core.diagnostics import fail
from orio_py.core.expr import Value
from orio_py.core.registry import Registry, did_you_mean
from orio_py.core.source import Position
from orio_py.search.annealing import AnnealingOptions, annealing
from orio_py.search.auto import AutoOptions, auto
from orio_py.search.base import Search, SearchContext
from orio_py.search.basin_hopping import BasinHoppingOptions, basin_hopping
from orio_py.search.bayesian import BayesianOptions, bayesian
from orio_py.search.bottleneck import BottleneckOptions, bottleneck
from orio_py.search.counter_guided import CountersOptions, counter_guided
from orio_py.search.differential_evolution import DifferentialEvolutionOptions, differential_evolution
from orio_py.search.direct import DirectOptions, direct
from orio_py.search.exhaustive import ExhaustiveOptions, exhaustive
from orio_py.search.firefly import FireflyOptions, firefly
from orio_py.search.genetic import ChaosGeneticOptions, GeneticOptions, genetic
from orio_py.search.iterated_local import IteratedOptions, iterated_local
from orio_py.search.mlsearch import MlsearchOptions, mlsearch
from orio_py.search.msimplex import MSimplexOptions, msimplex
from orio_py.search.multistart import MultistartOptions, multistart
from orio_py.search.nsga import NsgaOptions, nsga
from orio_py.search.options import option_names, read_options, read_settings
from orio_py.search.portfolio import PortfolioOptions, portfolio
from orio_py.search.predicted import ModelOptions, predicted
from orio_py.search.random_local import RandomLocalOptions, random_local
from orio_py.search.random_search import RandomOptions, random_search
from orio_py.search.simplex import SimplexOptions, simplex
from orio_py.search.swarm import SwarmOptions, swarm
from orio_py.search_space.search_space import SearchSpace

Options = TypeVar("Options")


@dataclass(frozen=True, slots=True)
class SearcherEntry(Generic[Options]):
    """A searcher: its name, the names that Orio files and others use for it, what it does, its options.

    `read` turns checked option names with their values into the searcher's option dataclass.  `uses_past` says
    whether the searcher takes anything from `SearchContext.past`, `uses_features` from `SearchContext.features`,
    `uses_counters` from `Outcome.counters`, `uses_bottlenecks` from those of an emulation.
    """

    name: str
    other_names: tuple[str, ...]
    summary: str
    option_names: tuple[str, ...]
    read: Callable[[Mapping[str, Value], SearchSpace, Position | None], Options]
    search: Callable[[SearchContext, Options], Search]
    uses_past: bool = False
    uses_counters: bool = False
    uses_bottlenecks: bool = False
    uses_features: bool = False

    def start(self, context: SearchContext, position: Position | None = None) -> Search:
        """The running searcher.  Raises ORIO-P022 (unknown option), P023 (wrong value)."""
        prefixes = (self.name, *self.other_names)
        options = read_options(self.name, prefixes, self.option_names, context.options, position)
        return self.search(context, self.read(options, context.space, position))


Searcher: TypeAlias = SearcherEntry[Any]
"""A searcher with options of any kind."""


def _entry(
    name: str,
    other_names: tuple[str, ...],
    summary: str,
    options: type[Options],
    search: Callable[[SearchContext, Options], Search],
    *,
    uses_past: bool = False,
    uses_counters: bool = False,
    uses_bottlenecks: bool = False,
    uses_features: bool = False,
) -> SearcherEntry[Options]:
    """An entry whose options are all made by `setting`."""
    read = partial(read_settings, options)
    names = option_names(options)
    return SearcherEntry(
        name,
        other_names,
        summary,
        names,
        read,
        search,
        uses_past,
        uses_counters,
        uses_bottlenecks,
        uses_features,
    )


_ENTRIES: tuple[Searcher, ...] = (
    _entry(
        "auto",
        (),
        "a spread-out start, then what a model of the trials so far expects most of",
        AutoOptions,
        auto,
        uses_past=True,
        uses_features=True,
    ),
    _entry(
        "exhaustive",
        ("Exhaustive",),
        "every configuration, the last parameter changing fastest",
        ExhaustiveOptions,
        exhaustive,
    ),
    _entry(
        "random",
        ("Randomsearch", "Randomsimple", "Random"),
        "configurations drawn uniformly, none twice",
        RandomOptions,
        random_search,
    ),
    _entry(
        "randomlocal",
        ("Randomlocal",),
        "random configurations, then a descent from the best of them, in turn",
        RandomLocalOptions,
        random_local,
    ),
    _entry(
        "multistart",
        ("mls",),
        "descents to the first better neighbour, each from the best of a few random configurations",
        MultistartOptions,
        multistart,
    ),
    _entry(
        "ils",
        ("greedy_ils",),
        "descents, each from the best with a few parameters changed",
        IteratedOptions,
        iterated_local,
    ),
    _entry(
        "basinhopping",
        ("basin_hopping",),
        "random jumps between local minima, worse ones accepted now and then",
        BasinHoppingOptions,
        basin_hopping,
    ),
    _entry(
        "annealing",
        ("Annealing", "simulated_annealing"),
        "random steps, of which worse ones are accepted ever more rarely",
        AnnealingOptions,
        annealing,
    ),
    _entry(
        "simplex",
        ("Simplex", "nelder_mead"),
        "Nelder and Mead's simplex from random corners, then a descent",
        SimplexOptions,
        simplex,
    ),
    _entry(
        "msimplex",
        ("MSimplex",),
        "a regular simplex whose corners stay on configurations, then a descent",
        MSimplexOptions,
        msimplex,
    ),
    _entry(
        "genetic",
        ("genetic_algorithm",),
        "a population of configurations that are crossed and mutated",
        GeneticOptions,
        genetic,
    ),
    _entry(
        "chaosga",
        ("ChaosGA",),
        "the genetic algorithm with random numbers from a chaotic map",
        ChaosGeneticOptions,
        genetic,
    ),
    _entry(
        "evolution",
        ("differential_evolution", "diff_evo"),
        "a population moved by differences of its members",
        DifferentialEvolutionOptions,
        differential_evolution,
    ),
    _entry(
        "swarm",
        ("pso", "particle_swarm"),
        "particles drawn to the best they saw and the best of all",
        SwarmOptions,
        swarm,
    ),
    _entry(
        "firefly",
        ("Firefly",),
        "fireflies drawn to brighter ones, with some noise",
        FireflyOptions,
        firefly,
    ),
    _entry(
        "direct",
        ("Direct",),
        "rectangles of the unit cube, the most promising divided first",
        DirectOptions,
        direct,
    ),
    _entry(
        "mlsearch",
        ("Mlsearch",),
        "the configurations that trees predict to be fastest",
        MlsearchOptions,
        mlsearch,
    ),
    _entry(
        "bayesian",
        ("bayes", "bayes_opt"),
        "the configuration from which a forest or a Gaussian process expects the largest gain",
        BayesianOptions,
        bayesian,
    ),
    _entry(
        "counters",
        ("profile_based",),
        "what predicted hardware counters and a profiled run promise",
        CountersOptions,
        counter_guided,
        uses_counters=True,
    ),
    _entry(
        "bottleneck",
        ("saake",),
        "moves that relieve what limits a configuration by emulation; then another searcher from there",
        BottleneckOptions,
        bottleneck,
        uses_bottlenecks=True,
    ),
    _entry(
        "model",
        ("predicted",),
        "the order that a model of speed predicts from static features",
        ModelOptions,
        predicted,
        uses_features=True,
    ),
    _entry(
        "nsga",
        ("nsga2",),
        "a population that approaches the Pareto front of several objectives",
        NsgaOptions,
        nsga,
    ),
    _entry(
        "portfolio",
        ("opentuner", "bandit"),
        "several searchers that share what they learn; those that find more get more trials",
        PortfolioOptions,
        portfolio,
    ),
)

SEARCHERS: Registry[Searcher] = Registry("searcher", ((entry.name, entry) for entry in _ENTRIES))

NOT_AVAILABLE = ("CUDACFG", "Extern", "ThreadBlock")
"""Searchers that Orio files name and that do not exist here."""


def find(name: str, position: Position | None = None) -> Searcher:
    """The searcher of a name, in any case of letters.  Raises ORIO-P020 (unknown), P021 (not available)."""
    table = {
        other.lower(): entry for entry in SEARCHERS.values() for other in (entry.name, *entry.other_names)
    }
    if (entry := table.get(name.lower())) is not None:
        return entry
    available = ", ".join(f"`{entry}`" for entry in SEARCHERS)
    if name.lower() in {other.lower() for other in NOT_AVAILABLE}:
        fail("ORIO-P021", f"the searcher `{name}` is not available; there are {available}", position)
    written = (other for entry in SEARCHERS.values() for other in (entry.name, *entry.other_names))
    fail(
        "ORIO-P020",
        f"there is no searcher `{name}`; there are {available}",
        position,
        help=did_you_mean(name, written),
    )


def start_search(name: str, context: SearchContext, position: Position | None = None) -> Search:
    """Find a searcher and start it.  Raises ORIO-P020 to P023."""
    return find(name, position).start(context, position)
