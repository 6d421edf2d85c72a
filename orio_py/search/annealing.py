"""Simulated annealing: worse configurations are accepted too, ever more rarely as the temperature falls.

S. Kirkpatrick, C. D. Gelatt and M. P. Vecchi, "Optimization by Simulated Annealing", Science 220, 1983.
The step is any other value of one parameter, as constraints allow, and of more with a small probability:
compare B. van Werkhoven, "Kernel Tuner: A search-optimizing GPU code auto-tuner", FGCS 90, 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from orio_py.search.base import Search, SearchContext
from orio_py.search.descent import best_of_random, descend, is_accepted
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, RealOption, setting
from orio_py.search_space.encoding import Point

OPEN_BUDGET = 200
"""Trials for which the temperature is laid out where none are given."""
MOST_KNOWN = 100
"""Steps in a row to configurations that are known, after which the search begins elsewhere."""


@dataclass(frozen=True, slots=True)
class AnnealingOptions:
    """`initial_temperature` is relative: at 1.0 twice the time is accepted with probability 1/e.

    The temperature falls evenly over the trials of the budget to `final_temperature_ratio` times that.
    With a `cooling_factor` it is instead multiplied by it after `trials_limit` trials or `moves_limit`
    accepted moves, and the search restarts when it has fallen so far.  A step changes one parameter, and
    with probability `mutation`, as many times as there are parameters, one more; `samples` are the random
    trials of which the best is the start; when it is cold, `local_distance` steps around the best are
    searched, 0 for none.
    """

    initial_temperature: float = setting(0.03, RealOption(0, 1e6))
    final_temperature_ratio: float = setting(0.001, RealOption(1e-9, 1))
    cooling_factor: float | None = setting(None, RealOption(0.01, 0.999999))
    trials_limit: int = setting(100, IntegerOption(1, 10**9))
    moves_limit: int = setting(20, IntegerOption(1, 10**9))
    mutation: float = setting(0.0, RealOption(0, 1))
    samples: int = setting(8, IntegerOption(1, 10**6))
    local_distance: int = setting(0, IntegerOption(0, 8))


def annealing(context: SearchContext, options: AnnealingOptions) -> Search:
    """Annealing from a random start, again from another when cold or stuck."""
    return restarted(context, partial(anneal, options=options))


class _Schedule:
    """The temperature, by trials and moves."""

    def __init__(self, memory: Memory, options: AnnealingOptions) -> None:
        self._memory = memory
        self._options = options
        self._start = len(memory)
        left = (memory.budget or OPEN_BUDGET) - self._start
        self._length = left if left > 0 else OPEN_BUDGET
        self._ratio = 1.0
        self._trials = self._moves = 0

    @property
    def ratio(self) -> float:
        """The temperature as a share of the initial one."""
        if self._options.cooling_factor is not None:
            return self._ratio
        passed = (len(self._memory) - self._start) / self._length
        return self._options.final_temperature_ratio**passed

    def count(self, *, moved: bool) -> None:
        """Take note of a step."""
        self._trials += 1
        self._moves += moved
        if self._trials >= self._options.trials_limit or self._moves >= self._options.moves_limit:
            self._ratio *= self._options.cooling_factor or 1.0
            self._trials = self._moves = 0


def anneal(memory: Memory, options: AnnealingOptions) -> Asking[None]:
    """One annealing, until cold or stuck."""
    here = yield from best_of_random(memory, options.samples)
    cost = memory.known[here]
    schedule = _Schedule(memory, options)
    known_in_a_row = 0
    while schedule.ratio >= options.final_temperature_ratio and known_in_a_row < MOST_KNOWN:
        there = _neighbour(memory, here, options.mutation)
        if there is None:
            return
        known_in_a_row = known_in_a_row + 1 if there in memory.known else 0
        found = yield from memory.ask_one(there)
        moved = is_accepted(cost, found, options.initial_temperature * schedule.ratio, memory.rng)
        if moved:
            here, cost = there, found
        schedule.count(moved=moved)
    if options.local_distance and memory.best is not None:
        yield from descend(memory, memory.best, distance=options.local_distance)


def _neighbour(memory: Memory, here: Point, mutation: float) -> Point | None:
    rng, near = memory.rng, memory.near
    there = near.random_neighbour(here, rng) or near.mutate(here, 1, rng)
    if there is not None and mutation:
        for _ in here:
            if rng.random() < mutation:
                there = near.random_neighbour(there, rng) or there
    return there
