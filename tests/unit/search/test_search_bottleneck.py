"""The searcher `bottleneck` on a made-up GPU: where a step leads, when a walk ends, and what it is the seed of."""

from __future__ import annotations

import random
import tracemalloc
from dataclasses import replace

import pytest

from orio_py.core.expr import Value
from orio_py.emulation.bottleneck import BottleneckProfile
from orio_py.emulation.sensitivity import ResourceBound
from orio_py.frontend.expressions import parse_expression
from orio_py.machine.timing import Resource
from orio_py.record.measurement import Stage
from orio_py.record.outcome import Outcome
from orio_py.search.base import SearchContext, drive
from orio_py.search.bottleneck import next_best, walk
from orio_py.search.catalog import start_search
from orio_py.search.memory import Asking, Memory
from orio_py.search.portfolio import TECHNIQUES
from orio_py.search_space.configuration import Configuration
from orio_py.search_space.encoding import Encoding, Point
from orio_py.search_space.search_space import SearchSpace
from orio_py.spec.parameter import Constraint, Parameter

WARPS = 64
LATENCY, SECONDS = 600.0, 1e-9


def space(**lists: tuple[Value, ...]) -> SearchSpace:
    return SearchSpace(tuple(Parameter(name, values) for name, values in lists.items()), ())


COARSENING = space(C=(1, 2, 3, 4, 6, 8), R=(1, 2, 4, 8), F=("-O2", "-O3"))


def made_up(c: Configuration) -> Outcome:
    """`C` more elements of a thread at a time; each of `R` in registers is loaded once less; registers limit the warps."""
    at_once, reuse = float(c["C"]), float(c["R"])
    registers = 16 + 6 * at_once + 10 * reuse
    warps = min(WARPS, int(65536 / 32 / registers))
    requests = 1e5 / reuse
    busy = requests * 8.0
    waiting = 1e5 / reuse * LATENCY / (warps * at_once)
    time = max(busy, waiting) + 1e3 * at_once + 1e3 * (c.get("F") == "-O2")
    is_latency = waiting > busy
    counters = {
        "registers": registers,
        "emulated_occupancy": warps / WARPS,
        "occupancy_needed": min(warps, LATENCY / 8.0 / at_once) / WARPS,
        "utilization_dram": busy / time,
        "cycles_dram": busy,
        f"sensitivity_dram_{'latency' if is_latency else 'throughput'}": 0.9,
    }
    return Outcome(c, (time * SECONDS,), None, counters)


def answered(search: Asking[object], evaluate=made_up) -> object:
    """What a part of a search comes to, its configurations evaluated."""
    try:
        batch = next(search)
        while True:
            batch = search.send([evaluate(one) for one in batch])
    except StopIteration as end:
        return end.value


def memory_of(some: SearchSpace) -> Memory:
    return Memory(SearchContext(some, random.Random(1)))


def known(memory: Memory, **values: Value):
    point = memory.encoding.point(Configuration(values))
    answered(memory.ask([point]))
    return point


def test_a_profile_is_read_from_counters():
    profile = BottleneckProfile.of(made_up(Configuration({"C": 1, "R": 1, "F": "-O3"})).counters)
    assert profile.bottleneck == (Resource.DRAM, ResourceBound.LATENCY)
    assert profile.cycles[Resource.DRAM] == 8e5
    assert BottleneckProfile.of({"registers": 3.0}) is None
    small = BottleneckProfile.of({"emulated_occupancy": 0.5, "sensitivity_l1_latency": 0.1})
    assert (small.bottleneck, small.occupancy_needed) == (None, 0.5)


def test_latency_is_hidden_by_as_much_at_once_as_the_resource_can_take():
    """16 registers leave 64 warps: the memory is used by 64 * 8 / 600 of its time with one element at once."""
    memory = memory_of(COARSENING)
    here = known(memory, C=1, R=1, F="-O3")
    profile = BottleneckProfile.of(memory.outcomes[here].counters)
    step = BottleneckProfile.of(made_up(Configuration({"C": 2, "R": 1, "F": "-O3"})).counters)
    used, gain = (p.utilization[Resource.DRAM] for p in (profile, step))
    wanted = 1 + -(-(1 - used) // (gain - used))
    there = memory.encoding.configuration(answered(next_best(memory, here)))
    assert (there["R"], there["F"]) == (1, "-O3")
    assert there["C"] == min(v for v in (2, 3, 4, 6, 8) if v >= wanted)


def test_throughput_is_saved_as_far_as_registers_last():
    memory = memory_of(COARSENING)
    here = known(memory, C=3, R=1, F="-O3")
    profile = BottleneckProfile.of(memory.outcomes[here].counters)
    assert profile.bottleneck == (Resource.DRAM, ResourceBound.THROUGHPUT)
    there = memory.encoding.configuration(answered(next_best(memory, here)))
    assert there["C"] == 3
    room = memory.outcomes[here].counters["registers"] * profile.occupancy / profile.occupancy_needed
    assert there["R"] == max(r for r in (1, 2, 4, 8) if 16 + 18 + 10 * r <= room or r == 2)


def test_a_walk_ends_at_a_good_configuration_after_few_trials():
    trials: list[Configuration] = []

    def counted(configuration: Configuration) -> Outcome:
        trials.append(configuration)
        return made_up(configuration)

    memory = memory_of(COARSENING)
    start = memory.encoding.point(Configuration({"C": 1, "R": 1, "F": "-O2"}))
    found = memory.known[answered(walk(memory, start), counted)]
    every = sorted(made_up(c).objective for c in COARSENING)
    assert found <= 1.3 * every[0]
    assert len(trials) < COARSENING.size / 2


@pytest.mark.parametrize("outcome", [lambda c: Outcome(c, (1.0,)), lambda c: Outcome(c, failure=Stage.CRASH)])
def test_without_bottlenecks_a_walk_ends_at_once(outcome):
    memory = memory_of(COARSENING)
    start = memory.encoding.point(COARSENING.first())
    assert answered(walk(memory, start), outcome) == start
    assert len(memory) == 1


def test_nothing_is_proposed_against_the_constraints():
    lists = [Parameter(name, (1, 2, 4, 8)) for name in "CR"]
    bound = SearchSpace(lists, [Constraint("few", parse_expression("C * R <= 8"))])
    memory = memory_of(bound)
    for start in bound:
        here = memory.encoding.point(start)
        if here not in memory.known:
            answered(memory.ask([here]))
        if len(memory) > bound.size - 4:
            break
        there = answered(next_best(memory, here))
        assert there is None or memory.encoding.configuration(there) in bound


@pytest.mark.parametrize("then", ["auto", "portfolio", *TECHNIQUES])
def test_it_is_the_seed_of_every_other_searcher(then):
    """The whole space is tried once, whoever goes on; the walk comes first."""
    some = space(C=(1, 2, 4, 8), R=(1, 2, 4), F=("-O2", "-O3"))
    context = SearchContext(some, random.Random(3), {"then": then, "start": 0}, batch_size=4)
    tried = [
        configuration for configuration, _ in drive(start_search("bottleneck", context), lambda c: made_up(c))
    ]
    assert len(set(tried)) == len(tried) == some.size
    memory = memory_of(some)
    answered(walk(memory, memory.encoding.point(some.first())))
    assert set(tried[: len(memory)]) == {memory.encoding.configuration(point) for point in memory.known}


def test_the_first_walk_begins_at_the_fastest_of_a_few():
    context = SearchContext(COARSENING, random.Random(3), {"start": 4}, batch_size=5)
    tried = [one for one, _ in drive(start_search("bottleneck", context), made_up, 30)]
    assert tried[0] == COARSENING.first()
    fastest = min(tried[:5], key=lambda one: made_up(one).objectives[0])
    memory = memory_of(COARSENING)
    answered(memory.ask(memory.encoding.point(one) for one in tried[:5]))
    answered(walk(memory, memory.encoding.point(fastest)))
    walked = {memory.encoding.configuration(point) for point in memory.known}
    assert set(tried[: len(walked)]) == walked
    assert len(walked) > 7


def test_a_seed_is_drawn_first_and_once():
    memory = memory_of(COARSENING)
    memory.seed = seed = known(memory, C=2, R=2, F="-O3")
    first, second = memory.draw_many(4), memory.draw_many(4)
    assert first[0] == seed
    assert seed not in first[1:]
    assert (len(first), seed in second) == (4, False)


def test_a_large_space_is_never_listed(monkeypatch):
    """More than a million configurations under constraints: the walk takes those that it asks for, and little memory."""
    lists = {
        "C": (1, 2, 3, 4, 6, 8),
        "R": (1, 2, 4, 8),
        "F": ("-O2", "-O3"),
        "X": tuple(range(1, 129)),
        "Y": tuple(range(1, 129)),
        "U": tuple(range(1, 33)),
    }
    parameters = tuple(Parameter(name, values) for name, values in lists.items())
    large = SearchSpace(parameters, [Constraint("block", parse_expression("X * Y <= 1024 and X * Y >= 32"))])
    assert large.size > 10**6

    def listed(self):
        pytest.fail("the space is listed")

    def evaluate(configuration: Configuration) -> Outcome:
        slower = 1 + abs(configuration["X"] * configuration["Y"] - 256) / 1024 + configuration["U"] / 100
        found = made_up(configuration)
        return replace(found, objectives=(found.objectives[0] * slower,))

    monkeypatch.setattr(SearchSpace, "__iter__", listed, raising=False)
    tracemalloc.start()
    try:
        search = walk(memory := Memory(SearchContext(large, random.Random(1), {}, None, 8)), first(large))
        best = answered(search, evaluate)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 20e6
    assert 10 < len(memory) < 1000
    assert memory.known[best] < 0.7 * memory.known[first(large)]


def first(of: SearchSpace) -> Point:
    """The first point of a space."""
    configuration = of.first()
    assert configuration is not None
    return Encoding(of).point(configuration)
