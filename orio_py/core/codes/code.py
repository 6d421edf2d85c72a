"""What is known of one diagnostic code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """A diagnostic code (`ORIO-T003`), its title in a few words, and a long explanation in plain text."""

    name: str
    title: str
    explanation: str
