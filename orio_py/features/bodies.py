"""The bodies of innermost loops, and the code as a whole: how long, how many values, how many independent sums."""

from __future__ import annotations

from collections import defaultdict

from orio_py.features.family import Feature, FeatureFamily, FeatureValues, StaticVariant
from orio_py.features.nests import mean, weights


def _bodies(variant: StaticVariant) -> FeatureValues:
    profile = variant.host
    loops, weight = profile.loops, weights(profile)
    elements: dict[int, set[tuple[str, float, tuple[tuple[int, float], ...]]]] = defaultdict(set)
    sums: dict[int, set[object]] = defaultdict(set)
    loads = stores = 0.0
    for site in profile.accesses:
        place = (site.array, site.offset, tuple(sorted(site.slopes.items())))
        if place not in elements[site.loop]:
            loads += 0.0 if site.is_store else profile.runs_of(site)
        stores += profile.runs_of(site) if site.is_store else 0.0
        elements[site.loop].add(place)
        if site.is_store and not site.slopes.get(site.loop):
            sums[site.loop].add(place)
    work = max(profile.operations, 1.0)
    independent = {n: float(len(sums[n]) + len(loops[n].accumulated)) for n in weight}
    return {
        "loads": loads / work,
        "stores": stores / work,
        "statements": float(sum(loop.statements for loop in loops)),
        "body_statements": mean({n: float(loops[n].statements) for n in weight}, weight),
        "body_operations": mean({n: loops[n].operations + loops[n].divisions for n in weight}, weight),
        "body_values": mean({n: float(len(elements[n])) for n in weight}, weight),
        "sums": mean(independent, weight),
    }


ENTRY = FeatureFamily(
    "bodies",
    False,
    (
        Feature("loads", "", "loads of different elements in a body, per operation"),
        Feature("stores", "", "stores per operation"),
        Feature("statements", "", "statements of the code (its size)"),
        Feature("body_statements", "", "statements of an innermost body"),
        Feature("body_operations", "", "operations of an innermost body"),
        Feature("body_values", "", "elements that an innermost body touches (what registers have to hold)"),
        Feature("sums", "", "places that an innermost body adds to, which do not wait for each other"),
    ),
    _bodies,
)
