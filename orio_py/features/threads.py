"""Parallel loops of C code: how much is done in them, in how large pieces, and how evenly it can be shared out."""

from __future__ import annotations

from math import ceil

from orio_py.features.family import Feature, FeatureFamily, FeatureValues, StaticVariant


def _threads(variant: StaticVariant) -> FeatureValues:
    profile, threads = variant.host, variant.machine.threads
    inside = 0.0
    work = {loop.number: loop.iterations * (loop.operations + loop.divisions) for loop in profile.loops}
    parallel = [loop for loop in profile.loops if loop.is_parallel]
    numbers = {loop.number for loop in parallel}
    for loop in profile.loops:
        if any(outer.number in numbers for outer in profile.around(loop.number)):
            inside += work[loop.number]
    total, entries = max(sum(work.values()), 1.0), sum(loop.runs for loop in parallel)
    trips = sum(loop.iterations for loop in parallel) / entries if entries else 0.0
    return {
        "parallel_share": inside / total,
        "parallel_entries": entries,
        "parallel_grain": inside / entries / threads if entries else 0.0,
        "balance": trips / (ceil(trips / threads) * threads) if trips else 1.0,
    }


ENTRY = FeatureFamily(
    "threads",
    False,
    (
        Feature("parallel_share", "", "share of the operations that threads share out"),
        Feature("parallel_entries", "", "times that threads begin together"),
        Feature("parallel_grain", "", "operations of a thread until it waits for the others"),
        Feature("balance", "", "share of the threads that have work, when the last one ends"),
    ),
    _threads,
)
