"""The table of migrations: entry k leads from version k to version k + 1."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from orio_py.store.migrations import (
    m0001_trials,
    m0002_generations_and_runs,
    m0003_objectives_and_finals,
    m0004_profiles,
)

MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    m0001_trials.upgrade,
    m0002_generations_and_runs.upgrade,
    m0003_objectives_and_finals.upgrade,
    m0004_profiles.upgrade,
)

NEWEST = len(MIGRATIONS)
