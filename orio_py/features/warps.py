"""Average cache lines per access and warp (Table 1; section 4.2.3).

The offsets of the items of a warp are taken relative to its first item's, divided by the length of a line, and the
different ones counted.  Items are numbered along the dimensions of their group, the first fastest; those of one warp
that a smaller group does not have are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod

from orio_py.features.family import Feature, FeatureFamily, FeatureValues, StaticVariant
from orio_py.features.profile import GPU_LINE_BYTES, WARP, Space


def _lines(variant: StaticVariant) -> FeatureValues:
    accesses = touched = 0.0
    for kernel in variant.kernels:
        launch = kernel.launch
        assert launch is not None
        warps = prod(launch.groups) * launch.runs * -(-prod(launch.items) // WARP)
        for site in kernel.accesses:
            if site.space is Space.GLOBAL:
                slopes = tuple(site.slopes.get(-1 - d, 0.0) for d in range(len(launch.items)))
                executions = warps * kernel.runs_of(site)
                accesses += executions
                touched += executions * lines_of_warp(slopes, launch.items)
    return {"lines_per_access": touched / accesses if accesses else 0.0}


@cache
def lines_of_warp(slopes: Sequence[float], items: Sequence[int]) -> int:
    """The lines that the first warp of a group touches at once; `slopes` are in bytes per item of each dimension.

    >>> lines_of_warp((4.0,), (64,)), lines_of_warp((16.0,), (64,)), lines_of_warp((0.0, 4096.0), (16, 4))
    (1, 4, 2)
    """
    lanes = range(min(WARP, prod(items)))
    offsets: set[int] = set()
    for lane in lanes:
        offset, rest = 0.0, lane
        for slope, size in zip(slopes, items, strict=True):
            offset += slope * (rest % size)
            rest //= size
        offsets.add(int(offset // GPU_LINE_BYTES) if offset == offset else -1 - lane)
    return len(offsets)


ENTRY = FeatureFamily(
    "warps",
    True,
    (
        Feature(
            "lines_per_access", "", "cache lines that a warp touches in one access to global memory", True
        ),
    ),
    _lines,
)
