"""Where measurements were taken."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Environment:
    """The machine and the compiler, in words that a person recognises."""

    cpu: str
    cores: int
    system: str
    compiler: str
    command: str
