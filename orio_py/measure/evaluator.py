"""Builds, validates and times the variants of one task at one problem size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from orio_py.build.compiler import Artifact, BuildFailure, Compiler
from orio_py.build.process import Completed, run
from orio_py.codegen.device import DeviceProgram
from orio_py.codegen.extent import original_codes
from orio_py.codegen.harness import harness_program
from orio_py.codegen.interface import build_interface
from orio_py.codegen.kernel import kernel_program
from orio_py.codegen.program import Program
from orio_py.codegen.variables import KernelInterface
from orio_py.core.diagnostics import Diagnostic, DiagnosticError, Severity
from orio_py.core.expr import Value
from orio_py.core.units import Seconds
from orio_py.measure.base import Baseline, RunLimits
from orio_py.measure.calibration import LOOPS, Precision, choose_precision, with_enough_calls
from orio_py.measure.compiler_messages import compiler_problem, undefined_names
from orio_py.measure.job import SANITIZER_EXIT, EarlyStopping, Job, MemberPlace, ResultLines, judge
from orio_py.measure.original import (
    failed_original,
    output_warnings,
    slower_than_its_variants_may_be,
    too_short,
)
from orio_py.measure.server import VariantServer
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Success
from orio_py.record.outcome import VariantFacts
from orio_py.spec.inputs import InputPoint
from orio_py.spec.task import TuningTask

ENOUGH = Seconds(0.005)
"""Repetitions beyond the least are taken while they sum to less than this."""

MOST_SAMPLES = 50

LEAST_TIMEOUT, SHORT_RUNS, LONG_RUNS = Seconds(10.0), 20.0, 5.0
"""How long a variant's run may take by default: so many seconds, or times as long as the original's run if that is more.

The run of a long original is a single call, and the second call of a variant that took four times as long is not
waited for.
"""

FINAL_SAMPLES = (3, 20)
"""Least and most repetitions of one finals run; there are many such runs."""


@dataclass(slots=True)
class Evaluator:
    """Evaluates variants of `task` at `point` in `folder`; `prepare` comes first, `close` last.

    `build` may be called from several threads and processes; measuring must not be.  With `keeps_inputs` what the
    variables hold before the original runs is kept in the file `inputs`.
    """

    task: TuningTask
    point: InputPoint
    compiler: Compiler
    folder: Path
    limits: RunLimits
    is_parallel: bool = False
    keeps_inputs: bool = False
    _variables: tuple[tuple[str, int, int], ...] = ()
    _members: Mapping[str, Mapping[str, MemberPlace]] = field(
        default_factory=dict[str, Mapping[str, MemberPlace]]
    )
    _interface: KernelInterface | None = None
    _harness: Path | None = None
    _server: VariantServer | None = None
    _precision: Precision = field(default_factory=lambda: Precision(Clock.WALL))
    _timeout: Seconds = Seconds(300.0)
    _original_run: Seconds = Seconds(0.0)
    _numbers: count[int] = field(default_factory=count)

    @property
    def interface(self) -> KernelInterface:
        """How the kernel's variables are passed.  Raises DiagnosticError ORIO-M00x."""
        if self._interface is None:
            self._interface = build_interface(self.task, self.point)
        return self._interface

    def program(self, codes: Sequence[str], devices: Sequence[DeviceProgram] = ()) -> Program:
        """The translation unit with `codes` in the regions; `devices` are left to other evaluators."""
        return kernel_program(self.task, self.interface, codes)

    def prepare(self, values: Mapping[str, Value], arguments: Sequence[str] = ()) -> Baseline:
        """Build the test program and the original, keep the original's outputs, time it.

        Raises DiagnosticError ORIO-B004, B005 (compiler errors), M010 (the original fails), M013 (it is
        too short to be timed).
        """
        program, built, warning = self.build_original(values)
        found, report, seconds = self._run_original(built, arguments)
        self._precision = self._choose_precision(found, report)
        if self._precision.inner > 1:
            found, again, seconds = self._run_original(built, arguments)
            enough = with_enough_calls(self._precision, found.wall_median, again.costs())
            if enough.inner > 2 * self.inner:
                self._precision = enough
                found, _, seconds = self._run_original(built, arguments)
        self._original_run = seconds
        runs = SHORT_RUNS if len(found.samples) > 1 else LONG_RUNS
        self._timeout = self.limits.timeout or Seconds(max(LEAST_TIMEOUT, runs * seconds))
        if not self._has_sanitizer() and not arguments:
            self._server = self._new_server(built)
        measured = Success(found.samples, self._precision.clock)
        told = slower_than_its_variants_may_be(found, self.limits.timeout, self.task.position)
        warnings = [warning, *told, *output_warnings(report, self.task.position)]
        return Baseline(program, built, measured, tuple(one for one in warnings if one is not None))

    def build_original(self, values: Mapping[str, Value]) -> tuple[Program, Artifact, Diagnostic | None]:
        """The original and the test program, built at the same time; a warning for a skeleton that was left out.

        Raises DiagnosticError ORIO-B004, B005.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        options = self.task.build.options_of_the_original
        program = replace(self.program(original_codes(self.task)), options=options)
        with ThreadPoolExecutor(1) as pool:
            building = pool.submit(self.build, program, values, "original")
            warning = self._build_harness(values)
            built = building.result()
        if isinstance(built, BuildFailure):
            message, generated = "the original code does not compile", self.folder / "original" / "variant.c"
            raise DiagnosticError(compiler_problem("ORIO-B004", message, built, self.task, generated))
        return program, built, warning

    def unresolved(self, artifact: Artifact, values: Mapping[str, Value]) -> tuple[str, ...]:
        """The names that neither a variant nor the test program nor a library defines; after `build_original`."""
        source = self.folder / "harness.c"
        linked = self.compiler.build_executable(
            source, self.folder / "linked", values, users=True, objects=[artifact.path]
        )
        return undefined_names(linked.log) if isinstance(linked, BuildFailure) else ()

    def build(
        self, program: Program, values: Mapping[str, Value], name: str | None = None
    ) -> Artifact | BuildFailure:
        """Compile a variant to a shared object in a new folder, `name` or a number of its own.

        All files have the same names, so that equal machine code gives equal files.
        """
        folder = self.folder / (name or f"code_{next(self._numbers)}")
        folder.mkdir(exist_ok=True)
        source = folder / "variant.c"
        source.write_bytes(program.data)
        return self.compiler.build_shared(source, folder / "variant.so", values, program.options)

    def measure(
        self,
        artifact: Artifact,
        arguments: Sequence[str] = (),
        *,
        coordinate: str = "",
        race: EarlyStopping | None = None,
        check: bool = True,
    ) -> Measurement:
        """Validate a variant against the original's outputs, then time it.

        `coordinate` names the configuration for the spec's postrun command.  `race` allows to stop early;
        `check` is off for a variant that was validated before.
        """
        done = self._run(self._job(artifact, race=race, check=check), arguments, self._allowed(artifact))
        found = judge(done, ResultLines.read(self._results), self.clock)
        if check and self.compiler.spec.postrun and isinstance(found, Success):
            self.compiler.after_run(artifact.path, coordinate)
        return found

    def confirm(self, artifact: Artifact, arguments: Sequence[str] = (), *, check: bool) -> Measurement:
        """Time a variant in a process of its own, which sets up everything anew; for the finals."""
        least, most = FINAL_SAMPLES
        job = self._job(artifact, check=check, least=min(least, self.limits.repeats), most=most)
        # The original, too, is timed here, and may take longer than variants are allowed to.
        timeout = Seconds(max(self._allowed(artifact), LONG_RUNS * self._original_run))
        done = self._run_alone(job, arguments, timeout)
        return judge(done, ResultLines.read(self._results), self.clock)

    def facts(self, artifact: Artifact) -> VariantFacts:
        """What is known of a variant before it is measured: nothing."""
        return VariantFacts()

    def run_facts(self, artifact: Artifact) -> VariantFacts:
        """What its last measurement told beside the samples: nothing."""
        return VariantFacts()

    def count(self, artifact: Artifact, arguments: Sequence[str], lines: Sequence[str]) -> ResultLines:
        """Run a valid variant with the job's `lines`, which ask for counters; no times are taken.

        The report lacks the counters of a run that failed.
        """
        job = self._job(artifact, check=False, least=0, most=0, observe=lines)
        self._run(job, arguments, self._timeout)
        return ResultLines.read(self._results)

    def run_under(
        self,
        artifact: Artifact,
        arguments: Sequence[str],
        prefix: Sequence[str],
        *,
        slowdown: float,
        environment: Mapping[str, str],
    ) -> Completed:
        """One call of a variant in a test program of its own that a tool runs: `prefix` is its command line.

        Threads that the code starts would escape the tool's view, so OpenMP code gets only one.
        """
        job = replace(self._job(artifact, check=False, least=0, most=0), memory=None, cpu=None)
        timeout = Seconds(slowdown * self._timeout)
        # A process between the tool and the variant would be what the tool looks at.
        environment = {**environment, "ORIO_DIRECT": "1"}
        environment |= {"OMP_NUM_THREADS": "1"} if self.is_parallel else {}
        return self._run_alone(job, arguments, timeout, prefix=prefix, environment=environment)

    def calibrate(self) -> tuple[Sample, ...]:
        """Some runs of a loop of fixed length where the kernels run; none where no server is used."""
        if self._server is None:
            return ()
        loops = [self._server.calibrate() for _ in range(LOOPS)]
        return tuple(loop for loop in loops if loop is not None)

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.close()

    @property
    def clock(self) -> Clock:
        """The clock that ranks this task's variants."""
        return self._precision.clock

    @property
    def untimed(self) -> str:
        """Variants are timed."""
        return ""

    @property
    def timeout(self) -> Seconds:
        """How long a run of a variant may take."""
        return self._timeout

    @property
    def inputs(self) -> Path:
        """The file with the variables' first values, one after the other."""
        return self.folder / "inputs.bin"

    @property
    def reference(self) -> Path:
        """The file with the original's outputs, laid out as the inputs."""
        return self.folder / "reference.bin"

    @property
    def variables(self) -> tuple[tuple[str, int, int], ...]:
        """Name, bytes of an element and number of elements of what is in these files; after `prepare`."""
        return self._variables

    @property
    def members(self) -> Mapping[str, Mapping[str, MemberPlace]]:
        """Where the members of structures are, by the names of variable and member; after `prepare`."""
        return self._members

    @property
    def inner(self) -> int:
        """How many calls of the kernel make one sample."""
        return self._precision.inner

    @property
    def server_pid(self) -> int | None:
        """The process number of the server, while it runs."""
        return self._server.pid if self._server is not None else None

    @property
    def _results(self) -> Path:
        return self.folder / "results.txt"

    def _build_harness(self, values: Mapping[str, Value]) -> Diagnostic | None:
        """Build the test program; where that of the user's skeleton fails and ours does not, a warning."""
        built = self._built_harness(self.task, values)
        warning: Diagnostic | None = None
        if isinstance(built, BuildFailure):
            plain = replace(self.task, measurement=replace(self.task.measurement, skeleton_file=None))
            failure, built = built, built if plain == self.task else self._built_harness(plain, values)
            if isinstance(built, BuildFailure):
                message, source = "the inputs cannot be set up", self.folder / "harness.c"
                raise DiagnosticError(compiler_problem("ORIO-B005", message, built, self.task, source))
            message = f"the program of `skeleton_code_file` is left out: {failure.reason}"
            warning = Diagnostic("ORIO-B018", message, self.task.position, Severity.WARNING)
        self._harness = built.path
        return warning

    def _built_harness(self, task: TuningTask, values: Mapping[str, Value]) -> Artifact | BuildFailure:
        source = self.folder / "harness.c"
        source.write_bytes(harness_program(task, self.interface, self.point).data)
        users = bool(task.files) or task.measurement.skeleton_file is not None
        return self.compiler.build_executable(source, self.folder / "harness", values, users=users)

    def _run_original(
        self, artifact: Artifact, arguments: Sequence[str]
    ) -> tuple[Success, ResultLines, Seconds]:
        """One run that also keeps the outputs; the seconds are the whole process's."""
        timeout = Seconds(max(self.limits.original, self.limits.timeout or 0.0))
        done = self._run_alone(self._job(artifact, is_original=True), arguments, timeout)
        report = ResultLines.read(self._results)
        self._variables, self._members = report.variables(), report.members()
        found = judge(done, report, self.clock)
        if isinstance(found, Failure):
            raise DiagnosticError(failed_original(found, done, timeout, self.task))
        return found, report, done.seconds

    def _choose_precision(self, found: Success, report: ResultLines) -> Precision:
        chosen = choose_precision(found.wall_median, report.costs(), is_parallel=self.is_parallel)
        if chosen is None:
            raise DiagnosticError(too_short(found, report, self.task, self.point))
        return chosen

    def _new_server(self, original: Artifact) -> VariantServer:
        assert self._harness is not None
        return VariantServer(
            self._harness, self.compiler.directory, self._job(original), self._results, self._environment()
        )

    def _job(
        self,
        artifact: Artifact,
        *,
        is_original: bool = False,
        race: EarlyStopping | None = None,
        check: bool = True,
        least: int | None = None,
        most: int = MOST_SAMPLES,
        observe: Sequence[str] = (),
    ) -> Job:
        repeats = least if least is not None else self.limits.repeats
        return Job(
            artifact.path,
            self.reference,
            is_original,
            repeats,
            max(repeats, most),
            ENOUGH,
            None if self._has_sanitizer() else self.limits.memory,
            self.task.measurement.tolerance,
            clock=self.clock,
            inner=self.inner,
            check=check,
            race=race,
            cpu=self.limits.cpu,
            observe=observe,
            inputs=self.inputs if is_original and self.keeps_inputs else None,
            patience=self.limits.patience,
        )

    def _allowed(self, artifact: Artifact) -> Seconds:
        """How long a run of a variant may take."""
        return self._timeout

    def _run(self, job: Job, arguments: Sequence[str], timeout: Seconds) -> Completed:
        """Run a job in a child of the server, or without one where there is none."""
        if self._server is not None and not arguments:
            self._results.unlink(missing_ok=True)
            if (done := self._server.run(job, timeout)) is not None:
                return done
        return self._run_alone(job, arguments, timeout)

    def _run_alone(
        self,
        job: Job,
        arguments: Sequence[str],
        timeout: Seconds,
        *,
        prefix: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> Completed:
        """Run the test program for one job; the results are then in their file."""
        self._results.unlink(missing_ok=True)
        job_file = self.folder / "job.txt"
        job_file.write_text(job.text(self._results), encoding="utf-8")
        assert self._harness is not None, "prepare comes first"
        return run(
            [*prefix, str(self._harness), *arguments],
            timeout=timeout,
            directory=self.compiler.directory,
            environment={"ORIO_JOB": str(job_file), **self._environment(), **(environment or {})},
        )

    def _environment(self) -> Mapping[str, str]:
        return {
            "ASAN_OPTIONS": f"exitcode={SANITIZER_EXIT}:detect_leaks=0",
            "UBSAN_OPTIONS": f"halt_on_error=1:exitcode={SANITIZER_EXIT}",
        }

    def _has_sanitizer(self) -> bool:
        return any("-fsanitize" in word for word in self.compiler.command)
