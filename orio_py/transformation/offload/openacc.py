"""OpenACC: run a loop nest on a device by OpenACC's directives.

    for (i = 0; i < n; i++)             #if defined(_OPENACC)
      y[i] += a * x[i];                 #pragma acc parallel loop gang vector copyin(x[0:n]) copy(y[0:n])
                                        #endif
                                        for (i = 0; i < n; i++)
                                          y[i] += a * x[i];

Where there is no device the same code runs on the processor.  Source: The OpenACC Application Programming Interface
3.2, sections 2.5 (compute constructs), 2.7 (data clauses) and 2.9 (`loop`).
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

_MOVES = {Direction.IN: "copyin({})", Direction.OUT: "copyout({})", Direction.INOUT: "copy({})"}


@dataclass(frozen=True, slots=True)
class OpenACC(DirectiveStep):
    """Share the iterations out among gangs, and the lanes of their vectors."""

    gangCount: int | None = None
    workerCount: int | None = None
    vectorLength: int | None = None
    vectorLoops: int = 0

    @property
    def what(self) -> str:
        """The transformation's name in messages."""
        return "OpenACC"

    @property
    def counts(self) -> Mapping[str, int | None]:
        """Gangs, workers of a gang, lanes of a worker."""
        return {
            "gangCount": self.gangCount,
            "workerCount": self.workerCount,
            "vectorLength": self.vectorLength,
        }

    @property
    def inner(self) -> tuple[str, int]:
        """The loops that the lanes of a vector share out, as the last ones of the nest."""
        return "vectorLoops", self.vectorLoops

    @property
    def data_words(self) -> tuple[str, Mapping[Direction, str]]:
        """The directive for data that stays around a statement, and its clauses."""
        return "acc data", _MOVES

    @property
    def atomic_directive(self) -> str:
        """`acc atomic`."""
        return "acc atomic"

    def directive(self, plan: DirectivePlan) -> str:
        """The combined construct with its clauses; without lanes where these have loops of their own."""
        workers = "" if self.workerCount is None else " worker"
        parts = [f"acc parallel loop gang{workers}" + ("" if plan.inner else " vector")]
        if plan.outer > 1:
            parts.append(f"collapse({plan.outer})")
        for clause, number in (
            ("num_gangs", self.gangCount),
            ("num_workers", self.workerCount),
            ("vector_length", self.vectorLength),
        ):
            if number is not None:
                parts.append(f"{clause}({number})")
        private = [] if plan.inner else plan.privates()
        return " ".join([*parts, *plan.moved(_MOVES), *private, *plan.combined()])

    def inner_directive(self, plan: DirectivePlan) -> str:
        """The lanes of a vector."""
        collapse = [f"collapse({plan.inner})"] if plan.inner > 1 else []
        return " ".join(["acc loop vector", *collapse, *plan.privates(), *plan.combined()])


ENTRY = Entry(
    "OpenACC",
    "run a loop nest on a device by directives of OpenACC",
    (
        LOOP,
        ND,
        ArgumentSpec(
            "gangCount",
            "integer, at least 1",
            "number of gangs; 0: as the compiler decides",
            optional_count,
            "0",
        ),
        ArgumentSpec(
            "workerCount",
            "integer, at least 1",
            "workers of a gang; 0: iterations are not shared out among workers",
            optional_count,
            "0",
        ),
        ArgumentSpec(
            "vectorLength",
            "integer, at least 1",
            "lanes of a worker's vectors; 0: as the compiler decides",
            optional_count,
            "0",
        ),
        ArgumentSpec(
            "vectorLoops",
            "integer, less than `nd`",
            "how many of the loops, the innermost ones, the lanes of a vector share; 0: gangs and lanes share all",
            natural,
            "0",
        ),
        FORCE,
    ),
    OpenACC,
)
