"""How the space is searched and when the search stops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.core.units import Seconds


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one search; None is no limit."""

    trials: int | None = None
    time: Seconds | None = None


SEARCHER_NAMES = frozenset(
    [
        "annealing",
        "auto",
        "bandit",
        "basin_hopping",
        "basinhopping",
        "bayes",
        "bayes_opt",
        "bayesian",
        "bottleneck",
        "chaosga",
        "counters",
        "diff_evo",
        "differential_evolution",
        "direct",
        "evolution",
        "exhaustive",
        "firefly",
        "genetic",
        "genetic_algorithm",
        "greedy_ils",
        "ils",
        "mls",
        "mlsearch",
        "model",
        "msimplex",
        "multistart",
        "nelder_mead",
        "nsga",
        "nsga2",
        "opentuner",
        "particle_swarm",
        "portfolio",
        "predicted",
        "profile_based",
        "pso",
        "random",
        "randomlocal",
        "randomsearch",
        "randomsimple",
        "saake",
        "simplex",
        "simulated_annealing",
        "swarm",
    ]
)
"""The names of all searchers in small letters, for those who need not load them."""


@dataclass(frozen=True, slots=True)
class SearchSpec:
    """The searcher's name as written, its options, and the budget."""

    algorithm: str = "Exhaustive"
    options: Mapping[str, Value] = field(default_factory=dict[str, Value])
    budget: Budget = Budget()
    position: Position | None = None
