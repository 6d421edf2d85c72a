"""What the words of the compiler's command say of the code that it makes, and the machine that it is made for."""

from __future__ import annotations

import re
from math import log2

from orio_py.features.family import Feature, FeatureFamily, FeatureValues, StaticVariant

_LEVEL = re.compile(r"-O(\d|s|g|z|fast)?$")
_LEVELS = {"s": 2.0, "z": 2.0, "g": 1.0, "fast": 3.0}
_WORDS = {
    "fast_math": ("-ffast-math", "-Ofast", "-fassociative-math", "-funsafe-math-optimizations"),
    "native": ("-march=native", "-mcpu=native", "-xHost", "-mavx2", "-mavx512f"),
    "unroll_loops": ("-funroll-loops", "-funroll-all-loops"),
}


def _compilation(variant: StaticVariant) -> FeatureValues:
    level = 0.0
    for word in variant.command:
        if (found := _LEVEL.match(word)) is not None:
            text = found.group(1) or "1"
            level = _LEVELS[text] if text in _LEVELS else min(float(text), 3.0)
    machine = variant.machine
    return {
        "optimization": level,
        **{name: float(any(word in variant.command for word in words)) for name, words in _WORDS.items()},
        "threads": float(machine.threads),
        "vector_bytes": float(machine.vector_bytes),
        "last_cache": log2(max(float(machine.caches[-1]), 1.0)),
    }


ENTRY = FeatureFamily(
    "compilation",
    False,
    (
        Feature("optimization", "", "the level of -O"),
        Feature("fast_math", "", "whether sums may be reassociated"),
        Feature("native", "", "whether the processor's own instructions may be used"),
        Feature("unroll_loops", "", "whether the compiler is asked to unroll"),
        Feature("threads", "", "threads of the machine"),
        Feature("vector_bytes", "B", "bytes of a vector of the machine"),
        Feature("last_cache", "", "bytes of its last cache (logarithm to base 2)"),
    ),
    _compilation,
)
