"""What a run of a searcher did, one CSV row per evaluation.  Needs nothing but Python: peers use it, too."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FIELDS = (
    "space",
    "searcher",
    "seed",
    "evaluation",
    "time_s",
    "best_s",
    "share",
    "simulated_s",
    "overhead_s",
)
"""Columns: `time_s` is the objective, empty for a failure; `share` the optimum over the best so far, 0 until there
is one; `simulated_s` what building and running took so far when it was recorded; `overhead_s` the processor
time that the searcher itself took so far."""


@dataclass
class Trace:
    """The evaluations of one run, in order; each configuration counts once, failures included."""

    space: str
    searcher: str
    seed: int
    optimum: float
    trials: int
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    best: float | None = None
    simulated: float = 0.0

    @property
    def is_full(self) -> bool:
        """Whether as many configurations were evaluated as planned."""
        return len(self.rows) >= self.trials

    def add(self, objective: float | None, cost: float, overhead: float) -> None:
        """Add an evaluation: its objective (None: failed), what it cost, the searcher's time so far, in seconds."""
        if self.is_full:
            return
        if objective is not None and (self.best is None or objective < self.best):
            self.best = objective
        self.simulated += cost
        share = 0.0 if self.best is None else self.optimum / self.best
        self.rows.append(
            (
                self.space,
                self.searcher,
                self.seed,
                len(self.rows) + 1,
                "" if objective is None else f"{objective:.9g}",
                "" if self.best is None else f"{self.best:.9g}",
                f"{share:.6f}",
                f"{self.simulated:.3f}",
                f"{overhead:.6f}",
            )
        )


def write_rows(path: Path, rows: Iterable[Iterable[Any]]) -> None:
    """Write rows with a heading."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        writer.writerows(rows)
