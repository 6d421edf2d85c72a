"""Starchart as a searcher: a regression tree of times, grown on random samples, then its predictions in order.

W. Jia, K. A. Shaw and M. Martonosi, "Starchart: Hardware and Software Optimization Using Recursive Partitioning
Regression Trees", PACT 2013, as J. Filipovič and others used it ("Using hardware performance counters to speed up
autotuning convergence on GPUs", Journal of Parallel and Distributed Computing 160, 2021, section 4.8): 200 random
configurations validate; training begins with 20 and grows until the median relative error of the validation is below
15 %, or to 200; what is predicted to be fastest is tried first.
"""

from __future__ import annotations

from math import inf

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from orio_py.model.counters.model import Array, ModelParameter
from orio_py.search.base import Search, SearchContext
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search_space.encoding import Point

VALIDATION, FIRST, STEP, MOST = 200, 20, 20, 200
ENOUGH = 0.15


def starchart(context: SearchContext) -> Search:
    """The searcher."""
    return restarted(context, _episode)


def _episode(memory: Memory) -> Asking[None]:
    names = [
        ModelParameter.of(parameter.name, list(parameter.values)) for parameter in memory.space.parameters
    ]

    def rows(points: list[Point]) -> Array:
        found = [memory.encoding.configuration(point) for point in points]
        return np.array([[name.number(values[name.name]) for name in names] for values in found])

    def valid(points: list[Point]) -> list[Point]:
        return [point for point in points if memory.known[point] < inf]

    validation = memory.draw_many(min(VALIDATION, memory.space.size // 4))
    yield from memory.ask(validation)
    training: list[Point] = []
    tree = DecisionTreeRegressor(random_state=0)
    while len(training) < MOST:
        fresh = memory.draw_many(FIRST if not training else STEP)
        yield from memory.ask(fresh)
        training += fresh
        usable, tests = valid(training), valid(validation)
        if not usable or not tests:
            continue
        tree.fit(rows(usable), np.array([memory.known[point] for point in usable]))
        real = np.array([memory.known[point] for point in tests])
        if float(np.median(np.abs(tree.predict(rows(tests)) / real - 1))) < ENOUGH:
            break
    everything = map(memory.near.at, range(memory.space.size))
    left = [point for point in everything if point not in memory.known]
    order = np.argsort(tree.predict(rows(left)), kind="stable")
    yield from memory.ask([left[int(place)] for place in order])
