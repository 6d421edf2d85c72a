"""Basin hopping: random jumps between local minima, accepted as in annealing at a constant temperature.

D. J. Wales and J. P. K. Doye, "Global Optimization by Basin-Hopping and the Lowest Energy Structures of
Lennard-Jones Clusters Containing up to 110 Atoms", J. Phys. Chem. A 101, 1997.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from orio_py.search.base import Search, SearchContext
from orio_py.search.descent import NEIGHBOURHOODS, best_of_random, descend, is_accepted
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, RealOption, Word, setting

TARGET = 0.5
"""The share of jumps to accept, after which the length of the jumps is adapted (SciPy's default)."""


@dataclass(frozen=True, slots=True)
class BasinHoppingOptions:
    """`temperature` is relative to the time of the minimum; `step` the parameters that a jump changes at
    first; `interval` the jumps between changes of the step; `patience` the new neighbours without an
    improvement after which a descent rests; `restart` the jumps without a new best before beginning anew.
    """

    temperature: float = setting(0.1, RealOption(0, 1e6))
    step: int = setting(3, IntegerOption(1, 100))
    interval: int = setting(5, IntegerOption(1, 10**6))
    neighbourhood: str = setting("hamming", Word(NEIGHBOURHOODS))
    patience: int = setting(8, IntegerOption(1, 10**6))
    samples: int = setting(10, IntegerOption(1, 10**6))
    restart: int = setting(20, IntegerOption(1, 10**6))


def basin_hopping(context: SearchContext, options: BasinHoppingOptions) -> Search:
    """Basin hopping with restarts."""
    return restarted(context, partial(hop, options=options))


def hop(memory: Memory, options: BasinHoppingOptions) -> Asking[None]:
    """Jumps from one start until they stop paying."""
    start = yield from best_of_random(memory, options.samples)
    here = yield from descend(memory, start, options.neighbourhood, patience=options.patience)
    best, step = memory.known[here], options.step
    idle = accepted = jumps = 0
    while idle < options.restart:
        start = memory.near.mutate(here, step, memory.rng)
        if start is None:
            return
        there = yield from descend(memory, start, options.neighbourhood, patience=options.patience)
        found = memory.known[there]
        jumps += 1
        if there != here and is_accepted(memory.known[here], found, options.temperature, memory.rng):
            here = there
            accepted += 1
        idle = 0 if found < best else idle + 1
        best = min(best, found)
        if jumps == options.interval:
            # Too many accepted jumps stay in one basin, too few leave every good one.
            step = min(step + 1, len(here)) if accepted > TARGET * jumps else max(step - 1, 1)
            accepted = jumps = 0
