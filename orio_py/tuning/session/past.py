"""What the results database knows of a task under other circumstances guides its search.

Circumstances are device, input sizes, compiler and its options, and the code and options of an earlier day.
"""

from __future__ import annotations

from collections.abc import Mapping

from orio_py.core.expr import show
from orio_py.record.cuda import CUDA_DEVICE_NAME
from orio_py.record.device import DEVICE_NAME
from orio_py.search.auto import TINY
from orio_py.search.base import LEAST_OF_A_SERIES
from orio_py.search.catalog import find
from orio_py.search_space.configuration import Configuration
from orio_py.store.series import EarlierSeries, RegionKey
from orio_py.tuning.plan import Plan, with_past
from orio_py.tuning.result import PastUse
from orio_py.tuning.session.trial_cache import Keys, TrialCache

TRIALS_TAKEN = 2000
"""So many of the newest trials are looked at: a model of more takes longer than it gains."""

COMPILERS = ("orio:command", "Compiler")
MACHINES = (DEVICE_NAME, CUDA_DEVICE_NAME, "CPU Type", "CPU Cores")
"""Facts about trials that tell compilers and machines apart, the most telling first."""


def guided_by_past(plan: Plan, memory: TrialCache) -> Plan:
    """The plan with a search that knows the trials of the task under other circumstances, if there are enough.

    Only configurations of the plan's space count.  Raises EnvironmentProblem ORIO-D001 when the database fails.
    """
    if not find(plan.spec.algorithm).uses_past or plan.space.size <= TINY:
        return plan
    keys = memory.keys
    stored = memory.database.earlier(
        keys.series,
        memory.generation,
        RegionKey(keys.file, keys.name, bool(plan.emulated)),
        plan.objective.text if plan.objective is not None else None,
        TRIALS_TAKEN,
    )
    series: list[list[tuple[Configuration, float | None]]] = []
    counted: list[tuple[Configuration, Mapping[str, float]]] = []
    circumstances: list[str] = []
    valid = 0
    for earlier in stored:
        trials = [(c, value) for c, value in earlier.trials.items() if c in plan.space]
        measured = sum(value is not None for _, value in trials)
        if measured >= LEAST_OF_A_SERIES:
            valid += measured
            series.append(trials)
            circumstances.append(_difference(earlier, keys))
            if len(earlier.counters) > len(counted):
                counted = [pair for pair in earlier.counters.items() if pair[0] in plan.space]
    if not series:
        return plan
    return with_past(plan, series, PastUse(valid, tuple(dict.fromkeys(circumstances))), counted)


def _difference(earlier: EarlierSeries, keys: Keys) -> str:
    """What is different about a series: sizes, compiler or machine."""
    words: list[str] = []
    sizes = ", ".join(
        f"{name} = {show(value)}" for name, value in earlier.inputs.items() if keys.inputs.get(name) != value
    )
    if sizes:
        words.append(sizes)
    if earlier.series.toolchain != keys.toolchain:
        words.append(_changed(earlier.metadata, keys.metadata, COMPILERS) or "another compiler")
    if earlier.series.environment != keys.environment:
        words.append(_changed(earlier.metadata, keys.metadata, MACHINES) or "another machine")
    return ", ".join(words) or "other code or options"


def _changed(before: Mapping[str, str], now: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    """The first of the facts that is told and is not the same now."""
    return next((before[name] for name in names if name in before and before[name] != now.get(name)), None)
