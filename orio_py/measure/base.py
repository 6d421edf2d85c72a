"""What a tuning session asks of those who build and measure variants, whatever they run on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orio_py.build.compiler import Artifact, BuildFailure, Compiler
from orio_py.codegen.device import DeviceProgram
from orio_py.codegen.program import Program
from orio_py.core.diagnostics import Diagnostic
from orio_py.core.expr import Value
from orio_py.core.units import Bytes, Seconds
from orio_py.measure.job import EarlyStopping
from orio_py.record.measurement import Clock, Measurement, Sample, Success
from orio_py.record.outcome import VariantFacts

ORIGINAL_LIMIT = Seconds(300.0)
"""How long the first run of the original may take where nothing else is said."""

PATIENCE = Seconds(1.0)
"""Beside a call that takes so long, the spread of repeated calls is small, and waiting for them is not worth it."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Per run: seconds allowed (None: derived from the original's run), repetitions, memory.

    `cpu` is the processor that kernels are kept on, None for all that the system offers.  The original's first run gets
    `original` seconds, or the timeout if that is more.  A call that takes longer than `patience` is the only one of its
    run, and five are enough once they have taken five times as long; None for as many repetitions as of any other.
    """

    timeout: Seconds | None = None
    repeats: int = 5
    memory: Bytes | None = None
    cpu: int | None = None
    original: Seconds = ORIGINAL_LIMIT
    patience: Seconds | None = PATIENCE


@dataclass(frozen=True, slots=True)
class Baseline:
    """The original code, built and measured, and what its outputs warned of."""

    program: Program
    artifact: Artifact
    measurement: Success
    warnings: tuple[Diagnostic, ...] = ()


class VariantEvaluator(Protocol):
    """Builds, validates and times variants; `prepare` comes first, `close` last.

    `build` and `facts` may be called from several processes; measuring must not be.
    """

    @property
    def compiler(self) -> Compiler:
        """The compiler of the original."""
        ...

    @property
    def folder(self) -> Path:
        """Where the files are."""
        ...

    @property
    def limits(self) -> RunLimits:
        """Limits of each run."""
        ...

    @property
    def clock(self) -> Clock:
        """The clock that ranks variants."""
        ...

    @property
    def inner(self) -> int:
        """How many calls of the kernel make one sample."""
        ...

    @property
    def untimed(self) -> str:
        """Why variants are validated here and not timed; '' where they are timed."""
        ...

    def program(self, codes: Sequence[str], devices: Sequence[DeviceProgram] = ()) -> Program:
        """What is built for `codes` in the regions, which call the kernels of `devices`.

        Raises DiagnosticError when it cannot be measured.
        """
        ...

    def prepare(self, values: Mapping[str, Value], arguments: Sequence[str] = ()) -> Baseline:
        """Build and run the original.  Raises DiagnosticError."""
        ...

    def build(
        self, program: Program, values: Mapping[str, Value], name: str | None = None
    ) -> Artifact | BuildFailure:
        """Build a variant in a new folder."""
        ...

    def measure(
        self,
        artifact: Artifact,
        arguments: Sequence[str] = (),
        *,
        coordinate: str = "",
        race: EarlyStopping | None = None,
        check: bool = True,
    ) -> Measurement:
        """Validate and time a variant."""
        ...

    def confirm(self, artifact: Artifact, arguments: Sequence[str] = (), *, check: bool) -> Measurement:
        """Time a variant for the finals."""
        ...

    def facts(self, artifact: Artifact) -> VariantFacts:
        """What is known of a variant that was built, before it is measured."""
        ...

    def run_facts(self, artifact: Artifact) -> VariantFacts:
        """What its last measurement told beside the samples."""
        ...

    def calibrate(self) -> tuple[Sample, ...]:
        """Some runs of a loop of fixed length."""
        ...

    def close(self) -> None:
        """End all processes."""
        ...
