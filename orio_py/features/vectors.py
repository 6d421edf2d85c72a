"""How innermost loops go through memory, and whether they can be done in vectors.

A reference has unit stride where the bytes that an iteration touches lie side by side with those of the next: by its
own slope, or together with the others of its group, as in unrolled loops.

Source: S. Maleki and others, "An Evaluation of Vectorizing Compilers", PACT 2011, section 3 (what keeps compilers from
vectors: strides, sums, dependences that are not known).
"""

from __future__ import annotations

from math import isfinite

from orio_py.features.family import Feature, FeatureFamily, FeatureValues, StaticVariant
from orio_py.features.locality import ReferenceGroup, groups_of
from orio_py.features.nests import mean, weights
from orio_py.features.profile import WorkProfile


def _vectors(variant: StaticVariant) -> FeatureValues:
    profile = variant.host
    weight = weights(profile)
    kinds = {number: [0.0, 0.0, 0.0] for number in weight}
    stored = {(site.array, site.loop) for site in profile.accesses if site.is_store}
    dense, sums = dict.fromkeys(weight, True), dict.fromkeys(weight, False)
    adjacent, scattered = dict.fromkeys(weight, 0.0), {number: [0.0, 0.0] for number in weight}
    for group, is_stored in _groups(profile, stored):
        if group.loop not in weight:
            continue
        kind = _kind(group)
        kinds[group.loop][kind] += len(group.offsets)
        adjacent[group.loop] += len(group.offsets) * _longest_run(group)
        if is_stored:
            scattered[group.loop][kind == 2] += len(group.offsets)
        dense[group.loop] &= kind != 2 and (kind == 0 or not is_stored)
        sums[group.loop] |= kind == 1 and is_stored
    shares = {number: _shares(counts) for number, counts in kinds.items()}
    loops = profile.loops
    adds = {n: float(sums[n] or bool(loops[n].accumulated)) for n in weight}
    return {
        **{
            name: mean({n: shares[n][k] for n in weight}, weight)
            for k, name in enumerate(("unit_stride", "invariant", "strided"))
        },
        "strided_stores": mean({n: _shares(scattered[n])[1] for n in weight}, weight),
        "adjacent": mean({n: adjacent[n] / max(sum(kinds[n]), 1.0) for n in weight}, weight),
        "vectorizable": mean({n: float(dense[n] and not loops[n].accumulated) for n in weight}, weight),
        "reductions": mean(adds, weight),
        "promised": mean({n: float(loops[n].is_vector) for n in weight}, weight),
    }


def _groups(profile: WorkProfile, stored: set[tuple[str, int]]) -> list[tuple[ReferenceGroup, bool]]:
    arrays = {
        (site.loop, site.size, tuple(sorted(site.slopes.items()))): site.array for site in profile.accesses
    }
    return [
        (group, (arrays[group.loop, group.size, group.slopes], group.loop) in stored)
        for group in groups_of(profile)
    ]


def _kind(group: ReferenceGroup) -> int:
    """0 for unit stride, 1 for none at all, 2 for another one."""
    slope = abs(dict(group.slopes).get(group.loop, 0.0))
    if not slope:
        return 1
    if not isfinite(slope):
        return 2
    return 0 if slope <= group.size * len(group.offsets) and _is_together(group) else 2


def _is_together(group: ReferenceGroup) -> bool:
    slope = abs(dict(group.slopes).get(group.loop, 0.0))
    if slope <= group.size:
        return True
    pairs = zip(group.offsets, group.offsets[1:], strict=False)
    return sum(after - before <= group.size for before, after in pairs) * group.size + group.size >= slope


def _longest_run(group: ReferenceGroup) -> int:
    """How many neighbouring elements an iteration touches: as many can be one vector across copies of a statement."""
    longest = run = 1
    for before, after in zip(group.offsets, group.offsets[1:], strict=False):
        run = run + 1 if after - before == group.size else 1
        longest = max(longest, run)
    return longest


def _shares(counts: list[float]) -> list[float]:
    total = sum(counts)
    return [count / total if total else 0.0 for count in counts]


ENTRY = FeatureFamily(
    "vectors",
    False,
    (
        Feature("unit_stride", "", "share of the references that go through memory element by element"),
        Feature("invariant", "", "share of the references that stay where they are"),
        Feature("strided", "", "share of the references with other strides"),
        Feature("strided_stores", "", "share of the places written that have other strides"),
        Feature("adjacent", "", "neighbouring elements that references touch together in one iteration"),
        Feature("vectorizable", "", "share of the work in innermost loops that vectors can do as they stand"),
        Feature("reductions", "", "share of the work in innermost loops that add up"),
        Feature("promised", "", "share of the work in innermost loops with a pragma for vectors"),
    ),
    _vectors,
)
