"""Builds, validates and times the variants of one task at one problem size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from orio_py.build.compiler import Artifact, BuildFailure, Compiler
from orio_py.build.process import run
from orio_py.codegen.harness import harness_program
from orio_py.codegen.interface import KernelInterface, build_interface
from orio_py.codegen.kernel import kernel_program
from orio_py.codegen.program import Program
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Note, Severity
from orio_py.core.expr import Value
from orio_py.core.units import Bytes, Seconds
from orio_py.measure.job import SANITIZER_EXIT, Job, Report, judge
from orio_py.record.measurement import Clock, Failure, Measurement, Success
from orio_py.spec.inputs import InputPoint
from orio_py.spec.task import TuningTask

CPU_CLOCK_FROM = Seconds(100e-6)
"""Kernels at least this long are ranked by CPU time: reading that clock costs about a microsecond."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Per run: seconds allowed (None: derived from the original's run), repetitions, memory."""

    timeout: Seconds | None = None
    repeats: int = 5
    memory: Bytes | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """The original code, built and measured, and what its outputs warned of."""

    program: Program
    artifact: Artifact
    measurement: Success
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(slots=True)
class Evaluator:
    """Evaluates variants of `task` at `point` in `folder`; `prepare` comes first.

    `build` may be called from several threads; `measure` must not be.
    """

    task: TuningTask
    point: InputPoint
    compiler: Compiler
    folder: Path
    limits: RunLimits
    is_parallel: bool = False
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    _interface: KernelInterface | None = None
    _harness: Path | None = None
    _clock: Clock = Clock.WALL
    _timeout: Seconds = Seconds(300.0)
    _numbers: count[int] = field(default_factory=count)

    @property
    def interface(self) -> KernelInterface:
        """How the kernel's variables are passed.  Raises DiagnosticError ORIO-M00x."""
        if self._interface is None:
            self._interface = build_interface(self.task, self.point)
        return self._interface

    def program(self, codes: Sequence[str]) -> Program:
        """The translation unit with `codes` in the regions."""
        return kernel_program(self.task, self.interface, codes)

    def prepare(self, values: Mapping[str, Value], arguments: Sequence[str] = ()) -> Baseline:
        """Build the test program and the original, keep the original's outputs, time it.

        Raises DiagnosticError ORIO-B004, B005 (compiler errors), M010 (the original fails).
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._build_harness(values)
        program = self.program([f"\n{r.reference_text}\n" for r in self.task.regions])
        built = self.build(program, values)
        if isinstance(built, BuildFailure):
            raise DiagnosticError(
                self._compiler_problem("ORIO-B004", "the original code does not compile", built)
            )
        timeout = self.limits.timeout or Seconds(300.0)
        found, report, seconds = self._run(built, arguments, is_original=True, timeout=timeout)
        if isinstance(found, Failure):
            raise DiagnosticError(
                Diagnostic(
                    "ORIO-M010", f"the original code fails: {found.stage}: {found.reason}", self.task.position
                )
            )
        middle = found.timing.median_s
        if not self.is_parallel and middle >= CPU_CLOCK_FROM:
            self._clock = Clock.THREAD_CPU
        self._timeout = self.limits.timeout or Seconds(max(10.0, 20.0 * seconds))
        return Baseline(program, built, Success(found.samples, self._clock), tuple(self._warnings(report)))

    def build(self, program: Program, values: Mapping[str, Value]) -> Artifact | BuildFailure:
        """Compile a variant to a shared object under a fresh name."""
        stem = self.folder / f"variant_{next(self._numbers):05d}"
        source = stem.with_suffix(".c")
        source.write_bytes(program.data)
        return self.compiler.build_shared(source, stem.with_suffix(".so"), values)

    def measure(
        self, artifact: Artifact, arguments: Sequence[str] = (), *, coordinate: str = ""
    ) -> Measurement:
        """Validate a variant against the original's outputs, then time it.

        `coordinate` names the configuration for the spec's postrun command.
        """
        found, _, _ = self._run(artifact, arguments, is_original=False, timeout=self._timeout)
        if self.compiler.spec.postrun and isinstance(found, Success):
            self.compiler.after_run(artifact.path, coordinate)
        return found

    def _build_harness(self, values: Mapping[str, Value]) -> None:
        source = self.folder / "harness.c"
        source.write_bytes(harness_program(self.task, self.interface, self.point).data)
        built = self.compiler.build_executable(source, self.folder / "harness", values)
        if isinstance(built, BuildFailure):
            raise DiagnosticError(self._compiler_problem("ORIO-B005", "the inputs cannot be set up", built))
        self._harness = built.path

    def _run(
        self, artifact: Artifact, arguments: Sequence[str], *, is_original: bool, timeout: Seconds
    ) -> tuple[Measurement, Report, Seconds]:
        results, job_file = self.folder / "results.txt", self.folder / "job.txt"
        results.unlink(missing_ok=True)
        job = Job(
            artifact.path,
            self.folder / "reference.bin",
            is_original,
            self.limits.repeats,
            max(self.limits.repeats, 50),
            Seconds(0.005),
            None if self._has_sanitizer() else self.limits.memory,
            self.task.measurement.tolerance,
        )
        job_file.write_text(job.text(results), encoding="utf-8")
        assert self._harness is not None, "prepare comes first"
        environment = {
            "ORIO_JOB": str(job_file),
            "ASAN_OPTIONS": f"exitcode={SANITIZER_EXIT}:detect_leaks=0",
            "UBSAN_OPTIONS": f"halt_on_error=1:exitcode={SANITIZER_EXIT}",
            **self.environment,
        }
        done = run(
            [str(self._harness), *arguments],
            timeout=timeout,
            directory=self.compiler.directory,
            environment=environment,
        )
        report = Report.read(results)
        found = judge(done, report, self._clock)
        return found, report, done.seconds

    def _has_sanitizer(self) -> bool:
        return any("-fsanitize" in word for word in self.compiler.command)

    def _compiler_problem(self, code: str, message: str, failure: BuildFailure) -> Diagnostic:
        lines = [line for line in failure.log.splitlines() if line.strip()][:12]
        return Diagnostic(
            code,
            f"{message}: {failure.reason}",
            self.task.position,
            notes=tuple(Note(line) for line in lines),
        )

    def _warnings(self, report: Report) -> list[Diagnostic]:
        found: list[Diagnostic] = []
        if report.first("unchanged") is not None:
            message = (
                "the region leaves every variable as it was, so wrong variants cannot be told from right ones"
            )
            found.append(Diagnostic("ORIO-M011", message, self.task.position, Severity.WARNING))
        if (place := report.first("nonfinite")) is not None:
            name, index = place.split()
            message = f"the original computes a value that is not finite: `{name}` element {index}"
            found.append(Diagnostic("ORIO-M012", message, self.task.position, Severity.WARNING))
        return found
