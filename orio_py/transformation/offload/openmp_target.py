"""OpenMPTarget: run a loop nest on a device by OpenMP's `target` directives.

    for (i = 0; i < n; i++)             #if defined(_OPENMP)
      y[i] += a * x[i];                 #pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: y[0:n])
                                        #endif
                                        for (i = 0; i < n; i++)
                                          y[i] += a * x[i];

Where there is no device the same code runs on the processor.  Source: OpenMP API 4.5, sections 2.10 (device
constructs), 2.15.5.1 (`map`) and 2.15.3.6 (`reduction`; what is combined is mapped, as 4.5 does not do by itself).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orio_py.kernel.plan import Direction
from orio_py.transformation.entry import FORCE, ArgumentSpec, Entry
from orio_py.transformation.offload.directives import (
    LOOP,
    ND,
    DirectivePlan,
    DirectiveStep,
    natural,
    optional_count,
)

_MAPS = {Direction.IN: "map(to: {})", Direction.OUT: "map(from: {})", Direction.INOUT: "map(tofrom: {})"}


@dataclass(frozen=True, slots=True)
class OpenMPTarget(DirectiveStep):
    """Share the iterations out among teams and their threads on OpenMP's default device."""

    teamCount: int | None = None
    threadCount: int | None = None
    threadLoops: int = 0

    @property
    def what(self) -> str:
        """The transformation's name in messages."""
        return "OpenMPTarget"

    @property
    def counts(self) -> Mapping[str, int | None]:
        """Teams, and threads of a team."""
        return {"teamCount": self.teamCount, "threadCount": self.threadCount}

    @property
    def inner(self) -> tuple[str, int]:
        """The loops that the threads of a team share out, as the last ones of the nest."""
        return "threadLoops", self.threadLoops

    @property
    def data_words(self) -> tuple[str, Mapping[Direction, str]]:
        """The directive for data that stays around a statement, and its clauses."""
        return "omp target data", _MAPS

    @property
    def atomic_directive(self) -> str:
        """`omp atomic`."""
        return "omp atomic"

    def directive(self, plan: DirectivePlan) -> str:
        """The combined construct with its clauses; without threads where these have loops of their own."""
        parts = ["omp target teams distribute" + ("" if plan.inner else " parallel for")]
        if plan.outer > 1:
            parts.append(f"collapse({plan.outer})")
        if self.teamCount is not None:
            parts.append(f"num_teams({self.teamCount})")
        if self.threadCount is not None:
            parts.append(f"thread_limit({self.threadCount})")
        private = [] if plan.inner else plan.privates()
        return " ".join([*parts, *plan.moved(_MAPS), *private, *plan.combined()])

    def inner_directive(self, plan: DirectivePlan) -> str:
        """The threads of a team."""
        collapse = [f"collapse({plan.inner})"] if plan.inner > 1 else []
        return " ".join(["omp parallel for", *collapse, *plan.privates(), *plan.combined()])


ENTRY = Entry(
    "OpenMPTarget",
    "run a loop nest on a device by directives of OpenMP",
    (
        LOOP,
        ND,
        ArgumentSpec(
            "teamCount", "integer, at least 1", "number of teams; 0: as OpenMP decides", optional_count, "0"
        ),
        ArgumentSpec(
            "threadCount",
            "integer, at least 1",
            "most threads of a team; 0: as OpenMP decides",
            optional_count,
            "0",
        ),
        ArgumentSpec(
            "threadLoops",
            "integer, less than `nd`",
            "how many of the loops, the innermost ones, the threads of a team share; 0: teams and threads share all",
            natural,
            "0",
        ),
        FORCE,
    ),
    OpenMPTarget,
)
