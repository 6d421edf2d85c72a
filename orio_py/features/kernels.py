"""What a kernel does: its device tree, walked as the first item of a group in the middle of the launch walks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, prod

from orio_py.codegen.device import group_counts, local_bytes
from orio_py.codegen.device_names import device_name
from orio_py.codegen.offload.device_tree import DeviceFeatures, Query, WorkItem
from orio_py.codegen.offload.lowering import lowered_kernel
from orio_py.ctree.nodes import KernelCall
from orio_py.features.expressions import ArrayShape, WalkScope
from orio_py.features.linear import LinearValue
from orio_py.features.profile import LaunchSize, WorkProfile
from orio_py.features.walk import UNKNOWN_TRIPS, TreeWalk
from orio_py.kernel.call import KernelGroup, start_name, trips_name
from orio_py.kernel.plan import KernelPlan
from orio_py.kernel.types import element_bytes

_LANGUAGE = DeviceFeatures(warp=0, item="item", group="group", divides_to_unroll=False)
"""What all languages have in common: kernels of several are compared."""


class KernelProfiles:
    """Takes down the kernels that a region calls, in the order of the calls."""

    def __init__(self) -> None:
        self.found: list[WorkProfile] = []

    def visit(self, walk: TreeWalk, node: KernelCall) -> None:
        """Take down a call that a walk has come to."""
        plans = node.plan.plans if isinstance(node.plan, KernelGroup) else (node.plan,)
        for plan in plans:
            if isinstance(plan, KernelPlan):
                self.found.append(kernel_profile(plan, walk))


def kernel_profile(plan: KernelPlan, caller: TreeWalk) -> WorkProfile:
    """The profile of a plan's kernel where the region calls it."""
    starts = [caller.index(axis.start) for axis in plan.axes]
    counts = [caller.index(axis.trips) for axis in plan.axes]
    trips = [max(0, int(one.value)) if one.is_known else UNKNOWN_TRIPS for one in counts]
    groups = group_counts(plan, trips)
    items, middle = plan.launch.block_size, _middle(plan, trips, groups)
    values = {device_name(one.name): caller.index(one.value) for one in plan.scalars}
    for axis, start, count in zip(plan.axes, starts, trips, strict=True):
        values[start_name(axis)] = LinearValue(start.value)
        values[trips_name(axis)] = LinearValue(count)
    arrays = {device_name(one.name): ArrayShape(element_bytes(one.type)) for one in plan.buffers}

    def place(node: WorkItem) -> LinearValue:
        dimension = node.dimension
        group, lane = middle[dimension], {-1 - dimension: 1}
        match node.query:
            case Query.LOCAL_ID:
                return LinearValue(0, lane)
            case Query.GROUP_ID:
                return LinearValue(group)
            case Query.GROUP_COUNT:
                return LinearValue(groups[dimension])
            case Query.GLOBAL_ID:
                return LinearValue(group * items[dimension], lane)
            case Query.GLOBAL_SIZE:
                return LinearValue(groups[dimension] * items[dimension])

    walk = TreeWalk(WalkScope(values, arrays, frozenset(values)), place)
    walk.statement(lowered_kernel(plan, _LANGUAGE).body)
    filled = 1.0 if plan.launch.bindings else _filled(trips, groups, items)
    size = LaunchSize(groups, items, local_bytes(plan), caller.runs, filled)
    return replace(walk.profile(), launch=size)


def _middle(plan: KernelPlan, trips: Sequence[int], groups: Sequence[int]) -> Sequence[int]:
    """The numbers of a group in the middle of those that have something to do."""
    if plan.launch.bindings:
        return [count // 2 for count in groups]
    needed = [-(-count // step) for count, step in zip(reversed(trips), plan.launch.step, strict=True)]
    return [max(0, min(have, need) - 1) // 2 for have, need in zip(groups, needed, strict=True)]


def _filled(trips: Sequence[int], groups: Sequence[int], items: Sequence[int]) -> float:
    """The mean number of iterations of an item for one of an item that has the most of them."""
    shares = (
        count / (wide * number) for count, wide, number in zip(reversed(trips), groups, items, strict=True)
    )
    return prod(share / max(1, ceil(share)) for share in shares)
