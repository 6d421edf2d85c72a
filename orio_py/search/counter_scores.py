"""Searching by scores of bottlenecks: the published method of counter-guided search.

Algorithm 1 of the paper that `orio_py.search.counter_guided` cites.
"""

from __future__ import annotations

from itertools import islice

from orio_py.model.counters.bottlenecks import bottlenecks
from orio_py.model.counters.model import CounterModel
from orio_py.model.counters.reaction import REACTION, required_changes, scores, weights
from orio_py.model.counters.table import GpuCounter, generation_of, read_profile
from orio_py.search.memory import Asking, Memory
from orio_py.search_space.encoding import Point
from orio_py.search_space.sampling import shuffled_ranks

MOST_SCORED = 10_000
"""Of larger spaces so many random configurations are scored (footnote 5 of the paper)."""


def soften_bottlenecks(
    memory: Memory,
    model: CounterModel,
    profiled: Point,
    unprofiled: int,
    *,
    reaction: float = REACTION,
    cores: int = 0,
) -> Asking[None]:
    """Draw configurations that relieve the fastest one, `unprofiled` of them per profile, from a first one on.

    A configuration that is still the fastest is not profiled again.  The search ends where everything was tried, or
    the counters are not those of a GPU.  `cores` is 0 where they are not known.
    """
    near, size = memory.near, memory.space.size
    drawn = range(size) if size <= MOST_SCORED else islice(shuffled_ranks(size, memory.rng), MOST_SCORED)
    points = list(dict.fromkeys([*memory.known, *map(near.at, drawn)]))
    rows = model.domain.rows([memory.encoding.configuration(point) for point in points])
    predicted = model.predict(rows)
    names = {name: place for place, name in enumerate(model.domain.counters) if name in set(GpuCounter)}
    while any(point not in memory.known for point in points):
        counted = yield from memory.profile(profiled)
        if (generation := generation_of(counted)) is None:
            return
        found = bottlenecks(read_profile(counted), generation, cores or None)
        changes = required_changes(found, reaction)
        own = predicted[points.index(profiled)]
        left = [place for place, point in enumerate(points) if point not in memory.known]
        scored = scores(
            changes,
            {GpuCounter(name): float(own[place]) for name, place in names.items()},
            {GpuCounter(name): predicted[left, place] for name, place in names.items()},
        )
        chances = dict(zip(left, weights(scored).tolist(), strict=True))
        chosen: list[Point] = []
        while chances and len(chosen) < unprofiled:
            (place,) = memory.rng.choices(list(chances), list(chances.values()))
            del chances[place]
            chosen.append(points[place])
        yield from memory.ask(chosen)
        fastest = min(chosen, key=memory.known.__getitem__)
        if memory.known[fastest] <= memory.known[profiled]:
            profiled = fastest
