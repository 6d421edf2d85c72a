"""A search that is led by what limits each configuration: the emulation's bottlenecks.

C. Hong et al., "GPU Code Optimization using Abstract Kernel Emulation and Sensitivity Analysis", PLDI 2018, section 5:
Algorithm 2 goes from configuration to configuration until occupancy drops and nothing is gained; Algorithm 3 says where to.
What was found is the seed of another searcher, as the paper coupled it with OpenTuner.

Four things differ.  The first walk begins at the fastest of the first one and a few far from each other, where the paper has a
program to begin with: a walk ends at what is best near its start.  Canonical directions are the parameters of the specification, whatever they stand for, in steps to the
next value on either side; factors of two become distances between values.  So a step may use a resource more by asking
more of it, as coarsening never does: such steps do not count against latency.  Line 32 asks for the fewest transactions of "the bottleneck", which
line 28 has replaced by that of a lower occupancy: what the text describes is done, the fewest of what limits now.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, inf, log

from orio_py.emulation.bottleneck import BottleneckProfile
from orio_py.emulation.sensitivity import ResourceBound
from orio_py.machine.timing import Resource
from orio_py.search.auto import AutoOptions, guided
from orio_py.search.base import Search, SearchContext
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import IntegerOption, Word, setting
from orio_py.search.portfolio import TECHNIQUES, PortfolioOptions, compete
from orio_py.search_space.encoding import Point

AUTO, PORTFOLIO = "auto", "portfolio"

MOST_MOVES = 30
"""Moves of one walk; each costs the trials around a configuration."""

LEAST_GAIN = 0.02
"""A direction that changes what is asked of a resource by less says nothing."""

REGISTERS, SOME_MORE = "registers", 1.0


@dataclass(frozen=True, slots=True)
class BottleneckOptions:
    """`start` is how many configurations far from each other are tried beside the first one of the space; the first walk begins at
    the fastest of them.  `then` is the searcher that goes on from what was found.
    """

    start: int = setting(4, IntegerOption(0, 1000))
    then: str = setting(AUTO, Word((AUTO, PORTFOLIO, *TECHNIQUES)))


def bottleneck(context: SearchContext, options: BottleneckOptions) -> Search:
    """Walks led by bottlenecks, each followed by another searcher that begins at the best."""
    return restarted(context, lambda memory: _episode(memory, options))


def _episode(memory: Memory, options: BottleneckOptions) -> Asking[None]:
    first = memory.space.first()
    start = memory.encoding.point(first) if first is not None and not memory.known else memory.draw()
    if options.start and not memory.known:
        # The numerical libraries take time to load.
        from orio_py.search.acquisition_policy import AcquisitionPolicy

        yield from memory.ask([start, *AcquisitionPolicy(memory).spread_out(options.start)])
        start = start if memory.best is None else memory.best
    yield from walk(memory, start)
    if options.then == AUTO:
        yield from guided(memory, AutoOptions())
        return
    memory.seed = memory.best
    if options.then == PORTFOLIO:
        yield from compete(memory, PortfolioOptions())
    yield from TECHNIQUES[options.then](memory)


def walk(memory: Memory, start: Point) -> Asking[Point]:
    """Algorithm 2: from `start` on, to the best that the moves of Algorithm 3 lead to.

    Where outcomes have no bottlenecks (other targets, failures) it ends at once.
    """
    here = start
    cost = yield from memory.ask_one(here)
    found = _profile(memory, here)
    if found is None:
        return here
    occupancy = found.occupancy
    best, previous = (cost, here), (inf, here)
    seen = {here}
    for _ in range(MOST_MOVES):
        there = yield from next_best(memory, here)
        if there is None or there in seen:
            break
        seen.add(there)
        cost = yield from memory.ask_one(there)
        profile = _profile(memory, there)
        reached = occupancy if profile is None else profile.occupancy
        if reached < occupancy:
            if best[0] >= previous[0]:
                break
            previous, best = best, (inf, there)
        if cost < best[0]:
            best, occupancy = (cost, there), reached
        if profile is None:
            break
        here = there
    return min(best, previous)[1]


def next_best(memory: Memory, here: Point) -> Asking[Point | None]:
    """Algorithm 3: the configuration that relieves the bottleneck of `here` most, as far as steps to each side tell.

    None where no direction promises anything.
    """
    found = _profile(memory, here)
    assert found is not None
    steps = [step for step in _unit_strides(memory, here) if step.there != here]
    yield from memory.ask(step.there for step in steps)
    told = [step for step in steps if _profile(memory, step.there) is not None]
    limit = found.bottleneck
    moved: Point | None = None
    if limit is not None and limit[1] is ResourceBound.LATENCY:
        moved = _more_at_once(memory, here, found, told, limit[0])
    elif limit is not None:
        moved = _fewer_requests(memory, here, found, told, limit[0])
    if moved is not None:
        return moved
    faster = [step.there for step in told if memory.known[step.there] < memory.known[here]]
    return min(faster, key=lambda point: memory.known[point], default=None)


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of one parameter to the next value on one side, or to another category."""

    parameter: int
    there: Point


def _unit_strides(memory: Memory, here: Point) -> Iterator[_Step]:
    """A step of each parameter to each side; of categories, one to each other one."""
    for parameter, axis in enumerate(memory.encoding.axes):
        if not axis.is_ordered:
            for place in memory.near.alternatives(here, parameter):
                yield _Step(parameter, _moved(here, parameter, place))
            continue
        for direction in (1, -1):
            place = _next_place(memory, here, parameter, direction)
            if place is not None:
                yield _Step(parameter, _moved(here, parameter, place))


def _next_place(memory: Memory, here: Point, parameter: int, direction: int) -> int | None:
    """The place of the next value on one side that the constraints allow with the others as they are."""
    axis = memory.encoding.axes[parameter]
    allowed = set(memory.near.alternatives(here, parameter))
    rank = axis.ranks[here[parameter]] + direction
    while 0 <= rank < axis.size:
        if axis.places[rank] in allowed:
            return axis.places[rank]
        rank += direction
    return None


def _moved(point: Point, parameter: int, place: int) -> Point:
    return (*point[:parameter], place, *point[parameter + 1 :])


def _profile(memory: Memory, point: Point) -> BottleneckProfile | None:
    outcome = memory.outcomes.get(point)
    if outcome is None or outcome.failure is not None:
        return None
    return BottleneckProfile.of(outcome.counters)


def _more_at_once(
    memory: Memory, here: Point, found: BottleneckProfile, steps: list[_Step], resource: Resource
) -> Point | None:
    """Latency: the direction that uses the resource most, as far as it takes to use all of it (lines 21 to 25)."""
    used = found.utilization.get(resource, 0.0)
    gains: list[tuple[float, _Step]] = []
    for step in steps:
        profile = _profile(memory, step.there)
        assert profile is not None
        if profile.cycles.get(resource, 0.0) <= (1 + LEAST_GAIN) * found.cycles.get(resource, 0.0):
            gains.append((profile.utilization.get(resource, 0.0) - used, step))
    gain, step = max(gains, key=lambda pair: pair[0], default=(0.0, None))
    if step is None or gain <= LEAST_GAIN * max(used, LEAST_GAIN):
        return None
    return _along(memory, here, step, ceil((1 - used) / gain))


def _fewer_requests(
    memory: Memory, here: Point, found: BottleneckProfile, steps: list[_Step], resource: Resource
) -> Point | None:
    """Throughput: the directions that ask less of the resource, each as far as registers last (lines 26 to 33).

    Occupancy may drop to where the bottleneck would be another one; the registers that this frees are what a thread may
    have.  What is asked is taken to go on changing by the same factor, registers by the same number.
    """
    asked = found.cycles.get(resource, 0.0)
    registers = memory.outcomes[here].counters.get(REGISTERS, SOME_MORE)
    room = registers * max(1.0, found.occupancy / max(found.occupancy_needed, 1e-9))
    helps: list[tuple[float, float, _Step]] = []
    for step in steps:
        profile = _profile(memory, step.there)
        assert profile is not None
        ratio = profile.cycles.get(resource, 0.0) / asked if asked > 0 else 1.0
        more = memory.outcomes[step.there].counters.get(REGISTERS, registers) - registers
        if ratio < 1 - LEAST_GAIN:
            helps.append((log(max(ratio, 1e-6)), more, step))
    moved, taken = here, set[int]()
    for _, more, step in sorted(helps, key=lambda one: one[0]):
        if step.parameter in taken:
            continue
        for count in range(MOST_MOVES, 0, -1):
            if more > 0 and registers + count * more > room and count > 1:
                continue
            there = _along(memory, here, step, count)
            merged = _moved(moved, step.parameter, there[step.parameter])
            if merged in memory.near:
                moved = merged
                registers += max(0.0, count * more)
                taken.add(step.parameter)
                break
    return None if moved == here else moved


def _along(memory: Memory, here: Point, step: _Step, count: int) -> Point:
    """`count` times as far as one step, in the values of the parameter, as far as the constraints allow."""
    axis = memory.encoding.axes[step.parameter]
    if not axis.is_ordered or count <= 1:
        return step.there
    values = axis.values
    begin, end = _number(values[here[step.parameter]]), _number(values[step.there[step.parameter]])
    wanted = begin + count * (end - begin)
    direction = 1 if end > begin else -1
    point = step.there
    while direction * (wanted - _number(values[point[step.parameter]])) > 0:
        place = _next_place(memory, point, step.parameter, direction)
        if place is None:
            break
        point = _moved(point, step.parameter, place)
    return point


def _number(value: object) -> float:
    assert isinstance(value, (bool, int, float))
    return float(value)
