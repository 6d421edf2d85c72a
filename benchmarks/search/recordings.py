"""The recorded spaces of a folder, and what is to be known of them before searchers are compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import median

from orio_py.measure.replay import Recording, load_recording

THRESHOLDS = (1.10, 1.05, 1.01)
DISCRIMINATING = 0.05
"""A space tells searchers apart where at most this share of its valid configurations is within 10 %."""

ENDINGS = (".json", ".json.gz", ".csv", ".parquet", ".db", ".sqlite")


@lru_cache(maxsize=4)
def recording(path: Path) -> Recording:
    """The recording in a file, kept for the next runs of this process."""
    return load_recording(path)


def space_name(path: Path) -> str:
    """The name of a file without what its endings tell."""
    name = path.name
    for ending in (*reversed(ENDINGS), "_T4", "_cache"):
        name = name.removesuffix(ending)
    return name


def find_spaces(folder: Path, names: Sequence[str]) -> list[Path]:
    """The files of a folder, one per space; with `names` those spaces or files only."""
    files = sorted(path for path in folder.iterdir() if path.name.endswith(ENDINGS))
    found: dict[str, Path] = {}
    for path in files:
        if not names or path.name in names or space_name(path) in names:
            found.setdefault(space_name(path), path)
    missing = [name for name in names if name not in found and name not in {p.name for p in found.values()}]
    if missing or not found:
        raise SystemExit(f"{folder} holds no space {', '.join(missing) or 'at all'}")
    return list(found.values())


@dataclass(frozen=True)
class SpaceFacts:
    """Size and difficulty of a space; `within` counts the configurations within 10, 5 and 1 % of the optimum."""

    name: str
    configurations: int
    valid: int
    optimum: float
    middle: float
    within: tuple[int, ...]
    hours: float

    @property
    def is_discriminating(self) -> bool:
        """Whether the space can tell searchers apart at all thresholds."""
        return self.within[0] <= DISCRIMINATING * self.valid


def facts_of(path: Path) -> SpaceFacts:
    """What is to be known of a space."""
    found = recording(path)
    values = sorted(row.objective for row in found.rows.values() if row.objective is not None)
    if not values:
        raise SystemExit(f"{path}: every stored trial failed; there is nothing to search for")
    return SpaceFacts(
        space_name(path),
        len(found.rows),
        len(values),
        values[0],
        median(values),
        tuple(sum(value <= threshold * values[0] for value in values) for threshold in THRESHOLDS),
        sum(row.cost for row in found.rows.values()) / 3600,
    )


def write_for_peers(path: Path, target: Path) -> None:
    """Write a space as plain JSON, for programs that know nothing of orio_py."""
    found = recording(path)
    rows = [[list(key.values()), row.objective, row.cost] for key, row in found.rows.items()]
    parameters = {p.name: list(p.values) for p in found.space.parameters}
    content = {"space": space_name(path), "optimum": found.optimum, "parameters": parameters, "rows": rows}
    target.write_text(json.dumps(content), encoding="utf-8")
