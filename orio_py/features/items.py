"""Counts per item (thread): memory, control flow and synchronisation (Table 1, second and third part).

A count is the sum over all sites of their executions by all items, divided by the number of items (Algorithm 1); with
several kernels by the items of all of them.  Loads and stores are those of the source after the recipe's scalar
replacement, before the compiler removes any.
"""

from __future__ import annotations

from math import prod

from orio_py.features.family import Feature, FeatureFamily, FeatureValues, StaticVariant
from orio_py.features.profile import LaunchSize, Space, WorkProfile

_COUNTED = {
    (Space.GLOBAL, True): "global_stores",
    (Space.GLOBAL, False): "global_loads",
    (Space.LOCAL, True): "local_stores",
    (Space.LOCAL, False): "local_loads",
}


def _counts(variant: StaticVariant) -> FeatureValues:
    names = ("barriers", "ifs", "loop_bodies", "kernel_operations", "kernel_divisions", *_COUNTED.values())
    total = dict.fromkeys(names, 0.0)
    items, local = 0.0, 0.0
    for kernel in variant.kernels:
        launch = kernel.launch
        assert launch is not None
        threads = _threads(launch)
        items += threads
        local = max(local, float(launch.local_bytes))
        for name, count in _of_item(kernel, launch).items():
            total[name] += threads * count
    return {"local_memory": local, **{name: count / max(items, 1.0) for name, count in total.items()}}


def _threads(launch: LaunchSize) -> float:
    return prod(launch.groups) * prod(launch.items) * launch.runs


def _of_item(kernel: WorkProfile, launch: LaunchSize) -> dict[str, float]:
    """The counts of the mean item: where some have nothing to do, less than those of the representative one."""
    found: dict[str, float] = dict.fromkeys(_COUNTED.values(), 0.0)
    for site in kernel.accesses:
        if site.space is not Space.PRIVATE:
            found[_COUNTED[site.space, site.is_store]] += launch.filled * kernel.runs_of(site)
    loops = kernel.loops
    found["barriers"] = sum(loop.iterations * loop.barriers for loop in loops)
    found["ifs"] = sum(loop.iterations * loop.branches for loop in loops)
    found["loop_bodies"] = launch.filled * sum(loop.iterations for loop in loops[1:] if loop.trips > 1)
    found["kernel_operations"] = launch.filled * sum(loop.iterations * loop.operations for loop in loops)
    found["kernel_divisions"] = launch.filled * sum(loop.iterations * loop.divisions for loop in loops)
    return found


ENTRY = FeatureFamily(
    "items",
    True,
    (
        Feature("local_memory", "B", "memory that the items of a group share", True),
        Feature("global_stores", "", "stores to global memory", True),
        Feature("global_loads", "", "loads from global memory", True),
        Feature("local_stores", "", "stores to the memory of the group", True),
        Feature("local_loads", "", "loads from the memory of the group", True),
        Feature("barriers", "", "times that an item waits for its group", True),
        Feature("ifs", "", "conditions that are tested", True),
        Feature("loop_bodies", "", "iterations of loops that make more than one", True),
        Feature("kernel_operations", "", "additions and multiplications"),
        Feature("kernel_divisions", "", "divisions and calls of functions"),
    ),
    _counts,
)
