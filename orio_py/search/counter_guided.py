"""Counter-guided search: what the hardware counts tells where to look next.

J. Filipovič, J. Hozzová, A. Nezarat, J. Oľha and F. Petrovič, "Using hardware performance counters to speed up
autotuning convergence on GPUs", Journal of Parallel and Distributed Computing 160, 2021.  A model predicts the counters
of every configuration; a profiled run tells which of them cost time on this device.  The published method draws what
softens the bottlenecks of the last profiled configuration; the other one, the default, estimates times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from orio_py.core.diagnostics import fail
from orio_py.search.auto import TINY, Advice, AutoOptions, auto, guided
from orio_py.search.base import Search, SearchContext, TrustListener
from orio_py.search.memory import Asking, Memory, restarted
from orio_py.search.options import FileName, IntegerOption, RealOption, Word, setting
from orio_py.search_space.encoding import Point
from orio_py.search_space.search_space import SearchSpace

if TYPE_CHECKING:
    from orio_py.model.counters.model import CounterModel

COSTS, PUBLISHED = "costs", "published"
PROFILES_TRIED = 3
"""So many configurations are profiled until one has counters: those that a race gave up have none."""


@dataclass(frozen=True, slots=True)
class CountersOptions:
    """`model` is the file of a model of counters; without one the search is that of `auto`.  `method` is `costs` or
    `published`, whose options the others are: how many configurations are tried per profiled one, the threshold for
    bottlenecks of instructions, and the cores of the device, 0 where they are not known.  `batch` is how many are
    proposed at once at most.
    """

    model: str | None = setting(None, FileName())
    method: str = setting(COSTS, Word((COSTS, PUBLISHED)))
    batch: int = setting(8, IntegerOption(1, 1000))
    unprofiled: int = setting(5, IntegerOption(1, 1000))
    reaction: float = setting(0.7, RealOption(0, 0.99))
    cores: int = setting(0, IntegerOption(0, 1_000_000))


def counter_guided(context: SearchContext, options: CountersOptions) -> Search:
    """The search with the model of the options.

    Raises DiagnosticError ORIO-P023 for a model of other parameters; as `orio_py.model.counters.files.load_model`.
    """
    return guided_by(None if options.model is None else _load(options.model, context.space), context, options)


def guided_by(model: CounterModel | None, context: SearchContext, options: CountersOptions) -> Search:
    """The search of `auto`, which follows what counters promise once its trials agree with that; or the published method."""
    usual = AutoOptions(batch=options.batch)
    if model is None or context.space.size <= TINY:
        return auto(context, usual)
    if options.method == COSTS:
        return auto(context, usual, partial(_advised, model, context.trusted))
    context = replace(context, batch_size=min(context.batch_size, options.batch))
    return restarted(context, lambda memory: _published(memory, model, options))


def _advised(model: CounterModel, listener: TrustListener, memory: Memory) -> Advice:
    # The numerical libraries take time to load, more than all else that is loaded to tune.
    from orio_py.search.counter_policy import CounterAdvice

    return CounterAdvice(memory, model, listener)


def _load(name: str, space: SearchSpace) -> CounterModel:
    # The numerical libraries take time to load, more than all else that is loaded to tune.
    from orio_py.model.counters.files import load_model

    model = load_model(Path(name))
    known = {parameter.name for parameter in space.parameters}
    missing = [parameter.name for parameter in model.domain.parameters if parameter.name not in known]
    if missing:
        fail(
            "ORIO-P023",
            f"the model `{name}` needs the parameter `{missing[0]}`, which the space does not have",
            help=f"it was trained on `{model.domain.trained_on.name}`"
            if model.domain.trained_on.name
            else None,
        )
    return model


def _published(memory: Memory, model: CounterModel, options: CountersOptions) -> Asking[None]:
    # The numerical libraries take time to load.
    from orio_py.search.counter_scores import soften_bottlenecks

    for _ in range(PROFILES_TRIED):
        first = yield from _next_valid(memory)
        if (yield from memory.profile(first)):
            yield from soften_bottlenecks(
                memory, model, first, options.unprofiled, reaction=options.reaction, cores=options.cores
            )
            break
    yield from guided(memory, AutoOptions())


def _next_valid(memory: Memory) -> Asking[Point]:
    """A random configuration that was not tried and does not fail."""
    while True:
        point = memory.draw()
        cost = yield from memory.ask_one(point)
        if cost < inf:
            return point
