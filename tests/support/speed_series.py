"""Invented series of trials whose speed follows from their static features."""

from __future__ import annotations

from random import Random

from trials import success, trial

from orio_py.core.digest import digest
from orio_py.record.trial import Trial

FEATURES = ("cache_1_bytes", "loads", "operations", "unit_stride")


def trials_of(name: str, count: int = 40, *, scale: float = 1.0, seed: int = 0) -> list[Trial]:
    """Trials of a task: the more bytes come into the cache, and the fewer references have unit stride, the slower."""
    rng = Random(f"{name} {seed}")
    found: list[Trial] = []
    for number in range(count):
        bytes_in, stride = rng.choice([0.5, 1, 2, 4, 8, 16]), rng.choice([0.25, 0.5, 1])
        values = (bytes_in, rng.random(), 1e6 * scale, stride)
        seconds = scale * 1e-3 * (1 + bytes_in / stride) * rng.uniform(0.98, 1.02)
        measured = success(seconds)
        features = dict(zip(FEATURES, values, strict=True))
        found.append(trial(number, measured, task=name, features=features, file=f"src/{digest(name)[:6]}.c"))
    return found
