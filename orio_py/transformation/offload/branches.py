"""References that stand in both branches of a condition: they are made whatever it says.

if (mode == 1) y[i] = x[i]; else y[i] = 2 * x[i];       `x[i]` and `y[i]` in each iteration
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orio_py.ctree.dependence.affine import Polynomial
from orio_py.transformation.offload.element_accesses import ElementAccess


def in_both_branches(
    uses: Sequence[ElementAccess], flats: Sequence[Polynomial | None]
) -> list[ElementAccess]:
    """The references to an array without conditions in whose other branch the same element is touched.

    `flats` are their flat subscripts.  All cases of a condition and of its opposite together are the iterations
    before it, so that what is touched in both branches is touched in all of these.
    """
    found = list(uses)
    keys = [None if flat is None else flat.key for flat in flats]
    deepest = max((len(use.path) for use in uses), default=0)
    for depth in range(deepest, 0, -1):
        before = list(found)
        for place, use in enumerate(before):
            if len(use.path) == depth and any(
                keys[place] is not None and keys[place] == key and _is_other_branch(other, use)
                for other, key in zip(before, keys, strict=True)
            ):
                found[place] = _before_condition(use)
    return found


def _is_other_branch(other: ElementAccess, use: ElementAccess) -> bool:
    """Whether a reference stands where the innermost condition around another one is not as it is there."""
    if len(other.path) != len(use.path):
        return False
    *outer, last = use.path
    around = len(last.levels)
    return (
        [*other.path[:-1]] == outer
        and other.path[-1] == replace(last, truth=not last.truth)
        and other.levels[around:] == use.levels[around:]
    )


def _before_condition(use: ElementAccess) -> ElementAccess:
    *outer, last = use.path
    levels = (*last.levels, *use.levels[len(last.levels) :])
    return replace(use, levels=levels, is_exact=last.is_exact, guards=last.guards, path=tuple(outer))
