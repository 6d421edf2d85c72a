"""How a prediction of speeds did in a search."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PredictionTrust:
    """How a prediction did: the rank correlation of what it said of so many trials with what was measured.

    `is_followed` says whether that made the search follow it, `dropped_after` after how many trials it was dropped again
    because it misled (None: it was not).
    """

    trials: int = 0
    correlation: float = 0.0
    is_followed: bool = False
    dropped_after: int | None = None
