"""What trials have in common that may be compared."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Series:
    """What trials have in common that may be compared: task, compiler and machine, as digests."""

    task: str
    toolchain: str
    environment: str
