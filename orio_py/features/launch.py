"""Parallelism of kernels: how many items are launched, in which groups (Table 1, first part).

Of several kernels the sizes are those of the one with the most items.
"""

from __future__ import annotations

from math import prod

from orio_py.features.family import Feature, FeatureFamily, FeatureValues, StaticVariant

_DIMENSIONS = 3


def _sizes(variant: StaticVariant) -> FeatureValues:
    launches = [kernel.launch for kernel in variant.kernels if kernel.launch is not None]
    largest = max(launches, key=lambda one: prod(one.groups) * prod(one.items))
    found: dict[str, float] = {}
    for dimension in range(_DIMENSIONS):
        inside = dimension < len(largest.items)
        items = largest.items[dimension] if inside else 1
        found[f"global_size_{dimension}"] = items * largest.groups[dimension] if inside else 1
        found[f"local_size_{dimension}"] = items
    found["launches"] = sum(one.runs for one in launches)
    return found


ENTRY = FeatureFamily(
    "launch",
    True,
    (
        *(
            Feature(f"global_size_{d}", "items", f"items in dimension {d}, 1 where there is none", True)
            for d in range(_DIMENSIONS)
        ),
        *(
            Feature(f"local_size_{d}", "items", f"items of a group in dimension {d}", True)
            for d in range(_DIMENSIONS)
        ),
        Feature("launches", "", "kernels that are started"),
    ),
    _sizes,
)
