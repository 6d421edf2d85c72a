"""The table of families, and all features of a variant.

T. Remmelg, B. Hagedorn, L. Li, M. Steuwer, S. Gorlatch and C. Dubach, "High-Level Hardware Feature Extraction for GPU
Performance Prediction of Stencils", GPGPU 2020: the features of Table 1 are those that are `is_published`.  Those of C
code have their sources with their families.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from orio_py.core.registry import Registry
from orio_py.ctree.nodes import Node
from orio_py.features import (
    bodies,
    compilation,
    items,
    launch,
    locality,
    nests,
    threads,
    vectors,
    warps,
)
from orio_py.features.expressions import WalkScope
from orio_py.features.family import Feature, FeatureFamily, FeatureValues, StaticVariant
from orio_py.features.kernels import KernelProfiles
from orio_py.features.profile import MachineTraits
from orio_py.features.walk import TreeWalk

_MODULES = (launch, items, warps, nests, locality, vectors, bodies, threads, compilation)

FAMILIES: Registry[FeatureFamily] = Registry(
    "family of features", ((module.ENTRY.name, module.ENTRY) for module in _MODULES)
)
"""All families by their names."""

FEATURES: dict[str, Feature] = {
    feature.name: feature for family in FAMILIES.values() for feature in family.features
}
"""All features by their names."""

PUBLISHED: tuple[str, ...] = tuple(name for name, feature in FEATURES.items() if feature.is_published)
"""The names of the fifteen features of Table 1."""


def features_of(
    regions: Sequence[tuple[Node, WalkScope]],
    machine: MachineTraits,
    command: Sequence[str] = (),
) -> FeatureValues:
    """The features of a variant: of its kernels where it has any, else of its C code.

    `regions` are the trees that recipes made, each with what is known where it begins; `command` the words of the
    compiler.  Nothing is compiled.
    """
    kernels = KernelProfiles()
    walk = TreeWalk(WalkScope(), kernel=kernels.visit)
    for tree, scope in regions:
        walk.values |= scope.values
        walk.arrays |= scope.arrays
        walk.integers |= scope.integers
        walk.statement(tree)
    variant = StaticVariant(walk.profile(), kernels.found, machine, command)
    found: dict[str, float] = {}
    for family in FAMILIES.values():
        if family.of_kernels == bool(kernels.found):
            found |= family.compute(variant)
    return {name: float(value) for name, value in found.items() if isfinite(value)}
