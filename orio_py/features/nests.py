"""Loops of C code: how much is done, in loops how long, and what loops and conditions cost beside it.

Means are weighted by operations and accesses, so that what runs most counts most.
"""

from __future__ import annotations

from math import log2

from orio_py.features.family import Feature, FeatureFamily, FeatureValues, StaticVariant
from orio_py.features.profile import LoopExecution, WorkProfile


def weights(profile: WorkProfile) -> dict[int, float]:
    """By the number of each innermost loop: its operations and accesses, all in all."""
    found = {loop.number: 0.0 for loop in profile.innermost}
    for loop in profile.innermost:
        found[loop.number] += loop.iterations * (loop.operations + loop.divisions)
    for site in profile.accesses:
        if site.loop in found:
            found[site.loop] += profile.runs_of(site)
    return found


def mean(values: dict[int, float], weight: dict[int, float]) -> float:
    """The weighted mean, 0 where nothing has a weight."""
    total = sum(weight.values())
    return sum(values[number] * weight[number] for number in weight) / total if total else 0.0


def _nests(variant: StaticVariant) -> FeatureValues:
    profile = variant.host
    loops = profile.loops
    work = max(profile.operations, 1.0)
    weight = weights(profile)
    depth: dict[int, float] = {n: sum(1 for _ in profile.around(n)) for n in weight}
    return {
        "operations": profile.operations,
        "divisions": sum(loop.iterations * loop.divisions for loop in loops) / work,
        "inner_trips": mean({n: _logarithm(loops[n]) for n in weight}, weight),
        "loop_iterations": sum(loop.iterations for loop in loops[1:]) / work,
        "loop_entries": sum(loop.runs for loop in loops[1:]) / work,
        "branches": sum(loop.iterations * loop.branches for loop in loops) / work,
        "depth": mean(depth, weight),
    }


def _logarithm(loop: LoopExecution) -> float:
    return log2(max(loop.trips, 1.0))


ENTRY = FeatureFamily(
    "nests",
    False,
    (
        Feature("operations", "", "operations in floating point"),
        Feature("divisions", "", "divisions and calls of functions, per operation"),
        Feature("inner_trips", "", "iterations of the innermost loop (mean of the logarithm to base 2)"),
        Feature("loop_iterations", "", "iterations of all loops per operation"),
        Feature("loop_entries", "", "times that loops begin, per operation"),
        Feature("branches", "", "conditions tested per operation"),
        Feature("depth", "", "loops around the innermost statements, these included"),
    ),
    _nests,
)
