"""What evaluators of variants on devices have in common; the original is built and measured as C code."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from statistics import median

from orio_py.build.compiler import Artifact, BuildFailure, Compiler
from orio_py.build.process import Completed
from orio_py.codegen.device import DeviceProgram
from orio_py.codegen.program import Program
from orio_py.core.diagnostics import Diagnostic, DiagnosticError
from orio_py.core.expr import Value
from orio_py.core.source import Position
from orio_py.core.units import Seconds
from orio_py.measure.base import Baseline, RunLimits
from orio_py.measure.evaluator import ENOUGH, FINAL_SAMPLES, MOST_SAMPLES, Evaluator
from orio_py.measure.job import EarlyStopping, ResultLines, judge
from orio_py.measure.offload.client import DeviceWorker, Ended
from orio_py.measure.offload.host import Launch, followed_launches, require_followed
from orio_py.measure.offload.host_data import measured_data
from orio_py.measure.offload.variant import HostData, HostFunction
from orio_py.measure.offload.worker import CONDITION, Task
from orio_py.record.measurement import Clock, Failure, Measurement, Sample, Stage
from orio_py.record.outcome import VariantFacts
from orio_py.record.trial import CounterSource, CounterValue

SUFFIX = ".json"
"""Ends the names of files that describe device variants."""

_SOURCES = (
    ("kernel_time", CounterSource.DEVICE),
    ("transfer_time", CounterSource.DEVICE),
    ("kernel_host_time", CounterSource.SYSTEM),
)
"""Counters of a device variant, in the order of the worker's lines: seconds per run of the timed code."""

_STAGES: Mapping[str, Stage] = {"compile": Stage.COMPILE, "load": Stage.LOAD, "memory": Stage.MEMORY}
"""Where a variant failed that a worker could not build."""


@dataclass(slots=True)
class OffloadEvaluator(ABC):
    """Evaluates the variants of `original.task` on a device.

    `original` evaluates C code: the original, and variants without kernels.  Each process that builds has a
    worker of its own.  `with_transfers` ranks by kernels and transfers together.
    """

    original: Evaluator
    with_transfers: bool
    _data: HostData | None = field(init=False, default=None)
    _workers: dict[int, DeviceWorker] = field(init=False, default_factory=dict[int, DeviceWorker])
    _times: dict[Path, tuple[CounterValue, ...]] = field(
        init=False, default_factory=dict[Path, tuple[CounterValue, ...]]
    )
    _conditions: dict[Path, dict[str, str]] = field(init=False, default_factory=dict[Path, dict[str, str]])
    _numbers: count[int] = field(init=False, default_factory=count)

    @abstractmethod
    def new_worker(self) -> DeviceWorker:
        """A worker for the device, which has not been started."""

    @abstractmethod
    def program(self, codes: Sequence[str], devices: Sequence[DeviceProgram] = ()) -> Program:
        """The description of a variant, a JSON file, or C code where it has no kernels.

        Raises DiagnosticError for what the device cannot do, ORIO-M017 when the timed code holds statements that
        only a compiler can follow.
        """

    @abstractmethod
    def build_kernels(self, path: Path) -> Artifact | BuildFailure:
        """Build the variant whose description is in the file, in that file's folder."""

    @abstractmethod
    def facts(self, artifact: Artifact) -> VariantFacts:
        """What is known of a variant before it is measured."""

    @property
    def compiler(self) -> Compiler:
        """The compiler of the original."""
        return self.original.compiler

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self.original.folder

    @property
    def limits(self) -> RunLimits:
        """Limits of each run."""
        return self.original.limits

    @property
    def clock(self) -> Clock:
        """Always time on the wall, which is what events tell."""
        return Clock.WALL

    @property
    def inner(self) -> int:
        """How many calls of the original make one sample."""
        return self.original.inner

    @property
    def untimed(self) -> str:
        """Variants are timed."""
        return ""

    @property
    def worker_pid(self) -> int | None:
        """The process number of this process's worker, while it runs."""
        worker = self._workers.get(os.getpid())
        return worker.pid if worker is not None else None

    def prepare(self, values: Mapping[str, Value], arguments: Sequence[str] = ()) -> Baseline:
        """Build and run the original, keep its inputs and outputs.

        Raises as `Evaluator.prepare`, and DiagnosticError ORIO-M017 for options of the test program's command
        line, which kernels would not see.
        """
        if arguments:
            message = "the options of `cmdline_params` reach C code only, and kernels run without it"
            raise DiagnosticError(Diagnostic("ORIO-M017", message, self.original.task.position))
        self.original.keeps_inputs = True
        baseline = self.original.prepare(values, arguments)
        self._data = measured_data(self.original)
        self._data_file.write_text(self._data.text, encoding="utf-8")
        return baseline

    def build(
        self, program: Program, values: Mapping[str, Value], name: str | None = None
    ) -> Artifact | BuildFailure:
        """Build a variant in a new folder, `name` or a number of its own."""
        if program.suffix != SUFFIX:
            return self.original.build(program, values, name)
        folder = self.folder / (name or f"kernels_{os.getpid()}_{next(self._numbers)}")
        folder.mkdir(exist_ok=True)
        path = folder / f"variant{SUFFIX}"
        path.write_bytes(program.data)
        return self.build_kernels(path)

    def measure(
        self,
        artifact: Artifact,
        arguments: Sequence[str] = (),
        *,
        coordinate: str = "",
        race: EarlyStopping | None = None,
        check: bool = True,
    ) -> Measurement:
        """Validate a variant against the original's outputs, then time it in this process's worker."""
        if artifact.path.suffix != SUFFIX:
            return self.original.measure(artifact, arguments, coordinate=coordinate, race=race, check=check)
        return self._run(artifact, self._task(artifact, race=race, check=check))

    def confirm(self, artifact: Artifact, arguments: Sequence[str] = (), *, check: bool) -> Measurement:
        """Time a variant for the finals: C code in a process of its own, kernels with new buffers."""
        if artifact.path.suffix != SUFFIX:
            return self.original.confirm(artifact, arguments, check=check)
        least, most = FINAL_SAMPLES
        task = self._task(artifact, check=check)
        return self._run(artifact, replace(task, least=min(least, self.limits.repeats), most=most))

    def run_facts(self, artifact: Artifact) -> VariantFacts:
        """Times of kernels and transfers in the last measurement, and the conditions that the worker told of."""
        return VariantFacts(
            self._times.get(artifact.path, ()), self._conditions.get(artifact.path, dict[str, str]())
        )

    def calibrate(self) -> tuple[Sample, ...]:
        """As `Evaluator.calibrate`."""
        return self.original.calibrate()

    def close(self) -> None:
        """End the worker and the test program."""
        worker = self._workers.pop(os.getpid(), None)
        if worker is not None:
            worker.close()
        self.original.close()

    def worker(self) -> DeviceWorker:
        """The worker of this process; one that a parent started is not this process's to use."""
        if os.getpid() not in self._workers:
            self._workers[os.getpid()] = self.new_worker()
        return self._workers[os.getpid()]

    def launches(self, host: str, functions: Sequence[HostFunction]) -> list[Launch]:
        """The launches of the timed code `host`, found without a device: reductions keep their first values.

        There are none before `prepare`: a build alone knows no inputs that the host code could be followed with.
        Raises DiagnosticError ORIO-M017 when the code holds statements that only a compiler can follow.
        """
        if self._data is None:
            return []
        return followed_launches(host, functions, self._data, self.original.task.position)

    def require_followed(self, host: str, functions: Sequence[HostFunction]) -> None:
        """The timed code `host` can be followed; before `prepare` nobody knows.  Raises DiagnosticError ORIO-M017."""
        if self._data is not None:
            require_followed(host, functions, self._data, self.original.task.position)

    @property
    def _data_file(self) -> Path:
        return self.folder / f"data{SUFFIX}"

    def run_timeout(self) -> Seconds:
        """How long a variant may take to be checked and timed."""
        return self.original.timeout

    def most_samples(self) -> int:
        """Timed repetitions at most; 0 where nothing is timed."""
        return max(self.limits.repeats, MOST_SAMPLES)

    def _task(self, artifact: Artifact, *, race: EarlyStopping | None = None, check: bool = True) -> Task:
        repeats = self.limits.repeats
        return Task(
            str(artifact.path),
            str(self._data_file),
            check,
            repeats,
            self.most_samples(),
            float(ENOUGH),
            self.with_transfers,
            (race.best, race.hopeless, race.may_win) if race is not None else None,
        )

    def _run(self, artifact: Artifact, task: Task) -> Measurement:
        try:
            answer = self.worker().run(task, self.run_timeout())
        except OSError as error:
            return Failure(Stage.PROTOCOL, str(error))
        if isinstance(answer, Ended):
            return judge(answer.completed, ResultLines(()), self.clock)
        if answer.problem is not None:
            keyword, text = answer.problem
            return Failure(_STAGES.get(keyword, Stage.PROTOCOL), text)
        report = ResultLines(answer.lines)
        self._times[artifact.path] = _times(report)
        told = (rest.partition("=") for word, rest in report.lines if word == CONDITION)
        self._conditions[artifact.path] = {name: value for name, _, value in told}
        return judge(Completed(0, "", "", False, Seconds(0.0)), report, self.clock)


def _times(report: ResultLines) -> tuple[CounterValue, ...]:
    """The medians of the samples' parts."""
    splits = [tuple(map(float, rest.split())) for word, rest in report.lines if word == "split"]
    return tuple(
        CounterValue(name, median(split[place] for split in splits), "s", source)
        for place, (name, source) in enumerate(_SOURCES)
        if splits
    )


def agree(what: str, wishes: Collection[object], position: Position) -> None:
    """Raise DiagnosticError ORIO-B016 when the kernels of one variant wish for several things."""
    if len(wishes) > 1:
        message = f"the kernels of one variant ask for different {what}"
        raise DiagnosticError(Diagnostic("ORIO-B016", message, position))
