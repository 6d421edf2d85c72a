"""What trials have in common that may be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from orio_py.core.expr import Value
from orio_py.search_space.configuration import Configuration


@dataclass(frozen=True, slots=True)
class Series:
    """What trials have in common that may be compared: task, compiler and machine, as digests."""

    task: str
    toolchain: str
    environment: str


@dataclass(frozen=True, slots=True)
class EarlierSeries:
    """Trials of one series with their objectives, None for failures; of a configuration the newest counts.

    `metadata` are those of its newest trial; `counters` those of valid trials that have some.
    """

    series: Series
    inputs: Mapping[str, Value]
    metadata: Mapping[str, str]
    trials: Mapping[Configuration, float | None]
    counters: Mapping[Configuration, Mapping[str, float]] = field(
        default_factory=dict[Configuration, Mapping[str, float]]
    )


@dataclass(frozen=True, slots=True)
class RegionKey:
    """What a region is known by in all its series: the names of its file and its own; and whether times are emulated."""

    file: str
    name: str
    emulated: bool = False
