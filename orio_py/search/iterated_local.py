"""Greedy iterated local search: descend, change a few parameters of the best, and descend again.

H. R. Lourenço, O. C. Martin and T. Stützle, "Iterated Local Search", in: Handbook of Metaheuristics,
Kluwer, 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from orio_py.search.base import Search, SearchContext
from orio_py.search.descent import NEIGHBOURHOODS, best_of_random, descend
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, Word, setting


@dataclass(frozen=True, slots=True)
class IteratedOptions:
    """`neighbourhood` as for `multistart`; `samples` random trials of which the best is the start;
    `perturbation` parameters change before each new descent; a descent rests after `patience` new
    neighbours without an improvement, and after `restart` descents without one the search begins anew.
    """

    neighbourhood: str = setting("hamming", Word(NEIGHBOURHOODS))
    samples: int = setting(10, IntegerOption(1, 10**6))
    perturbation: int = setting(2, IntegerOption(1, 100))
    patience: int = setting(12, IntegerOption(1, 10**6))
    restart: int = setting(10, IntegerOption(1, 10**6))


def iterated_local(context: SearchContext, options: IteratedOptions) -> Search:
    """Iterated local search with restarts."""
    return restarted(context, partial(iterate, options=options))


def iterate(memory: Memory, options: IteratedOptions) -> Asking[None]:
    """Descents around one configuration until they stop paying."""
    start = yield from best_of_random(memory, options.samples)
    here = yield from descend(memory, start, options.neighbourhood, patience=options.patience)
    idle = 0
    while idle < options.restart:
        start = memory.near.mutate(here, options.perturbation, memory.rng)
        if start is None:
            return
        there = yield from descend(memory, start, options.neighbourhood, patience=options.patience)
        idle += 1
        if memory.known[there] < memory.known[here]:
            here, idle = there, 0
